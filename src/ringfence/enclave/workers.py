"""The pools of one enclave, one per event loop, what runs on them, and their end when nobody says goodbye.

An enclave works without `async with`: workers start with the first run and die with the host, with the enclave, or
with their loop, whichever is first. A fork of the host has none, and starts its own. Knows pools, flights and loops;
`facade` owns one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, Final

from ringfence.enclave.flights import Flights
from ringfence.enclave.loops import LoopThread, in_loop_thread
from ringfence.enclave.pool import Pool
from ringfence.enclave.supplies import Engine
from ringfence.errors import ConfigError
from ringfence.sandbox.jail.plan import JailPlan

CLOSE_PATIENCE: Final = 10.0
"""Seconds that aborted runs have to unwind when the enclave closes."""


class Workers:
    """Pools by event loop. Thread-safe: several loops may use one enclave."""

    def __init__(self, plan: JailPlan, engine: Engine, *, frame_limit: int, waiting: int) -> None:
        self._plan = plan
        self._engine = engine
        self._frame_limit = frame_limit
        self._waiting = waiting
        self._lock = threading.Lock()
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}
        self._thread: LoopThread | None = None
        self._closed = False
        self.flights = Flights()
        """The runs and checks without a result."""
        self.inherited = False
        """This process is a fork of the one that made the enclave."""
        _all.add(self)

    def check_open(self) -> None:
        """Whether something may still begin.

        Raises:
            ConfigError: `not_running`, somebody began to close.
        """
        if self._closed:
            raise ConfigError("the enclave is closed", code="not_running")

    def pool(self) -> Pool:
        """The running loop's pool. Pools of loops that are closed are ended on the way.

        Raises:
            ConfigError: as for `check_open`.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            self.check_open()
            for gone in [other for other in self._pools if other.is_closed()]:
                self._pools.pop(gone).close_nowait()
            pool = self._pools.get(loop)
            if pool is None:
                pool = Pool(
                    self._plan,
                    self._engine,
                    frame_limit=self._frame_limit,
                    waiting=self._waiting,
                )
                self._pools[loop] = pool
            return pool

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the thread behind `run_sync`, and wait for it.

        Raises:
            ConfigError: as for `check_open`; or the caller runs in that thread or in another enclave's, where it would
                wait for itself, or two of them for each other.
        """
        try:
            if in_loop_thread():
                raise ConfigError(
                    "run_sync was called by an asynchronous tool of a script that run_sync runs",
                    hint="await enclave.run(...) there",
                )
            with self._lock:
                self.check_open()
                if self._thread is None:
                    self._thread = LoopThread("ringfence-run-sync")
                thread = self._thread
        except ConfigError:
            work.close()
            raise
        return thread.call(work)

    async def aclose(self, blocked: asyncio.AbstractEventLoop | None = None) -> None:
        """Abort what runs and end all workers, those of other loops too. Whoever is cancelled meanwhile ends them at
        once instead of gently; idempotent.

        Args:
            blocked: the loop that stands still until this returns, if one does.
        """
        self._closed = True
        self.flights.abort()
        try:
            await self.flights.ended(CLOSE_PATIENCE, blocked)
            await self._end_gently()
        finally:
            self.close_nowait()

    async def _end_gently(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            thread, pools = self._thread, tuple(self._pools.items())
        for owner, pool in pools:
            if owner is loop:
                await pool.aclose()
            elif thread is not None and thread.owns(owner):
                with contextlib.suppress(ConfigError):  # whoever closes too has stopped it, after this pool's end
                    await asyncio.wrap_future(thread.submit(pool.aclose()))
        if thread is not None:
            await thread.aclose()

    def close(self, closing: Coroutine[Any, Any, Any]) -> None:
        """Run the coroutine that closes the enclave in a thread of its own, and wait for it.

        Raises:
            ConfigError: the caller runs in the thread behind `run_sync`, and would wait for its own end.
            RuntimeError: the machine has no thread to spare, and the caller runs in an event loop.
        """
        thread = self._thread
        if thread is not None and thread.is_current:
            closing.close()
            raise ConfigError(
                "close was called by an asynchronous tool of a script that run_sync runs",
                hint="await enclave.aclose() there",
            )
        try:
            closer = LoopThread("ringfence-close")
        except RuntimeError:  # Python is ending, and starts none: nobody else needs this one
            if asyncio._get_running_loop() is not None:
                closing.close()
                raise
            asyncio.run(closing)
            return
        try:
            closer.call(closing)
        finally:
            closer.close()

    def close_nowait(self) -> None:
        """End all workers from any thread, with or without their loops. Idempotent."""
        self._closed = True
        with self._lock:
            thread, self._thread = self._thread, None
            pools = list(self._pools.values())
            self._pools.clear()
        for pool in pools:
            pool.close_nowait()
        if thread is None:
            return
        if asyncio._get_running_loop() is None:
            thread.close()
        else:
            thread.stop()

    def forget(self) -> None:
        """In a fork of the host: let go of what is the parent's, without a word to it."""
        _parents.append((self._pools, self._thread))
        for pool in self._pools.values():
            pool.forget()
        self._pools = {}
        self._thread = None
        self._lock = threading.Lock()  # whoever held it is not here
        self.flights = Flights()
        self.inherited = True


_all: Final[weakref.WeakSet[Workers]] = weakref.WeakSet()
_parents: Final[list[object]] = []
"""In a fork, what its parent had: loops and what they watch. Never freed, because a loop that is closed here takes what
it watches out of a list in the kernel that both processes share."""


def _forget_in_fork() -> None:
    for workers in list(_all):
        workers.forget()


os.register_at_fork(after_in_child=_forget_in_fork)
