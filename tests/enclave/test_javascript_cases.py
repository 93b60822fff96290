"""Scripts as models write them in JavaScript, one file each, in the real jail over the same tools as those in Python.

What the cases expect of the language itself is what another engine answered for the same text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.cases import Case, load
from tests.enclave.desk import TOOLS, handle
from tests.enclave.kit import Stage
from tests.enclave.observed import facts

CASES = load(Path(__file__).parents[1] / "cases" / "javascript")


@pytest.fixture(scope="module")
def office() -> rf.Boundary:
    return rf.Boundary(TOOLS, sandbox=rf.local(unsafe=True))


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
    options: dict[str, Any] = {"timeout": 5.0, "validate": validate, "language": "javascript", **given}
    options |= {"tool_handler": handle} if expected.pop("desk", None) == "handler" else {"tools": office}
    result = stage.script(case.script, inputs, **options)
    actual = facts(result)
    assert {key: actual[key] for key in expected} == expected


def test_there_are_enough_cases_to_mean_something() -> None:
    assert len(CASES) >= 300
    assert all(case.expected.keys() & {"value", "code"} for case in CASES)


def test_nothing_of_a_refused_source_runs(stage: Stage) -> None:
    result = stage.script("}); for (;;); (async () => {", language="javascript", validate=False, timeout=5.0)
    assert result.error is not None
    assert (result.error.code, result.stats.duration < 3) == ("VALIDATION_ERROR", True)
