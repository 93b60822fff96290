"""How large a result may be, and how many calls of a tool run at once."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from pydantic import BaseModel

import ringfence as rf
from tests.behaviour.kit import Book, Payment, call, door, each_place, ending, never, pay, run
from tests.requirements import requirement


@requirement("W27", "D11")
@each_place
def test_a_result_has_a_size(place: str) -> None:
    async def long(given: Payment) -> str:
        return "x" * given.amount

    tool = pay(long, max_result="1KB", effect="read")
    assert ending(call(tool, args={"amount": 1_000}, place=place)[0]) == ("succeeded", None, 1)
    outcome, heard = call(tool, args={"amount": 2_000}, place=place)
    assert (ending(outcome), heard.types) == (("failed", "bad_result", 1), ["tool.called", "tool.failed"])
    assert outcome.error is not None
    assert (outcome.value, len(outcome.error.message) < 500) == (None, True)


@requirement("D11", "B2")
@pytest.mark.parametrize("kind", ["long", "wide", "deep"])
def test_arguments_have_a_size_and_a_depth(kind: str) -> None:
    to: Any = {"long": "x" * 6_000_000, "wide": [0] * 3_000_000, "deep": []}[kind]
    for _ in range(5_000 if kind == "deep" else 0):
        to = [to]
    outcome, heard = call(pay(Book()), args={"amount": 5, "to": to})
    assert (ending(outcome), heard.types) == (("refused", "invalid_input", 0), [])
    assert outcome.error is not None
    assert len(outcome.error.message) < 500


class Numbers(BaseModel):
    numbers: list[int | bool | dict[str, int]]


@requirement("W32", "D11", "B8")
@pytest.mark.slow
def test_very_many_mistakes_cost_no_more_than_finding_them() -> None:
    async def count(given: Numbers) -> int:
        return len(given.numbers)

    tool = rf.Tool("count", "Count.", Numbers, count)
    began = time.process_time()
    outcome, heard = call(tool, args={"numbers": ["a"] * 900_000})
    assert (ending(outcome), heard.types, time.process_time() - began < 8.0) == (
        ("refused", "invalid_input", 0),
        [],
        True,
    )
    assert outcome.error is not None
    assert [issue["code"] for issue in outcome.error.issues] == ["more_issues"]

    few, _ = call(tool, args={"numbers": ["a"] * 1_000})
    assert few.error is not None
    assert few.error.issues[0]["path"] == "numbers[0]"


@requirement("W27", "D11")
@each_place
def test_a_tool_runs_as_often_at_once_as_it_allows_and_further_calls_wait(place: str) -> None:
    most = 0
    now = 0

    async def busy(given: Payment) -> int:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return given.amount

    async def body() -> None:
        async with door(pay(busy, max_concurrency=2), pay(busy, "other"), place=place) as boundary:
            outcomes = await asyncio.gather(*(boundary.call("pay", {"amount": n}) for n in range(9)))
            assert [outcome.unwrap() for outcome in outcomes] == list(range(9))
            assert most == 2
            await asyncio.gather(*(boundary.call("other", {"amount": n}) for n in range(9)))
            assert most == 9

    run(body)


@requirement("W27")
def test_a_call_that_waits_for_its_turn_can_be_given_up() -> None:
    async def body() -> None:
        signal = rf.AbortSignal()
        async with door(pay(never, max_concurrency=1, effect="read")) as boundary:
            first = asyncio.create_task(boundary.call("pay", {"amount": 1}))
            await asyncio.sleep(0)
            second = asyncio.create_task(boundary.call("pay", {"amount": 2}, signal=signal))
            await asyncio.sleep(0)
            signal.abort()
            assert ending(await second) == ("refused", "aborted", 0)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first

    run(body)
