"""A run that would never end fails instead, and what comes from outside is waited for in real time."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Self

import pytest

from ringfence.testing.clock import FakeClock
from ringfence.testing.loop import Hang

HOUR = 3600.0


async def wait_for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_a_run_in_which_nothing_can_happen_fails_and_says_where_each_task_waits() -> None:
    async def main() -> None:
        await asyncio.wait([asyncio.create_task(wait_for_ever(), name="lonely")])

    with pytest.raises(Hang) as caught:
        FakeClock().run(main())
    text = str(caught.value)
    assert "nothing can happen any more: no timer is set, no thread works" in text
    assert "lonely waits in wait_for_ever:" in text
    assert ".main:" in text


def test_without_autojump_a_timer_that_nobody_moves_the_time_to_is_a_hang() -> None:
    with pytest.raises(Hang, match=r"the next timer is 5 s away\n  fix: call clock.advance"):
        FakeClock(autojump=False).run(asyncio.sleep(5))


def test_a_thread_that_never_ends_is_named() -> None:
    gate = threading.Event()

    async def main() -> None:
        threading.Thread(target=gate.wait, name="stuck", daemon=True).start()
        await asyncio.sleep(1)

    try:
        with pytest.raises(Hang, match=r"stuck did not come to an end in 0\.05 real seconds\n  fix: .*clock\.sleep"):
            FakeClock(patience=0.05).run(main())
    finally:
        gate.set()


def test_a_hang_does_not_keep_the_clock_running() -> None:
    clock = FakeClock()
    with pytest.raises(Hang):
        clock.run(wait_for_ever())
    clock.run(asyncio.sleep(1))


# sockets


class Outside:
    """A thread that was there before the run, so that the clock does not wait for it."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.start = threading.Event()
        self._act = act
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.start.wait(5)
        self.start.clear()
        self.start.wait(0.05)  # by then the loop waits for real
        self._act()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(5)


@pytest.mark.parametrize(("timer", "grace"), [(HOUR, 5.0), (None, 0.01)])
def test_what_comes_through_a_socket_is_waited_for(timer: float | None, grace: float) -> None:
    clock = FakeClock(io_grace=grace)
    here, there = socket.socketpair()

    async def main() -> bytes:
        reader, writer = await asyncio.open_connection(sock=here)
        if timer is not None:
            asyncio.get_running_loop().call_later(timer, writer.close)
        outside.start.set()
        data = await reader.read(1)
        writer.close()
        return data

    with there, Outside(lambda: there.sendall(b"x")) as outside:
        assert clock.run(main()) == b"x"
    assert clock.time() == 0


def test_somebody_outside_may_move_the_time_while_a_socket_is_waited_for() -> None:
    clock = FakeClock(autojump=False, io_grace=0, patience=2.0)
    here, there = socket.socketpair()

    async def main() -> None:
        _, writer = await asyncio.open_connection(sock=here)
        asyncio.get_running_loop().call_soon(outside.start.set)
        await asyncio.sleep(HOUR)
        writer.close()

    with there, Outside(lambda: clock.advance(HOUR)) as outside:
        clock.run(main())
    assert clock.time() == HOUR


@pytest.mark.parametrize("grace", [0, 0.05])
def test_a_silent_socket_holds_the_time_no_longer_than_the_grace(grace: float) -> None:
    clock = FakeClock(io_grace=grace)

    async def main() -> None:
        here, there = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=here)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await reader.read(1)
        writer.close()
        there.close()

    clock.run(main())
    assert clock.time() == 30


def test_a_silent_socket_and_nothing_else_is_a_hang() -> None:
    here, there = socket.socketpair()

    async def main() -> None:
        reader, writer = await asyncio.open_connection(sock=here)
        try:
            await reader.read(1)
        finally:
            writer.close()

    with there, pytest.raises(Hang, match=r"no open socket or pipe had news for 0\.05 real seconds"):
        FakeClock(io_grace=0.01, patience=0.05).run(main())
