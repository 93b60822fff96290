"""Foreign code in a task of its own, which its caller's task can always leave.

What the code binds to its task (`asyncio.timeout`, a `TaskGroup`) can therefore neither cancel the host nor be taken
for a cancellation by the host. Its first step is taken at once, so code that never waits costs no turn of the loop.
Code that waits can be stopped by a timer, by the gate or by the host: it is told once, once more when its grace is
over, and then left behind, counted, to go on alone.

Knows neither tools nor states. Used by `gate.perform` for tools and fallbacks and by `gate.approval` for handlers.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Generator
from enum import Enum
from typing import Any, Final

from ringfence.gate.shell import FirstStep, begin, listed
from ringfence.ports import Signal

STOPPED_GRACE: Final = 1.0
"""Seconds that code gets to unwind after a deadline, an abort, or the closing of the gate."""
CANCELLED_GRACE: Final = 2.0
"""The same after the host cancelled. Longer, so that a nested call's own stop is over first."""


class Stop(Enum):
    """Why an attempt was ended from outside."""

    EXPIRED = "expired"
    """Its time was up."""
    ABORTED = "aborted"
    """The caller's signal said so."""
    CLOSING = "closing"
    """The gate closes."""


class Stopped(Exception):
    """The attempt was ended from outside, and its result, if it has one, does not count."""

    def __init__(self, why: Stop) -> None:
        super().__init__(why.value)
        self.why = why


class Attempts:
    """The attempts of one gate that wait for something, and those left behind."""

    def __init__(self) -> None:
        self.waiting: set[Attempt | InPlace] = set()
        self.abandoned: set[asyncio.Task[None]] = set()
        """Still running, although nobody waits for them."""
        self.abandoned_total = 0
        self._lock = threading.Lock()

    def stop_all(self, why: Stop) -> None:
        """Ask every waiting attempt to end. From any thread."""
        for attempt in tuple(self.waiting):
            attempt.stop(why)

    def leave(self, task: asyncio.Task[None]) -> None:
        """Count code that did not stop; its result and its exception are dropped when they come."""
        with self._lock:
            self.abandoned_total += 1
        self.abandoned.add(task)
        task.add_done_callback(self._forget)
        task.set_name("ringfence-abandoned")
        listed(task)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self.abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that nothing is logged about it


@contextlib.contextmanager
def withdrawn(signal: Signal | None, attempt: Attempt) -> Generator[None]:
    """Within, an abort of the caller's signal ends the attempt."""
    if signal is None:
        yield
        return
    watch = asyncio.get_running_loop().create_task(_withdraw(signal, attempt), name="ringfence-signal")
    try:
        yield
    finally:
        watch.cancel()


async def _withdraw(signal: Signal, attempt: Attempt) -> None:
    await signal.wait()
    attempt.stop(Stop.ABORTED)


class InPlace:
    """One coroutine, run in its caller's task, which exists for this call alone and may be left behind as it is.

    A script's calls have such tasks; a second one each would cost a tenth of a large gather. Raises as `Attempt` does.
    Has no timeout: who gives up is whoever made the task.
    """

    __slots__ = ("_attempts", "_code", "_loop", "_task", "cancelled", "on_stop", "stopped")

    def __init__(self, code: Coroutine[Any, Any, Any], attempts: Attempts) -> None:
        self._code = code
        self._attempts = attempts
        self.stopped: Stop | None = None
        self.cancelled = False
        self.on_stop: Callable[[str], None] | None = None
        self._task: asyncio.Task[Any] | None = None

    def stop(self, why: Stop) -> None:
        """Ask the code to end. From any thread; does nothing when it is not running."""
        if self._task is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed, so it has ended
                self._loop.call_soon_threadsafe(self._stop, why)

    def is_in(self, task: asyncio.Task[Any]) -> bool:
        """Whether its code runs in this task."""
        return self._task is task

    def _stop(self, why: Stop) -> None:
        if self._task is None or self.stopped is not None:
            return
        self.stopped = why
        if self.on_stop is not None:
            self.on_stop(why.value)
        self._task.cancel()

    def __await__(self) -> Generator[Any, Any, Any]:
        self._loop = asyncio.get_running_loop()
        task = self._task = asyncio.current_task(self._loop)
        assert task is not None
        self._attempts.waiting.add(self)
        value: Any = None
        try:
            value = yield from self._code.__await__()
        except GeneratorExit:
            raise
        except BaseException as error:
            if self.stopped is None or isinstance(error, KeyboardInterrupt):
                self.cancelled = isinstance(error, asyncio.CancelledError) and task.cancelling() > 0
                raise
        finally:
            self._task = None
            self._attempts.waiting.discard(self)
        if self.stopped is not None:
            task.uncancel()
            raise Stopped(self.stopped) from None
        return value


class Attempt:
    """One coroutine. Await it once, in a task.

    Raises, besides what the coroutine raises:
        Stopped: `stop` was called, or `timeout` seconds have passed.
        asyncio.CancelledError: with `cancelled` set, the host cancelled the task; without, the code raised it itself.
    """

    __slots__ = (
        "_attempts",
        "_code",
        "_ended",
        "_error",
        "_grace",
        "_left",
        "_loop",
        "_seen",
        "_shell",
        "_task",
        "_timeout",
        "_timer",
        "_value",
        "_wake",
        "cancelled",
        "on_stop",
        "stopped",
    )

    def __init__(self, code: Coroutine[Any, Any, Any], attempts: Attempts, timeout: float | None = None) -> None:
        self._code = code
        self._attempts = attempts
        self._timeout = timeout
        self.stopped: Stop | None = None
        self.cancelled = False
        self.on_stop: Callable[[str], None] | None = None
        """Called with the reason before the code is cancelled by `stop` or `timeout`."""
        self._task: asyncio.Task[None] | None = None

    def stop(self, why: Stop) -> None:
        """Ask the code to end. From any thread; does nothing when it is not waiting."""
        if self._task is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed, so it has ended
                self._loop.call_soon_threadsafe(self._stop, why)

    def __await__(self) -> Generator[Any, Any, Any]:
        if self._task is None:
            step, loop, deadline = _first_step(self._code, self._timeout)
            if step[0]:
                return step[1]
            self._arm(step, loop, deadline)
        try:
            yield from self._wait()
        finally:
            self._disarm()
        return self._result()

    @classmethod
    def begun(
        cls,
        code: Coroutine[Any, Any, Any],
        attempts: Attempts,
        timeout: float | None,
        on_stop: Callable[[str], None],
    ) -> tuple[Attempt | None, Any]:
        """Take the code's first step now, in the host's task.

        Returns:
            What is left of it, to be awaited at once. None, and the code's value, where nothing is: then no attempt is
            made, which would take 1 of 20 us.

        Raises:
            BaseException: whatever the code raised.
        """
        step, loop, deadline = _first_step(code, timeout)
        if step[0]:
            return None, step[1]
        attempt = cls(code, attempts, timeout)
        attempt.on_stop = on_stop
        attempt._arm(step, loop, deadline)
        return attempt, None

    def _arm(self, step: FirstStep, loop: asyncio.AbstractEventLoop, deadline: float | None) -> None:
        """The code waits for something, and so do we."""
        _, waits_for, context, shell = step
        shell.fill(self._code, context, waits_for, self._end)
        self._timer = None if deadline is None else loop.call_at(deadline, self._stop, Stop.EXPIRED)
        self._loop = loop
        self._shell = shell
        self._value: Any = None
        self._error: BaseException | None = None
        self._ended = False
        self._left = False
        self._seen: asyncio.CancelledError | None = None
        self._grace: asyncio.TimerHandle | None = None
        self._task = shell.task
        self._attempts.waiting.add(self)

    def _disarm(self) -> None:
        self._task = None
        self._attempts.waiting.discard(self)
        for handle in (self._timer, self._grace):
            if handle is not None:
                handle.cancel()

    def _wait(self) -> Generator[Any, Any, None]:
        """Until the code has ended or is left behind."""
        while not (self._ended or self._left):
            self._wake = self._loop.create_future()
            try:
                yield from self._wake
            except asyncio.CancelledError as error:  # only the host's task can cancel this future
                self._host_cancelled(error)
            except BaseException:
                self._drop()
                raise

    def _result(self) -> Any:
        """What comes of it for the caller. Keeps nothing, since an exception refers to the frames that refer to us."""
        seen, self._seen = self._seen, None
        error, self._error = self._error, None
        value, self._value = self._value, None
        try:
            if seen is not None:
                raise seen
            if self.stopped is not None:
                raise Stopped(self.stopped)
            if error is not None:
                raise error
        finally:
            del seen, error
        return value

    # in the loop, while it waits

    def _end(self, value: Any, error: BaseException | None) -> None:
        """The code returned or raised."""
        if self._left:
            if isinstance(error, KeyboardInterrupt):
                raise error  # nobody else would hear of it
            return
        self._value, self._error, self._ended = value, error, True
        self._rouse()

    def is_in(self, task: asyncio.Task[Any]) -> bool:
        """Whether its code runs in this task."""
        return self._task is task

    def _stop(self, why: Stop) -> None:
        if self._task is None or self._ended or self.stopped is not None:
            return
        self.stopped = why
        if self.on_stop is not None:
            self.on_stop(why.value)
        self._tell(STOPPED_GRACE)

    def _host_cancelled(self, error: asyncio.CancelledError) -> None:
        if self._seen is None:
            self._seen = error
            self.cancelled = True
        if not self._ended:
            self._tell(CANCELLED_GRACE, *error.args[:1])

    def _tell(self, grace: float, *message: Any) -> None:
        """Cancel the code, once: a second time would cut short the unwinding that the first has begun."""
        if self._grace is None and self._task is not None:
            self._grace = self._loop.call_later(grace, self._grace_is_over)
            self._task.cancel(*message)

    def _grace_is_over(self) -> None:
        if self._task is not None and not self._ended:
            self._task.cancel()
            self._loop.call_soon(self._leave)  # after the step that this cancellation leads to

    def _leave(self) -> None:
        if self._task is not None and not self._ended:
            self._left = True
            self._attempts.leave(self._task)
            self._rouse()

    def _rouse(self) -> None:
        if not self._wake.done():
            self._wake.set_result(None)

    def _drop(self) -> None:
        """The caller's coroutine is being closed, or Ctrl-C came just here: the code goes with it."""
        self.cancelled = True
        try:
            self._shell.close()
        finally:  # also when the code awaits something while it is closed, which is a RuntimeError
            if self._task is not None and not self._loop.is_closed():
                self._task.cancel()


def _first_step(
    code: Coroutine[Any, Any, Any], timeout: float | None
) -> tuple[FirstStep, asyncio.AbstractEventLoop, float | None]:
    """The code's first step in this task, its loop, and the loop's time when the code's is up."""
    loop = asyncio.get_running_loop()
    host = asyncio.current_task(loop)
    if host is None:
        code.close()
        raise RuntimeError("a call must be awaited in a task")
    deadline = None if timeout is None else loop.time() + timeout
    return begin(code, loop, host), loop, deadline
