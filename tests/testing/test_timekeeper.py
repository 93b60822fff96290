"""Real work in threads is not jumped over, and threads that sleep by the clock wake in a fixed order."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringfence.testing.clock import FakeClock
from ringfence.testing.timekeeper import RunIsOver, Timekeeper

HOUR = 3600.0


def test_work_in_a_thread_is_not_jumped_over() -> None:
    clock = FakeClock()
    gate = threading.Event()

    async def main() -> tuple[bool, float]:
        asyncio.get_running_loop().call_later(HOUR, gate.set)
        return await asyncio.to_thread(gate.wait, 0.1), clock.time()

    assert clock.run(main()) == (False, 0)


def test_a_thread_that_tells_nobody_of_its_end_is_waited_for() -> None:
    clock = FakeClock()

    async def main() -> float:
        thread = threading.Thread(target=lambda: time.sleep(0.05))
        thread.start()
        await asyncio.sleep(1)
        assert not thread.is_alive()
        return clock.time()

    assert clock.run(main()) == 1


def test_idle_threads_of_pools_do_not_hold_the_time() -> None:
    clock = FakeClock()

    async def main(pool: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.01) for _ in range(4)))
        assert await loop.run_in_executor(pool, clock.time) == 0
        await asyncio.sleep(HOUR)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        clock.run(main(pool))
    assert clock.time() == HOUR


def test_a_job_in_a_pool_that_was_there_before_is_waited_for() -> None:
    clock = FakeClock()

    async def main(pool: ThreadPoolExecutor) -> float:
        job = asyncio.get_running_loop().run_in_executor(pool, time.sleep, 0.05)
        asyncio.get_running_loop().call_later(1, lambda: None)
        await job
        return clock.time()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        assert clock.run(main(pool)) == 0


@pytest.mark.parametrize("round_", range(3))
def test_threads_that_sleep_by_the_clock_wake_in_order_one_at_a_time(round_: int) -> None:
    clock = FakeClock()
    seen: list[tuple[str, float]] = []

    def work(name: str, every: float) -> None:
        for _ in range(3):
            clock.sleep(every)
            seen.append((name, clock.time()))

    async def main() -> None:
        threads = [asyncio.to_thread(work, name, every) for name, every in (("a", 2), ("b", 3.5), ("c", 5))]
        await asyncio.gather(*threads)

    clock.run(main())
    expected = [("a", 2), ("b", 3.5), ("a", 4), ("c", 5), ("a", 6), ("b", 7), ("c", 10), ("b", 10.5), ("c", 15)]
    assert seen == expected


def test_timers_of_the_loop_come_before_threads_of_the_same_time() -> None:
    clock = FakeClock()
    seen: list[str] = []

    def work() -> None:
        clock.sleep(5)
        seen.append("thread")

    async def main() -> None:
        job = asyncio.create_task(asyncio.to_thread(work))
        await asyncio.sleep(0)
        await asyncio.sleep(5)
        seen.append("loop")
        await job

    clock.run(main())
    assert seen == ["loop", "thread"]


def test_a_thread_that_would_sleep_for_ever_ends_with_the_run() -> None:
    clock = FakeClock()
    ends: list[BaseException] = []

    def work() -> None:
        for _ in range(2):
            try:
                clock.sleep(math.inf)
            except RunIsOver as error:
                ends.append(error)

    threads: list[threading.Thread] = []

    async def main() -> None:
        threads.append(threading.Thread(target=work))
        threads[0].start()
        await asyncio.sleep(HOUR)

    clock.run(main())
    threads[0].join(5)
    assert len(ends) == 2
    assert clock.time() == HOUR


def test_a_job_that_sleeps_for_ever_does_not_hold_the_end_of_the_run() -> None:
    clock = FakeClock()

    async def main() -> None:
        job = asyncio.create_task(asyncio.to_thread(clock.sleep, math.inf))
        await asyncio.sleep(1)
        assert not job.done()

    clock.run(main())


@pytest.mark.parametrize("inside", [True, False])
def test_where_nobody_else_could_move_the_time_a_sleep_just_passes(inside: bool) -> None:
    clock = FakeClock()

    async def main() -> None:
        clock.sleep(3)

    if inside:
        clock.run(main())
    else:
        clock.sleep(3)
    assert clock.time() == 3


def test_threads_that_are_late_wake_in_order_and_do_not_turn_the_time_back() -> None:
    clock = FakeClock(autojump=False)
    seen: list[tuple[float, float]] = []

    def work(seconds: float) -> None:
        clock.sleep(seconds)
        seen.append((seconds, clock.time()))

    async def main() -> None:
        jobs = [asyncio.create_task(asyncio.to_thread(work, seconds)) for seconds in (5, 2, 10)]
        await clock.settle()
        clock.advance(9)
        clock.advance(11)
        await asyncio.wait(jobs)

    clock.run(main())
    assert seen == [(2, 20), (5, 20), (10, 20)]


def test_a_timer_counts_from_where_the_loop_has_looked_at_the_time() -> None:
    keeper = Timekeeper(autojump=True)
    keeper.read()
    keeper.add(3)  # by a thread, between the loop's look and its move
    assert keeper.move(7)
    assert keeper.now == 7
    keeper.add(3)
    assert keeper.move(7)
    assert keeper.now == 10


def test_a_thread_that_outlives_its_run_cannot_sleep_any_more() -> None:
    clock = FakeClock()
    over = threading.Event()
    ends: list[BaseException] = []

    def work() -> None:
        over.wait(5)
        try:
            clock.sleep(1)
        except RunIsOver as error:
            ends.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    clock.run(asyncio.sleep(1))
    over.set()
    thread.join(5)
    assert (len(ends), clock.time()) == (1, 1)
