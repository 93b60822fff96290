"""The first Ctrl-C asks for an end, the second one is one (`cli.interrupt`)."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time

import pytest

from ringfence.cli.interrupt import on_interrupt

TWICE = """
import asyncio, os, signal
from ringfence.cli.interrupt import on_interrupt
async def body():
    with on_interrupt(lambda: None):
        os.kill(os.getpid(), signal.{0})
        os.kill(os.getpid(), signal.{0})
        await asyncio.sleep(20)
asyncio.run(body())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_calls_stop_in_the_loop(number: signal.Signals) -> None:
    before = signal.getsignal(number)

    async def body() -> None:
        stopped = asyncio.Event()
        with on_interrupt(stopped.set):
            signal.raise_signal(number)
            async with asyncio.timeout(5):
                await stopped.wait()

    asyncio.run(body())
    assert signal.getsignal(number) is before


def test_a_blocked_loop_stops_as_soon_as_it_is_free() -> None:
    calls: list[str] = []

    async def body() -> None:
        stopped = asyncio.Event()

        def stop() -> None:
            calls.append("stop")
            stopped.set()

        with on_interrupt(stop):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.01)  # noqa: ASYNC251 - a tool that blocks the loop
            calls.append("free")
            async with asyncio.timeout(5):
                await stopped.wait()

    asyncio.run(body())
    assert calls == ["free", "stop"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_second_signal_ends_the_process_by_that_signal(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", TWICE.format(name)], timeout=30, check=False)
    assert done.returncode == -getattr(signal, name)
