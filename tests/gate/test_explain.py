"""What a model is told: code, one sentence, the smallest fix, and nothing that it must not see."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.errors import ErrorInfo, Issue, SandboxFault, ToolError, ToolTimeoutError
from ringfence.gate import explain
from ringfence.values import ValueRefused


def issue(path: str, message: str = "should be a number") -> Issue:
    return Issue(path=path, message=message, code="int_type")


# --- names ---


def test_an_unknown_name_gets_the_nearest_one() -> None:
    assert explain.unknown_tool("lookup_ordr", ["send_mail", "lookup_order"]) == ErrorInfo(
        code="unknown_tool", message="no tool is named 'lookup_ordr'", hint="did you mean 'lookup_order'?"
    )


def test_a_name_like_no_other_gets_the_list() -> None:
    assert explain.unknown_tool("zzz", ["b", "a"]).hint == "the tools are a, b"
    assert explain.unknown_tool("zzz", []).hint == "there are no tools"
    many = [f"tool_{number:03}" for number in range(50)]
    assert (explain.unknown_tool("zzz", many).hint or "").endswith("tool_019, …")


@pytest.mark.parametrize("name", [None, 7, b"pay", ["pay"], object(), type("pay", (str,), {})("pay")])
def test_a_name_that_is_no_text_is_said_to_be_none(name: Any) -> None:
    error = explain.unknown_tool(name, ["pay"])
    assert (error.code, error.message) == ("unknown_tool", f"a tool's name is text, not {type(name).__name__}")


def test_a_name_is_shown_short_and_writable() -> None:
    assert explain.shown_name("x" * 1000) == "x" * 64 + "…"
    assert explain.shown_name("\ud800") == "?"
    assert explain.shown_name(None) == "<NoneType>"


@pytest.mark.parametrize("name", ["Not an identifier: secret", "x" * 65])
def test_a_class_with_a_made_up_name_is_an_exception(name: str) -> None:
    assert explain.class_name(type(name, (Exception,), {})()) == "Exception"
    assert explain.class_name(KeyError()) == "KeyError"


# --- arguments ---


def test_invalid_arguments_are_listed_with_their_places() -> None:
    assert explain.invalid_input("pay", [issue("cents"), issue("", "not an object")]) == ErrorInfo(
        code="invalid_input",
        message="pay: the arguments do not fit: cents: should be a number; arguments: not an object",
        hint="correct cents, the arguments and call again",
        issues=(issue("cents"), issue("", "not an object")),
    )


def test_many_issues_are_cut_in_the_text_only() -> None:
    error = explain.invalid_input("pay", [issue(f"f{number}") for number in range(9)])
    assert error.message.endswith("f4: should be a number; and 4 more")
    assert len(error.issues) == 9


def test_an_empty_list_of_issues_is_still_a_refusal() -> None:
    error = explain.invalid_input("pay", [])
    assert (error.code, error.message) == ("invalid_input", "pay: the arguments do not fit: no reason given")


@pytest.mark.parametrize(("too_large", "code"), [(True, "too_large"), (False, "not_json")])
def test_what_is_no_json_is_an_issue_at_its_place(too_large: bool, code: str) -> None:
    error = explain.not_json("pay", ValueRefused("items[3]", "a set is not a JSON value", too_large=too_large))
    assert error.issues == (Issue(path="items[3]", message="a set is not a JSON value", code=code),)


# --- refusals ---


def test_a_missing_sandbox_names_tool_and_fix() -> None:
    error = explain.no_sandbox("pay")
    assert error.code == "sandbox_required"
    assert "'pay'" in error.message
    assert "rf.local(unsafe=True)" in (error.hint or "")


REASONS = [
    "denied",
    "no_handler",
    "handler_failed",
    "not_a_bool",
    "disagreed",
    "changed",
    "invalid_edit",
    "invalid_response",
]


@pytest.mark.parametrize("reason", REASONS)
def test_a_denial_says_why(reason: str) -> None:
    error = explain.not_approved("pay", "approval_denied", reason, "", None)
    assert (error.code, error.data) == ("approval_denied", {"reason": reason})


def test_every_denial_reads_differently() -> None:
    texts = {explain.not_approved("pay", "approval_denied", reason, "", None).message for reason in REASONS}
    assert len(texts) == len(REASONS)


def test_what_an_approver_said_reaches_the_caller_bounded_and_printable() -> None:
    def message(said: str) -> str:
        return explain.not_approved("pay", "approval_denied", "denied", said, None).message

    assert message("ask Bob\nfirst") == "pay: the call was not approved: ask Bob\nfirst"
    assert message("\x1b[2J\udcff") == "pay: the call was not approved: ?[2J?"
    assert len(message("x" * 10_000)) == explain.MAX_TEXT + len(message("")) + len(": ")


def test_an_expiry_names_its_seconds() -> None:
    error = explain.not_approved("pay", "approval_expired", "", "", 2.5)
    text = "pay: no decision came within 2.5 s"
    assert error == ErrorInfo(code="approval_expired", message=text, data={"reason": "expired"})


# --- ends from outside ---


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("aborted", "pay: aborted by its caller before it ran"),
        ("interrupted", "pay was interrupted"),
    ],
)
def test_who_ended_it_is_said(code: str, text: str) -> None:
    assert explain.stopped("pay", code, "failed") == ErrorInfo(code=code, message=text)


def test_doubt_is_said() -> None:
    late = ToolTimeoutError("slow", code="tool_timeout")
    fault = SandboxFault("gone", code="sandbox_crashed")
    hints = [
        explain.stopped("pay", "interrupted", "unknown").hint,
        failed(late, "tool_timeout", "unknown").hint,
        failed(fault, "sandbox_crashed", "unknown").hint,
    ]
    assert [hint for hint in hints if "may have taken effect" not in (hint or "")] == []


def test_a_time_that_was_up_is_named_with_its_value_and_its_option() -> None:
    assert explain.too_slow("pay", 0.5, 2.0) == "pay took longer than 0.5 s, the timeout of one attempt"
    text = "pay took longer than 2 s, the total_timeout of all its attempts"
    assert explain.too_slow("pay", None, 2.0) == text
    assert failed(ToolTimeoutError(text, code="tool_timeout"), "tool_timeout") == ErrorInfo(
        code="tool_timeout", message=text
    )


# --- failures ---


def failed(cause: BaseException, code: str = "tool_raised", status: Any = "failed") -> ErrorInfo:
    return explain.failed("pay", code, status, cause, "c-1")


def test_an_exception_shows_as_its_class_and_the_calls_id() -> None:
    error = failed(ConnectionError("postgres://admin:secret@db"))
    assert error == ErrorInfo(
        code="tool_raised", message="pay raised ConnectionError (call c-1)", name="ConnectionError"
    )


def test_a_tools_own_text_passes_with_its_code_and_data() -> None:
    error = failed(ToolError("no such order", code="not_found", data={"order_id": 7}))
    assert error == ErrorInfo(
        code="tool_raised",
        message="no such order",
        name="ToolError",
        data={"order_id": 7, "code": "not_found"},
    )


def test_a_tools_own_text_is_bounded_and_writable() -> None:
    assert len(failed(ToolError("x" * 10_000)).message) == explain.MAX_TEXT
    assert failed(ToolError("\udcff")).message == "?"
    assert failed(ToolError("")).message == "pay failed"


def test_data_that_cannot_be_written_is_left_out_and_says_so() -> None:
    assert failed(ToolError("x", data={"when": {1, 2}})).data == {"omitted": "when: a set is not a JSON value"}


class Rude(ToolError):
    """Follows none of the rules."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Unreadable(dict[str, Any]):
    def keys(self) -> Any:
        raise RuntimeError("secret")

    __iter__ = keys


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({}, {}),
        ({"text": 7, "code": 7, "data": [1]}, {}),
        ({"text": "", "data": {1: 2}}, {"omitted": "value: an object key is a int, not text"}),
        ({"data": Unreadable(a=1)}, {"omitted": "reading it raised RuntimeError"}),
    ],
)
def test_a_rude_exception_is_still_explained(fields: dict[str, Any], data: dict[str, Any]) -> None:
    error = failed(Rude(**fields))
    assert (error.code, error.message, error.data) == ("tool_raised", "pay failed", data)


def test_an_outcome_in_doubt_is_called_so() -> None:
    error = failed(ConnectionResetError("secret"), "outcome_unknown", "unknown")
    assert error.message == "pay: outcome unknown, not retried (ConnectionResetError, call c-1)"
    assert "find out before calling it again" in (error.hint or "")


def test_an_outcome_in_doubt_after_repetitions_says_how_many() -> None:
    error = explain.failed("pay", "outcome_unknown", "unknown", ConnectionResetError(), "c-1", 3)
    assert error.message == "pay: outcome unknown, after 3 attempts (ConnectionResetError, call c-1)"


def test_a_failing_fallback_after_doubt_keeps_the_warning() -> None:
    assert "may have taken effect" in (failed(ValueError("x"), "tool_raised", "unknown").hint or "")


def test_a_fault_brings_its_own_sentence() -> None:
    fault = SandboxFault("no thread left", code="sandbox_unavailable", hint="make it async")
    assert failed(fault, "sandbox_unavailable") == ErrorInfo(
        code="sandbox_unavailable", message="pay: no thread left", name="SandboxFault", hint="make it async"
    )


def test_an_error_of_ours_that_a_tool_raised_is_its_own_failure() -> None:
    error = failed(ToolTimeoutError("secret", code="tool_timeout"))
    assert (error.code, error.message) == ("tool_raised", "pay raised ToolTimeoutError (call c-1)")


def test_a_result_that_does_not_fit_says_where_and_that_the_tool_ran() -> None:
    error = failed(ValueRefused("total", "not a finite number"), "bad_result")
    assert error.message == "pay ran to its end, and its result was refused: total: not a finite number"
    assert error.hint == "in the tool: replace NaN and infinities, e.g. by None"
    assert failed(ValueRefused("total", "a Duck is not a JSON value"), "bad_result").hint is None
    doubtful = failed(ValueRefused("total", "a Duck is not a JSON value"), "bad_result", "unknown")
    assert doubtful.hint == "do not call it again for the same effect"
    large = failed(ValueRefused("", "too long", too_large=True), "bad_result", "unknown")
    assert large.hint == "return less: filter or page in the tool; do not call it again for the same effect"
    assert (
        failed(ValueError("secret"), "bad_result").message
        == "pay ran to its end, and its result was refused: its schema raised ValueError"
    )
