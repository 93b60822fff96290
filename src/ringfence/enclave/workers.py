"""The pools of one enclave, one per event loop, and their end when nobody says goodbye.

An enclave works without `async with`: workers start with the first run and die with the host, with the enclave, or
with their loop, whichever is first. Knows pools and loops; `facade` owns one.
"""

from __future__ import annotations

import asyncio
import threading

from ringfence.enclave.loops import LoopThread
from ringfence.enclave.pool import Pool
from ringfence.enclave.supplies import installed
from ringfence.errors import ConfigError
from ringfence.sandbox.jail.plan import JailPlan


class Workers:
    """Pools by event loop. Thread-safe: several loops may use one enclave."""

    def __init__(
        self, plan: JailPlan, engine: str, *, frame_limit: int, waiting: int, preload: tuple[str, ...] = ()
    ) -> None:
        self._plan = plan
        self._preload = installed(preload)
        self._engine = engine
        self._frame_limit = frame_limit
        self._waiting = waiting
        self._lock = threading.Lock()
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}
        self._thread: LoopThread | None = None

    def pool(self) -> Pool:
        """The running loop's pool. Pools of loops that are closed are ended on the way."""
        loop = asyncio.get_running_loop()
        with self._lock:
            for gone in [other for other in self._pools if other.is_closed()]:
                self._pools.pop(gone).close_nowait()
            pool = self._pools.get(loop)
            if pool is None:
                pool = Pool(
                    self._plan,
                    self._engine,
                    frame_limit=self._frame_limit,
                    waiting=self._waiting,
                    preload=self._preload,
                )
                self._pools[loop] = pool
            return pool

    def thread(self) -> LoopThread:
        """The thread behind `run_sync`.

        Raises:
            ConfigError: the caller runs in it, and would wait for itself.
        """
        with self._lock:
            if self._thread is None:
                self._thread = LoopThread("ringfence-run-sync")
            if self._thread.is_current:
                raise ConfigError(
                    "run_sync was called by an asynchronous tool of a script that run_sync runs",
                    hint="await enclave.run(...) there",
                )
            return self._thread

    async def aclose(self) -> None:
        """End all workers, those of other loops too."""
        loop = asyncio.get_running_loop()
        with self._lock:
            mine = self._pools.pop(loop, None)
        if mine is not None:
            await mine.aclose()
        self.close_nowait()

    def close_nowait(self) -> None:
        """End all workers from any thread, with or without their loops."""
        with self._lock:
            thread, self._thread = self._thread, None
            pools = list(self._pools.items())
            self._pools.clear()
        for loop, pool in pools:
            if thread is not None and thread.owns(loop) and not thread.is_current:
                thread.call(pool.aclose())
            else:
                pool.close_nowait()
        if thread is not None:
            thread.close()
