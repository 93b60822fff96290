"""Blocking functions away from the event loop: one daemon thread each, of which only so many may be left behind.

A thread cannot be stopped. When its caller is cancelled, the thread is abandoned: it runs on, its result is dropped
in silence, and it counts against a limit until it ends. The default executor is not used: its threads keep the
interpreter from exiting, and a few stuck ones would starve everybody. Knows neither tools nor handlers; used by
`sandbox.local_unsafe` for tools and by `gate` for its host's own handlers, which do not import each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

ABANDONED_LIMIT: Final = 32
"""Threads left behind before further calls are refused (decision 12)."""


class TooManyAbandonedError(Exception):
    """So many threads are stuck that no further one is started; or the system has no further one to give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadStatistics:
    """What became of calls."""

    running: int
    """Threads whose caller still waits."""
    abandoned: int
    """Threads still running that nobody waits for."""
    abandoned_total: int
    """Threads ever left behind."""


class DaemonThreads:
    """Calls functions in threads. Usable from any event loop."""

    def __init__(self, name: str, *, limit: int = ABANDONED_LIMIT) -> None:
        self._name = name
        self._limit = limit
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._running = 0
        self._abandoned = 0
        self._abandoned_total = 0

    async def call(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        """What `function(*args)` returns, run with a copy of the caller's context variables.

        Raises:
            TooManyAbandonedError: it was not called.
        """
        with self._lock:
            if self._abandoned >= self._limit:
                raise TooManyAbandonedError(f"{self._abandoned} abandoned calls are still running")
            self._running += 1
        loop = asyncio.get_running_loop()
        job = _Job(self, function, args, contextvars.copy_context(), loop, loop.create_future())
        thread = threading.Thread(target=job.run, name=f"{self._name}-{next(self._numbers)}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            with self._lock:
                self._running -= 1
            raise TooManyAbandonedError("the system starts no further thread") from None
        try:
            return await job.future
        except BaseException:
            self._leave(job)
            raise

    def statistics(self) -> ThreadStatistics:
        """Counts of now, and since the start."""
        with self._lock:
            return ThreadStatistics(
                running=self._running, abandoned=self._abandoned, abandoned_total=self._abandoned_total
            )

    def _leave(self, job: _Job) -> None:
        """The caller goes; nothing to do when the function has come to its end."""
        if job.future.done() and not job.future.cancelled():
            job.future.exception()  # it came together with a cancellation; retrieved, so that nothing is logged
        with self._lock:
            if not job.ended:
                job.abandoned = True
                self._running -= 1
                self._abandoned += 1
                self._abandoned_total += 1

    def ended(self, job: _Job) -> None:
        """The function returned or raised; called in its thread."""
        with self._lock:
            job.ended = True
            if job.abandoned:
                self._abandoned -= 1
            else:
                self._running -= 1


class _Job:
    """One call, shared by its caller's loop and its thread."""

    __slots__ = ("_args", "_context", "_function", "_loop", "_threads", "abandoned", "ended", "future")

    def __init__(
        self,
        threads: DaemonThreads,
        function: Callable[..., Any],
        args: Sequence[Any],
        context: contextvars.Context,
        loop: asyncio.AbstractEventLoop,
        future: asyncio.Future[Any],
    ) -> None:
        self._threads = threads
        self._function = function
        self._args = args
        self._context = context
        self._loop = loop
        self.future = future
        self.ended = False
        self.abandoned = False

    def run(self) -> None:
        value: Any = None
        failure: BaseException | None = None
        try:
            value = self._context.run(self._function, *self._args)
        except (StopIteration, GeneratorExit) as error:  # a future cannot carry it; it would end whoever awaits one
            failure = RuntimeError(f"the function raised {type(error).__name__}")
            failure.__cause__ = error
        except BaseException as error:  # noqa: BLE001  (whatever it is belongs to the caller)
            failure = error
        self._threads.ended(self)
        try:
            self._loop.call_soon_threadsafe(_deliver, self.future, value, failure)
        except RuntimeError:  # the loop is closed: nobody waits
            _discard(value)
        finally:
            failure = None  # it refers to this frame


def _deliver(future: asyncio.Future[Any], value: Any, failure: BaseException | None) -> None:
    if future.done():
        _discard(value)
    elif failure is None:
        future.set_result(value)
    else:
        with contextlib.suppress(asyncio.InvalidStateError):
            future.set_exception(failure)


def _discard(value: Any) -> None:
    """A coroutine that is never awaited would warn."""
    if inspect.iscoroutine(value):
        value.close()
