"""Which failures another attempt may mend, how long it waits, and how long all attempts may take."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import FAILED, Book, Payment, call, door, down, ending, never, pay, run
from tests.requirements import requirement


def flaky(error: BaseException) -> bool:
    return isinstance(error, ConnectionError)


@requirement("W15")
@pytest.mark.parametrize("rule", [ConnectionError, (ConnectionError, KeyError), flaky])
def test_a_condition_says_which_failures_another_attempt_may_mend(rule: Any) -> None:
    assert ending(call(pay(Book(*down(1)), retries=2, retry_on=rule))[0]) == ("succeeded", None, 2)
    book = Book(ValueError("no use"))
    assert ending(call(pay(book, retries=2, retry_on=rule))[0]) == ("failed", "tool_raised", 1)
    assert len(book.paid) == 1


@requirement("W15", "W16")
def test_a_condition_cannot_repeat_what_is_ours_nor_an_effect_in_doubt() -> None:
    def always(error: BaseException) -> bool:
        return True

    book = Book(ConnectionError("reset"))
    assert ending(call(pay(book, retries=2, retry_on=always, effect="write"))[0])[2] == 1
    assert ending(call(pay(never, retries=2, retry_on=always, timeout=0.01, effect="read"))[0])[2] == 1
    nested = Book(rf.ToolApprovalError("no", code="approval_denied"))
    assert ending(call(pay(nested, retries=2, retry_on=always))[0])[2] == 1


@requirement("W15")
@pytest.mark.parametrize("answer", [False, None, 1, "yes", [True]])
def test_only_true_from_a_condition_allows_another_attempt(answer: Any) -> None:
    def condition(error: BaseException) -> Any:
        return answer

    assert ending(call(pay(Book(*down(1)), retries=2, retry_on=condition))[0]) == ("failed", "tool_raised", 1)


@requirement("W15")
def test_a_condition_that_raises_allows_nothing() -> None:
    def condition(error: BaseException) -> bool:
        raise RuntimeError("broken")

    assert ending(call(pay(Book(*down(1)), retries=2, retry_on=condition))[0]) == ("failed", "tool_raised", 1)


@requirement("W15")
def test_attempts_are_apart_by_the_pauses_asked_for() -> None:
    async def body() -> None:
        loop = asyncio.get_running_loop()
        times: list[float] = []
        book = Book(*down(2))

        async def execute(given: Payment, ctx: rf.ToolContext) -> str:
            times.append(loop.time())
            return await book(given, ctx)

        pauses = rf.Backoff(first=0.04, factor=2.0, longest=0.06, jitter=0.0)
        async with door(pay(execute, retries=2, backoff=pauses)) as boundary:
            assert ending(await boundary.call("pay", {"amount": 5})) == ("succeeded", None, 3)
        first, second, third = times
        assert second - first + 0.002 >= 0.04
        assert third - second + 0.002 >= 0.06

    run(body)


@requirement("W15")
def test_all_attempts_together_have_a_time() -> None:
    book = Book(*down(50))
    tool = pay(book, retries=50, backoff=0.02, total_timeout=0.05)
    outcome, heard = call(tool)
    assert outcome.status == "failed"
    assert 1 <= outcome.attempts < 6
    assert heard.types == FAILED * outcome.attempts
    stuck, _ = call(pay(never, total_timeout=0.01, effect="read", retries=3))
    assert ending(stuck) == ("failed", "tool_timeout", 1)


@requirement("W15", "W17")
def test_a_pause_can_be_given_up() -> None:
    async def body() -> None:
        signal = rf.AbortSignal()
        book = Book(*down(9))
        async with door(pay(book, retries=9, backoff=60.0)) as boundary:
            failed = asyncio.Event()
            boundary.on("tool.failed", lambda event: failed.set())
            task = asyncio.create_task(boundary.call("pay", {"amount": 5}, signal=signal))
            await failed.wait()
            signal.abort()
            outcome = await task
            assert (outcome.status, outcome.attempts, len(book.paid)) == ("failed", 1, 1)

    run(body)
