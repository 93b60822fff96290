"""Every promise of the manifest has a test that can fail, or a reason why it has none yet."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, dotted, report
from tests.requirements import LINES, REQUIREMENTS, Requirement

Test = ast.FunctionDef | ast.AsyncFunctionDef
Tagged = tuple[str, Test, tuple[str, ...]]
"""Where, what, and the promises that it proves."""


def tags(test: Test) -> tuple[str, ...]:
    return tuple(
        argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else "?"
        for decorator in test.decorator_list
        if isinstance(decorator, ast.Call) and (dotted(decorator.func) or "").endswith("requirement")
        for argument in decorator.args
    )


def tagged_in(path: Path, text: str) -> Iterator[Tagged]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Test) and (ids := tags(node)):
            yield f"{path.relative_to(ROOT)}:{node.lineno}", node, ids


@cache
def tagged() -> tuple[Tagged, ...]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    texts = ((path, path.read_text(encoding="utf-8")) for path in files)
    return tuple(one for path, text in texts if "requirement(" in text for one in tagged_in(path, text))


def can_fail(test: Test) -> bool:
    """An assertion, or an exception that is waited for, somewhere inside."""
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and dotted(node.func) == "pytest.raises")
        for node in ast.walk(test)
    )


def problems_of(manifest: Mapping[str, Requirement], tests: tuple[Tagged, ...]) -> Iterator[str]:
    proofs = Counter(name for _, _, ids in tests for name in ids)
    for name, promise in manifest.items():
        if not proofs[name] and promise.gap is None:
            yield f"{name} has no test: {promise.says}; fix: tag one with @requirement({name!r}), or give a gap"
        if proofs[name] and promise.gap is not None:
            yield f"{name} has tests and a gap; fix: drop the gap, or say what is left out in `later`"
        if not proofs[name] and promise.later is not None:
            yield f"{name} has nothing but `later`; fix: test what is there, or call it a gap"
    for where, test, ids in tests:
        unknown = [name for name in ids if name not in manifest]
        if unknown:
            yield f"{where}: {', '.join(unknown)} not in tests/requirements; fix: correct it, or add the promise"
        if not test.name.startswith("test_"):
            yield f"{where}: {test.name} is no test; fix: tag the test that uses it"
        if not can_fail(test):
            yield f"{where}: {test.name} asserts nothing itself; fix: let it, so that its promise can be seen broken"


def test_every_promise_has_a_test_or_a_reason() -> None:
    problems = list(problems_of(REQUIREMENTS, tagged()))
    assert not problems, report(problems)


def test_no_promise_is_listed_twice_or_says_nothing() -> None:
    names = Counter(name for name, _ in LINES)
    assert [name for name, times in names.items() if times > 1] == []
    assert [name for name, promise in LINES if not promise.says.strip() or not promise.source.strip()] == []


SOUND = "@requirement('X1')\ndef test_a() -> None:\n    assert True\n"


@pytest.mark.parametrize(
    ("text", "promise", "fault"),
    [
        ("def test_a() -> None: ...", Requirement(source="s", kind="seed", says="x"), "X1 has no test"),
        (SOUND, Requirement(source="s", kind="seed", says="x", gap="later"), "tests and a gap"),
        ("", Requirement(source="s", kind="seed", says="x", later="more"), "nothing but `later`"),
        (SOUND.replace("X1", "X2"), Requirement(source="s", kind="seed", says="x", gap="y"), "X2 not in"),
        (SOUND.replace("assert True", "pass"), Requirement(source="s", kind="seed", says="x"), "asserts nothing"),
        (SOUND.replace("'X1'", "name"), Requirement(source="s", kind="seed", says="x", gap="y"), "? not in"),
        (SOUND.replace("test_a", "helper"), Requirement(source="s", kind="seed", says="x"), "is no test"),
    ],
)
def test_each_fault_is_found(text: str, promise: Requirement, fault: str) -> None:
    found = list(problems_of({"X1": promise}, tuple(tagged_in(ROOT / "tests" / "test_x.py", text))))
    assert any(fault in one for one in found), found


def test_a_sound_manifest_has_no_fault() -> None:
    promise = Requirement(source="s", kind="seed", says="x")
    assert list(problems_of({"X1": promise}, tuple(tagged_in(ROOT / "tests" / "test_x.py", SOUND)))) == []
