"""What a jail is given of this Python's packages, and what it refuses to promise."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.machinery import ModuleSpec
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.supplies import engine, installed


def test_without_packages_a_jail_gets_time_zones_only() -> None:
    given = engine("python", ()).supplies()
    assert (given["names"], given["folders"]) == ((), ())
    assert Path(given["zones"], "zones").is_file()
    assert Path(given["zones"]) == Path(str(distribution("tzdata").locate_file("tzdata")))


def test_packages_are_looked_for_where_this_python_looks_but_not_in_its_standard_library() -> None:
    given = engine("python", ("numpy",)).supplies()
    assert given["names"] == ("numpy",)
    assert sysconfig.get_path("purelib") in given["folders"]
    assert not {sysconfig.get_path("stdlib"), os.path.dirname(os.__file__)} & set(given["folders"])
    assert not [folder for folder in given["folders"] if folder.endswith("lib-dynload") or not os.path.isabs(folder)]


def test_a_package_that_is_installed_by_a_finder_of_its_own_is_found_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "elsewhere" / "linked"
    package.mkdir(parents=True)

    class Finder:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
            if name != "linked":
                return None
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(package)]
            return spec

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert str(package.parent) in engine("python", ("linked",)).supplies()["folders"]


@pytest.mark.parametrize("name", ["no_such_module", "no_such_package.part"])
def test_what_is_not_installed_is_refused_at_construction_with_the_command_that_installs_it(name: str) -> None:
    top = name.partition(".")[0]
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(preload=[name])
    assert (caught.value.message, caught.value.hint) == (
        f"preload: there is no module {top!r} here",
        f"pip install {top}",
    )


@pytest.mark.parametrize("name", ["ringfence", "ringfence.gate.runner"])
def test_the_hosts_own_side_is_no_module_for_scripts(name: str) -> None:
    with pytest.raises(rf.ConfigError, match="has no place in a script"):
        installed((name,))


def test_the_hosts_program_is_no_package() -> None:
    with pytest.raises(rf.ConfigError, match="__main__ is the host's program"):
        installed(("__main__",))


def test_a_module_without_a_specification_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "made_up", ModuleType("made_up"))
    with pytest.raises(rf.ConfigError, match="there is no module 'made_up'"):
        installed(("made_up",))


def test_looking_for_a_package_does_not_import_it() -> None:
    before = set(sys.modules)
    assert installed(("wsgiref.util", "xmlrpc")) == ("wsgiref.util", "xmlrpc")
    assert not {"wsgiref", "xmlrpc"} & (set(sys.modules) - before)


def test_a_javascript_jail_gets_three_compiled_modules() -> None:
    given = engine("javascript", ()).supplies()
    assert list(given) == ["engine", "parser", "grammar"]
    assert all(Path(path).is_file() and path.endswith(".so") for path in given.values())


def test_a_javascript_enclave_preloads_nothing() -> None:
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(language="javascript", preload=["numpy"])
    assert caught.value.message == "preload: modules are Python's, and JavaScript scripts have none"


def test_an_engine_that_is_not_installed_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "_quickjs", None)
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(language="javascript")
    assert (caught.value.message, caught.value.hint) == (
        "language: JavaScript needs the module '_quickjs', which is not here",
        "pip install quickjs-ng",
    )
