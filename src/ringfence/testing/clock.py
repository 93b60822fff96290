"""Time that a test owns: it passes at once when nothing is left to do, or when the test says so.

What tests see of the fake time; who waits for it is kept in `testing.timekeeper`, how an event loop lives by it is in
`testing.loop`. Knows nothing of tools: a boundary gets the clock as `clock=`.

The idea is that of trio's `MockClock`, one clock for a whole scenario, which jumps to the next deadline when every
task waits. What threads do, trio leaves to a threshold of real time; here they are watched.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from ringfence.limits import parse_seconds
from ringfence.testing.loop import FakeLoop
from ringfence.testing.timekeeper import Timekeeper

T = TypeVar("T")

PATIENCE: Final = 10.0
"""Real seconds for which working threads and open sockets are waited for, before the run fails."""
IO_GRACE: Final = 0.5
"""Real seconds without news from any open socket, after which the time moves on."""


class FakeClock:
    """A clock for whole scenarios: timeouts, deadlines, pauses and decisions that never come, without waiting.

    `clock.run(main())` is `asyncio.run(main())` on an event loop that lives by this clock. Whenever every task waits
    and no thread works, the time jumps to the next timer. A scenario of an hour takes milliseconds, and the same
    course each time:

        clock = rf.testing.FakeClock()

        async def main() -> None:
            async with rf.Boundary([wait_an_hour], sandbox=rf.local(unsafe=True), clock=clock) as boundary:
                outcome = await boundary.call("wait_an_hour")
            assert outcome.duration == 3600

        clock.run(main())

    What it controls: everything that asks the loop for the time (`asyncio.sleep`, `asyncio.timeout`, timeouts and
    pauses of tools, `approval_timeout`), a boundary that got it as `clock=`, and `clock.sleep` in synchronous tools.

    What it does not control: `time.monotonic`, `time.time`, `time.sleep`, dates, and whatever other processes do.

    What it waits for in real time, since it cannot be hurried:

    - threads started during the run, until they end or sleep in `clock.sleep`, and jobs of `asyncio.to_thread` and
      `run_in_executor`. Threads that were there before the run are not watched.
    - open sockets and pipes (HTTP clients, the jail of a script): the time moves on after `io_grace` real seconds
      without news from any of them.
    """

    def __init__(self, *, autojump: bool = True, io_grace: float = IO_GRACE, patience: float = PATIENCE) -> None:
        """A clock at 0 seconds.

        Args:
            autojump: jump to the next timer when nothing else can happen; False moves the time by `advance` only.
            io_grace: real seconds without news from open sockets and pipes before a jump.
            patience: real seconds to wait for threads, and for sockets when nothing else is left, before `Hang`.

        Raises:
            ConfigError: a number of seconds that is none.
        """
        self._io_grace = _span(io_grace, "io_grace")
        self._patience = parse_seconds(patience, "patience")
        self._keeper = Timekeeper(autojump=autojump)
        self._loop: FakeLoop | None = None

    def time(self) -> float:
        """Seconds since the clock was made. From any thread."""
        return self._keeper.now

    def __call__(self) -> float:
        """The same, so that the clock itself can be handed over: `rf.Boundary(..., clock=clock)`."""
        return self._keeper.now

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """What `main` returns, run on a fresh event loop that lives by this clock. Later runs go on from its time.

        Raises:
            Hang: nothing can happen any more, or a thread works for longer than `patience`.
            RuntimeError: the clock is running already.
            BaseException: whatever `main` raises.
        """
        if not self._keeper.begin():
            main.close()
            raise RuntimeError("this clock is running already; make one for each scenario")
        try:
            with asyncio.Runner(loop_factory=self._new_loop) as runner:
                try:
                    return runner.run(main)
                finally:
                    self._keeper.end_sleep()
        finally:
            self._loop = None
            self._keeper.end()

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass at once. From any thread, also outside a run.

        Timers that are due by then run with the loop's next turn, all at the new time, as on a machine that was
        suspended. To see each at its own time, `await asyncio.sleep(seconds)` with autojump.

        Raises:
            ConfigError: not a finite number of seconds.
        """
        self._keeper.add(_span(seconds, "advance"))
        loop = self._loop
        if loop is not None and threading.current_thread() is not self._keeper.thread:
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile: nobody needs to look
                loop.call_soon_threadsafe(_look)

    def sleep(self, seconds: float) -> None:
        """`time.sleep` by this clock, for synchronous code. `math.inf` waits until the run is over.

        In the thread of a synchronous tool it waits until the time has come. In the thread of the event loop nobody
        else could move the time meanwhile: there it just passes, as it does before the first run.

        Raises:
            ConfigError: not a number of seconds.
            RunIsOver: the run is over. No `Exception`, so that it ends the thread.
        """
        if self._keeper.thread in {None, threading.current_thread()}:
            self._keeper.add(_span(seconds, "sleep"))
        else:
            self._keeper.sleep(math.inf if seconds == math.inf else _span(seconds, "sleep"))

    async def settle(self) -> None:
        """Return when everybody else waits: for a timer, for each other, or for `advance`."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper.settle(done)
        await done

    def _new_loop(self) -> FakeLoop:
        self._loop = FakeLoop(self._keeper, io_grace=self._io_grace, patience=self._patience)
        return self._loop


def _span(seconds: float, field: str) -> float:
    return 0.0 if seconds == 0 else parse_seconds(seconds, field)


def _look() -> None:
    """Wakes the loop, which then looks at the time."""
