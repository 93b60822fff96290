"""The fallback: after the last attempt only, never in place of a refusal, and the caller's only word."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import FAILED, SUCCESS, Book, Minimal, Payment, call, door, down, each_place, ending, pay, run
from tests.requirements import requirement

FALLBACK = {"available": False, "reason": "Lookup unavailable"}


class Recovers:
    """A fallback that keeps what it was given."""

    def __init__(self, answer: Any = FALLBACK) -> None:
        self.answer = answer
        self.errors: list[Exception] = []

    def __call__(self, error: Exception) -> Any:
        self.errors.append(error)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@requirement("seed.fallback", "seed.order", "AC47")
@each_place
@pytest.mark.parametrize("retries", [0, 2])
def test_a_fallback_comes_once_after_the_last_attempt_and_is_no_completion(place: str, retries: int) -> None:
    recovers = Recovers()
    last = ConnectionError("the last")
    book = Book(*down(retries), last)
    outcome, heard = call(pay(book, retries=retries, on_error=recovers), place=place)
    assert (ending(outcome), outcome.unwrap()) == (("succeeded", None, retries + 1), FALLBACK)
    assert (recovers.errors, heard.types) == ([last], FAILED * (retries + 1))
    assert heard.all_types == [*FAILED * (retries + 1), "tool.recovered"]


@requirement("seed.fallback")
@each_place
def test_a_fallback_may_wait(place: str) -> None:
    async def recover(error: Exception) -> str:
        await asyncio.sleep(0)
        return f"after {type(error).__name__}"

    outcome, _ = call(pay(Book(ValueError("x")), on_error=recover), place=place)
    assert outcome.unwrap() == "after ValueError"


@requirement("seed.fallback")
def test_no_fallback_is_asked_where_a_later_attempt_succeeds() -> None:
    recovers = Recovers()
    outcome, heard = call(pay(Book(*down(1)), retries=1, on_error=recovers))
    assert (outcome.unwrap(), recovers.errors, heard.types) == ("paid 5 to ada", [], [*FAILED, *SUCCESS])


@requirement("AC45")
@each_place
def test_the_exception_of_a_fallback_is_what_the_caller_gets(place: str) -> None:
    own = KeyError("no fallback either")
    outcome, heard = call(pay(Book(*down(1)), on_error=Recovers(own)), place=place)
    assert (ending(outcome), heard.all_types) == (("failed", "tool_raised", 1), [*FAILED, "tool.recovered"])
    with pytest.raises(rf.ToolFailure) as caught:
        outcome.unwrap()
    assert caught.value.__cause__ is own


@requirement("AC46", "W22")
@each_place
@pytest.mark.parametrize(
    ("args", "approve", "code"),
    [
        ({}, True, "invalid_input"),
        ({"amount": 5}, False, "approval_denied"),
        ({"amount": 5}, None, "approval_denied"),
        ({"amount": 5}, RuntimeError("broken"), "approval_denied"),
    ],
)
def test_no_fallback_answers_a_refusal(place: str, args: Any, approve: Any, code: str) -> None:
    recovers = Recovers()

    def decide(given: Payment, info: rf.ApprovalInfo) -> Any:
        if isinstance(approve, Exception):
            raise approve
        return approve

    outcome, _ = call(pay(Book(), on_error=recovers, approval=decide), args=args, place=place)
    assert (ending(outcome), recovers.errors) == (("refused", code, 0), [])


class Broken(Minimal):
    """A place that fails before the tool has begun."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    async def run(self, fn: Any, args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        raise self.error


@requirement("W22")
def test_no_fallback_hides_a_missing_or_broken_sandbox() -> None:
    recovers = Recovers()
    with pytest.raises(rf.ToolSandboxRequiredError):
        call(pay(Book(), on_error=recovers), sandbox=None)
    fault = rf.SandboxFault("the place is gone", code="sandbox_crashed")
    outcome, heard = call(pay(Book(), on_error=recovers, retries=2), sandbox=Broken(fault))
    assert (ending(outcome), heard.types, recovers.errors) == (("failed", "sandbox_crashed", 1), FAILED, [])


@requirement("seed.fallback", "D5")
def test_a_fallback_answers_the_caller_of_an_effect_in_doubt() -> None:
    recovers = Recovers()
    outcome, heard = call(pay(Book(*down(1)), effect="write", on_error=recovers))
    assert (outcome.unwrap(), len(recovers.errors), heard.types) == (FALLBACK, 1, FAILED)
    assert (outcome.status, outcome.recorded) == ("succeeded", "unknown")


@requirement("W1", "AC61")
def test_a_handler_of_events_that_raises_does_not_keep_the_fallback_away() -> None:
    def breaks(event: rf.Event) -> None:
        raise RuntimeError("telemetry is down")

    async def body() -> None:
        recovers = Recovers()
        book = Book(*down(2))
        async with door(pay(book, retries=1, on_error=recovers)) as boundary:
            boundary.on(None, breaks)
            assert (await boundary.call("pay", {"amount": 5})).unwrap() == FALLBACK
            assert (len(book.paid), len(recovers.errors)) == (2, 1)
            assert boundary.statistics().events.failed == 4

    run(body)
