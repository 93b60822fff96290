"""An event loop that lives by a fake time: where an ordinary one would sleep, it asks what can happen next.

Real sockets and threads still work: they are waited for in real time, since what they do cannot be hurried. Knows
nothing of tools or boundaries. Used by `testing.clock`.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final

from ringfence.testing.timekeeper import Timekeeper

_POLL: Final = 0.001
"""Real seconds after which working threads are looked at again; one that ends may wake nobody."""

_Events = list[tuple[selectors.SelectorKey, int]]


class Hang(AssertionError):
    """Nothing can happen any more, or a thread works for too long: the run would never end."""


class FakeLoop(asyncio.SelectorEventLoop):
    """`asyncio`'s own loop, with another time and another patience."""

    def __init__(self, keeper: Timekeeper, *, io_grace: float, patience: float) -> None:
        self._keeper = keeper
        selector = _Selector(keeper, io_grace, patience, self._places)
        super().__init__(selector)
        selector.own = len(selector.get_map())
        self._pool = keeper.executor()
        self.set_default_executor(self._pool)

    def time(self) -> float:
        """Seconds of the fake time."""
        return self._keeper.read()

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """As always; the job is not jumped over."""
        job = (executor or self._pool).submit(func, *args)
        waiter = asyncio.wrap_future(job, loop=self)
        self._keeper.count(job)
        return waiter

    def _places(self) -> str:
        tasks = sorted(asyncio.all_tasks(self), key=lambda task: task.get_name())
        return "".join(f"\n  {task.get_name()} waits in {_place(task.get_coro())}" for task in tasks)


class _Selector(selectors.DefaultSelector):
    """Waits for sockets and threads in real time, and for nothing else."""

    def __init__(self, keeper: Timekeeper, io_grace: float, patience: float, places: Callable[[], str]) -> None:
        super().__init__()
        self._keeper = keeper
        self._io_grace = io_grace
        self._patience = patience
        self._places = places
        self.own = 0
        """Descriptors that are the loop's, for being woken."""

    def select(self, timeout: float | None = None) -> _Events:
        """What is ready. With a timeout that is not 0 nothing else is, so that this is the moment to move the time.

        Raises:
            Hang: nothing will ever be.
        """
        if timeout is not None and timeout <= 0:
            return super().select(0)
        began = quiet = time.monotonic()
        while True:
            working = self._keeper.working()  # before the look at what they may have left for the loop
            events = super().select(_POLL if working else 0)
            now = time.monotonic()
            if events:
                return events
            if working:
                quiet = now
                if now - began > self._patience:
                    raise self._stuck(working)
            elif (grace := self._io_grace - (now - quiet)) > 0 and self._has_io():
                if events := super().select(grace):
                    return events
            elif self._keeper.move(timeout):
                return []
            elif not self._has_io() or now - began > self._patience:
                raise self._idle(timeout)
            elif events := super().select(self._patience):
                return events

    def _has_io(self) -> bool:
        return len(self.get_map()) > self.own

    def _stuck(self, working: list[str]) -> Hang:
        return Hang(
            f"the time stands still, because {', '.join(working)} did not come to an end in {self._patience:g} real "
            "seconds\n  fix: let synchronous code wait with clock.sleep(...), start threads and pools that never end "
            f"before clock.run, or raise patience={self._places()}"
        )

    def _idle(self, timer: float | None) -> Hang:
        if timer is not None:
            why, fix = f"the next timer is {timer:g} s away", "call clock.advance, or make the clock with autojump=True"
        elif self._has_io():
            why, fix = f"no open socket or pipe had news for {self._patience:g} real seconds", "raise patience="
        else:
            why, fix = "no timer is set, no thread works", "look at what these tasks wait for"
        return Hang(f"nothing can happen any more: {why}\n  fix: {fix}{self._places()}")


def _place(code: Any) -> str:
    """The chain of coroutines, from the task's own to the one that waits."""
    chain: list[str] = []
    while code is not None:
        frame = getattr(code, "cr_frame", None) or getattr(code, "gi_frame", None)
        if frame is not None:
            chain.append(f"{code.__qualname__}:{frame.f_lineno}")
        code = getattr(code, "cr_await", None) or getattr(code, "gi_yieldfrom", None)
    return " > ".join(chain) or "its first step"
