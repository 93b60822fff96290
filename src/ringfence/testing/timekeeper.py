"""Who waits for a fake time, who works, and what happens next: the book-keeping of `FakeClock`.

Waiting are the timers of the event loop and threads in `sleep`. Working are threads that were started during the run
and do not sleep, and jobs of executors. Knows neither tasks nor tools. Thread-safe; used by `testing.clock`, which
tests see, and by `testing.loop`, which asks it what to do when nothing is ready.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

_WORKERS: Final = 256
"""Threads of the default executor: more than a test needs, so that no job waits for a thread that sleeps."""


class RunIsOver(BaseException):
    """Raised in a thread that sleeps by a fake clock when the run has ended, so that the thread ends, too."""


@dataclass(order=True, slots=True)
class _Sleeper:
    """A thread in `sleep`."""

    until: float
    number: int
    thread: threading.Thread = field(compare=False)
    woken: threading.Event = field(compare=False, default_factory=threading.Event)
    is_late: bool = field(compare=False, default=False)
    """Woken because the run is over."""


class Timekeeper:
    """The time, and everybody who has to do with it."""

    def __init__(self, *, autojump: bool) -> None:
        self.autojump = autojump
        self.now = 0.0
        self._read = 0.0
        self.thread: threading.Thread | None = None
        """That of the event loop, and of the last run between runs; None before the first."""
        self._is_running = False
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._sleepers: list[_Sleeper] = []
        self._settling: list[asyncio.Future[None]] = []
        self._is_over = True
        self._before: frozenset[threading.Thread] = frozenset()
        self._workers: set[threading.Thread] = set()
        self._jobs: set[Future[Any]] = set()

    # the life of a run

    def begin(self) -> bool:
        """Take the current thread for the loop's. False when a run is under way."""
        with self._lock:
            if self._is_running:
                return False
            self._is_running = True
            self.thread = threading.current_thread()
            self._is_over = False
            self._before = frozenset(threading.enumerate())
            return True

    def end_sleep(self) -> None:
        """Wake every thread that sleeps, to its end; from now on none can sleep."""
        with self._lock:
            self._is_over = True
            late, self._sleepers = self._sleepers, []
        for sleeper in late:
            sleeper.is_late = True
            sleeper.woken.set()

    def end(self) -> None:
        """The loop is closed."""
        with self._lock:
            self._is_running = False
            self._settling = []

    # those who wait

    def read(self) -> float:
        """The time, for the loop, which counts its timers from here."""
        self._read = self.now
        return self._read

    def add(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Hold the current thread, which is not the loop's, until the time has come.

        Raises:
            RunIsOver: it never will.
        """
        with self._lock:
            if self._is_over:
                raise RunIsOver
            sleeper = _Sleeper(self.now + seconds, next(self._numbers), threading.current_thread())
            heapq.heappush(self._sleepers, sleeper)
        sleeper.woken.wait()
        if sleeper.is_late:
            raise RunIsOver

    def settle(self, waiter: asyncio.Future[None]) -> None:
        """Resolve it when nothing but a movement of the time is left to happen."""
        self._settling.append(waiter)

    # those who work

    def executor(self) -> ThreadPoolExecutor:
        """A default executor whose idle threads do not count as working; its jobs do."""
        return ThreadPoolExecutor(_WORKERS, "fake-clock", initializer=self._register)

    def _register(self) -> None:
        self._workers.add(threading.current_thread())

    def count(self, job: Future[Any]) -> None:
        """Watch a job of an executor. To be called when whoever waits for the job has added its own callback."""
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    def working(self) -> list[str]:
        """What must not be jumped over: names of threads, and a number of jobs."""
        with self._lock:
            asleep = {sleeper.thread for sleeper in self._sleepers}
        known = self._before | self._workers
        names = [thread.name for thread in threading.enumerate() if thread not in known and thread not in asleep]
        jobs = len(self._jobs) - len(asleep & known)
        return [*names, f"{jobs} job(s) of an executor"] if jobs > 0 else names

    # what happens next

    def move(self, timer: float | None) -> bool:
        """Make the next thing happen, now that nothing is ready and nobody works. False when there is nothing.

        The loop's own timers come before sleeping threads of the same time, and these one by one: a scenario takes
        the same course in every run.

        Args:
            timer: seconds from the loop's last look at the time to its next timer; None without one.
        """
        if self._settling:
            settling, self._settling = self._settling, []
            for waiter in settling:
                if not waiter.done():
                    waiter.set_result(None)
            return True
        with self._lock:
            at = math.inf if timer is None else self._read + timer
            until = self._sleepers[0].until if self._sleepers else math.inf
            due = min(at, until)
            if due == math.inf or (due > self.now and not self.autojump):
                return False
            self.now = max(self.now, due)
            if until <= self.now < at:
                heapq.heappop(self._sleepers).woken.set()
        return True
