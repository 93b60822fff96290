"""What a run leaves to look after (`cli.aftermath`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ringfence.cli import aftermath
from ringfence.enclave.results import CallRecord
from ringfence.errors import ToolTimeoutError
from ringfence.values import ValueRefused
from tests.cli.consoles import recorded

READ = CallRecord(call_id="r.1", name="list", status="succeeded", code=None, line=1, duration=0.25)
DENIED = CallRecord(call_id="r.2", name="refund", status="refused", code="approval_denied", line=2, duration=1.0)
WRITE = CallRecord(call_id="r.3", name="refund", status="succeeded", code=None, line=3, duration=0.5)
LOST = CallRecord(call_id="r.4", name="mail", status="unknown", code="interrupted", line=4, duration=0.5)
BROKEN = CallRecord(call_id="r.5", name="mail", status="failed", code="tool_raised", line=5, duration=0.5)
UNUSABLE = CallRecord(call_id="r.6", name="refund", status="unknown", code="bad_result", line=6, duration=0.5)
EFFECTS: dict[str, Any] = {"list": "read", "refund": "write", "mail": None}


def already_ran(*calls: CallRecord) -> str:
    console, text = recorded(width=120)
    aftermath.print_already_ran(console, calls, EFFECTS)
    return text.getvalue()


def test_what_already_ran_is_counted_by_effect_and_each_write_named() -> None:
    assert already_ran(READ, DENIED, WRITE, LOST, BROKEN, UNUSABLE) == (
        "  already ran: 1 read, 3 writes, 1 that may have happened\n"
        "    done, not undone  refund  line 3\n"
        "    may have happened, check it before you run this again  mail  line 4\n"
        "    tried, failed  mail  line 5\n"
        "    done, its result was unusable, not undone  refund  line 6\n"
    )


@pytest.mark.parametrize(
    ("calls", "first"),
    [
        ([READ], "1 read, no write"),
        ([WRITE], "no read, 1 write"),
        ([READ, READ, BROKEN], "2 reads, 1 write"),
        ([LOST], "no read, no write, 1 that may have happened"),
        ([DENIED], "nothing"),
    ],
)
def test_what_already_ran_may_be_of_one_kind_only(calls: list[CallRecord], first: str) -> None:
    assert already_ran(*calls).splitlines()[0] == f"  already ran: {first}"


def unknown(*calls: CallRecord) -> str:
    console, text = recorded(width=120)
    aftermath.print_unknown(console, calls)
    return text.getvalue()


def test_a_run_that_succeeded_says_why_its_exit_code_is_4() -> None:
    assert unknown(READ, LOST) == (
        "  exit code 4: the script succeeded, but of its calls\n"
        "    may have happened, check it before you run this again  mail  line 4\n"
        "  fix: await every call before the script ends; one that still runs then is cut off\n"
    )
    assert "fix" not in unknown(replace(LOST, code="tool_timeout"))
    assert unknown(READ, BROKEN) == ""


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def causes(*errors: BaseException | None) -> str:
    console, text = recorded(width=40)
    aftermath.print_causes(console, [replace(BROKEN, cause=error) for error in errors])
    return text.getvalue()


def test_why_a_tool_raised_is_one_line_with_its_place() -> None:
    (line,) = causes(raised(ValueError("no column 'emial'\n in the table"))).splitlines()
    assert line.startswith("tests/cli/test_aftermath.py:") or "/test_aftermath.py:" in line
    assert line.endswith(": ValueError: no column 'emial' in the table")


def test_equal_causes_are_counted() -> None:
    error = raised(KeyError("a"))
    assert causes(error, None, error).endswith(": KeyError: 'a'  (2 times)\n")


def test_what_ringfence_itself_raised_about_a_call_is_not_told_twice() -> None:
    assert causes(ToolTimeoutError("mail took longer than 2 s", code="tool_timeout")) == ""
    assert causes(ValueRefused("", "not what was declared")) == ""
    assert causes(ValueError("from C")) == "ValueError: from C\n"


def test_an_exception_cannot_move_the_cursor() -> None:
    assert "\x1b" not in causes(ValueError("\x1b[2J"))
