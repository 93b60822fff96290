"""Foreign code awaited in its caller's own task, and still stoppable.

A task for every call would cost as much as the rest of the gate, and awaiting a tool directly would let one that
swallows cancellation hold its caller for ever. `Attempt` drives the coroutine by hand instead: code that finishes
without waiting costs one `send`; code that waits can be cancelled by a timer, by the gate or by the host; and code
that is still there when its grace is over is handed to a task of its own, counted, and left behind.

Knows neither tools nor states. Used by `gate.runner` for tools and fallbacks and by `gate.approval` for handlers.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Coroutine, Generator
from enum import Enum
from typing import Any, Final

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
        self.waiting: set[Attempt] = set()
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

    def _forget(self, task: asyncio.Task[None]) -> None:
        self.abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that nothing is logged about it


_innermost: Final[dict[asyncio.Task[Any], Attempt]] = {}
"""The attempt that a task waits in, of any gate; enclosing ones follow by `_outer`. Empty when nothing waits."""
_orders: Final = itertools.count()
"""Of two attempts in one task, the one that was awaited later is inside the other."""


class Attempt:
    """One coroutine. Await it once.

    Raises, besides what the coroutine raises:
        Stopped: `stop` was called, or `timeout` seconds have passed.
        asyncio.CancelledError: with `cancelled` set, the host cancelled the task; without, the code raised it itself.
    """

    __slots__ = (
        "_attempts",
        "_before",
        "_code",
        "_grace",
        "_loop",
        "_order",
        "_outer",
        "_over",
        "_own_cancels",
        "_seen",
        "_task",
        "_timeout",
        "_timer",
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
        self._task: asyncio.Task[Any] | None = None

    def stop(self, why: Stop) -> None:
        """Ask the code to end. From any thread; does nothing when it is not waiting."""
        if self._task is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed, so it has ended
                self._loop.call_soon_threadsafe(self._stop, why)

    def __await__(self) -> Generator[Any, Any, Any]:
        self._order = next(_orders)
        timeout = self._timeout
        begun = 0.0 if timeout is None else asyncio.get_running_loop().time()
        try:
            waits_for = self._code.send(None)
        except StopIteration as end:
            return end.value
        self._arm(None if timeout is None else begun + timeout)
        try:
            value = yield from self._drive(waits_for)
        except (GeneratorExit, KeyboardInterrupt):
            self._disarm()
            self.cancelled = True
            raise
        except BaseException:
            self._disarm()
            self._raise_if_ended()
            raise
        self._disarm()
        self._raise_if_ended()
        return value

    def _drive(self, waits_for: Any) -> Generator[Any, Any, Any]:
        code = self._code
        try:
            while True:
                try:
                    yield waits_for
                except GeneratorExit:
                    code.close()
                    raise
                except BaseException as error:  # noqa: BLE001  (what the event loop throws in belongs to the code)
                    if isinstance(error, asyncio.CancelledError):
                        self._cancellation_came(error)
                    waits_for = code.throw(error)
                    if self._over:
                        self._abandon(waits_for)
                        return None
                else:
                    waits_for = code.send(None)
        except StopIteration as end:
            return end.value

    def _arm(self, deadline: float | None) -> None:
        task = asyncio.current_task()
        if task is None:
            self._code.close()
            raise RuntimeError("a call must be awaited in a task")
        self._task = task
        self._loop = task.get_loop()
        self._before = task.cancelling()
        self._own_cancels = 0
        self._over = False
        self._seen: asyncio.CancelledError | None = None
        self._grace: asyncio.TimerHandle | None = None
        self._timer = None if deadline is None else self._loop.call_at(deadline, self._stop, Stop.EXPIRED)
        self._attempts.waiting.add(self)
        below, at = None, _innermost.get(task)
        while at is not None and at._order > self._order:  # inside this one, and began to wait before it did
            below, at = at, at._outer
        self._outer = at
        if below is None:
            _innermost[task] = self
        else:
            below._outer = self

    def _disarm(self) -> None:
        """Leave nothing behind: no timer, no cancellation that was ours."""
        task = self._task
        if task is None:
            return
        self._attempts.waiting.discard(self)
        if self._outer is None:
            _innermost.pop(task, None)
        else:
            _innermost[task] = self._outer
        for timer in (self._timer, self._grace):
            if timer is not None:
                timer.cancel()
        for _ in range(self._own_cancels):
            task.uncancel()
        self.cancelled = self.cancelled or task.cancelling() > self._before
        self._task = None

    def _raise_if_ended(self) -> None:
        if self.cancelled:
            raise self._seen or asyncio.CancelledError
        if self.stopped is not None:
            raise Stopped(self.stopped) from None

    def _stop(self, why: Stop) -> None:
        if self._task is None or self.stopped is not None:
            return
        self.stopped = why
        if self.on_stop is not None:
            self.on_stop(why.value)
        self._cancel_task()

    def _cancel_task(self) -> None:
        assert self._task is not None
        self._own_cancels += 1
        self._task.cancel()

    def _cancellation_came(self, error: asyncio.CancelledError) -> None:
        """The code is about to be told; from now on its time is limited."""
        if self._seen is None or self._grace is None:
            self._seen = error
            grace = STOPPED_GRACE if self.stopped is not None else CANCELLED_GRACE
            self._grace = self._loop.call_later(grace, self._grace_is_over)

    def _grace_is_over(self) -> None:
        self._grace = None
        task = self._task
        if task is None or self._over:
            return
        if self.stopped is None and task.cancelling() - self._own_cancels <= self._before:
            return  # the cancellation was a nested call's or the code's own, and has been taken back
        self._over = True
        self._cancel_task()

    def _abandon(self, waits_for: Any) -> None:
        """The code caught two cancellations. What is left of it goes on without us."""
        old = self._task
        assert old is not None
        new = self._loop.create_task(_Rest(self._code, waits_for), name="ringfence-abandoned")
        inner, below = _innermost.get(old), None
        while inner is not None and inner is not self:
            if below is None:
                _innermost[new] = inner
            inner._task, inner.cancelled, inner._before, inner._own_cancels = new, True, 0, 0
            below, inner = inner, inner._outer
        if below is not None:
            below._outer = None
        _innermost[old] = self
        self._attempts.leave(new)


class _Rest(Coroutine[Any, Any, None]):
    """The part of a coroutine after the point where it waits now.

    Not an `async def`: a task that is cancelled before its first step throws into its coroutine, which then never
    reaches its body, and the code would hang for ever.
    """

    __slots__ = ("_code", "_waits_for")

    def __init__(self, code: Coroutine[Any, Any, Any], waits_for: Any) -> None:
        self._code = code
        self._waits_for = waits_for

    def send(self, value: Any, /) -> Any:
        if (waits_for := self._waits_for) is not None:
            self._waits_for = None
            return waits_for
        return self._code.send(value)

    def throw(self, *error: Any) -> Any:
        self._waits_for = None
        return self._code.throw(*error)

    def close(self) -> None:
        self._code.close()

    def __await__(self) -> Generator[Any, Any, None]:
        raise TypeError("only a task drives this")
