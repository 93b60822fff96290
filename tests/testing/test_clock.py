"""A scenario of hours takes no time, and the same course in every run."""

from __future__ import annotations

import asyncio
import itertools
import math
import threading
import time
from collections.abc import Callable

import pytest
from pydantic import BaseModel

import ringfence as rf
from ringfence.testing.clock import FakeClock

HOUR = 3600.0


class Nothing(BaseModel):
    """No arguments."""


def test_a_sleep_of_an_hour_passes_at_once() -> None:
    clock = FakeClock()
    began = time.monotonic()

    async def main() -> str:
        await asyncio.sleep(HOUR)
        return "awake"

    assert clock.run(main()) == "awake"
    assert clock.time() == clock() == HOUR
    assert time.monotonic() - began < HOUR / 100


def test_timers_run_in_order_each_at_its_own_time() -> None:
    clock = FakeClock()
    seen: list[tuple[str, float]] = []

    async def tick(name: str, every: float) -> None:
        for _ in range(3):
            await asyncio.sleep(every)
            seen.append((name, clock.time()))

    async def main() -> None:
        await asyncio.gather(tick("a", 2), tick("b", 3))

    clock.run(main())
    assert seen[:3] == [("a", 2), ("b", 3), ("a", 4)]
    assert sorted(seen[3:5]) == [("a", 6), ("b", 6)]
    assert seen[5:] == [("b", 9)]


def test_a_pause_beyond_what_a_selector_takes_passes_too() -> None:
    clock = FakeClock()
    clock.run(asyncio.sleep(10 * 24 * HOUR + 0.5))
    assert clock.time() == 10 * 24 * HOUR + 0.5


def test_a_timeout_comes_when_it_is_due() -> None:
    clock = FakeClock()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.Event().wait()

    clock.run(main())
    assert clock.time() == 30


def test_time_goes_on_from_one_run_to_the_next() -> None:
    clock = FakeClock()
    clock.run(asyncio.sleep(5))
    clock.run(asyncio.sleep(5))
    clock.advance(1)
    assert clock.time() == 11


def test_what_the_program_raises_comes_out_and_the_clock_can_be_used_again() -> None:
    clock = FakeClock()

    async def main() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        clock.run(main())
    clock.run(asyncio.sleep(1))


def test_a_clock_that_runs_cannot_be_run_again() -> None:
    clock = FakeClock()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="already"):
            clock.run(asyncio.sleep(1))

    clock.run(main())


def test_an_option_that_is_no_number_of_seconds_is_refused() -> None:
    with pytest.raises(rf.ConfigError, match="io_grace"):
        FakeClock(io_grace=-1)
    with pytest.raises(rf.ConfigError, match="patience"):
        FakeClock(patience=0)


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf])
def test_time_moves_forward_by_finite_steps_only(seconds: float) -> None:
    clock = FakeClock()
    with pytest.raises(rf.ConfigError, match="advance"):
        clock.advance(seconds)
    with pytest.raises(rf.ConfigError, match="sleep"):
        clock.sleep(-1)
    assert clock.time() == 0


# by hand


def test_by_hand_the_time_moves_only_when_told() -> None:
    clock = FakeClock(autojump=False)
    woken: list[float] = []

    async def main() -> None:
        async def sleeper() -> None:
            await asyncio.sleep(5)
            woken.append(clock.time())

        task = asyncio.create_task(sleeper())
        await clock.settle()
        clock.advance(4)
        await clock.settle()
        assert not woken
        clock.advance(0)
        clock.advance(1)
        await clock.settle()
        assert woken == [5]
        await task

    clock.run(main())


def test_settling_waits_for_threads() -> None:
    clock = FakeClock(autojump=False)
    finished: list[str] = []
    gate = threading.Event()

    def work() -> None:
        gate.wait(5)
        finished.append("work")

    async def main() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        asyncio.get_running_loop().call_soon(gate.set)
        await clock.settle()
        assert finished == ["work"]

    clock.run(main())


def test_a_settling_task_that_is_cancelled_harms_nobody() -> None:
    clock = FakeClock()

    async def main() -> None:
        task = asyncio.create_task(clock.settle())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await clock.settle()

    clock.run(main())


def test_a_thread_may_move_the_time() -> None:
    clock = FakeClock(autojump=False)

    gate = threading.Event()

    def move() -> None:
        gate.wait(5)
        clock.advance(7)

    async def main() -> None:
        threading.Thread(target=move).start()
        asyncio.get_running_loop().call_soon(gate.set)
        await asyncio.sleep(7)

    clock.run(main())
    assert clock.time() == 7


# scenarios


def scenario(clock: FakeClock, tool: rf.Tool[..., object], **options: object) -> rf.Outcome:
    async def main() -> rf.Outcome:
        async with rf.Boundary([tool], sandbox=rf.local(unsafe=True), clock=clock, **options) as boundary:  # type: ignore[arg-type]
            return await boundary.call(tool.name, {})

    return clock.run(main())


def slow(clock: FakeClock, *, in_thread: bool) -> Callable[[Nothing], object]:
    async def wait(args: Nothing) -> None:
        await asyncio.sleep(HOUR)

    def block(args: Nothing) -> None:
        clock.sleep(HOUR)

    return block if in_thread else wait


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_tool_that_takes_an_hour_takes_an_hour_of_the_clock(in_thread: bool) -> None:
    clock = FakeClock()
    outcome = scenario(clock, rf.Tool("slow", "Wait.", Nothing, slow(clock, in_thread=in_thread)))
    assert (outcome.status, outcome.duration) == ("succeeded", HOUR)


def test_a_timeout_ends_a_coroutine_at_its_time() -> None:
    clock = FakeClock()
    outcome = scenario(clock, rf.Tool("slow", "Wait.", Nothing, slow(clock, in_thread=False), timeout=30))
    assert (outcome.error and outcome.error.code, outcome.duration) == ("tool_timeout", 30)


def test_a_timeout_leaves_a_thread_behind_after_its_grace() -> None:
    clock = FakeClock()
    outcome = scenario(clock, rf.Tool("slow", "Wait.", Nothing, slow(clock, in_thread=True), timeout=30))
    assert outcome.error is not None
    assert outcome.error.code == "tool_timeout"
    assert 30 <= outcome.duration <= 31


def test_a_question_that_nobody_answers_expires() -> None:
    clock = FakeClock()

    async def approve(request: rf.ApprovalRequest) -> bool:
        await asyncio.Event().wait()
        return True

    tool = rf.Tool("slow", "Wait.", Nothing, slow(clock, in_thread=False), approval="human")
    outcome = scenario(clock, tool, approve=approve, approval_timeout=24 * HOUR)
    assert (outcome.error and outcome.error.code, clock.time()) == ("approval_expired", 24 * HOUR)


def test_an_approver_in_a_thread_takes_its_time() -> None:
    clock = FakeClock()

    def approve(request: rf.ApprovalRequest) -> bool:
        clock.sleep(2 * HOUR)
        return True

    tool = rf.Tool("slow", "Wait.", Nothing, slow(clock, in_thread=True), approval="human")
    outcome = scenario(clock, tool, approve=approve, approval_timeout=3 * HOUR)
    assert (outcome.status, outcome.duration) == ("succeeded", 3 * HOUR)


class Failing:
    """A tool's function that is never done, and keeps the times at which it was called."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.at: list[float] = []

    async def __call__(self, args: Nothing) -> None:
        self.at.append(self.clock.time())
        raise OSError


def test_pauses_between_attempts_pass_at_once() -> None:
    clock = FakeClock()
    failing = Failing(clock)
    pauses = rf.Backoff(first=8, longest=64, jitter=0)
    outcome = scenario(clock, rf.Tool("fail", "Fail.", Nothing, failing, retries=5, backoff=pauses))
    assert failing.at == [0, 8, 24, 56, 120, 184]
    assert (outcome.attempts, outcome.duration) == (6, 184)


def test_a_total_timeout_ends_the_pauses() -> None:
    clock = FakeClock()
    failing = Failing(clock)
    tool = rf.Tool("fail", "Fail.", Nothing, failing, retries=99, backoff=HOUR, total_timeout=2.5 * HOUR)
    outcome = scenario(clock, tool)
    assert failing.at == [0, HOUR, 2 * HOUR]
    assert outcome.duration <= 2.5 * HOUR


@pytest.mark.slow
def test_a_script_runs_in_its_jail_while_its_calls_take_hours() -> None:
    clock = FakeClock(io_grace=1.0)  # a jail that starts on a busy machine must not be jumped over

    async def approve(request: rf.ApprovalRequest) -> bool:
        await asyncio.sleep(12 * HOUR)
        return True

    async def main() -> rf.RunResult:
        tool = rf.Tool("slow", "Wait.", Nothing, lambda args: clock.sleep(10), approval="human")
        async with rf.Boundary([tool], sandbox=rf.local(unsafe=True), approve=approve, clock=clock) as boundary:
            return await boundary.run_script("await tools.slow()\nreturn 'done'")

    result = clock.run(main())
    assert (result.value, result.error) == ("done", None)
    assert 12 * HOUR + 10 <= clock.time() < 13 * HOUR


def test_the_course_of_a_scenario_is_the_same_every_time() -> None:
    def once() -> list[tuple[int, float]]:
        clock = FakeClock()
        seen: list[tuple[int, float]] = []

        async def on_loop(number: int) -> None:
            for _ in range(5):
                await asyncio.sleep(1 + number / 8)
                seen.append((number, clock.time()))

        def in_thread(number: int) -> None:
            for _ in range(5):
                clock.sleep(1 + number / 8)
                seen.append((number, clock.time()))

        async def main() -> None:
            loops = [on_loop(number) for number in (1, 3, 5)]
            threads = [asyncio.to_thread(in_thread, number) for number in (2, 4, 6)]
            await asyncio.gather(*loops, *threads)

        clock.run(main())
        return seen

    first = once()
    assert len(first) == 30
    assert [at for _, at in first] == sorted(at for _, at in first)
    for _ in itertools.repeat(None, 5):
        assert once() == first
