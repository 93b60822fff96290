"""A finished run, told to a person or to a program (`cli.report`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ringfence.cli import report
from ringfence.enclave.results import CallRecord, RunResult, RunStats
from ringfence.errors import ErrorInfo, Issue
from tests.cli.consoles import recorded

STATS = RunStats(tool_call_count=2, duration=1.5, approval_wait=1.0, output_bytes=3, started_at=100.0)
READ = CallRecord(call_id="r.1", name="list", status="succeeded", code=None, line=1, duration=0.25)
DENIED = CallRecord(call_id="r.2", name="refund", status="refused", code="approval_denied", line=2, duration=1.0)
LOST = CallRecord(call_id="r.4", name="mail", status="unknown", code="interrupted", line=4, duration=0.5)
BROKEN = CallRecord(call_id="r.5", name="mail", status="failed", code="tool_raised", line=5, duration=0.5)
ERROR = ErrorInfo(
    code="APPROVAL_DENIED", message="nobody approved", hint="ask first", line=2, data={"code": "approval_denied"}
)


def succeeded(value: Any = None, output: str = "") -> RunResult:
    return RunResult(
        success=True, value=value, stats=STATS, output=output, calls=(READ,), status="succeeded", run_id="r"
    )


def failed(*calls: CallRecord) -> RunResult:
    return RunResult(success=False, error=ERROR, stats=STATS, calls=calls, status="failed", run_id="r")


def test_the_document_of_a_success_is_complete() -> None:
    assert report.document(succeeded({"a": [1]}, "hi\n"), {}) == {
        "status": "succeeded",
        "value": {"a": [1]},
        "error": None,
        "stats": {
            "tool_call_count": 2,
            "global_call_count": 0,
            "duration": 1.5,
            "approval_wait": 1.0,
            "output_bytes": 3,
            "started_at": 100.0,
        },
        "output": "hi\n",
        "calls": [
            {
                "call_id": "r.1",
                "name": "list",
                "status": "succeeded",
                "code": None,
                "line": 1,
                "duration": 0.25,
                "flags": (),
                "reason": None,
            }
        ],
    }


def test_the_document_of_a_failure_has_the_error_and_why_calls_were_denied() -> None:
    document = report.document(failed(READ, DENIED), {"r.2": "denied by you"})
    assert document["status"] == "failed"
    assert document["error"] == {
        "code": "APPROVAL_DENIED",
        "message": "nobody approved",
        "hint": "ask first",
        "name": None,
        "line": 2,
        "issues": [],
        "data": {"code": "approval_denied"},
    }
    assert [call["reason"] for call in document["calls"]] == [None, "denied by you"]


def test_a_refused_command_has_a_document_of_the_same_shape() -> None:
    document = report.refused_document(ErrorInfo(code="bad_config", message="no"))
    assert document.keys() == report.document(succeeded(), {}).keys()
    assert (document["status"], document["error"]["code"]) == ("failed", "bad_config")


def test_without_printed_text_standard_output_is_the_value_alone() -> None:
    assert report.result_text(succeeded({"a": 1})) == '{"a": 1}\n'
    assert report.result_text(succeeded()) == "null\n"


def test_a_script_that_only_prints_has_no_null_below_its_text() -> None:
    assert report.result_text(succeeded(None, "hi\n")) == "│ hi\n"


def test_printed_text_stands_behind_a_bar_so_that_it_cannot_pass_for_the_value() -> None:
    text = report.result_text(succeeded(7, 'one\n\n{"a": 1}\ttab\x1b[2J\rover\n'))
    assert text == '│ one\n│\n│ {"a": 1}\ttab\\x1b[2J\\rover\n7\n'


def test_a_failed_run_has_no_value_on_standard_output() -> None:
    assert report.result_text(failed()) == ""


def test_statistics_are_one_line() -> None:
    line = str(report.statistics(failed(READ, DENIED, LOST)))
    assert line == "failed  2 calls · 1.5 s · 1.0 s of it waiting for approval · 1 refused · 1 unknown"


def test_a_decision_that_took_no_time_is_no_waiting() -> None:
    result = replace(succeeded(), stats=replace(STATS, approval_wait=0.01))
    assert str(report.statistics(result)) == "succeeded  2 calls · 1.5 s"


def printed_error(error: ErrorInfo, source: str = "a\n  b = 1\n") -> str:
    console, text = recorded()
    report.print_error(console, error, source.splitlines())
    return text.getvalue()


def test_an_error_says_code_line_source_and_fix() -> None:
    assert printed_error(ERROR) == (
        "error APPROVAL_DENIED at line 2: nobody approved\n     2 │ b = 1\n  fix: ask first\n"
    )


def test_an_error_lists_the_issues_that_its_message_leaves_out() -> None:
    issues: tuple[Issue, ...] = (
        {"path": "a.b", "message": "is missing", "code": "m"},
        {"path": "", "message": "[bold]x", "code": "t"},
    )
    error = ErrorInfo(code="invalid_input", message="does not fit: a.b: is missing; and 1 more", issues=issues)
    assert printed_error(error) == (
        "error invalid_input: does not fit: a.b: is missing; and 1 more\n       • arguments: [bold]x\n"
    )


def test_long_errors_wrap_between_words_on_a_terminal_only() -> None:
    error = ErrorInfo(code="X", message="word " * 40)
    assert printed_error(error).count("\n") == 1
    console, text = recorded(terminal=True)
    report.print_error(console, error)
    assert text.getvalue().count("\n") == 3
    assert "wo\n" not in text.getvalue()


def test_a_line_that_the_script_does_not_have_is_not_shown() -> None:
    assert printed_error(ErrorInfo(code="X", message="m", line=99)) == "error X at line 99: m\n"


def test_errors_cannot_move_the_cursor() -> None:
    text = printed_error(
        ErrorInfo(code="X\x1b[2J", message="\x1b[2J", hint="\x1b[2J", line=1, name="\x1b[2J"), source="\x1b[2J\n"
    )
    assert "\x1b" not in text
    assert text.count("\\x1b[2J") == 4


def test_an_exception_of_the_script_is_told_with_its_class() -> None:
    error = ErrorInfo(code="RUNTIME_ERROR", message="list index out of range", name="IndexError")
    assert printed_error(error) == "error RUNTIME_ERROR: IndexError: list index out of range\n"
    assert printed_error(replace(error, message="IndexError")) == "error RUNTIME_ERROR: IndexError\n"
    assert printed_error(replace(error, message="IndexError: x")) == "error RUNTIME_ERROR: IndexError: x\n"
    assert printed_error(replace(error, code="TOOL_ERROR")) == "error TOOL_ERROR: list index out of range\n"


def test_a_tools_own_exception_is_in_no_document() -> None:
    call = replace(BROKEN, cause=ValueError("secret"))
    (fields,) = report.document(failed(call), {})["calls"]
    assert fields.keys() == {"call_id", "name", "status", "code", "line", "duration", "flags", "reason"}


def test_a_denied_run_says_why() -> None:
    error = replace(ERROR, data={"code": "approval_denied", "call_id": "r.2"})
    told = report.with_reason(error, {"r.2": "no terminal"})
    assert (told.message, told.data["reason"]) == ("nobody approved: no terminal", "no terminal")
    assert report.with_reason(error, {"r.1": "no terminal"}) is error
    assert report.with_reason(replace(error, code="TIMEOUT"), {"r.2": "no terminal"}).message == "nobody approved"


@pytest.mark.parametrize(
    ("code", "hint", "typed"),
    [
        ("MEMORY_LIMIT_EXCEEDED", "less data, or raise memory_limit", "less data, or raise --memory"),
        ("MAX_TOOL_CALLS", "fewer calls, or raise max_tool_calls", "fewer calls, or raise --max-tool-calls"),
        ("TIMEOUT", "do less, or raise timeout", "do less, or raise --timeout"),
        ("RUNTIME_ERROR", "raise timeout", "raise timeout"),
        ("TIMEOUT", None, None),
    ],
)
def test_a_limit_is_named_as_it_is_typed(code: str, hint: str | None, typed: str | None) -> None:
    assert report.in_words_of_the_command(ErrorInfo(code=code, message="m", hint=hint)).hint == typed


@pytest.mark.parametrize(
    ("line", "message", "inputs", "hint"),
    [
        ("inputs['ids']", "KeyError: 'ids'", [], "pass --arg ids=VALUE; of inputs there are none"),
        ('x = inputs["ids"][0]', "'ids'", ["a", "b"], "pass --arg ids=VALUE; of inputs there is a, b"),
        ("inputs['ids']['a']", "'a'", ["ids"], None),
        ("inputs['ids']['ids']", "'ids'", ["ids"], None),
        ("other['ids']", "'ids'", [], None),
    ],
)
def test_an_input_that_nobody_gave_is_asked_for(line: str, message: str, inputs: list[str], hint: str | None) -> None:
    error = ErrorInfo(code="RUNTIME_ERROR", message=message, name="KeyError", line=1)
    assert report.with_missing_input(error, [line], inputs).hint == hint
    assert report.with_missing_input(replace(error, line=None), [line], inputs).hint is None
