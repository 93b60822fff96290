"""Who uses which driver, so that each is closed once, by the last who uses it.

A gate holds its drivers from its making until its calls have ended. Several gates may hold the same driver, which is
known by its identity alone; a gate that is dropped without being closed holds nothing any more, once it has been
collected. Nothing is kept of a driver that nobody uses: a gate made later opens a new time of use, which ends with a
close of its own. Knows drivers through their port, not gates, tools or calls. Called by `gate.runner`, from any event
loop.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import weakref
from collections.abc import Iterable
from typing import Final

from ringfence.gate.attempt import Attempt, Attempts, Stopped
from ringfence.ports import Driver

DRIVER_CLOSE: Final = 10.0
"""Seconds for one driver to close."""

_lock: Final = threading.Lock()


class _Place:
    """One driver in use. Lives as long as somebody who uses it."""

    __slots__ = ("__weakref__", "driver", "users")

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.users: weakref.WeakSet[Leases] = weakref.WeakSet()


_places: Final[weakref.WeakValueDictionary[int, _Place]] = weakref.WeakValueDictionary()
"""By the driver's identity, which is its own for as long as the place refers to it."""


class Leases:
    """The drivers of one gate, each held once."""

    def __init__(self, drivers: Iterable[Driver | None]) -> None:
        """Hold them."""
        self.drivers: Final = tuple({id(driver): driver for driver in drivers if driver is not None}.values())
        with _lock:
            self._places = tuple(_places.setdefault(id(driver), _Place(driver)) for driver in self.drivers)
            for place in self._places:
                place.users.add(self)
        self._pending: list[Driver] = []
        """Given back, and not closed yet."""

    async def release(self, attempts: Attempts) -> list[Exception]:
        """Give all of them back, once nothing runs there for this gate, and close those that nobody else holds.

        Does nothing the second time. A cancellation is told to the driver that is being closed, and raised when the
        others have been closed, too.

        Args:
            attempts: counts a driver that does not stop closing when its time is up.

        Returns:
            Why drivers could not be closed; all have been tried.
        """
        failures: list[Exception] = []
        cancelled: asyncio.CancelledError | None = None
        self._pending += self._give_back()
        while self._pending:  # kept here, for whoever comes next when this event loop ends before its time
            try:
                error = await _close(self._pending.pop(0), attempts)
            except asyncio.CancelledError as one:
                cancelled = one
            else:
                failures += [] if error is None else [error]
        if cancelled is not None:
            raise cancelled from (ExceptionGroup("sandboxes failed to close", failures) if failures else None)
        return failures

    def _give_back(self) -> list[Driver]:
        """Those that nobody else holds."""
        last: list[Driver] = []
        with _lock:
            places, self._places = self._places, ()
            for place in places:
                place.users.discard(self)
                if not list(place.users):
                    _places.pop(id(place.driver))  # who comes from now on begins anew
                    last.append(place.driver)
        return last


async def _close(driver: Driver, attempts: Attempts) -> Exception | None:
    attempt = Attempt(_closing(driver), attempts, DRIVER_CLOSE)
    try:
        await attempt
    except Stopped:
        return TimeoutError(f"the sandbox {driver.name!r} did not close within {DRIVER_CLOSE:g} s")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or attempt.cancelled:
            raise
        if isinstance(error, Exception):
            return error
        failure = RuntimeError(f"the sandbox {driver.name!r} raised {type(error).__name__} while closing")
        failure.__cause__ = error
        return failure
    return None


async def _closing(driver: Driver) -> None:
    """By `aclose`, or else by `close`, the first seed's own name for it."""
    close = getattr(driver, "aclose", None) or getattr(driver, "close", None)
    ended = close() if close is not None else None
    if inspect.isawaitable(ended):
        await ended
