"""A signal is aborted once; whoever looks or waits learns of it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from ringfence.gate import signals
from ringfence.gate.signals import AbortSignal, StopRequested
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, gate, pay, run, tool, verdict


def test_a_fresh_signal_asks_for_nothing() -> None:
    signal = AbortSignal()
    signal.raise_if_aborted()
    assert (signal.aborted, signal.reason) == (False, None)


def test_the_first_reason_stays() -> None:
    signal = AbortSignal()
    signal.abort("expired")
    signal.abort("later")
    assert (signal.aborted, signal.reason) == (True, "expired")
    with pytest.raises(StopRequested, match="expired"):
        signal.raise_if_aborted()


def test_a_child_is_aborted_with_its_parent_but_not_the_other_way_round() -> None:
    parent = AbortSignal()
    child, other = AbortSignal(parent), AbortSignal(parent)
    other.abort("alone")
    assert (parent.aborted, child.aborted) == (False, False)
    parent.abort("all")
    assert (child.aborted, child.reason) == (True, "all")
    assert other.reason == "alone"
    with pytest.raises(StopRequested, match="all"):
        child.raise_if_aborted()


def test_everybody_who_waits_is_woken() -> None:
    async def body() -> None:
        parent = AbortSignal()
        child = AbortSignal(parent)
        waiting = [asyncio.create_task(signal.wait()) for signal in (parent, child, child)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        parent.abort()
        await asyncio.gather(*waiting)
        await parent.wait()

    run(body)


def test_a_waiting_child_hears_its_own_abort() -> None:
    async def body() -> None:
        child = AbortSignal(AbortSignal())
        waiting = asyncio.create_task(child.wait())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        child.abort()
        await waiting

    run(body)


def test_another_thread_may_abort() -> None:
    async def body() -> None:
        signal = AbortSignal()
        waiting = asyncio.create_task(signal.wait())
        await asyncio.sleep(0)
        thread = threading.Thread(target=signal.abort)
        thread.start()
        await waiting
        thread.join()

    run(body)


def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    async def body() -> None:
        signal = AbortSignal()
        waiting = asyncio.create_task(signal.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        signal.abort()
        assert waiting.cancelled()

    run(body)


def test_an_abort_after_the_waiters_loop_has_closed_is_harmless() -> None:
    signal = AbortSignal()

    async def body() -> None:
        task = asyncio.ensure_future(signal.wait())
        await asyncio.sleep(0)
        keep.append(task)

    keep: list[asyncio.Future[None]] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(body())
    keep[0].cancel()
    loop.close()
    signal.abort()
    assert signal.aborted


# --- signals that are not ours ---


class Odd:
    """Raises once so many questions have been asked; its `wait` returns at once, or raises."""

    def __init__(self, answers: int = 1_000, waiting: Exception | None = None) -> None:
        self.answers = answers
        self.waiting = waiting
        self.waits = 0

    @property
    def aborted(self) -> bool:
        self.answers -= 1
        if self.answers < 0:
            raise ValueError("secret")
        return False

    @property
    def reason(self) -> str | None:
        raise ValueError("secret")

    def raise_if_aborted(self) -> None:
        raise NotImplementedError

    async def wait(self) -> None:
        self.waits += 1
        if self.waiting is not None:
            raise self.waiting


@pytest.mark.parametrize("answers", range(5))
def test_a_signal_that_cannot_be_read_counts_as_aborted(answers: int) -> None:
    async def body() -> None:
        async def execute(args: Amount) -> None:
            raise ValueError

        of = gate(tool(execute, retries=9, max_concurrency=1))
        trace = Trace(of)
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=Odd(answers))
        assert verdict(outcome)[0] in ("refused", "unknown", "failed")
        assert outcome.attempts <= 2
        assert "secret" not in repr(outcome.error)
        assert trace.events[-1].meta["status"] == outcome.status

    run(body)


def test_a_wait_that_returns_too_early_is_no_abort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_AGAIN", 0.0)

    async def body() -> None:
        async def approve(request: Any) -> bool:
            while signal.waits < 3:  # noqa: ASYNC110
                await asyncio.sleep(0)
            return True

        signal = Odd()
        of = gate(tool(pay, approval=approve))
        assert verdict(await of.call("pay", ARGS, origin=ORIGIN, signal=signal)) == ("succeeded", None, 1)

    run(body)


def test_a_wait_that_raises_is_an_abort_also_for_a_tool_that_waits() -> None:
    async def body() -> None:
        child = AbortSignal(Odd(waiting=OSError("secret")))
        await child.wait()
        assert (child.aborted, child.reason) == (True, "the signal raised OSError")
        with pytest.raises(StopRequested):
            child.raise_if_aborted()

    run(body)
