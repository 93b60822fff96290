"""Turns of a tool of which only so many calls may run at the same time.

First come, first served, across event loops and threads. A turn is held by its call and by whatever code the call has
started, and passes on when the last of them lets go: code that could not be stopped keeps it until it really ends.
Knows neither tools nor states; `gate.waits` takes turns, `gate.runner` and `gate.body` give them back.

Whose turns the calls around a call hold is told by its context, which tasks, threads and scripts inherit. A call that
finds no free turn while a call around it holds one is not to wait: that one cannot end before it, and of several such
calls none could. It is refused also where its caller would not have waited for it, which nobody can know. Not seen are
circles through two tools, where two calls each hold the turn that the other one's inner call waits for.

Letting go never waits for the lock, since it also happens while garbage is collected, perhaps within the very thread
that holds it: who lets go leaves a note, and whoever has the lock reads the notes before it is done.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextvars import ContextVar
from typing import Final


class Turn:
    """One call's place: waiting, held, or over."""

    __slots__ = ("_slots", "holds", "waiter")

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.holds = 0
        """Changed with the lock only."""
        self.waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None

    @property
    def is_held(self) -> bool:
        """It has come, and is not over."""
        return self.holds > 0

    @property
    def is_hopeless(self) -> bool:
        """It has not come, and a call around this one holds a turn of the same tool."""
        return not self.is_held and any(other._slots is self._slots and other.is_held for other in _around.get())

    def surround(self) -> None:
        """From now on, calls made in this context are made within this turn."""
        _around.set((*_around.get(), self))

    async def wait(self) -> None:
        """Until it comes. Whoever stops waiting calls `leave`."""
        loop = asyncio.get_running_loop()
        coming = loop.create_future()
        with self._slots.lock:
            if not self.is_held:
                self.waiter = (loop, coming)
        self._slots.read_notes()
        if self.waiter is not None:
            await coming

    def hold(self) -> None:
        """One more holder, while there is one already. From any thread."""
        with self._slots.lock:
            self.holds += 1
        self._slots.read_notes()

    def leave(self) -> None:
        """A holder lets go, or a waiting call gives up. From any thread."""
        self._slots.take_back(self)

    def end(self) -> None:
        """Its call is over: that lets go, and further calls of this context are not within it."""
        around = _around.get()
        if around and around[-1] is self:  # else the call is being closed from some other context
            _around.set(around[:-1])
        self.leave()


_around: Final[ContextVar[tuple[Turn, ...]]] = ContextVar("ringfence-turns", default=())
"""Turns of the calls around the present code, outermost first."""


def outside() -> None:
    """From now on, calls made in this context are made within no turn: nobody who holds one waits for this code."""
    _around.set(())


class Slots:
    """All turns of one tool."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self.lock = threading.Lock()
        """Held for a few steps, and never waited for by who may be called by garbage collection."""
        self._notes: deque[Turn] = deque()
        """Turns that somebody has let go."""
        self.waiting: dict[Turn, None] = {}
        """In the order in which they came. Nobody waits while there is a free one."""

    def turn(self) -> Turn:
        """A turn that is held, or waits behind those that came before."""
        turn = Turn(self)
        with self.lock:
            if self._free > 0:
                self._free -= 1
                turn.holds = 1
            else:
                self.waiting[turn] = None
        self.read_notes()
        return turn

    def take_back(self, turn: Turn) -> None:
        """Note that somebody lets it go; at once, unless the lock is held."""
        self._notes.append(turn)
        self.read_notes()

    def read_notes(self) -> None:
        """Do what the notes say; to be called by whoever has had the lock. Who does not get it leaves them to who has it."""
        while self._notes and self.lock.acquire(blocking=False):
            try:
                while self._notes:
                    self._let_go(self._notes.popleft())
            finally:
                self.lock.release()

    def _let_go(self, turn: Turn) -> None:
        if turn.holds == 0:
            self.waiting.pop(turn, None)
            return
        turn.holds -= 1
        if turn.holds == 0:
            self._pass_on()

    def _pass_on(self) -> None:
        """A turn is over: the next one comes."""
        while self.waiting:
            turn = next(iter(self.waiting))
            del self.waiting[turn]
            if _comes(turn):
                turn.holds = 1
                return
        self._free += 1


def _comes(turn: Turn) -> bool:
    """Tell its call; False when that is gone together with its loop."""
    if turn.waiter is None:
        return True
    loop, coming = turn.waiter
    try:
        loop.call_soon_threadsafe(_wake, coming)
    except RuntimeError:
        return False
    return True


def _wake(coming: asyncio.Future[None]) -> None:
    if not coming.done():
        coming.set_result(None)
