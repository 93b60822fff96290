"""Functions of the host that scripts call: threads, errors as data, and whose cancellation is whose."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.hosted import Raised, dumped, hosted
from ringfence.limits import ValueBudget
from ringfence.threads import DaemonThreads
from ringfence.values import ValueRefused
from tests.enclave.kit import code, run

THREADS = DaemonThreads("test")


def in_main() -> bool:
    return threading.current_thread() is threading.main_thread()


async def later() -> bool:
    return in_main()


def raising(error: BaseException) -> Any:
    def function() -> Any:
        raise error

    return function


@pytest.mark.parametrize(
    ("call", "threads", "value"),
    [(in_main, THREADS, False), (later, None, True), (lambda: later(), THREADS, True)],
)
def test_what_may_block_gets_a_thread_and_what_can_be_awaited_is(call: Any, threads: Any, value: bool) -> None:
    assert run(hosted(call, threads, "tool_raised")) is value


@pytest.mark.parametrize("threads", [None, THREADS])
@pytest.mark.parametrize("error", [ValueError("no"), SystemExit("no"), BaseException("no")])
def test_whatever_it_raises_is_data(error: BaseException, threads: DaemonThreads | None) -> None:
    got = run(hosted(raising(error), threads, "global_raised"))
    assert type(got) is Raised
    assert (got.error.code, got.error.name, got.error.message, got.cause) == (
        "global_raised",
        type(error).__name__,
        "no",
        error,
    )


def test_an_end_that_a_thread_asks_for_ends_nothing_else() -> None:
    got = run(hosted(raising(GeneratorExit()), THREADS, "tool_raised"))
    assert (type(got), got.error.name, got.error.message) == (
        Raised,
        "RuntimeError",
        "the function raised GeneratorExit",
    )


@pytest.mark.parametrize("make", [asyncio.Future[None], asyncio.Event])
def test_what_belongs_to_another_loop_is_said_so_without_the_hosts_tasks(make: Callable[[], Any]) -> None:
    async def made() -> Any:
        one = make()
        if isinstance(one, asyncio.Event):  # belongs to the loop that first waits for it
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(one.wait(), 0.001)
        return one

    with asyncio.Runner() as other:
        one = other.run(made())

        async def waiting() -> None:
            await (one.wait() if isinstance(one, asyncio.Event) else one)

        got = run(hosted(waiting, None, "tool_raised"))
    assert (type(got), got.error.name, got.error.message) == (
        Raised,
        "RuntimeError",
        "it waited for something of another event loop",
    )
    assert "await run(...)" in got.error.hint


def test_its_own_cancellation_is_its_failure() -> None:
    got = run(hosted(raising(asyncio.CancelledError()), None, "tool_raised"))
    assert (type(got), got.error.name, got.cause) == (Raised, "CancelledError", None)


def test_who_cancels_its_own_task_has_failed() -> None:
    async def cancelling() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()

    got = run(hosted(cancelling, None, "tool_raised"))
    assert (type(got), got.error.name, got.cause) == (Raised, "CancelledError", None)


def test_its_callers_cancellation_goes_through() -> None:
    async def body() -> None:
        task = asyncio.ensure_future(hosted(asyncio.Event().wait, None, "tool_raised"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(body())


NO_RESULTS: list[Any] = [object(), "x" * 20, [[[]]], {"a": 1, "b": 2}]


@pytest.mark.parametrize("value", NO_RESULTS)
def test_a_result_is_data_within_the_budget(value: Any) -> None:
    assert dumped({"a": [1]}, ValueBudget(size=20, depth=2, members=1)) == b'{"a":[1]}'
    with pytest.raises(ValueRefused):
        dumped(value, ValueBudget(size=20, depth=2, members=1))


@pytest.mark.slow
def test_the_stuck_handlers_of_all_runs_count_together() -> None:
    release = threading.Event()

    def stuck(name: str, args: Any) -> None:
        release.wait()

    async def body() -> tuple[list[str | None], rf.EnclaveStatistics]:
        async with rf.Enclave(timeout=0.3) as enclave:
            codes = [code(await enclave.run("await call_tool('a', {})", tool_handler=stuck)) for _ in range(2)]
            return codes, enclave.statistics()

    try:
        codes, counts = run(body())
    finally:
        release.set()
    assert codes == ["TIMEOUT", "TIMEOUT"]
    assert counts == rf.EnclaveStatistics(
        running=0, abandoned_handlers=2, abandoned_functions=0, abandoned_approvals=0, gate=None
    )
