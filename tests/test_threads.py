"""Blocking functions run beside the loop, and the stuck ones are counted."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ringfence.threads import DaemonThreads, ThreadStatistics, TooManyAbandonedError
from tests.gate.kit import run


def statistics(running: int, abandoned: int, total: int) -> ThreadStatistics:
    return ThreadStatistics(running=running, abandoned=abandoned, abandoned_total=total)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (what is waited for happens in another thread)
        await asyncio.sleep(0.001)


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets every stuck thread go at the end."""
    event = threading.Event()
    yield event
    event.set()


def test_a_call_runs_in_a_daemon_thread_of_its_own_with_the_callers_context() -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    def function(first: int, second: int) -> tuple[Any, ...]:
        seen = variable.get()
        variable.set("inside")
        thread = threading.current_thread()
        return first + second, seen, thread.daemon, thread is not threading.main_thread(), thread.name

    async def body() -> None:
        variable.set("caller")
        threads = DaemonThreads("test")
        assert await threads.call(function, [1, 2]) == (3, "caller", True, True, "test-1")
        assert variable.get() == "caller"
        assert threads.statistics() == statistics(0, 0, 0)

    run(body)


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError("own")])
def test_what_the_function_raises_comes_out(error: BaseException) -> None:
    def function() -> None:
        raise error

    async def body() -> None:
        threads = DaemonThreads("test")
        with pytest.raises(type(error)):
            await threads.call(function, [])
        assert threads.statistics() == statistics(0, 0, 0)

    run(body)


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit])
def test_the_end_of_an_iterator_becomes_an_error(error: type[BaseException]) -> None:
    def ending() -> None:
        raise error

    async def body() -> None:
        with pytest.raises(RuntimeError, match=error.__name__) as caught:
            await DaemonThreads("test").call(ending, [])
        assert type(caught.value.__cause__) is error

    run(body)


def test_calls_overlap(release: threading.Event) -> None:
    async def body() -> None:
        threads, barrier = DaemonThreads("test"), threading.Barrier(3)
        await asyncio.gather(*(threads.call(barrier.wait, [5]) for _ in range(3)))

    run(body)


def test_a_cancelled_call_is_left_behind_until_it_ends(release: threading.Event) -> None:
    async def body() -> None:
        threads = DaemonThreads("test")
        call = asyncio.create_task(threads.call(release.wait, []))
        await until(lambda: threads.statistics().running == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert threads.statistics() == statistics(0, 1, 1)
        release.set()
        await until(lambda: threads.statistics() == statistics(0, 0, 1))

    run(body)


def test_a_late_result_or_exception_is_dropped_in_silence(
    release: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    async def coroutine() -> None: ...

    def late(make: Callable[[], Any]) -> Any:
        release.wait()
        return make()

    def fail() -> None:
        raise ValueError("late")

    async def body() -> None:
        threads = DaemonThreads("test")
        calls = [asyncio.create_task(threads.call(late, [make])) for make in (int, fail, coroutine)]
        await until(lambda: threads.statistics().running == 3)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        release.set()
        await until(lambda: threads.statistics().abandoned == 0)
        await asyncio.sleep(0.01)
        gc.collect()

    run(body)
    assert caplog.records == []


def test_a_result_after_the_loop_has_closed_is_dropped_in_silence(release: threading.Event) -> None:
    async def coroutine() -> None: ...

    def late() -> Any:
        release.wait()
        return coroutine()

    threads = DaemonThreads("test")

    async def body() -> None:
        call = asyncio.create_task(threads.call(late, []))
        await until(lambda: threads.statistics().running == 1)
        call.cancel()
        await asyncio.wait([call])

    run(body)
    release.set()
    asyncio.run(until(lambda: threads.statistics().abandoned == 0))
    gc.collect()


def test_too_many_stuck_threads_refuse_further_calls(release: threading.Event) -> None:
    async def body() -> None:
        threads = DaemonThreads("test", limit=2)
        calls = [asyncio.create_task(threads.call(release.wait, [])) for _ in range(2)]
        await until(lambda: threads.statistics().running == 2)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        with pytest.raises(TooManyAbandonedError, match="2 abandoned calls"):
            await threads.call(int, [])
        assert threads.statistics() == statistics(0, 2, 2)
        release.set()
        await until(lambda: threads.statistics().abandoned == 0)
        assert await threads.call(int, []) == 0

    run(body)


def test_a_system_without_threads_refuses_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def body() -> None:
        threads = DaemonThreads("test")
        monkeypatch.setattr(threading.Thread, "start", full)
        with pytest.raises(TooManyAbandonedError, match="no further thread"):
            await threads.call(int, [])
        monkeypatch.undo()
        assert threads.statistics() == statistics(0, 0, 0)

    run(body)


def test_an_exception_that_meets_a_cancellation_is_not_complained_about(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        threads, may_fail = DaemonThreads("test"), threading.Event()

        def fail() -> None:
            may_fail.wait()
            raise ValueError("x")

        call = asyncio.create_task(threads.call(fail, []))
        await until(lambda: threads.statistics().running == 1)
        loop = asyncio.get_running_loop()

        def both() -> None:  # the result and the cancellation reach the task in the same turn of the loop
            may_fail.set()
            while threads.statistics().running:
                pass
            loop.call_soon(loop.call_soon, call.cancel)

        loop.call_soon(both)
        await asyncio.wait([call])
        gc.collect()

    run(body)
    assert caplog.records == []
