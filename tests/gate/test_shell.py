"""A first step is taken at once, in a task that only code which waits keeps."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import Awaitable
from typing import Any

import pytest

from ringfence.gate.attempt import Attempt, Attempts
from ringfence.gate.shell import Shell, begin, listed
from tests.gate.kit import run


async def here() -> asyncio.Task[Any] | None:
    """The task, if nobody else keeps it."""
    return asyncio.current_task()


async def number() -> int:
    """Names the task and does not keep it."""
    return id(asyncio.current_task())


async def call(code: Any) -> Any:
    return await Attempt(code, Attempts())


def test_code_that_never_waits_shares_a_task_until_the_loop_comes_around() -> None:
    async def body() -> None:
        first = [await call(number()) for _ in range(100)]
        assert len(set(first)) == 1
        assert sum(type(item) is Shell and hasattr(item, "task") for item in gc.get_objects()) == 1

    run(body)


def test_calls_within_calls_have_a_task_each() -> None:
    async def body() -> None:
        async def outer() -> set[int]:
            return {await number(), await call(number()), await call(number())}

        assert [len(await call(outer())) for _ in range(3)] == [2, 2, 2]

    run(body)


def test_a_task_that_somebody_kept_is_not_used_again() -> None:
    async def body() -> None:
        kept = await call(here())
        assert await call(here()) is not kept

    run(body)


def test_a_task_that_was_cancelled_is_not_used_again() -> None:
    async def body() -> None:
        async def cancels_itself() -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

        async def waits() -> str:
            await asyncio.sleep(0)
            return "not cancelled"

        await call(cancels_itself())
        assert await call(waits()) == "not cancelled"

    run(body)


def test_a_task_of_an_earlier_turn_or_of_another_loop_is_not_used() -> None:
    async def waits() -> str:
        await asyncio.sleep(0)
        return "done"

    async def body() -> None:
        await call(number())
        await asyncio.sleep(0)
        assert await call(waits()) == "done"
        await call(number())

    for _ in range(2):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(body())
        loop.close()


def test_the_task_is_listed_only_when_that_is_asked_for() -> None:
    async def body() -> None:
        async def waits() -> None:
            await asyncio.Event().wait()

        loop, host = asyncio.get_running_loop(), asyncio.current_task()
        assert host is not None
        code = waits()
        _, waits_for, context, shell = begin(code, loop, host)
        task = shell.task
        ended: list[BaseException | None] = []
        shell.fill(code, context, waits_for, lambda value, error: ended.append(error))
        assert asyncio.all_tasks() == {host}
        listed(task)
        assert asyncio.all_tasks() == {host, task}
        shell.close()
        task.cancel()
        await asyncio.wait([task])
        assert (ended, task.cancelled()) == ([], False)

    run(body)


def test_a_shutdown_tells_the_host_and_does_not_cut_the_unwinding() -> None:
    done: list[str] = []

    async def unwinds() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            done.append("rolled back")

    async def body() -> None:
        hosts.append(asyncio.create_task(call(unwinds())))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    hosts: list[Awaitable[Any]] = []
    asyncio.run(body())
    assert done == ["rolled back"]


def test_a_cancellation_before_the_loop_drives_the_code_reaches_what_the_code_waits_for() -> None:
    async def body() -> None:
        ended: list[str] = []

        async def child() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("child")

        async def code() -> None:
            await asyncio.gather(child_task)

        child_task = asyncio.create_task(child())
        await asyncio.sleep(0)
        loop, host = asyncio.get_running_loop(), asyncio.current_task()
        assert host is not None
        running = code()
        _, waits_for, context, shell = begin(running, loop, host)
        task = shell.task
        ends: list[BaseException | None] = []
        shell.fill(running, context, waits_for, lambda value, error: ends.append(error))
        task.cancel()
        await asyncio.wait([task])
        assert ([type(end) for end in ends], ended) == ([asyncio.CancelledError], ["child"])

    run(body)


def test_the_first_step_sees_its_own_task_and_a_failing_one_gives_the_host_back() -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    async def body() -> None:
        async def fails() -> None:
            variable.set("inside")
            raise ValueError(str(asyncio.current_task() is host))

        host = asyncio.current_task()
        with pytest.raises(ValueError, match="False"):
            await call(fails())
        assert (asyncio.current_task() is host, variable.get()) == (True, "outside")

    run(body)
