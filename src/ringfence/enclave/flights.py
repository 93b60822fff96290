"""The runs and checks of one enclave that have no result yet: counted, ended together, and waited for.

Thread-safe, as each belongs to the event loop that it was begun on. Knows a flight's `abort_threadsafe`, not what flies.
`workers` has one of these; `facade` puts every run and check into it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator

from ringfence.enclave.flight import Flight

_Loop = asyncio.AbstractEventLoop


class Flights:
    """Those in the air."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loops: dict[Flight, _Loop] = {}
        self._waiting: list[tuple[_Loop, asyncio.Event]] = []

    def __len__(self) -> int:
        return len(self._loops)

    @contextlib.contextmanager
    def one(self) -> Generator[Flight]:
        """A run or check of the running loop, from now until the block ends."""
        flight = Flight()
        with self._lock:
            self._loops[flight] = asyncio.get_running_loop()
        try:
            yield flight
        finally:
            with self._lock:
                del self._loops[flight]
                waiting = tuple(self._waiting)
            for loop, landed in waiting:
                with contextlib.suppress(RuntimeError):  # it is closed, so nobody waits there
                    loop.call_soon_threadsafe(landed.set)

    def abort(self) -> None:
        """End them all. From any thread; returns at once."""
        with self._lock:
            flights = tuple(self._loops)
        for flight in flights:
            flight.abort_threadsafe()

    async def ended(self, patience: float, blocked: _Loop | None = None) -> None:
        """Wait until none is left that can end, at most `patience` seconds.

        Args:
            blocked: a loop that cannot turn before this returns. Its flights end afterwards, as those of loops that
                do not run end when they run again.
        """
        landed = asyncio.Event()
        waiter = asyncio.get_running_loop(), landed
        with self._lock:
            self._waiting.append(waiter)
        try:
            async with asyncio.timeout(patience):
                while self._can_end(blocked):
                    await landed.wait()
                    landed.clear()
        except (
            TimeoutError
        ):  # a call ignores its cancellation; its script is dead, and its worker is freed all the same
            return
        finally:
            with self._lock:
                self._waiting.remove(waiter)

    def _can_end(self, blocked: _Loop | None) -> bool:
        with self._lock:
            return any(loop is not blocked and loop.is_running() for loop in self._loops.values())
