"""Tasks for foreign code that may turn out to need none.

A coroutine's first step is taken at once, yet inside a task of its own; only if it then waits does the event loop
drive the rest. A task that was not needed serves the next coroutine, until the loop comes around and ends it: calls
that never wait cost next to no tasks, however many are made in one turn. Knows neither tools nor stops. Called by
`gate.attempt`.

The tasks are not listed by `asyncio.all_tasks`, until `listed` is called. Each is a part of the task that awaits the
code: a shutdown that cancelled both would cut short the unwinding that it has just asked for.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from asyncio import tasks
from collections.abc import Callable, Coroutine, Generator
from sys import getrefcount
from typing import Any, Final, NoReturn

Ended = Callable[[Any, BaseException | None], None]
"""Hears the code's value, or its exception. What it raises goes to the event loop."""

# asyncio's documented hooks for whoever drives coroutines
_enter: Final = tasks._enter_task  # type: ignore[reportPrivateUsage]
_leave: Final = tasks._leave_task  # type: ignore[reportPrivateUsage]
_list: Final = tasks._register_task  # type: ignore[reportPrivateUsage]
_unlist: Final = tasks._unregister_task  # type: ignore[reportPrivateUsage]


class Shell(Coroutine[Any, Any, None]):
    """What a task drives: one coroutine, in its context, from its second step on.

    Not an `async def`: its first step belongs to the future that the code already waits for.
    """

    __slots__ = ("_code", "_context", "_ended", "_waits_for", "loop", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.task: asyncio.Task[None] = asyncio.Task(self, loop=loop, name="ringfence-call")
        """Absent when it is over, since it refers to us."""
        self._code: Coroutine[Any, Any, Any] | None = None
        _unlist(self.task)

    def fill(self, code: Coroutine[Any, Any, Any], context: contextvars.Context, waits_for: Any, ended: Ended) -> None:
        """Go on with code whose first step yielded `waits_for`."""
        self._code = code
        self._context = context
        self._waits_for = waits_for
        self._ended = ended

    def send(self, value: Any, /) -> Any:
        if self._code is None:
            self._expire()
        waits_for, self._waits_for = self._waits_for, None
        return self._step(self._code.send, value) if waits_for is None else waits_for

    def throw(self, *error: Any) -> Any:
        if self._code is None:
            self._expire()
        waits_for, self._waits_for = self._waits_for, None
        if asyncio.isfuture(waits_for) and waits_for.cancel():  # as a task does that already waits for it
            return waits_for
        return self._step(self._code.throw, *error)

    def close(self) -> None:
        """Close the code; nobody hears of its end."""
        code, self._code = self._code, None
        if code is not None:
            code.close()

    def __await__(self) -> Generator[Any, Any, None]:
        raise TypeError("only a task drives this")

    def _expire(self) -> NoReturn:
        """The loop has come around and nobody needed the task, or the code was closed."""
        if self in _spares.free:
            _spares.free.remove(self)
        del self.task
        raise StopIteration

    def _step(self, resume: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._context.run(resume, *args)
        except StopIteration as end:
            self._code = None
            self._ended(end.value, None)
        except BaseException as error:  # noqa: BLE001  (whatever it is belongs to whom the code belongs)
            self._code = None
            self._ended(None, error)
        del self.task
        raise StopIteration


class _Spares(threading.local):
    """Tasks of this thread that have not been needed, and will end with the loop's next turn."""

    def __init__(self) -> None:
        self.free: list[Shell] = []


_spares: Final = _Spares()


FirstStep = tuple[bool, Any, contextvars.Context, Shell]
"""Whether the code has returned; what it returned, or waits for; and, to go on, its context and a shell."""


def begin(code: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop, host: asyncio.Task[Any]) -> FirstStep:
    """Take the code's first step, in a copy of the context.

    Args:
        loop: the one that is running.
        host: the task that is running now.

    Raises:
        BaseException: whatever the code raised.
    """
    free = _spares.free
    shell = free.pop() if free else Shell(loop)
    if shell.loop is not loop:
        shell = Shell(loop)
    task = shell.task
    known = getrefcount(task)
    context = contextvars.copy_context()
    is_over = True
    _leave(loop, host)
    _enter(loop, task)
    try:
        value: Any = context.run(code.send, None)
        is_over = False
    except StopIteration as end:
        value = end.value
    finally:
        _leave(loop, task)
        _enter(loop, host)
        # whoever kept the task could cancel the next code that runs in it
        if is_over and getrefcount(task) == known and not task.cancelling():
            free.append(shell)
    return is_over, value, context, shell


def is_shell(task: asyncio.Task[Any]) -> bool:
    """Whether the task is one of ours, perhaps at its code's first step."""
    return isinstance(task.get_coro(), Shell)


def listed(task: asyncio.Task[None]) -> None:
    """Let `asyncio.all_tasks` show it."""
    _list(task)
