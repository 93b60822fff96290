"""The check's report: everything in the guest's frame is bounded, and nothing of it is more than advice."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.protocol import Checked, WireViolation, decode
from ringfence.enclave.reports import MOST_FINDINGS, refused, report_of
from ringfence.limits import ValueBudget


def finding(**more: Any) -> dict[str, Any]:
    return {"code": "X", "line": 1, "column": 2, "message": "m", "fix": "f", **more}


def site(**more: Any) -> dict[str, Any]:
    return {"tool": "a", "line": 1, "column": 2, "loops": 0, "arguments": {}, **more}


def checked(findings: list[Any], reach: list[Any]) -> Checked:
    frame = decode(json.dumps({"t": "checked", "findings": findings, "reach": reach}).encode())
    assert isinstance(frame, Checked)
    return frame


def test_a_report_holds_what_the_guest_found() -> None:
    frame = checked(
        [finding(), finding(severity="warning")], [site(arguments={"n": [1]}, dynamic=["m"]), site(tool=None, loops=2)]
    )
    assert report_of(frame, ValueBudget()) == rf.CheckReport(
        ok=False,
        findings=(
            rf.Finding(code="X", line=1, column=2, message="m", fix="f", severity="error"),
            rf.Finding(code="X", line=1, column=2, message="m", fix="f", severity="warning"),
        ),
        reach=(
            rf.ToolSite(tool="a", line=1, column=2, loops=0, arguments={"n": [1]}, dynamic=("m",)),
            rf.ToolSite(tool=None, line=1, column=2, loops=2, arguments={}, dynamic=()),
        ),
    )


@pytest.mark.parametrize(("severities", "ok"), [([], True), (["warning"] * 2, True), (["warning", "error"], False)])
def test_only_an_error_refuses(severities: list[str], ok: bool) -> None:
    frame = checked([finding(severity=severity) for severity in severities], [])
    assert report_of(frame, ValueBudget()).ok is ok


@pytest.mark.parametrize(
    ("findings", "reach"),
    [([finding()] * (MOST_FINDINGS + 1), []), ([], [site(arguments=[1])]), ([], [site(arguments={"a": [[[1]]]})])],
)
def test_a_report_that_no_honest_guest_makes_breaks_the_protocol(findings: list[Any], reach: list[Any]) -> None:
    with pytest.raises(WireViolation):
        report_of(checked(findings, reach), ValueBudget(depth=2))


def test_a_source_may_be_refused_without_a_guest() -> None:
    report = refused("script_rejected", "too long", "shorten it")
    assert (report.ok, report.reach, [one.severity for one in report.findings]) == (False, (), ["error"])
