"""A scripted approver answers in order, remembers what it was asked, and tells when the script does not fit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ringfence as rf
from ringfence.testing.approver import ScriptedApprover
from ringfence.testing.steps import After, never
from tests.testing.desk import Till, calls, ends

HOUR = 3600.0


def asked(*answers: Any, times: int | None = None, **options: Any) -> tuple[list[rf.Outcome], Till, ScriptedApprover]:
    till, approve = Till(approval="human"), ScriptedApprover(answers)
    return calls(till, times=len(answers) if times is None else times, approve=approve, **options), till, approve


def test_answers_come_in_order_and_questions_are_kept() -> None:
    outcomes, till, approve = asked(True, False, rf.Approve(), rf.Reject("too much"), rf.Edit({"cents": 70}))
    denied = ("refused", "approval_denied", 0)
    assert ends(outcomes) == [("succeeded", None, 1), denied, ("succeeded", None, 1), denied, ("succeeded", None, 1)]
    assert till.paid == [1, 3, 70]
    assert [request.arguments["cents"] for request in approve.requests] == [1, 2, 3, 4, 5]
    assert {request.tool for request in approve.requests} == {"pay"}
    approve.assert_exhausted()


def test_an_answer_may_stand_in_for_the_tool() -> None:
    outcomes, till, _ = asked(rf.Respond(9))
    assert (outcomes[0].unwrap(), till.paid) == (9, [])


@pytest.mark.parametrize("error", [OSError("down"), OSError])
def test_an_exception_is_raised_by_the_handler(error: Any) -> None:
    with pytest.raises(OSError):
        asyncio.run(ScriptedApprover([error])(_request()))
    outcomes, till, _ = asked(error)
    assert (ends(outcomes), till.paid) == ([("refused", "approval_denied", 0)], [])


def test_never_does_not_answer_until_the_question_expires() -> None:
    outcomes, till, approve = asked(never, approval_timeout=24 * HOUR)
    assert (ends(outcomes), till.paid) == ([("refused", "approval_expired", 0)], [])
    assert outcomes[0].duration == 24 * HOUR
    approve.assert_exhausted()


@pytest.mark.parametrize(("seconds", "code"), [(HOUR, None), (3 * HOUR, "approval_expired")])
def test_an_answer_may_take_its_time(seconds: float, code: str | None) -> None:
    outcomes, _, _ = asked(After(seconds, True), approval_timeout=2 * HOUR)
    assert outcomes[0].duration == min(seconds, 2 * HOUR)
    assert (outcomes[0].error.code if outcomes[0].error else None) == code


def test_what_is_no_decision_is_passed_on_as_it_is() -> None:
    outcomes, till, _ = asked("yes")
    assert (ends(outcomes), till.paid) == ([("refused", "approval_denied", 0)], [])


def test_a_question_too_many_is_rejected_and_fails_the_test() -> None:
    outcomes, till, approve = asked(True, times=2)
    text = "question 2, about pay, is one more than the test has answers (1)"
    assert outcomes[1].error is not None
    assert text in outcomes[1].error.message
    assert (till.paid, len(approve.requests)) == ([1], 2)
    with pytest.raises(AssertionError) as caught:
        approve.assert_exhausted()
    assert str(caught.value) == f"{text}\n  fix: add answers, or ask for fewer approvals"


def test_an_answer_too_many_fails_the_test() -> None:
    _, _, approve = asked(True, rf.Reject("x" * 100), never, times=1)
    with pytest.raises(AssertionError) as caught:
        approve.assert_exhausted()
    assert str(caught.value) == (
        f"2 of 3 answers are left, the first of them Reject(reason='{'x' * 44}…\n"
        "  fix: remove them, or look why nobody was asked"
    )


def test_the_block_checks_unless_it_has_failed_already() -> None:
    with (
        pytest.raises(AssertionError, match="1 of 1 answers are left, the first of them never"),
        ScriptedApprover([never]),
    ):
        pass
    with pytest.raises(KeyError), ScriptedApprover([never]):
        raise KeyError
    with ScriptedApprover([]):
        pass


def test_a_tool_may_bring_a_scripted_approver_of_its_own() -> None:
    approve = ScriptedApprover([True])
    assert ends(calls(Till(approval=approve))) == [("succeeded", None, 1)]
    approve.assert_exhausted()


def test_several_may_decide_together() -> None:
    yes, no = ScriptedApprover([True]), ScriptedApprover([rf.Reject("not I")])
    outcomes = calls(Till(approval=rf.all_of(yes, no)))
    assert ends(outcomes) == [("refused", "approval_denied", 0)]


def _request() -> rf.ApprovalRequest:
    return rf.ApprovalRequest(
        tool="pay",
        description="",
        input=None,
        arguments={},
        digest="",
        session_id="s",
        principal=None,
        call_id="c",
        run_id=None,
        line=None,
        effect=None,
    )
