"""Foreign code runs in a task of its own, can be stopped, and can touch its caller's task in no way."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable

import pytest

from ringfence.gate import attempt as module
from ringfence.gate.attempt import Attempt, Attempts, InPlace, Stop, Stopped
from tests.gate.kit import run


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOPPED_GRACE", 0.02)
    monkeypatch.setattr(module, "CANCELLED_GRACE", 0.04)


def test_code_that_never_waits_is_not_even_noticed_by_the_loop() -> None:
    async def body() -> None:
        attempts, order = Attempts(), list[str]()
        asyncio.get_running_loop().call_soon(order.append, "loop")

        async def quick() -> int:
            order.append("code")
            return 7

        assert await Attempt(quick(), attempts, 1.0) == 7
        assert order == ["code"]

    run(body)


def test_an_attempt_is_made_only_for_what_the_first_step_leaves() -> None:
    async def body() -> None:
        attempts, told = Attempts(), list[str]()

        async def quick() -> int:
            return 7

        async def slow() -> int:
            await asyncio.sleep(0)
            return 8

        async def endless() -> None:
            await asyncio.get_running_loop().create_future()

        assert Attempt.begun(quick(), attempts, 1.0, told.append) == (None, 7)
        rest, value = Attempt.begun(slow(), attempts, 1.0, told.append)
        assert (rest in attempts.waiting, value) == (True, None)
        assert rest is not None
        assert (await rest, told) == (8, [])
        rest, _ = Attempt.begun(endless(), attempts, 0.01, told.append)
        assert rest is not None
        with pytest.raises(Stopped):
            await rest
        assert (told, attempts.waiting) == (["expired"], set())

    run(body)


def test_code_runs_in_one_task_of_its_own_in_a_copy_of_the_context() -> None:
    variable = contextvars.ContextVar("variable", default=0)

    async def body() -> None:
        variable.set(1)

        async def code() -> tuple[bool, int, int]:
            first, token = asyncio.current_task(), variable.set(2)
            await asyncio.sleep(0)
            seen = variable.get()
            variable.reset(token)
            return first is asyncio.current_task() is not host, seen, variable.get()

        host = asyncio.current_task()
        assert await Attempt(code(), Attempts()) == (True, 2, 1)
        assert (variable.get(), asyncio.current_task() is host) == (1, True)

    run(body)


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), KeyboardInterrupt()])
def test_what_the_code_raises_comes_out(error: BaseException) -> None:
    async def body() -> None:
        async def at_once() -> None:
            raise error

        async def later() -> None:
            await asyncio.sleep(0)
            raise error

        attempts = Attempts()
        for code in (at_once, later):
            with pytest.raises(type(error)) as caught:
                await Attempt(code(), attempts)
            assert caught.value is error
        assert not attempts.waiting

    run(body)


def test_a_deadline_stops_the_code_and_its_result_does_not_count() -> None:
    async def body() -> None:
        async def code() -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "rescued"
            return "never"

        attempts = Attempts()
        said: list[str] = []
        attempt = Attempt(code(), attempts, 0.001)
        attempt.on_stop = said.append
        with pytest.raises(Stopped) as caught:
            await attempt
        assert caught.value.why is Stop.EXPIRED
        assert (said, attempt.cancelled, attempts.abandoned_total) == (["expired"], False, 0)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    run(body)


def test_the_signal_comes_before_the_cancellation() -> None:
    async def body() -> None:
        order: list[str] = []

        async def code() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                order.append("cancelled")

        attempt = Attempt(code(), Attempts(), 0.001)
        attempt.on_stop = order.append
        with pytest.raises(Stopped):
            await attempt
        assert order == ["expired", "cancelled"]

    run(body)


def test_clean_up_may_wait_within_its_grace() -> None:
    async def body() -> None:
        done: list[str] = []

        async def code() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.001)
                done.append("rolled back")

        attempts = Attempts()
        with pytest.raises(Stopped):
            await Attempt(code(), attempts, 0.001)
        assert (done, attempts.abandoned_total) == (["rolled back"], 0)

    run(body)


def test_the_hosts_cancellation_goes_through_and_stays() -> None:
    async def body() -> None:
        begun, attempts = asyncio.Event(), Attempts()

        async def code() -> None:
            begun.set()
            await asyncio.Event().wait()

        attempt = Attempt(code(), attempts, 5.0)

        async def host() -> None:
            await attempt

        task = asyncio.create_task(host())
        await begun.wait()
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert caught.value.args == ("enough",)
        assert (attempt.cancelled, task.cancelled(), len(attempts.waiting)) == (True, True, 0)

    run(body)


def test_a_swallowed_cancellation_with_a_quick_return_still_cancels_the_host() -> None:
    async def body() -> None:
        async def code() -> int:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return 1
            return 2

        task = asyncio.create_task(_await(Attempt(code(), Attempts())))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(body)


def test_a_cancellation_of_the_codes_own_is_told_apart() -> None:
    async def body() -> None:
        async def code() -> None:
            await asyncio.sleep(0)
            raise asyncio.CancelledError("foreign")

        attempt = Attempt(code(), Attempts(), 5.0)
        with pytest.raises(asyncio.CancelledError, match="foreign"):
            await attempt
        assert (attempt.cancelled, attempt.stopped) == (False, None)

    run(body)


def test_a_timeout_of_the_codes_own_is_not_ours() -> None:
    async def body() -> None:
        async def code() -> str:
            try:
                async with asyncio.timeout(0.001):
                    await asyncio.Event().wait()
            except TimeoutError:
                await asyncio.sleep(0.06)  # longer than the grace that its cancellation seemed to begin
                return "handled"
            return "never"

        attempts = Attempts()
        assert await Attempt(code(), attempts, 5.0) == "handled"
        assert attempts.abandoned_total == 0

    run(body)


def test_the_roll_back_of_a_timeout_of_the_codes_own_is_not_cut() -> None:
    async def body() -> None:
        async def code() -> str:
            try:
                async with asyncio.timeout(0.001):
                    try:
                        await asyncio.Event().wait()
                    finally:
                        await asyncio.sleep(0.06)  # longer than the grace of a host's cancellation
                        done.append("rolled back")
            except TimeoutError:
                return "handled"
            return "never"

        attempts, done = Attempts(), list[str]()
        attempt = Attempt(code(), attempts)
        assert (await attempt, done) == ("handled", ["rolled back"])
        assert (attempt.cancelled, attempts.abandoned_total) == (False, 0)

    run(body)


def test_a_deadline_around_the_call_is_the_hosts() -> None:
    async def body() -> None:
        attempt = Attempt(_forever(), Attempts(), 5.0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await attempt
        assert attempt.cancelled

    run(body)


def test_stop_all_ends_whatever_waits_and_only_that() -> None:
    async def body() -> None:
        attempts = Attempts()
        finished = Attempt(_return(1), attempts)
        assert await finished == 1
        finished.stop(Stop.CLOSING)
        tasks = [asyncio.create_task(_await(Attempt(_forever(), attempts))) for _ in range(3)]
        await asyncio.sleep(0)
        attempts.stop_all(Stop.CLOSING)
        attempts.stop_all(Stop.CLOSING)
        await asyncio.wait(tasks)
        assert [str(task.exception()) for task in tasks] == ["closing"] * 3

    run(body)


def test_a_nested_deadline_ends_the_inner_code_only() -> None:
    async def body() -> None:
        inner, outer = Attempts(), Attempts()

        async def code() -> str:
            with pytest.raises(Stopped):
                await Attempt(_forever(), inner, 0.001)
            await asyncio.sleep(0.06)
            return "went on"

        assert await Attempt(code(), outer, 5.0) == "went on"
        assert outer.abandoned_total == inner.abandoned_total == 0

    run(body)


def test_an_outer_deadline_ends_a_nested_attempt_too() -> None:
    async def body() -> None:
        attempts = Attempts()
        inner = Attempt(_forever(), attempts, 5.0)
        with pytest.raises(Stopped):
            await Attempt(_await(inner), attempts, 0.001)
        assert inner.cancelled
        assert not attempts.waiting

    run(body)


def test_code_may_use_task_groups_while_it_is_stopped() -> None:
    async def body() -> None:
        ended: list[int] = []

        async def child(number: int) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(number)

        async def code() -> None:
            async with asyncio.TaskGroup() as group:
                for number in range(3):
                    group.create_task(child(number))

        with pytest.raises(Stopped):
            await Attempt(code(), Attempts(), 0.001)
        assert sorted(ended) == [0, 1, 2]

    run(body)


def test_a_closed_coroutine_closes_its_code() -> None:
    async def body() -> None:
        ended: list[str] = []

        async def code() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("closed")

        attempts = Attempts()
        outer = _await(Attempt(code(), attempts, 5.0))
        outer.send(None)
        outer.close()
        assert (ended, len(attempts.waiting)) == (["closed"], 0)

    run(body)


def test_a_call_outside_a_task_is_a_mistake() -> None:
    async def waits() -> None:
        await asyncio.sleep(0)

    coroutine = _await(Attempt(waits(), Attempts()))
    loop = asyncio.new_event_loop()
    try:
        loop.call_soon(_expect_runtime_error, coroutine, caught := list[str]())
        loop.call_soon(loop.stop)
        loop.run_forever()
    finally:
        loop.close()
    assert caught == ["a call must be awaited in a task"]


def _expect_runtime_error(coroutine: object, caught: list[str]) -> None:
    send: Callable[[None], object] = coroutine.send  # type: ignore[attr-defined]
    try:
        send(None)
    except RuntimeError as error:
        caught.append(str(error))


async def _await(awaitable: Awaitable[object]) -> object:
    return await awaitable


async def _forever() -> None:
    await asyncio.Event().wait()


async def _return(value: int) -> int:
    return value


# --- in the caller's own task ---


async def forever(seen: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        seen.append("told")
        raise


def test_code_in_its_callers_task_returns_what_it_returns() -> None:
    async def five() -> int:
        await asyncio.sleep(0)
        return 5

    async def body() -> tuple[int, int]:
        attempts = Attempts()
        return await InPlace(five(), attempts), len(attempts.waiting)

    assert asyncio.run(body()) == (5, 0)


def test_a_stop_reaches_code_in_its_callers_task_and_leaves_the_task_whole() -> None:
    async def body() -> tuple[Stop, list[str], int, int]:
        attempts, seen = Attempts(), list[str]()
        asyncio.get_running_loop().call_soon(attempts.stop_all, Stop.CLOSING)
        with pytest.raises(Stopped) as caught:
            await InPlace(forever(seen), attempts)
        task = asyncio.current_task()
        assert task is not None
        return caught.value.why, seen, task.cancelling(), len(attempts.waiting)

    assert asyncio.run(body()) == (Stop.CLOSING, ["told"], 0, 0)


def test_the_hosts_cancellation_and_the_codes_own_are_told_apart_in_place() -> None:
    async def own() -> None:
        raise asyncio.CancelledError

    async def body() -> list[bool]:
        attempts, kinds = Attempts(), list[bool]()
        for code in (own(), forever([])):
            attempt = InPlace(code, attempts)

            async def call(attempt: InPlace = attempt) -> None:
                await attempt

            task = asyncio.create_task(call())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            kinds.append(attempt.cancelled)
        return kinds

    assert asyncio.run(body()) == [False, True]
