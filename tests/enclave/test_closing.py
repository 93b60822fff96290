"""Closing an enclave: whoever does it, from wherever, interrupted or not, nothing is left and nobody hangs."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import HANG, code, descendants, never, no_tasks, run

CALL = "await call_tool('it', {})"


@contextlib.contextmanager
def nothing_left() -> Generator[None]:
    """The block leaves no process and no thread."""
    before = descendants(), threading.active_count()
    yield
    assert (descendants(), threading.active_count()) == before


def enclave_of(tool: Callable[[], Awaitable[Any]]) -> rf.Enclave:
    """An enclave with one tool that takes nothing."""

    async def handle(name: str, args: Any) -> Any:
        return await tool()

    return rf.Enclave(tool_handler=handle, timeout=HANG)


class Waiting:
    """A tool that says when it is reached, and never answers."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await asyncio.Event().wait()


class Place:
    """A driver that says when a tool is reached, and takes some turns of the loop to close."""

    name = "place"

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.closed = 0

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Any = None) -> Any:
        self.reached.set()
        return await fn(*args)

    async def aclose(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        self.closed += 1


def governed(place: Place) -> rf.Enclave:
    """An enclave with one governed tool, which never answers."""

    @rf.tool(effect="read")
    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    return rf.Enclave(tools=[wait], sandbox=place, timeout=HANG)


async def begun(enclave: rf.Enclave, tool: Waiting) -> asyncio.Task[rf.RunResult]:
    """A run that is inside its tool."""
    task = asyncio.create_task(enclave.run(CALL))
    await tool.reached.wait()
    return task


def test_a_closed_enclave_does_not_warm_up_again() -> None:
    async def body() -> None:
        enclave = rf.Enclave()
        await enclave.warm()
        await enclave.aclose()
        with pytest.raises(rf.ConfigError, match="closed") as refused:
            await enclave.warm()
        assert refused.value.code == "not_running"

    with nothing_left():
        run(body())


def test_an_enclave_that_closes_while_it_warms_up_keeps_nothing() -> None:
    async def body() -> None:
        enclave = rf.Enclave()
        warming = asyncio.create_task(enclave.warm())
        await asyncio.sleep(0)  # its zygote is being started
        await enclave.aclose()
        with pytest.raises(rf.ConfigError, match="closed"):
            await warming

    with nothing_left():
        run(body())


def test_a_close_that_is_cancelled_has_freed_the_workers_all_the_same() -> None:
    async def body() -> str | None:
        tool = Waiting()
        enclave = enclave_of(tool)
        task = await begun(enclave, tool)
        closing = asyncio.create_task(enclave.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        return code(await task)

    with nothing_left():
        assert run(body()) == "ABORTED"


def test_a_cancelled_close_closes_the_tools_places_too_and_another_one_finds_nothing_to_do() -> None:
    place = Place()

    async def body() -> str | None:
        enclave = governed(place)
        task = asyncio.create_task(enclave.run("await tools.wait()"))
        await place.reached.wait()
        closing = asyncio.create_task(enclave.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await asyncio.to_thread(enclave.close)
        return code(await task)

    assert (run(body()), place.closed) == ("ABORTED", 1)


def test_a_tool_that_closes_the_enclave_that_runs_it_ends_its_own_run() -> None:
    async def body() -> str | None:
        async def close() -> None:
            await enclave.aclose()

        enclave = enclave_of(close)
        result = await enclave.run(CALL)
        await no_tasks()
        await asyncio.to_thread(enclave.close)
        return code(result)

    before = descendants()
    assert run(body()) == "ABORTED"
    assert descendants() == before


def test_a_tool_of_run_sync_that_closes_the_enclave_ends_its_own_run() -> None:
    async def close() -> None:
        await enclave.aclose()

    with nothing_left():
        enclave = enclave_of(close)
        assert code(enclave.run_sync(CALL)) == "ABORTED"
        enclave.close()
        _join("ringfence-run-sync")


def test_a_tool_of_run_sync_cannot_wait_for_the_end_of_its_own_thread() -> None:
    async def close() -> None:
        enclave.close()

    with nothing_left():
        enclave = enclave_of(close)
        result = enclave.run_sync(CALL)
        assert result.error is not None
        assert (result.error.code, result.error.name) == ("TOOL_ERROR", "ConfigError")
        assert enclave.run_sync("1").value == 1
        enclave.close()


def test_closing_in_a_loop_does_not_wait_for_the_runs_that_only_that_loop_can_end() -> None:
    async def body() -> tuple[str | None, bool]:
        tool = Waiting()
        enclave = enclave_of(tool)
        task = await begun(enclave, tool)
        start = time.monotonic()
        enclave.close()
        quick = time.monotonic() - start < 8  # it would wait for ten seconds
        return code(await task), quick

    with nothing_left():
        assert run(body()) == ("ABORTED", True)


def test_closing_waits_for_the_runs_of_other_loops() -> None:
    results: list[rf.RunResult] = []
    reached = threading.Event()

    async def tool() -> None:
        reached.set()
        await never(None)

    with nothing_left():
        enclave = enclave_of(tool)
        threads = [threading.Thread(target=lambda: results.append(asyncio.run(enclave.run(CALL)))) for _ in range(2)]
        threads.append(threading.Thread(target=lambda: results.append(enclave.run_sync(CALL))))
        for thread in threads:
            thread.start()
        assert reached.wait(HANG)
        enclave.close()
        for thread in threads:
            thread.join(HANG)
        assert [code(result) for result in results] == ["ABORTED"] * 3


@pytest.mark.slow
def test_closing_needs_no_thread_when_python_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in functions of `atexit` from Python 3.12 on."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    with nothing_left():
        enclave = rf.Enclave(timeout=HANG)
        assert enclave.run_sync("1").value == 1
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)

            async def in_a_loop() -> None:
                enclave.close()

            with pytest.raises(RuntimeError, match="new thread"):
                run(in_a_loop())
            enclave.close()
        with pytest.raises(rf.ConfigError, match="closed"):
            enclave.run_sync("1")


def test_everybody_who_closes_at_once_finds_it_closed() -> None:
    for _ in range(12):  # whoever is later must find the thread of run_sync in every state of its end
        with nothing_left():
            enclave = rf.Enclave()
            enclave.run_sync("1")
            start = threading.Barrier(6)

            def close(enclave: rf.Enclave = enclave, start: threading.Barrier = start) -> None:
                start.wait(HANG)
                enclave.close()

            threads = [threading.Thread(target=close) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(HANG)
            assert not any(thread.is_alive() for thread in threads)


def test_two_enclaves_whose_tools_run_each_other_are_told_not_to() -> None:
    async def other() -> Any:
        return two.run_sync(CALL).value

    async def one_again() -> Any:
        return one.run_sync("1").value

    one, two = enclave_of(other), enclave_of(one_again)
    with one, two:
        result = one.run_sync(CALL)
    assert result.error is not None
    assert (result.error.code, result.error.name) == ("TOOL_ERROR", "ConfigError")


def test_a_tool_of_run_sync_may_have_and_await_another_enclave() -> None:
    async def inner() -> Any:
        with rf.Enclave() as other:
            return (await other.run("40 + 2")).value

    with nothing_left(), enclave_of(inner) as enclave:
        assert enclave.run_sync(CALL).value == 42


def test_tools_whose_places_take_their_time_are_closed_without_a_loop_too() -> None:
    place = Place()
    with nothing_left(), governed(place) as enclave:
        assert enclave.run_sync("1").value == 1
    assert place.closed == 1


def _join(name: str) -> None:
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(HANG)
