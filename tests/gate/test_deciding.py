"""Several approvers, and decisions other than yes and no, seen from outside; and calls that were aborted before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ringfence.contract.approvers import all_of, veto
from ringfence.errors import ConfigError, ToolApprovalError
from ringfence.gate.signals import AbortSignal
from ringfence.ports import ApprovalRequest, Edit, Reject, Respond
from tests.gate.kit import ARGS, ORIGIN, Amount, failing, gate, outcome_of, pay, run, tool, verdict


def recorder(asked: list[object]) -> Callable[[ApprovalRequest], bool]:
    """Approves, and remembers that it was asked."""

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    return approve


def approves(request: ApprovalRequest) -> bool:
    return True


def denies(request: ApprovalRequest) -> bool:
    return False


async def breaks(request: ApprovalRequest) -> bool:
    raise ValueError


@pytest.mark.parametrize(
    ("approve", "status"),
    [
        ([denies, approves], "succeeded"),
        ((breaks, approves), "succeeded"),
        ([approves], "succeeded"),
        ([denies, breaks], "refused"),
        ([all_of(denies, approves), denies], "refused"),
        ([all_of(denies, approves), approves], "succeeded"),
        (veto(denies, approves), "refused"),
        ([], "refused"),
    ],
)
def test_of_several_approvers_any_may_approve_unless_they_say_otherwise(approve: Any, status: str) -> None:
    assert outcome_of(tool(pay, approval="human"), approve=approve)[0].status == status


def test_the_same_approver_twice_is_one() -> None:
    asked: list[object] = []
    approve = recorder(asked)
    assert outcome_of(tool(pay, approval="human"), approve=[approve, approve])[0].status == "succeeded"
    assert len(asked) == 1


def test_nobody_among_no_approvers_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    gate(tool(pay, approval="human"), approve=[]).start()
    assert "pay needs approval" in caplog.text


@pytest.mark.parametrize("approve", ["yes", b"yes", [7], [approves, lambda: True], {"who": approves}])
def test_what_is_no_approver_is_found_while_building(approve: Any) -> None:
    with pytest.raises(ConfigError):
        gate(tool(pay), approve=approve)


def test_an_edit_runs_in_place_of_the_callers_arguments_and_is_said_to_be_one() -> None:
    def approve(request: ApprovalRequest) -> Edit:
        return Edit({"cents": 3, "currency": "USD"})

    outcome, trace = outcome_of(tool(pay, approval="human"), approve=approve)
    assert (outcome.value, outcome.edited) == ("paid 3 USD", {"cents": 3, "currency": "USD"})
    assert trace.types == ["approval.required", "approval.granted", "tool.called", "tool.completed"]
    assert [event.meta.get("edited") for event in trace.events] == [None, True, None, None]
    assert "USD" not in repr(trace.events)


def test_an_edit_is_told_also_when_the_tool_then_fails() -> None:
    outcome, _ = outcome_of(tool(failing(9, ValueError()), approval=lambda request: Edit({"cents": 3})))  # type: ignore[misc]
    assert (verdict(outcome), outcome.edited) == (("failed", "tool_raised", 1), {"cents": 3})


@pytest.mark.parametrize(
    ("decision", "reason"),
    [(Edit({"cents": "3"}), "invalid_edit"), (Edit({}), "invalid_edit"), (Respond(object()), "invalid_response")],
)
def test_a_decision_that_does_not_fit_denies(decision: Any, reason: str) -> None:
    outcome, trace = outcome_of(tool(pay, approval=lambda request: decision))  # type: ignore[misc]
    assert verdict(outcome) == ("refused", "approval_denied", 0)
    assert outcome.error is not None
    assert (outcome.error.data, trace.events[1].meta["reason"]) == ({"reason": reason}, reason)


def test_an_approver_may_answer_in_the_tools_place_and_nothing_runs() -> None:
    outcome, trace = outcome_of(tool(pay, approval=lambda request: Respond("not today")))  # type: ignore[misc]
    assert (verdict(outcome), outcome.value, outcome.unwrap()) == (("succeeded", None, 0), "not today", "not today")
    assert (trace.types, trace.seed()) == (["approval.required", "approval.answered"], ["approval.required"])
    assert trace.events[1].meta["status"] == "succeeded"
    assert "today" not in repr(trace.events)


def test_why_it_was_rejected_is_for_the_caller_and_for_no_event() -> None:
    outcome, trace = outcome_of(tool(pay, approval=lambda request: Reject("ask Bob first")))  # type: ignore[misc]
    assert verdict(outcome) == ("refused", "approval_denied", 0)
    assert outcome.error is not None
    assert (outcome.error.message, outcome.error.data) == (
        "pay: the call was not approved: ask Bob first",
        {"reason": "denied"},
    )
    assert "Bob" not in repr(trace.events)
    assert trace.events[-1].meta["status"] == "refused"


# --- aborted before the call ---


@pytest.mark.parametrize(
    ("when", "expected", "seen", "asked"),
    [("refuse", ("refused", "aborted", 0), [], 0), ("run", ("unknown", "outcome_unknown", 1), [True], 1)],
)
def test_a_call_that_is_aborted_before_it_runs_is_refused_or_runs_once_and_sees_it(
    when: Any, expected: Any, seen: list[bool], asked: int
) -> None:
    async def body() -> None:
        signal, looks, requests = AbortSignal(), list[bool](), list[object]()
        signal.abort()

        async def execute(args: Amount, ctx: Any) -> None:
            looks.append(ctx.signal.aborted)
            ctx.signal.raise_if_aborted()

        of = gate(tool(execute, retries=3, approval="human"), approve=recorder(requests), when_aborted=when)
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=signal)
        assert (verdict(outcome), looks, len(requests)) == (expected, seen, asked)

    run(body)


def test_where_aborted_calls_run_a_decision_and_a_queue_are_waited_for_all_the_same() -> None:
    async def body() -> None:
        signal = AbortSignal()

        async def approve(request: ApprovalRequest) -> bool:
            signal.abort()
            await asyncio.sleep(0)
            return True

        of = gate(tool(pay, approval="human", max_concurrency=1), approve=approve, when_aborted="run")
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=signal)
        assert outcome.value == "paid 5 EUR"

    run(body)


# --- what the host finds ---


@pytest.mark.parametrize("together", [False, True])
def test_what_a_handler_raised_is_the_outcomes_cause_and_nobody_elses(
    together: bool, caplog: pytest.LogCaptureFixture
) -> None:
    error = ValueError("secret")

    async def broken(request: ApprovalRequest) -> bool:
        raise error

    approve = all_of(broken, approves) if together else broken
    outcome, trace = outcome_of(tool(pay, approval="human"), approve=approve)
    assert (verdict(outcome), outcome.cause) == (("refused", "approval_denied", 0), error)
    assert "secret" not in repr(outcome) + repr(trace.events) + caplog.text
    assert "broken of pay raised ValueError" in caplog.text
    with pytest.raises(ToolApprovalError) as caught:
        outcome.unwrap()
    assert caught.value.__cause__ is error


def test_a_denial_that_is_meant_has_no_cause() -> None:
    outcome, _ = outcome_of(tool(pay, approval=lambda request: False))  # type: ignore[misc]
    assert (verdict(outcome), outcome.cause) == (("refused", "approval_denied", 0), None)


def test_an_answer_that_the_others_refused_is_discarded() -> None:
    async def later() -> str:
        return "never awaited"

    unused = later()
    outcome, _ = outcome_of(
        tool(pay, approval="human"), approve=all_of(lambda request: Respond(unused), approves)  # type: ignore[misc]
    )  # fmt: skip
    assert verdict(outcome) == ("refused", "approval_denied", 0)
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        unused.send(None)
