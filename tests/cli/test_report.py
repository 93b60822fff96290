"""A finished run, told to a person or to a program (`cli.report`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ringfence.cli import report
from ringfence.enclave.results import CallRecord, RunResult, RunStats
from ringfence.errors import ErrorInfo, Issue
from tests.cli.consoles import recorded

STATS = RunStats(tool_call_count=2, duration=1.5, approval_wait=1.0, output_bytes=3, started_at=100.0)
READ = CallRecord(call_id="r.1", name="list", status="succeeded", code=None, line=1, duration=0.25)
DENIED = CallRecord(call_id="r.2", name="refund", status="refused", code="approval_denied", line=2, duration=1.0)
WRITE = CallRecord(call_id="r.3", name="refund", status="succeeded", code=None, line=3, duration=0.5)
LOST = CallRecord(call_id="r.4", name="mail", status="unknown", code="interrupted", line=4, duration=0.5)
BROKEN = CallRecord(call_id="r.5", name="mail", status="failed", code="tool_raised", line=5, duration=0.5)
ERROR = ErrorInfo(
    code="APPROVAL_DENIED", message="nobody approved", hint="ask first", line=2, data={"code": "approval_denied"}
)
EFFECTS: dict[str, Any] = {"list": "read", "refund": "write", "mail": None}


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


def already_ran(*calls: CallRecord) -> str:
    console, text = recorded(width=120)
    report.print_already_ran(console, calls, EFFECTS)
    return text.getvalue()


def test_what_already_ran_names_each_write_and_counts_reads() -> None:
    assert already_ran(READ, DENIED, WRITE, LOST, BROKEN) == (
        "  already ran: 1 read\n"
        "    done, not undone  refund  line 3\n"
        "    may have happened, check it before you run this again  mail  line 4\n"
        "    tried, failed  mail  line 5\n"
    )


def test_what_already_ran_may_be_reads_only_or_nothing() -> None:
    assert already_ran(READ) == "  already ran: 1 read, no write\n"
    assert already_ran(DENIED) == "  already ran: nothing\n"
