"""The wall clock of one run: it ends the run, and stands still while a person decides about a call.

Knows an event loop and one function to call; `session` owns one. Belongs to that loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class Deadline:
    """Counts from its making. `start` once, `stop` at the end."""

    def __init__(self, seconds: float, expire: Callable[[], None]) -> None:
        """Prepare; `expire` is called in the loop when the time is up."""
        self._loop = asyncio.get_running_loop()
        self._expire = expire
        self.started = time.monotonic()
        self._until = self.started + seconds
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self._holds = 0
        self._since = 0.0
        self.waited = 0.0
        """Seconds in which it stood still."""

    def start(self) -> None:
        """Begin to watch, or go on."""
        self._timer = self._loop.call_at(self._loop.time() + self._until - time.monotonic(), self._expire)

    def stop(self) -> None:
        """The run is over."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def hold(self) -> None:
        """A person decides: their time is not the script's. Counts, since several calls may wait at once."""
        self._holds += 1
        if self._holds == 1:
            self._since = time.monotonic()
            if self._timer is not None:
                self._timer.cancel()

    def release(self) -> None:
        """One decision less is waited for."""
        self._holds -= 1
        if self._holds == 0:
            waited = time.monotonic() - self._since
            self.waited += waited
            self._until += waited
            if not self._stopped:
                self.start()

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.started
