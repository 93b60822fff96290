"""The guest's event loop: asyncio without sockets, threads or a selector, driven by the one channel to the host.

Runs inside the jail, standard library only. Where another loop asks the kernel which descriptors are ready, this one
sends what is queued and reads the channel, so a call costs one write and one read. It may be entered again from
inside itself, because scripts write `asyncio.run(main())` although they already run in a loop. Knows frames only as
bytes; `guest_bridge` gives them meaning.
"""

from __future__ import annotations

import asyncio
import heapq
import select
import time
from asyncio import base_events, tasks
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Wire(Protocol):
    """The channel as the loop sees it (`guest_wire.Channel`)."""

    fd: int

    def flush(self) -> None: ...
    def read(self) -> None: ...
    def expects(self) -> bool:
        """Whether the host owes an answer."""
        ...


class Deadlock(BaseException):
    """Something waits for what can never happen, so the run ends. A script that catches its own errors does not catch
    this: it would go on without what it waited for."""

    text = "every task waits for something that can never happen"


class ThreadDeadlock(Deadlock):
    """What would have been one of several threads waits for another one."""

    text = (
        "this waits for another thread, and threads run one after the other here, each to its end when it starts; "
        "use asyncio tasks"
    )


class GuestLoop(base_events.BaseEventLoop):
    """One loop per run. Not thread-safe: a guest has no threads."""

    _ready: deque[Any]  # both belong to BaseEventLoop, which has no public way to run one turn
    _scheduled: list[Any]

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire
        self._poll = select.poll()
        self._poll.register(wire.fd, select.POLLIN)

    # What BaseEventLoop asks of a loop that has descriptors; this one has the channel only.

    def _write_to_self(self) -> None:
        pass

    def _process_events(self, event_list: object) -> None:
        pass

    def time(self) -> float:
        return time.monotonic()

    def close(self) -> None:
        """Scripts close loops that they did not make; this one ends with its process."""

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Runs at once in the only thread there is, so `asyncio.to_thread` works."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - the awaiting script gets it
            future.set_exception(error)
        return future

    def run_until_complete(self, future: Any) -> Any:
        return self.complete(future)

    def complete(self, awaitable: Coroutine[Any, Any, Any] | asyncio.Future[Any]) -> Any:
        """Drive the loop until `awaitable` is done, also from inside one of its own tasks."""
        task = asyncio.ensure_future(awaitable, loop=self)
        outer = tasks.current_task(self)
        if outer is not None:
            tasks._leave_task(self, outer)  # type: ignore[attr-defined]  # the public API has no nested run
        previous = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            while not task.done():
                self._run_once()
        finally:
            asyncio._set_running_loop(previous)
            if outer is not None:
                tasks._enter_task(self, outer)  # type: ignore[attr-defined]
        return task.result()

    def is_running(self) -> bool:
        return True

    def _run_once(self) -> None:
        ready, timers = self._ready, self._scheduled
        while timers and timers[0]._cancelled:
            heapq.heappop(timers)._scheduled = False
        if ready:
            self._pump(0.0)
        elif timers:
            self._pump(max(0.0, timers[0]._when - self.time()))
        else:
            self._wait_for_ever()
        now = self.time()
        while timers and timers[0]._when <= now:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            ready.append(timer)
        for _ in range(len(ready)):
            if not ready:  # a nested run took them
                break
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _pump(self, timeout: float) -> None:
        wire = self._wire
        wire.flush()
        if (timeout > 0 or wire.expects()) and self._poll.poll(timeout * 1000):
            wire.read()

    def _wait_for_ever(self) -> None:
        self._wire.flush()
        if not self._wire.expects():
            raise Deadlock
        self._wire.read()

    def _timer_handle_cancelled(self, handle: object) -> None:
        """Cancelled timers are dropped when they reach the front of the heap."""
