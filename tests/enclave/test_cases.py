"""Scripts as models write them, one file each, in the real jail over governed tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.cases import Case, load, parse
from tests.enclave.desk import TOOLS, handle
from tests.enclave.kit import Stage

CASES = load(Path(__file__).parents[1] / "cases" / "python")


@pytest.fixture(scope="module")
def office() -> rf.Boundary:
    return rf.Boundary(TOOLS, sandbox=rf.local(unsafe=True))


def facts(result: rf.RunResult) -> dict[str, Any]:
    """What a case may expect."""
    error = result.error or rf.ErrorInfo(code="", message="")
    return {
        "value": result.value,
        "code": error.code or None,
        "line": error.line,
        "name": error.name,
        "message": error.message,
        "hint": error.hint,
        "output": result.output,
        "calls": [call.name for call in result.calls],
        "statuses": [call.status for call in result.calls],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_script_ends_as_its_case_file_says(case: Case, stage: Stage, office: rf.Boundary) -> None:
    expected = {"code": None, **case.expected}
    inputs = expected.pop("inputs", None)
    door = {"tool_handler": handle} if expected.pop("desk", None) == "handler" else {"tools": office}
    result = stage.script(case.script, inputs, timeout=5.0, **door)
    actual = facts(result)
    assert {key: actual[key] for key in expected} == expected


def test_there_are_enough_cases_to_mean_something() -> None:
    assert len(CASES) >= 60
    assert all(case.expected.keys() & {"value", "code"} for case in CASES)


@pytest.mark.parametrize("text", ["1\n", "1\n---\n", "1\n---\nvalue\n", "1\n---\nvalue: 1\nvalue: 2\n"])
def test_a_case_file_that_expects_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="broken"):
        parse("broken", text)
