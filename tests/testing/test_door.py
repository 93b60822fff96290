"""`rf.testing` is there without being loaded, and everything in it is documented."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

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
