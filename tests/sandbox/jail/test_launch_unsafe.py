"""Packages on the way to a jail's module exist, but run nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ringfence
from ringfence.sandbox.jail.launch_unsafe import BarePackages

PACKAGE = Path(ringfence.__file__).parent


@pytest.mark.parametrize("name", ["ringfence", "ringfence.sandbox", "ringfence.enclave.engines"])
def test_a_package_is_found_with_its_folder_and_without_its_code(name: str) -> None:
    spec = BarePackages.find_spec(name)
    assert spec is not None
    assert spec.loader is None
    assert spec.submodule_search_locations == [os.path.join(PACKAGE.parent, *name.split("."))]


@pytest.mark.parametrize("name", ["ringfence.errors", "ringfence.no_such", "json", "ringfencer", "tests"])
def test_modules_and_strangers_are_left_to_the_others(name: str) -> None:
    assert BarePackages.find_spec(name) is None


def test_an_unknown_module_is_an_error_and_not_a_jail() -> None:
    launcher = PACKAGE / "sandbox" / "jail" / "launch_unsafe.py"
    done = subprocess.run([sys.executable, "-S", launcher, "no_such"], capture_output=True, check=False, timeout=30)
    assert done.returncode == 1
    assert b"ModuleNotFoundError" in done.stderr
