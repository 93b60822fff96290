"""The values that pass between the parts, and what may stand in for a driver."""

from __future__ import annotations

from typing import Any, cast

import pytest

import ringfence as rf
from ringfence.errors import ErrorInfo
from ringfence.ports import Answer, Driver, InvalidInput, Outcome


def test_an_outcome_that_succeeded_unwraps_to_its_value() -> None:
    assert Outcome(status="succeeded", value=[1], tool="t", call_id="c").unwrap() == [1]


def test_an_outcome_that_failed_unwraps_to_an_exception_caused_by_the_tools_own() -> None:
    cause = KeyError("secret")
    error = ErrorInfo(code="tool_raised", message="t: KeyError")
    with pytest.raises(rf.ToolFailure) as raised:
        Outcome(status="failed", error=error, tool="t", call_id="c", cause=cause).unwrap()
    assert (raised.value.code, raised.value.__cause__) == ("tool_raised", cause)


def test_an_outcome_does_not_show_the_tools_own_exception() -> None:
    outcome = Outcome(status="failed", tool="t", call_id="c", cause=KeyError("secret"))
    assert "secret" not in repr(outcome)


def test_outcomes_are_equal_when_they_say_the_same() -> None:
    one = Outcome(status="failed", tool="t", call_id="c", cause=KeyError("a"))
    other = Outcome(status="failed", tool="t", call_id="c", encoded=b"1")
    assert (one == other, hash(one) == hash(other)) == (True, True)
    assert one != Outcome(status="unknown", tool="t", call_id="c")
    assert one != "t"


def test_an_outcome_cannot_be_changed() -> None:
    outcome = Outcome(status="failed", tool="t", call_id="c")
    with pytest.raises(AttributeError):
        cast("Any", outcome).status = "succeeded"


def test_an_answer_is_a_success_that_says_nothing_until_told_otherwise() -> None:
    answer = Answer()
    assert (answer.status, answer.value, answer.error, answer.terminal) == ("succeeded", b"null", None, False)


def test_the_local_driver_is_a_driver_and_a_plain_object_is_none() -> None:
    assert isinstance(rf.local(unsafe=True), Driver)
    assert not isinstance(object(), Driver)


def test_invalid_input_counts_its_issues_and_keeps_them() -> None:
    issue = {"path": "a", "message": "missing", "code": "missing"}
    error = InvalidInput([cast("Any", issue)])
    assert (str(error), error.issues) == ("1 issue(s)", (issue,))
