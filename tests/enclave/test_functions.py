"""Calls of functions in `globals` on the host's side: copies in, a copy out, errors without the host (F8, 4.9)."""

from __future__ import annotations

import asyncio
import threading
from datetime import date
from typing import Any

import pytest

from ringfence.enclave.functions import GlobalFunctions
from ringfence.enclave.globals import parse
from ringfence.errors import ErrorInfo
from ringfence.limits import ValueBudget
from ringfence.ports import Answer
from tests.enclave.kit import run


def called(function: Any, args: bytes = b"[[],{}]", tags: Any = None, budget: ValueBudget | None = None) -> Answer:
    functions = GlobalFunctions(parse({"f": function}, allow_functions=True).functions, budget or ValueBudget())
    return run(functions.call(0, args, tags))


def test_a_function_gets_copies_with_dates_restored() -> None:
    """T90, T102, decision 22."""
    seen: list[Any] = []

    def function(day: date, *, shift: int) -> str:
        seen.append((day, shift, threading.current_thread() is threading.main_thread()))
        return day.replace(day=shift).isoformat()

    answer = called(function, b'[["2026-01-02"],{"shift":5}]', {"date": [[0, 0]]})
    assert (answer, seen) == (Answer(value=b'"2026-01-05"'), [(date(2026, 1, 2), 5, False)])


def test_an_asynchronous_function_runs_in_the_loop() -> None:
    async def function() -> bool:
        await asyncio.sleep(0)
        return threading.current_thread() is threading.main_thread()

    assert called(function) == Answer(value=b"true")


def test_an_awaitable_that_a_function_returns_is_awaited() -> None:
    """F8."""

    async def later() -> int:
        return 5

    assert called(lambda: later()) == Answer(value=b"5")


def test_a_result_is_a_copy_by_the_value_table() -> None:
    """T97."""
    answer = called(lambda: {"on": date(2026, 1, 2), "n": (1, 2)})
    assert (answer.value, answer.tags) == (b'{"on":"2026-01-02","n":[1,2]}', {"date": [["on"]]})


@pytest.mark.parametrize(
    "result", [lambda: 1, object(), {"a": [print]}, float("nan"), iter([1]), "x" * 6_000_000, {1: 2}]
)
def test_a_result_that_is_no_data_is_an_error_of_its_own(result: Any) -> None:
    """T97."""
    answer = called(lambda: result)
    assert answer.error is not None
    assert (answer.error.code, answer.error.name, answer.terminal) == ("global_raised", "GlobalFunctionError", False)


@pytest.mark.parametrize(("value", "text"), [([[[1]]], "levels"), ({"a": 1, "b": 2, "c": 3}, "members")])
def test_a_result_beyond_the_levels_shape_names_the_limit(value: Any, text: str) -> None:
    answer = called(lambda: value, budget=ValueBudget(depth=2, members=2))
    assert answer.error is not None
    assert text in answer.error.message


class Rude(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (ValueError("bad"), "ValueError", "bad"),
        (ValueError(), "ValueError", "The function failed"),
        (Rude(), "Rude", "The function failed"),
        (SystemExit(3), "SystemExit", "3"),
        (KeyError("k" * 5000), "KeyError", "'" + "k" * 4094 + "…"),
        (asyncio.CancelledError("mine"), "CancelledError", "cancelled"),
        (StopIteration(1), "RuntimeError", "the function raised StopIteration"),
    ],
)
def test_what_a_function_raises_is_name_and_text(error: BaseException, name: str, message: str) -> None:
    """T98."""

    def fail() -> None:
        raise error

    answer = called(fail)
    assert answer.error == ErrorInfo(code="global_raised", name=name, message=message)
    assert (answer.terminal, answer.returnable) == (False, True)


def same(a: object) -> object:
    return a


def test_arguments_that_do_not_fit_are_the_functions_error() -> None:
    answer = called(same, b'[[],{"b":1}]')
    assert answer.error is not None
    assert (answer.error.code, answer.error.name) == ("global_raised", "TypeError")


def test_there_are_only_the_functions_that_there_are() -> None:
    functions = GlobalFunctions(parse({"f": {"g": len}}, allow_functions=True).functions, ValueBudget())
    assert [functions.name(number) for number in (0, 1, 2**53)] == ["f.g", None, None]
