"""A request to stop that foreign code may look at or wait for.

One class for both ends: the gate makes one per attempt and aborts it, and a caller may make one and hand it to
`call`. It stops nothing by itself; `gate.attempt` does that.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ringfence.ports import Signal

_log: Final = logging.getLogger("ringfence")

_AGAIN: Final = 0.05
"""Seconds until a foreign signal is waited for again that has returned without being aborted."""


class StopRequested(Exception):
    """Raised by `AbortSignal.raise_if_aborted`."""


class AbortSignal:
    """Aborted once, or never. `abort` may be called from any thread."""

    __slots__ = ("_parent", "_reason", "_waiters")

    def __init__(self, parent: Signal | None = None) -> None:
        """A signal that is also aborted whenever `parent` is."""
        self._parent = readable(parent)
        self._reason: str | None = None
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def aborted(self) -> bool:
        """Somebody asked to stop."""
        return self._reason is not None or (self._parent is not None and self._parent.aborted)

    @property
    def reason(self) -> str | None:
        """Why; None while not aborted."""
        if self._reason is None and self._parent is not None:
            return self._parent.reason
        return self._reason

    def abort(self, reason: str = "aborted") -> None:
        """Ask to stop. The first reason stays."""
        if self._reason is not None:
            return
        self._reason = reason
        waiters, self._waiters = self._waiters, []
        for loop, waiter in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, waiter)

    def raise_if_aborted(self) -> None:
        """Return at once, or leave.

        Raises:
            StopRequested: somebody asked to stop.
        """
        if self.aborted:
            raise StopRequested(self.reason or "aborted")

    async def wait(self) -> None:
        """Return when somebody asks to stop, and not before. The caller bounds or cancels it."""
        if self.aborted:
            return
        if self._parent is None:
            await self._wait_here()
            return
        either = [asyncio.ensure_future(wait) for wait in (self._wait_here(), self._parent.wait())]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in either:
                task.cancel()

    async def _wait_here(self) -> None:
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        entry = (loop, waiter)
        self._waiters.append(entry)
        if self._reason is not None:  # aborted by another thread since the caller looked
            _wake(waiter)
        try:
            await waiter
        finally:
            if entry in self._waiters:
                self._waiters.remove(entry)


class _Readable:
    """A signal that is not ours, which may raise, or return before anybody has asked: who cannot say is taken to ask."""

    __slots__ = ("_failure", "_signal")

    def __init__(self, signal: Signal) -> None:
        self._signal = signal
        self._failure: str | None = None

    @property
    def aborted(self) -> bool:
        if self._failure is None:
            try:
                return bool(self._signal.aborted)
            except Exception as error:  # noqa: BLE001  (whatever a foreign signal raises)
                self._fail(error)
        return True

    @property
    def reason(self) -> str | None:
        if self._failure is None:
            try:
                return self._signal.reason
            except Exception as error:  # noqa: BLE001  (the same; why is not whether)
                return f"the signal's reason raised {type(error).__name__}"
        return self._failure

    def raise_if_aborted(self) -> None:
        if self.aborted:
            raise StopRequested(self.reason or "aborted")

    async def wait(self) -> None:
        while not self.aborted:
            try:
                await self._signal.wait()
            except Exception as error:  # noqa: BLE001  (the same)
                self._fail(error)
            if not self.aborted:
                await asyncio.sleep(_AGAIN)

    def _fail(self, error: Exception) -> None:
        if self._failure is None:
            self._failure = f"the signal raised {type(error).__name__}"
            _log.warning("a signal raised %s, and is taken for aborted", type(error).__name__)


def readable(signal: Signal | None) -> Signal | None:
    """The same signal, with nothing that it raises getting out."""
    return signal if signal is None or type(signal) in _OURS else _Readable(signal)


_OURS: Final = frozenset({AbortSignal, _Readable})


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
