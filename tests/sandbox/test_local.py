"""The local driver isolates nothing, and says so."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from typing import Any

import pytest

from ringfence.errors import ConfigError, SandboxFault
from ringfence.ports import Driver
from ringfence.sandbox.guarantees import GUARANTEES, NONE
from ringfence.sandbox.local_unsafe import LocalUnsafe, local
from ringfence.threads import ABANDONED_LIMIT
from tests.gate.kit import run
from tests.test_threads import until


@pytest.mark.parametrize("options", [{}, {"unsafe": False}, {"unsafe": 1}, {"unsafe": "true"}, {"unsafe": None}])
def test_anything_but_exactly_true_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="without any isolation") as caught:
        local(**options)
    assert caught.value.code == "bad_config"
    assert "unsafe=True" in (caught.value.hint or "")


def test_a_positional_argument_is_refused_too() -> None:
    with pytest.raises(TypeError):
        local({})  # type: ignore[misc]


def test_it_is_a_driver_that_claims_nothing() -> None:
    driver = local(unsafe=True)
    assert isinstance(driver, Driver)
    assert (driver.name, driver.permissions) == ("unsafe_local", None)
    assert driver.guarantees() == dict.fromkeys(GUARANTEES, NONE)


class Tool:
    async def method(self, value: int) -> tuple[int, bool]:
        return value, threading.current_thread() is threading.main_thread()

    async def __call__(self, value: int) -> tuple[int, bool]:
        return value, threading.current_thread() is threading.main_thread()


async def function(value: int) -> tuple[int, bool]:
    return value, threading.current_thread() is threading.main_thread()


def plain(value: int) -> tuple[int, bool]:
    return value, threading.current_thread() is threading.main_thread()


@pytest.mark.parametrize("fn", [function, Tool().method, Tool(), functools.partial(function)])
def test_a_coroutine_function_runs_in_the_loop(fn: Any) -> None:
    assert run(lambda: LocalUnsafe().run(fn, [7])) == (7, True)


@pytest.mark.parametrize("fn", [plain, functools.partial(plain), lambda value: plain(value)])  # type: ignore[misc]
def test_a_plain_function_runs_in_a_thread(fn: Any) -> None:
    assert run(lambda: LocalUnsafe().run(fn, [7])) == (7, False)


def test_what_a_plain_function_promises_is_awaited_in_the_loop() -> None:
    assert run(lambda: LocalUnsafe().run(lambda: function(7), [])) == (7, True)


def test_context_variables_reach_the_thread() -> None:
    variable = contextvars.ContextVar("variable", default=0)

    async def body() -> int:
        variable.set(7)
        return await LocalUnsafe().run(variable.get, [])

    assert run(body) == 7


def test_exceptions_come_out_as_they_are() -> None:
    error = ValueError("x")

    def fail() -> None:
        raise error

    async def body() -> None:
        with pytest.raises(ValueError, match="x") as caught:
            await LocalUnsafe().run(fail, [])
        assert caught.value is error

    run(body)


def test_too_many_abandoned_threads_are_a_fault_of_the_place() -> None:
    release = threading.Event()

    async def body() -> None:
        driver = local(unsafe=True)
        calls = [asyncio.create_task(driver.run(release.wait, [])) for _ in range(ABANDONED_LIMIT)]
        await until(lambda: driver.statistics().running == ABANDONED_LIMIT)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        with pytest.raises(SandboxFault) as caught:
            await driver.run(plain, [7])
        assert caught.value.code == "sandbox_unavailable"
        assert await driver.run(function, [7]) == (7, True)
        release.set()
        await until(lambda: driver.statistics().abandoned == 0)
        assert await driver.run(plain, [7]) == (7, False)
        await driver.aclose()

    try:
        run(body)
    finally:
        release.set()
