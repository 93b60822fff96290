"""A call that somebody has to approve whatever its tool says, since a policy doubts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ringfence.contract.approvers import any_of
from ringfence.gate.approval import approver, both
from ringfence.gate.decisions import Panel
from ringfence.ports import ApprovalRequest, Edit, Outcome, Reject, Respond
from tests.gate.kit import ORIGIN, Trace, gate, pay, run, tool, verdict

WHY = "data was read, and then something was sent"


class Desk:
    """An approval handler that remembers what it was asked."""

    def __init__(self, answer: Any = True) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str | None]] = []

    def __call__(self, request: ApprovalRequest) -> Any:
        self.asked.append((request.tool, request.reason))
        return self.answer


def called(
    *, approval: Any = "auto", approve: Any = None, ask: str | None = WHY, args: Any = None, **options: Any
) -> tuple[Outcome, list[str]]:
    """One call, and the types of its events."""

    async def body() -> tuple[Outcome, list[str]]:
        of = gate(tool(pay, approval=approval, **options), approve=approve)
        of.start()
        trace = Trace(of)
        outcome = await of.call("pay", {"cents": 5} if args is None else args, origin=ORIGIN, ask=ask)
        await of.aclose()
        return outcome, trace.types

    return run(body)


@pytest.mark.parametrize("approval", ["auto", "human"])
def test_the_gates_handler_is_asked_once_with_the_reason(approval: str) -> None:
    desk = Desk()
    outcome, events = called(approval=approval, approve=desk)
    assert verdict(outcome) == ("succeeded", None, 1)
    assert desk.asked == [("pay", WHY)]
    assert events == ["approval.required", "approval.granted", "tool.called", "tool.completed"]


def test_without_a_reason_the_tools_own_word_counts() -> None:
    desk = Desk(False)
    outcome, events = called(approve=desk, ask=None)
    assert (verdict(outcome), desk.asked) == (("succeeded", None, 1), [])
    assert events == ["tool.called", "tool.completed"]
    assert verdict(called(approval="human", approve=desk, ask=None)[0]) == ("refused", "approval_denied", 0)
    assert desk.asked == [("pay", None)]


def test_an_empty_reason_is_one_too() -> None:
    assert verdict(called(ask="")[0]) == ("refused", "approval_denied", 0)


@pytest.mark.parametrize(("answer", "expected"), [(True, "succeeded"), (False, "refused")])
def test_without_a_handler_of_the_gate_the_tools_own_callback_decides(answer: bool, expected: str) -> None:
    desk = Desk(answer)
    assert called(approval=desk)[0].status == expected
    assert desk.asked == [("pay", WHY)]


@pytest.mark.parametrize("approval", ["auto", "human"])
def test_without_a_handler_it_is_denied(approval: Any) -> None:
    outcome, events = called(approval=approval)
    assert verdict(outcome) == ("refused", "approval_denied", 0)
    assert outcome.error is not None
    assert dict(outcome.error.data) == {"reason": "no_handler"}
    assert events == ["approval.required", "approval.denied", "tool.rejected"]


@pytest.mark.parametrize(
    ("own", "gates", "expected"),
    [
        (True, True, ("succeeded", None, 1)),
        (True, False, ("refused", "approval_denied", 0)),
        (False, True, ("refused", "approval_denied", 0)),
        (False, False, ("refused", "approval_denied", 0)),
    ],
)
def test_a_callback_of_the_tool_has_to_agree(own: bool, gates: bool, expected: tuple[str, str | None, int]) -> None:
    first, second = Desk(own), Desk(gates)
    assert verdict(called(approval=first, approve=second)[0]) == expected
    assert {*first.asked, *second.asked} == {("pay", WHY)}


def test_one_handler_in_both_places_is_asked_once() -> None:
    desk = Desk()
    assert verdict(called(approval=desk, approve=desk)[0]) == ("succeeded", None, 1)
    assert desk.asked == [("pay", WHY)]


def test_of_several_handlers_of_the_gate_any_may_approve() -> None:
    assert verdict(called(approve=[Desk(False), Desk(True)])[0]) == ("succeeded", None, 1)


def test_it_may_be_answered_edited_and_rejected_like_any_other() -> None:
    assert called(approve=Desk(Respond("instead")))[0].value == "instead"
    edited, _ = called(approve=Desk(Edit({"cents": 1})))
    assert (edited.status, edited.edited) == ("succeeded", {"cents": 1})
    rejected, _ = called(approve=Desk(Reject("not today")))
    assert rejected.error is not None
    assert "not today" in rejected.error.message


def test_nobody_is_asked_about_a_call_that_cannot_be() -> None:
    desk = Desk()
    assert verdict(called(approve=desk, args={"cents": "many"})[0]) == ("refused", "invalid_input", 0)
    assert desk.asked == []


def test_what_was_approved_is_retried_and_takes_turns_like_any_other_call() -> None:
    attempts: list[int] = []

    def flaky(value: Any) -> str:
        attempts.append(1)
        if len(attempts) < 2:
            raise ValueError
        return "paid"

    async def body() -> Outcome:
        of = gate(tool(flaky, retries=1, max_concurrency=1), approve=Desk())
        outcome = await of.call("pay", {"cents": 5}, origin=ORIGIN, ask=WHY)
        await of.aclose()
        return outcome

    assert verdict(run(body)) == ("succeeded", None, 2)


# two that have to agree


def members(*handlers: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    return handlers


def test_two_approvers_become_one_whose_parts_all_approve() -> None:
    a, b, c = Desk(), Desk(), Desk()
    made = both(approver(a, "a"), approver(any_of(b, c), "b"))
    assert tuple(member.handler for member in made.members) == members(a, b, c)
    assert made.tree == Panel("all_of", (0, Panel("any_of", (1, 2))))


def test_a_handler_of_both_keeps_its_number() -> None:
    a, b = Desk(), Desk()
    made = both(approver(any_of(a, b), "a"), approver(any_of(b, a), "b"))
    assert tuple(member.handler for member in made.members) == members(a, b)
    assert made.tree == Panel("all_of", (Panel("any_of", (0, 1)), Panel("any_of", (1, 0))))


def test_the_same_approver_twice_is_one() -> None:
    desk = approver(Desk(), "a")
    assert both(desk, desk) is desk
