"""A run or a check from its call to its end, so that it can be aborted from any thread while its worker is still being
started, and is announced once at its beginning and once at its end.

Knows a pool, a session and a check, and the task that waits for the first. `facade` keeps one for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any, Protocol

from ringfence.enclave import protocol
from ringfence.enclave.channel import Channel
from ringfence.enclave.checking import Check, aborted
from ringfence.enclave.pool import Pool
from ringfence.enclave.reports import CheckReport
from ringfence.enclave.results import RunResult, never_started, run_error
from ringfence.enclave.session import ScriptSession
from ringfence.errors import CODES, SandboxFault
from ringfence.events import EventType
from ringfence.limits import RunLimits


class Announce(Protocol):
    """Tells the host of a run."""

    def __call__(self, kind: EventType, /, **meta: Any) -> None: ...


class Flight:
    """One run or check. Belongs to the running loop, except `abort_threadsafe`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = time.monotonic()
        self._starting: asyncio.Task[Any] | None = None
        self._aborted = False
        self._target: ScriptSession | Check | None = None

    async def run(
        self, pool: Pool, request: protocol.RunRequest, make: Callable[[Channel], ScriptSession], announce: Announce
    ) -> RunResult:
        """One run on a worker of its own.

        Raises:
            SandboxFault: no jailed worker could be started.
            asyncio.CancelledError: the caller was cancelled; nothing of the run is left.
        """
        channel = await self._acquire(pool)
        if channel is None:
            error = run_error("aborted", "the run was aborted before it began")
            return never_started(error, request.run_id, time.time(), time.monotonic() - self._began)
        try:
            session = self._target = make(channel)
            return await _announced(session, request, announce)
        finally:
            pool.release(channel)

    async def check(self, pool: Pool, request: protocol.RunRequest, limits: RunLimits) -> CheckReport:
        """One check on a worker of its own.

        Raises:
            Refusal: `aborted`.
            SandboxFault: as `checking.Check.run` says.
            asyncio.CancelledError: the caller was cancelled; nothing of the check is left.
        """
        channel = await self._acquire(pool)
        if channel is None:
            raise aborted()
        try:
            check = self._target = Check(channel, limits)
            return await check.run(request)
        finally:
            pool.release(channel)

    async def _acquire(self, pool: Pool) -> Channel | None:
        """A worker; None when this was aborted meanwhile."""
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
        """End it: a run with `ABORTED`, a check with `Refusal`. From any thread; returns at once."""
        with contextlib.suppress(RuntimeError):  # its loop is closed, so it has ended
            self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        if self._target is not None:
            self._target.abort()
        elif self._starting is not None and not self._aborted:
            self._aborted = True
            self._starting.cancel()


async def _announced(session: ScriptSession, request: protocol.RunRequest, announce: Announce) -> RunResult:
    """The session's run, with its beginning and its end announced, whichever end it has."""
    announce("run.started")
    status, code = "failed", "INTERNAL"
    try:
        result = await session.run(request)
        status, code = result.status, None if result.error is None else result.error.code
        return result
    except asyncio.CancelledError:
        status, code = "interrupted", "ABORTED"
        raise
    except SandboxFault as fault:
        code = CODES[fault.code].run_code
        raise
    finally:
        announce("run.finished", duration=session.deadline.elapsed, status=status, code=code)
