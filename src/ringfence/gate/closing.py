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
from ringfence.gate.shell import is_shell

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
        self._closer: asyncio.AbstractEventLoop | None = None
        """Where somebody is ending it now."""
        self._lock = threading.RLock()
        """Let go and taken again also by a closer's coroutine that is collected as garbage, perhaps right here."""
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
        """End it; calls get `drain` seconds to finish. Who is cancelled meanwhile gives them no more time, and still
        stops them and closes every driver; who vanishes with his event loop leaves the rest to whoever asks next.

        Raises:
            ExceptionGroup: drivers that failed to close; all have been tried.
            ConfigError: asked by one of the calls.
        """
        await self._refuse_own_call()
        loop = asyncio.get_running_loop()
        while True:
            done = loop.create_future()
            with self._lock:
                self.has_begun = True
                if self._is_done:
                    return
                is_ours = self._closer is None or self._closer.is_closed()
                if is_ours:
                    self._closer = loop
                    break
                self._closers.append((loop, done))
            await done
        try:
            await self._end(drain)
        finally:
            with self._lock:
                self._closer = None
                waiting, self._closers = self._closers, []
            _release(waiting)

    async def _refuse_own_call(self) -> None:
        """A tool or a handler that closes the gate would wait for its own end."""
        task = asyncio.current_task()
        if task is None:
            return
        if is_shell(task):
            await asyncio.sleep(0)  # its attempt is listed when it first waits
        if any(attempt.is_in(task) for attempt in tuple(self._means.attempts.waiting)):
            raise ConfigError(
                "a call cannot close the boundary that runs it: it would wait for its own end",
                hint="close the boundary when its calls have ended",
            )

    async def _end(self, drain: float) -> None:
        cancelled = await self._quieted(drain)
        failures: list[Exception] = []
        try:
            failures = await self._leases.release(self._means.attempts)
        except asyncio.CancelledError as error:
            cancelled = error
        try:
            await self._hub.aclose()
        except asyncio.CancelledError as error:
            cancelled = error
        self._is_done = True
        problem = ExceptionGroup("sandboxes failed to close", failures) if failures else None
        if cancelled is not None:
            raise cancelled from problem or cancelled.__cause__
        if problem is not None:
            raise problem

    async def _quieted(self, drain: float) -> asyncio.CancelledError | None:
        """Let calls finish, and stop the rest. Gives the cancellation that cut the time short."""
        cancelled: asyncio.CancelledError | None = None
        try:
            if await self._drained(drain):
                return None
        except asyncio.CancelledError as error:
            cancelled = error
        self._means.closing = True
        for _ in range(_STOPS):
            self._means.attempts.stop_all(Stop.CLOSING)
            try:
                if await self._drained(2 * STOPPED_GRACE / _STOPS):
                    break
            except asyncio.CancelledError as error:
                if cancelled is not None:  # for the second time: now
                    return error
                cancelled = error
        return cancelled

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
