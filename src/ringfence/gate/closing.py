"""How a gate's time ends: no further call, time for those that run, a stop for the rest, and a close of every place.

Done once, whoever asks and from whichever event loop; everybody who asks waits until it is done. Knows that calls are
counted and attempts can be stopped; not what they are. Called by `gate.runner`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sized

from ringfence.errors import ConfigError
from ringfence.gate.attempt import STOPPED_GRACE, Stop
from ringfence.gate.hub import EventHub
from ringfence.gate.leases import Leases
from ringfence.gate.means import Means

_STOPS = 20
"""Times that running calls are told to stop: one may only be about to wait when the others hear of it."""

_Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]


class Closing:
    """The end of one gate."""

    def __init__(self, calls: Sized, means: Means, leases: Leases, hub: EventHub) -> None:
        """Nothing ends yet.

        Args:
            calls: those without an outcome.
        """
        self._calls = calls
        self._means = means
        self._leases = leases
        self._hub = hub
        self.has_begun = False
        self._is_done = False
        self._lock = threading.Lock()
        self._idle: list[_Waiter] = []
        self._closers: list[_Waiter] = []

    def check(self) -> None:
        """Whether a call may still begin.

        Raises:
            ConfigError: `not_running`.
        """
        if self.has_begun:
            raise ConfigError("the boundary is closed", code="not_running")

    def call_ended(self) -> None:
        """One of the calls has its outcome, and the end has begun."""
        if not self._calls:
            waiting, self._idle = self._idle, []
            _release(waiting)

    async def run(self, drain: float) -> None:
        """End it; calls get `drain` seconds to finish.

        Raises:
            ExceptionGroup: drivers that failed to close; all have been tried.
        """
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        with self._lock:
            is_first, self.has_begun = not self.has_begun, True
            if self._is_done:
                return
            if not is_first:
                self._closers.append((loop, done))
        if not is_first:
            await done
            return
        try:
            await self._end(drain)
        finally:
            with self._lock:
                self._is_done = True
                waiting, self._closers = self._closers, []
            _release(waiting)

    async def _end(self, drain: float) -> None:
        if not await self._drained(drain):
            self._means.closing = True
            for _ in range(_STOPS):
                self._means.attempts.stop_all(Stop.CLOSING)
                if await self._drained(2 * STOPPED_GRACE / _STOPS):
                    break
        try:
            failures = await self._leases.release(self._means.attempts)
        finally:
            await self._hub.aclose()
        if failures:
            raise ExceptionGroup("sandboxes failed to close", failures)

    async def _drained(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        idle = loop.create_future()
        self._idle.append((loop, idle))
        if not self._calls:
            return True
        await asyncio.wait([idle], timeout=seconds)
        return not self._calls


def _release(waiting: list[_Waiter]) -> None:
    for loop, future in waiting:
        if not loop.is_closed():
            loop.call_soon_threadsafe(_done, future)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
