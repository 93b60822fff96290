"""Code that does not listen is left behind, goes on alone, and never reaches back."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from ringfence.events import Event
from ringfence.gate import attempt as module
from ringfence.gate.attempt import Attempt, Attempts, Stopped
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, gate, pay, run, tool


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOPPED_GRACE", 0.02)
    monkeypatch.setattr(module, "CANCELLED_GRACE", 0.04)


async def stubborn(release: asyncio.Event, log: list[str] | None = None) -> str:
    """Swallows every cancellation until it is released."""
    while not release.is_set():
        try:
            await release.wait()
        except asyncio.CancelledError:
            if log is not None:
                log.append("swallowed")
    return "late"


async def drained(attempts: Attempts) -> None:
    if attempts.abandoned:
        await asyncio.wait(tuple(attempts.abandoned))


async def awaited(awaitable: Awaitable[object]) -> object:
    return await awaitable


def test_code_that_swallows_cancellation_is_left_behind_and_counted() -> None:
    async def body() -> None:
        attempts, release, log = Attempts(), asyncio.Event(), list[str]()
        with pytest.raises(Stopped):
            await Attempt(stubborn(release, log), attempts, 0.001)
        assert (len(attempts.abandoned), attempts.abandoned_total, log) == (1, 1, ["swallowed", "swallowed"])
        release.set()
        await drained(attempts)
        assert (len(attempts.abandoned), attempts.abandoned_total) == (0, 1)

    run(body)


def test_what_is_left_behind_may_fail_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        attempts, release = Attempts(), asyncio.Event()

        async def code() -> None:
            await stubborn(release)
            raise ValueError("late")

        with pytest.raises(Stopped):
            await Attempt(code(), attempts, 0.001)
        release.set()
        await drained(attempts)

    run(body)
    assert caplog.records == []


def test_the_host_gets_its_cancellation_even_when_the_code_swallows_it() -> None:
    async def body() -> None:
        attempts, release, begun = Attempts(), asyncio.Event(), asyncio.Event()

        async def host() -> None:
            begun.set()
            await Attempt(stubborn(release), attempts)

        task = asyncio.create_task(host())
        await begun.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert attempts.abandoned_total == 1
        release.set()
        await drained(attempts)

    run(body)


async def in_a_timeout(release: asyncio.Event) -> None:
    async with asyncio.timeout(0.08):
        await stubborn(release)


async def in_a_group(release: asyncio.Event) -> None:
    async def fails_later() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.08)
        raise ValueError

    async with asyncio.TaskGroup() as group:
        group.create_task(fails_later())
        await stubborn(release)


@pytest.mark.parametrize("code", [in_a_timeout, in_a_group])
@pytest.mark.parametrize("deadline", [0.001, None])
def test_what_code_bound_to_its_task_never_cancels_the_host_that_left_it(
    code: Callable[[asyncio.Event], Coroutine[object, object, None]], deadline: float | None
) -> None:
    async def body() -> None:
        attempts, release = Attempts(), asyncio.Event()
        with pytest.raises((Stopped, TimeoutError)):
            async with asyncio.timeout(0.01):
                await Attempt(code(release), attempts, deadline)
        assert attempts.abandoned_total == 1
        await asyncio.sleep(0.12)  # the code's own timeout passes, its child fails
        host = asyncio.current_task()
        assert host is not None
        assert host.cancelling() == 0
        release.set()
        await drained(attempts)

    run(body)


def test_code_that_waits_for_a_stubborn_task_is_left_behind_too() -> None:
    async def body() -> None:
        attempts, release = Attempts(), asyncio.Event()

        async def code() -> str:
            return await asyncio.create_task(stubborn(release))

        with pytest.raises(Stopped):
            await Attempt(code(), attempts, 0.001)
        assert attempts.abandoned_total == 1
        release.set()
        await drained(attempts)

    run(body)


def test_code_is_told_once_and_once_more_when_its_grace_is_over() -> None:
    async def body() -> None:
        attempts, release, log = Attempts(), asyncio.Event(), list[str]()
        task = asyncio.create_task(awaited(Attempt(stubborn(release, log), attempts)))
        await asyncio.sleep(0)
        for _ in range(5):
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert log == ["swallowed"]
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (len(log), attempts.abandoned_total) == (2, 1)
        release.set()
        await drained(attempts)

    run(body)


def test_ctrl_c_in_code_that_was_left_behind_is_not_lost() -> None:
    async def body() -> None:
        release = asyncio.Event()

        async def code() -> None:
            await stubborn(release)
            raise KeyboardInterrupt

        with pytest.raises(Stopped):
            await Attempt(code(), Attempts(), 0.001)
        release.set()
        await asyncio.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(body())


def test_a_nested_timer_never_hits_the_task_that_left_its_code_behind() -> None:
    async def body() -> None:
        attempts, release = Attempts(), asyncio.Event()
        inner = Attempt(stubborn(release), attempts, 0.06)
        with pytest.raises(Stopped):
            await Attempt(awaited(inner), attempts, 0.001)
        assert attempts.abandoned_total == 1
        await asyncio.sleep(0.12)  # the inner deadline and its grace pass now
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        release.set()
        await drained(attempts)
        assert inner.cancelled

    run(body)


class Impatient(Attempts):
    """Cancels what is left behind before it has gone on."""

    def leave(self, task: asyncio.Task[None]) -> None:
        super().leave(task)
        task.cancel()


def test_code_that_is_cancelled_the_moment_it_is_left_behind_still_ends() -> None:
    async def body() -> None:
        attempts, release, log = Impatient(), asyncio.Event(), list[str]()
        with pytest.raises(Stopped):
            await Attempt(stubborn(release, log), attempts, 0.001)
        await asyncio.sleep(0)
        assert (len(log), len(attempts.abandoned)) == (3, 1)
        release.set()
        await drained(attempts)

    run(body)


# --- calls that nobody waits for any more ---


@pytest.mark.parametrize("stage", ["running", "cleaning up", "asking", "queued"])
def test_a_call_whose_coroutine_is_closed_still_has_a_last_event(stage: str) -> None:
    async def body() -> None:
        async def execute(args: Amount) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                if stage == "cleaning up":
                    await asyncio.sleep(0)

        async def approve(request: Any) -> bool:
            return await asyncio.Event().wait()

        of = gate(
            tool(execute, effect="write", max_concurrency=1 if stage == "queued" else None,
                 approval=approve if stage == "asking" else "auto")
        )  # fmt: skip
        first = of.call("pay", ARGS, origin=ORIGIN)
        if stage == "queued":
            contextvars.copy_context().run(first.send, None)
        trace = Trace(of)
        call = of.call("pay", ARGS, origin=ORIGIN)
        call.send(None)
        with contextlib.suppress(RuntimeError):  # the code may not wait while it is closed
            call.close()
        last = trace.events[-1].meta
        ended = ("unknown", "interrupted") if stage in ("running", "cleaning up") else ("refused", "interrupted")
        assert (last["status"], last["code"]) == ended
        first.close()
        assert of.statistics().running == 0

    run(body)


def test_a_key_press_in_an_event_handler_leaves_a_last_event() -> None:
    async def body() -> None:
        def press(event: Event) -> None:
            raise KeyboardInterrupt

        of = gate(tool(pay))
        trace = Trace(of)
        of.hub.on("tool.called", press)
        with pytest.raises(KeyboardInterrupt):
            await of.call("pay", ARGS, origin=ORIGIN)
        assert trace.types == ["tool.called", "tool.failed"]
        assert trace.events[-1].meta["code"] == "interrupted"

    run(body)
