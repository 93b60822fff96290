"""A signal is aborted once; whoever looks or waits learns of it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ringfence.gate.signals import AbortSignal, StopRequested
from tests.gate.kit import run


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
