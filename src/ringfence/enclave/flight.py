"""A run from its call to its result, so that it can be aborted from any thread while its worker is still being started.

Knows a pool and a session, and the task that waits for the first. `facade` keeps one per run.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from ringfence.enclave.channel import Channel
from ringfence.enclave.pool import Pool
from ringfence.enclave.session import ScriptSession


class Flight:
    """One run. Belongs to the running loop, except `abort_threadsafe`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._starting: asyncio.Task[Any] | None = None
        self._aborted = False
        self.session: ScriptSession | None = None

    async def acquire(self, pool: Pool) -> Channel | None:
        """A worker; None when the run was aborted meanwhile.

        Raises:
            SandboxFault: no jailed worker could be started.
        """
        task = self._starting = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        try:
            return await pool.acquire()
        except asyncio.CancelledError:
            if self._aborted and task is not None and task.uncancel() <= before:
                return None
            raise
        finally:
            self._starting = None

    def abort_threadsafe(self) -> None:
        """End the run with `ABORTED`. From any thread; returns at once."""
        with contextlib.suppress(RuntimeError):  # its loop is closed, so it has ended
            self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        if self.session is not None:
            self.session.abort()
        elif self._starting is not None and not self._aborted:
            self._aborted = True
            self._starting.cancel()
