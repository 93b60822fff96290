"""Turns of a tool of which only so many calls may run at the same time.

First come, first served, across event loops and threads. A turn is held by its call and by whatever code the call has
started, and passes on when the last of them lets go: code that could not be stopped keeps it until it really ends.
Knows neither tools nor states; `gate.waits` takes turns, `gate.runner` and `gate.body` give them back.
"""

from __future__ import annotations

import asyncio
import threading


class Turn:
    """One call's place: waiting, held, or over."""

    __slots__ = ("_holds", "_slots", "_waiter")

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._holds = 0
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None

    @property
    def is_held(self) -> bool:
        """It has come, and is not over."""
        return self._holds > 0

    async def wait(self) -> None:
        """Until it comes. Whoever stops waiting calls `leave`."""
        loop = asyncio.get_running_loop()
        coming = loop.create_future()
        with self._slots.lock:
            if self.is_held:
                return
            self._waiter = (loop, coming)
        await coming

    def hold(self) -> None:
        """One more holder, while there is one already. From any thread."""
        with self._slots.lock:
            self._holds += 1

    def leave(self) -> None:
        """A holder lets go, or a waiting call gives up. From any thread."""
        with self._slots.lock:
            if self._holds == 0:
                self._slots.waiting.pop(self, None)
                return
            self._holds -= 1
            if self._holds == 0:
                self._slots.pass_on()

    def come(self) -> bool:
        """Give it to its call; False when nobody is left to take it. With the lock held."""
        if self._waiter is not None:
            loop, coming = self._waiter
            try:
                loop.call_soon_threadsafe(_wake, coming)
            except RuntimeError:  # its loop is closed, and its call gone with it
                return False
        self._holds = 1
        return True


class Slots:
    """All turns of one tool."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self.lock = threading.Lock()
        self.waiting: dict[Turn, None] = {}
        """In the order in which they came. Nobody waits while there is a free one."""

    def turn(self) -> Turn:
        """A turn that is held, or waits behind those that came before."""
        turn = Turn(self)
        with self.lock:
            if self._free > 0:
                self._free -= 1
                turn.come()
            else:
                self.waiting[turn] = None
        return turn

    def pass_on(self) -> None:
        """A turn is over: the next one comes. With the lock held."""
        while self.waiting:
            turn = next(iter(self.waiting))
            del self.waiting[turn]
            if turn.come():
                return
        self._free += 1


def _wake(coming: asyncio.Future[None]) -> None:
    if not coming.done():
        coming.set_result(None)
