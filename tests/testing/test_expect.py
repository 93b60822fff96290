"""Assertions compare codes, say what there was instead, and refuse codes that do not exist."""

from __future__ import annotations

from typing import Any

import pytest

import ringfence as rf
from ringfence.errors import CODES, ErrorInfo, exception_for
from ringfence.testing.expect import assert_outcome, raises


def outcome(status: Any, code: str | None = None, **fields: Any) -> rf.Outcome:
    error = None if code is None else ErrorInfo(code=code, message="the text", hint="the fix")
    return rf.Outcome(status=status, error=error, tool="pay", call_id="c-1", **fields)


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_error_with_the_code_is_caught_and_kept(code: str) -> None:
    error = exception_for(ErrorInfo(code=code, message="the text"))
    with raises(code) as caught:
        raise error
    assert caught.value is error


def test_another_code_fails_and_says_which_it_was() -> None:
    error = rf.Refusal("the text", code="approval_denied")
    with pytest.raises(AssertionError) as caught, raises("invalid_input"):
        raise error
    assert str(caught.value) == "expected an error with the code invalid_input, and got approval_denied: the text"
    assert caught.value.__cause__ is error


def test_no_error_fails() -> None:
    expected = raises("invalid_input")
    with pytest.raises(AssertionError, match="the code invalid_input, and nothing was raised"), expected:
        pass
    with pytest.raises(AssertionError, match="has been raised yet"):
        _ = expected.value


def test_errors_that_are_not_of_this_library_pass_through() -> None:
    with pytest.raises(KeyError), raises("tool_raised"):
        raise KeyError


@pytest.mark.parametrize(
    ("code", "hint"), [("aproval_denied", "did you mean 'approval_denied'?"), ("xyz", "the codes are aborted, ")]
)
def test_a_code_that_does_not_exist_is_an_error_of_the_test(code: str, hint: str) -> None:
    for wrong in (lambda: raises(code), lambda: assert_outcome(outcome("succeeded"), code=code)):
        with pytest.raises(rf.ConfigError, match="no code") as caught:
            wrong()
        assert (caught.value.hint or "").startswith(hint)


@pytest.mark.parametrize("expected", [{"status": "done"}, {"status": "succeeded", "code": "tool_raised"}])
def test_an_expectation_that_cannot_be_met_is_an_error_of_the_test(expected: Any) -> None:
    with pytest.raises(rf.ConfigError):
        assert_outcome(outcome("succeeded"), **expected)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (outcome("succeeded", value=7), {}),
        (outcome("succeeded", value=7), {"status": "succeeded"}),
        (outcome("unknown", "tool_timeout"), {"status": "unknown"}),
        (outcome("unknown", "tool_timeout"), {"code": "tool_timeout"}),
        (outcome("unknown", "tool_timeout"), {"status": "unknown", "code": "tool_timeout"}),
    ],
)
def test_an_outcome_as_expected_passes(found: rf.Outcome, expected: Any) -> None:
    assert_outcome(found, **expected)


@pytest.mark.parametrize(
    ("found", "expected", "text"),
    [
        (
            outcome("succeeded", value={"x": "y" * 80}, attempts=1),
            {"code": "tool_timeout"},
            f"expected an outcome with the code tool_timeout, and got succeeded: {{'x': '{'y' * 52}…\n"
            "  call c-1 of pay, 1 attempt, 0 s",
        ),
        (
            outcome("failed", "tool_raised", attempts=3, duration=1.25),
            {},
            "expected succeeded, and got failed, tool_raised: the text\n  fix: the fix\n"
            "  call c-1 of pay, 3 attempts, 1.25 s",
        ),
        (
            outcome("failed", "tool_timeout"),
            {"status": "unknown", "code": "tool_timeout"},
            "expected unknown with the code tool_timeout, and got failed, tool_timeout: the text\n  fix: the fix\n"
            "  call c-1 of pay, 0 attempts, 0 s",
        ),
    ],
)
def test_an_outcome_not_as_expected_is_described(found: rf.Outcome, expected: Any, text: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_outcome(found, **expected)
    assert str(caught.value) == text


def test_the_tools_own_exception_is_the_cause() -> None:
    cause = OSError("disk full")
    with pytest.raises(AssertionError, match=r"raised: OSError\('disk full'\)") as caught:
        assert_outcome(outcome("failed", "tool_raised", cause=cause))
    assert caught.value.__cause__ is cause
