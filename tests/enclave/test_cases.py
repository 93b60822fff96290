"""Scripts as models write them, one file each, in the real jail over governed tools."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest

import ringfence as rf
from ringfence.enclave.table import write
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
        "value": plain(result.value),
        "kinds": {path: type(value).__name__ for path, value in restored(result.value)},
        "code": error.code or None,
        "line": error.line,
        "name": error.name,
        "message": error.message,
        "hint": error.hint,
        "output": result.output,
        "calls": [call.name for call in result.calls],
        "statuses": [call.status for call in result.calls],
    }


def plain(value: Any) -> Any:
    """The value as the script sent it: what was restored on this side, as JSON text has it."""
    match value:
        case dict():
            return {key: plain(child) for key, child in cast("dict[str, Any]", value).items()}
        case list():
            return [plain(child) for child in cast("list[Any]", value)]
        case date() | time():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
        case timedelta():
            return write(value)[1]
        case bytes():
            return base64.urlsafe_b64encode(value).decode()
        case _:
            return value


def restored(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """What JSON lacks, with its place."""
    match value:
        case dict():
            for key, child in cast("dict[str, Any]", value).items():
                yield from restored(child, f"{path}.{key}" if path else key)
        case list():
            for at, child in enumerate(cast("list[Any]", value)):
                yield from restored(child, f"{path}[{at}]")
        case datetime() | date() | time() | timedelta() | Decimal() | UUID() | bytes():
            yield path, value
        case _:
            pass


CHECKED = [pytest.param(case, True, id=case.name) for case in CASES]
UNCHECKED = [
    pytest.param(case, False, id=f"{case.name}, unchecked", marks=pytest.mark.slow)
    for case in CASES
    if case.expected.get("code") != "VALIDATION_ERROR" and "options" not in case.expected
]


@pytest.mark.parametrize(("case", "validate"), [*CHECKED, *UNCHECKED])
def test_a_script_ends_as_its_case_file_says(case: Case, validate: bool, stage: Stage, office: rf.Boundary) -> None:
    expected = {"code": None, **case.expected}
    inputs = expected.pop("inputs", None)
    given: dict[str, Any] = expected.pop("options", None) or {}
    options: dict[str, Any] = {"timeout": 5.0, "validate": validate, **given}
    options |= {"tool_handler": handle} if expected.pop("desk", None) == "handler" else {"tools": office}
    result = stage.script(case.script, inputs, **options)
    actual = facts(result)
    assert {key: actual[key] for key in expected} == expected


def test_there_are_enough_cases_to_mean_something() -> None:
    assert len(CASES) >= 300
    assert all(case.expected.keys() & {"value", "code"} for case in CASES)


@pytest.mark.parametrize("text", ["1\n", "1\n---\n", "1\n---\nvalue\n", "1\n---\nvalue: 1\nvalue: 2\n"])
def test_a_case_file_that_expects_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="broken"):
        parse("broken", text)
