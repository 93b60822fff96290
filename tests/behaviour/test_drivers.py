"""Drivers that other people write: the least that is one, and those that do not keep to their contract."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import FAILED, SUCCESS, Book, Minimal, call, ending, pay
from tests.requirements import requirement


class TwoMembers:
    """Less than that: what is not optional."""

    name = "two"

    def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Awaitable[Any]:
        async def answer() -> Any:
            result = fn(*args)
            return await result if asyncio.iscoroutine(result) else result

        return answer()


@requirement("seed.driver", "D3")
def test_a_driver_of_a_name_and_a_run_is_enough() -> None:
    driver = TwoMembers()
    assert isinstance(driver, rf.Driver)
    outcome, heard = call(pay(Book(), timeout=60), sandbox=driver)
    assert (outcome.unwrap(), heard.types) == ("paid 5 to ada", SUCCESS)


class Restless(Minimal):
    """Calls the tool more often than it was asked to, or with something else."""

    def __init__(self, times: int, change: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.times = times
        self.change = change

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        given = args if self.change is None else [args[0].model_copy(update=dict(self.change))]
        result: Any = None
        for _ in range(self.times):
            result = await fn(*given)
        return result


@requirement("W26")
@pytest.mark.parametrize(("driver", "runs"), [(Restless(2), 1), (Restless(3), 1), (Restless(1, {"amount": 9_000}), 0)])
def test_a_driver_that_runs_a_tool_twice_or_with_other_arguments_is_found_out(driver: Restless, runs: int) -> None:
    book, recovered = Book(), list[object]()
    outcome, heard = call(pay(book, retries=2, on_error=recovered.append), sandbox=driver)
    assert ending(outcome) == ("unknown" if runs else "failed", "wire_violation", 1)
    assert (book.paid, recovered, heard.types) == ([(5, "ada")] * runs, [], FAILED)
    with pytest.raises(rf.SandboxFault):
        outcome.unwrap()


@requirement("W26")
def test_a_driver_that_swallows_what_it_is_told_is_found_out_all_the_same() -> None:
    class Deaf(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            result = await fn(*args)
            with contextlib.suppress(BaseException):
                await fn(*args)
            return result

    book = Book()
    outcome, heard = call(pay(book), sandbox=Deaf())
    assert (ending(outcome), heard.types) == (("unknown", "wire_violation", 1), FAILED)
    assert book.paid == [(5, "ada")]


@requirement("W26")
def test_a_driver_that_runs_the_tool_when_its_time_is_over_runs_nothing() -> None:
    kept: list[Callable[[], Any]] = []

    class Late(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            kept.append(lambda: fn(*args))
            return "made up"

    book = Book()
    call(pay(book), sandbox=Late())
    with pytest.raises(rf.SandboxFault) as caught:
        asyncio.run(kept[0]())
    assert (caught.value.code, book.paid) == ("wire_violation", [])


@requirement("W26")
def test_a_driver_may_hand_over_a_copy_of_the_arguments() -> None:
    class Copies(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            return await fn(args[0].model_copy(deep=True))

    outcome, heard = call(pay(Book()), sandbox=Copies())
    assert (outcome.unwrap(), heard.types) == ("paid 5 to ada", SUCCESS)
