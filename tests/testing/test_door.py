"""`rf.testing` is there without being loaded, and everything in it is documented."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import ringfence as rf

LAZY = """
import sys, ringfence as rf
assert not any(name.startswith("ringfence.testing") for name in sys.modules)
print(rf.testing.FakeClock().time())
"""


@pytest.mark.slow
def test_it_is_loaded_when_it_is_first_used() -> None:
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("0.0\n", "")


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ringfence' has no attribute 'tesing'"):
        getattr(rf, "tesing")  # noqa: B009  (as a program would ask)


def test_all_lists_exactly_what_is_exported() -> None:
    tree = ast.parse(Path(inspect.getfile(rf.testing)).read_text(encoding="utf-8"))
    names = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert [alias.asname for alias in names] == [alias.name for alias in names]
    assert sorted(alias.name for alias in names) == sorted(rf.testing.__all__)


def test_the_reference_names_everything() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| name in `rf.testing` |")
    first = [row.split("|")[1] for row in table.split("\n\n", 1)[0].splitlines()[2:]]
    assert {name for cell in first for name in re.findall(r"`(?:await )?(\w+)", cell)} == set(rf.testing.__all__)


@pytest.mark.parametrize("name", sorted(set(rf.testing.__all__) - {"Answer", "Step", "never"}))
def test_everything_is_documented(name: str) -> None:
    thing = getattr(rf.testing, name)
    assert (inspect.getdoc(thing) or "").strip()
    if inspect.isclass(thing):
        bare = [
            attribute
            for attribute, value in vars(thing).items()
            if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
            if not (inspect.getdoc(value) or "").strip()
        ]
        assert not bare, name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rf.testing.EventRecorder(cast("Any", 5)), "EventRecorder listens to a boundary or an enclave, not to 5"),
        (lambda: rf.testing.EventRecorder(cast("Any", rf.Boundary)), "EventRecorder listens to"),
        (lambda: rf.testing.ScriptedApprover(cast("Any", True)), "ScriptedApprover takes a list, not True"),
        (lambda: rf.testing.ScriptedDriver(cast("Any", "yes")), "ScriptedDriver takes a list, not 'yes'"),
        (lambda: rf.testing.ScriptedDriver(cast("Any", ["yes"])), "'yes' is no step of a driver"),
        (lambda: rf.testing.ScriptedDriver([cast("Any", rf.testing.After(1.0, True))]), "True is no step of a driver"),
        (lambda: asyncio.run(rf.testing.check_driver(cast("Any", rf.local(unsafe=True)))), "check_driver takes a function"),
        (lambda: asyncio.run(rf.testing.check_driver(cast("Any", None))), "check_driver takes a function"),
    ],
)  # fmt: skip
def test_what_is_given_wrongly_is_said_at_once(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(rf.ConfigError) as caught:
        make()
    assert caught.value.message.startswith(message)
