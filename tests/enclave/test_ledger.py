"""The gate object of a run, by table: numbers, budgets, turns, screening, and the error that latches."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.enclave.ledger import EXCESS_CALLS, Entry, Flood, Kind, Ledger, OutOfOrder, Refuse, Start
from ringfence.enclave.results import run_error
from ringfence.errors import ErrorInfo
from ringfence.limits import RunLimits, ValueBudget
from ringfence.policy.screen import ALLOWED, Judgement, Plan, Screen, Seen
from ringfence.policy.screening import Screening


def limits(**changes: Any) -> RunLimits:
    usual: dict[str, Any] = {
        "timeout": 1.0,
        "max_tool_calls": 3,
        "max_global_calls": 2,
        "max_iterations": None,
        "max_concurrent_calls": 2,
        "value": ValueBudget(size=100),
    }
    return RunLimits(**{**usual, **changes})


def call(number: int, kind: Kind = "tool", size: int = 0) -> Entry:
    return Entry(number=number, kind=kind, name=f"{kind}{number}", size=size)


def sent(ledger: Ledger, *calls: Entry) -> None:
    """Calls that arrive and wait."""
    for one in calls:
        assert ledger.arrive(one) is None
        ledger.queue(one)


def steps(ledger: Ledger, now: float = 0.0) -> list[str]:
    """What happens now, as words; a refusal ends the run as the session would have it."""
    found: list[str] = []
    while (step := ledger.next(now, writable=True)) is not None:
        match step:
            case Start(entry=entry, ask=ask):
                found.append(f"start {entry.name}" + f" after {ask}" * (ask is not None))
            case Refuse(entry=entry, error=error):
                found.append(f"{error.code} {entry.name}")
                ledger.latch(run_error(error.code, error.message))
    return found


@pytest.mark.parametrize("numbers", [[0], [2], [1, 1], [1, 3], [1, 2, 2]])
def test_numbers_count_up_from_one_over_both_kinds(numbers: list[int]) -> None:
    ledger = Ledger(limits())
    kinds: list[Kind] = ["tool", "function", "tool"]
    with pytest.raises(OutOfOrder, match="out of order"):
        sent(ledger, *(call(number, kind) for number, kind in zip(numbers, kinds, strict=False)))


def test_each_kind_has_its_own_budget() -> None:
    ledger = Ledger(limits(max_concurrent_calls=9))
    sent(ledger, call(1, "function"), call(2), call(3, "function"), call(4), call(5), call(6, "function"))
    assert steps(ledger) == [
        "start function1",
        "start tool2",
        "start function3",
        "start tool4",
        "start tool5",
        "global_limit function6",
    ]
    assert (ledger.made, ledger.counts) == (6, {"tool": 3, "function": 3})


def test_a_call_beyond_the_budget_is_refused_in_its_turn() -> None:
    ledger = Ledger(limits(max_concurrent_calls=1))
    sent(ledger, *(call(number) for number in range(1, 6)))
    turns: list[list[str]] = []
    for _ in range(4):
        turns.append(steps(ledger))
        ledger.finished(call(1))
    assert turns == [["start tool1"], ["start tool2"], ["start tool3"], ["limit_exceeded tool4"]]
    assert [entry.name for entry in ledger.drain()] == ["tool5"]


@pytest.mark.parametrize(("kind", "budget"), [("tool", 3), ("function", 2)])
def test_far_more_calls_than_allowed_are_a_flood(kind: Kind, budget: int) -> None:
    ledger = Ledger(limits())
    for number in range(1, budget + EXCESS_CALLS + 1):
        ledger.arrive(call(number, kind))
    with pytest.raises(Flood, match="flood"):
        ledger.arrive(call(budget + EXCESS_CALLS + 1, kind))


def test_a_budget_of_nothing_refuses_the_first_call() -> None:
    ledger = Ledger(limits(max_tool_calls=0, max_global_calls=0))
    sent(ledger, call(1, "function"))
    assert steps(ledger) == ["global_limit function1"]


def test_no_more_calls_run_at_once_than_allowed() -> None:
    ledger = Ledger(limits())
    sent(ledger, call(1), call(2, "function"), call(3))
    assert steps(ledger) == ["start tool1", "start function2"]
    ledger.finished(call(1))
    assert steps(ledger) == ["start tool3"]


def test_nothing_starts_while_the_guest_does_not_read() -> None:
    ledger = Ledger(limits())
    sent(ledger, call(1))
    assert ledger.next(0.0, writable=False) is None
    assert steps(ledger) == ["start tool1"]


def test_nothing_starts_after_the_run_has_failed_and_later_calls_are_told_why() -> None:
    ledger = Ledger(limits())
    sent(ledger, call(1))
    first = run_error("aborted", "stop")
    ledger.latch(first)
    ledger.latch(run_error("deadline_exceeded", "later"))
    late = ledger.arrive(call(2))
    assert (steps(ledger), ledger.verdict, late) == ([], first, ledger.afterwards())
    assert ledger.afterwards().code == "aborted"


def test_nothing_starts_after_the_guests_last_word() -> None:
    ledger = Ledger(limits())
    sent(ledger, call(1))
    ledger.over = True
    late = ledger.arrive(call(2))
    assert (steps(ledger), late is not None, ledger.verdict) == ([], True, None)


def test_what_waits_is_counted_in_bytes() -> None:
    ledger = Ledger(limits(max_tool_calls=9, max_concurrent_calls=1))
    sent(ledger, call(1, size=90), call(2, size=90))
    assert (ledger.full, ledger.roomy) == (False, False)
    sent(ledger, call(3, size=90))
    assert ledger.full
    assert steps(ledger) == ["start tool1"]
    assert (ledger.full, ledger.roomy) == (False, False)
    ledger.finished(call(1, size=90))
    assert steps(ledger) == ["start tool2"]
    assert ledger.roomy
    ledger.drain()
    assert ledger.roomy


def test_calls_that_hold_much_run_with_few_others_or_alone() -> None:
    ledger = Ledger(limits(max_tool_calls=9, max_concurrent_calls=9))  # values of 100 bytes, so 1,600 in flight
    sent(ledger, call(1, size=900), call(2, size=700), call(3, size=1), call(4, size=5_000), call(5))
    assert steps(ledger) == ["start tool1", "start tool2"]
    ledger.finished(call(2, size=700))
    assert steps(ledger) == ["start tool3"]
    ledger.finished(call(3, size=1))
    assert steps(ledger) == []
    ledger.finished(call(1, size=900))
    assert steps(ledger) == ["start tool4"]
    ledger.finished(call(4, size=5_000))
    assert steps(ledger) == ["start tool5"]


# screening


class Scripted(Screen):
    """A screen with an answer for each name."""

    def __init__(self, **answers: Judgement) -> None:
        super().__init__(Plan(Screening()))
        self.answers = answers
        self.seen: list[tuple[str, float]] = []

    def judge(self, entry: Seen, now: float) -> Judgement:
        self.seen.append((entry.name, now))
        return self.answers.get(entry.name, ALLOWED)

    def judge_global(self, now: float) -> Judgement:
        self.seen.append(("function", now))
        return self.answers.get("function", ALLOWED)


def test_a_call_is_judged_in_its_turn_right_before_it_starts() -> None:
    screen = Scripted(tool3=Judgement(action="ask", flags=("BULK",), reason="a bulk call"))
    ledger = Ledger(limits(max_concurrent_calls=1), screen)
    sent(ledger, call(1), call(2, "function"), call(3))
    assert screen.seen == []
    assert steps(ledger, 1.0) == ["start tool1"]
    ledger.finished(call(1))
    assert steps(ledger, 2.0) == ["start function2"]
    ledger.finished(call(1))
    step = ledger.next(3.0, writable=True)
    assert isinstance(step, Start)
    assert (step.entry.name, step.ask, step.flags) == ("tool3", "a bulk call", ("BULK",))
    assert screen.seen == [("tool1", 1.0), ("function", 2.0), ("tool3", 3.0)]


@pytest.mark.parametrize("kind", ["tool", "function"])
def test_what_screening_refuses_does_not_start_and_holds_no_place(kind: Kind) -> None:
    cause = ValueError()
    refused = Judgement(
        action="refuse", error=ErrorInfo(code="rate_limited", message="too fast"), flags=("RATE",), cause=cause
    )
    ledger = Ledger(limits(max_concurrent_calls=1), Scripted(tool1=refused, function=refused))
    sent(ledger, call(1, kind))
    step = ledger.next(0.0, writable=True)
    assert isinstance(step, Refuse)
    assert (step.error.code, step.flags, step.cause) == ("rate_limited", ("RATE",), cause)
    sent(ledger, call(2))
    assert steps(ledger) == ["start tool2"]


def test_what_is_over_its_budget_is_not_judged() -> None:
    screen = Scripted()
    ledger = Ledger(limits(max_tool_calls=0), screen)
    sent(ledger, call(1))
    assert (steps(ledger), screen.seen) == (["limit_exceeded tool1"], [])
