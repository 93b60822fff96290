"""What a check of a driver is, and what it works with: fresh drivers, bounds, a look at what is left behind.

Knows a driver's port. The checks are in `testing.driver_checks` and `testing.driver_claims`; `testing.battery` runs
them.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ringfence.ports import Driver, Signal

T = TypeVar("T")

_EXECUTOR: Final = "asyncio_"
"""Beginning of the names of threads of the event loop's own executor, which are nobody's leftovers."""
_PAUSE: Final = 0.002


class Miss(Exception):
    """A check did not find what it expects."""


class Probe:
    """What a check works with: drivers that no other check has used."""

    def __init__(self, make: Callable[[], Driver], seconds: float) -> None:
        self._make = make
        self._drivers: list[Driver] = []
        self.seconds = seconds
        """Real seconds in which what must happen has to happen."""
        self.driver = self.another()

    def another(self) -> Driver:
        """A further fresh driver."""
        driver = self._make()
        self._drivers.append(driver)
        return driver

    async def run(self, fn: Callable[..., Any], *args: Any) -> Any:
        """What the driver answers.

        Raises:
            Miss: it raised what ends a process; a task would end the event loop with it.
        """
        try:
            return await self.driver.run(fn, list(args))
        except SystemExit as error:
            raise Miss(f"it raised {error!r}") from None

    def start(self, fn: Callable[..., Any], *args: Any) -> asyncio.Task[Any]:
        """The same in a task."""
        return asyncio.create_task(self.run(fn, *args))

    async def tried(self, driver: Driver, fn: Callable[..., Any], signal: Signal | None = None) -> BaseException | None:
        """What a run raises, whatever it is; None when it returns."""
        options = {} if signal is None else {"signal": signal}
        try:
            await driver.run(fn, [], **options)
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, KeyboardInterrupt) or (task is not None and task.cancelling()):
                raise  # the check itself is being ended
            return error
        return None

    async def within(self, awaitable: Awaitable[T], complaint: str) -> T:
        """Its result, which must come in time.

        Raises:
            Miss: it did not.
        """
        future = asyncio.ensure_future(awaitable)
        await asyncio.wait([future], timeout=self.seconds)
        if not future.done():
            future.cancel()
            raise Miss(f"{complaint} within {self.seconds:g} s")
        return future.result()

    async def until(self, condition: Callable[[], bool]) -> bool:
        """Whether it became true in time. Looked at again and again: threads end without telling the loop."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.seconds
        while not condition():
            if loop.time() > deadline:
                return False
            await asyncio.sleep(_PAUSE)
        return True

    async def close(self, seconds: float) -> bool:
        """Close every driver, each within so many seconds. Whether that works is the business of one check, and of no
        other; here it is only told whether all came to an end.
        """
        has_ended = True
        for driver in self._drivers:
            closing = asyncio.ensure_future(_closed(driver))
            await asyncio.wait([closing], timeout=seconds if has_ended else _PAUSE)
            has_ended = has_ended and closing.done()
            closing.cancel()
        return has_ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One demand."""

    id: str
    expects: str
    fix: str
    """The smallest change to the driver that helps."""
    look: Callable[[Probe], Awaitable[None]]
    needs: tuple[str, ...] = ()
    """Checks without which this one would only find the same fault again."""
    claim: str | None = None
    """Only for drivers that claim to enforce this guarantee."""


def ensure(condition: object, found: str) -> None:
    """Go on when the condition holds.

    Raises:
        Miss: it does not.
    """
    if not condition:
        raise Miss(found)


async def close(driver: Driver) -> None:
    """Close a driver, if it can be closed.

    Raises:
        Miss: it raised what ends a process.
    """
    aclose = getattr(driver, "aclose", None)
    if aclose is None:
        return
    try:
        closing = aclose()
        if inspect.isawaitable(closing):
            await closing
    except SystemExit as error:
        raise Miss(f"aclose raised {error!r}") from None


async def _closed(driver: Driver) -> None:
    with contextlib.suppress(Exception):  # the check `close` reports it
        await close(driver)


def threads() -> set[threading.Thread]:
    """Threads that are alive, without those of the event loop's own executor."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith(_EXECUTOR)}
