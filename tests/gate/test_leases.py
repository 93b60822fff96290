"""A driver that several use is closed once, by the last of them."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.errors import ConfigError
from ringfence.gate import leases as module
from ringfence.gate.attempt import Attempts
from ringfence.gate.leases import Leases
from ringfence.ports import Signal
from tests.gate.kit import ARGS, ORIGIN, Amount, gate, pay, run, tool


class Minimal:
    """A name and `run`, and no weak references."""

    __slots__ = ()
    name = "minimal"

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Signal | None = None) -> Any:
        return await fn(*args)


class Place(Minimal):
    """Counts how often it is closed; equal to every other, and without a hash."""

    __slots__ = ("closed", "error")

    def __init__(self, error: BaseException | None = None) -> None:
        self.closed = 0
        self.error = error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place)

    __hash__ = None  # type: ignore[assignment]

    async def aclose(self) -> None:
        self.closed += 1
        if self.error is not None:
            raise self.error


def test_each_driver_is_held_once_whatever_it_equals() -> None:
    one, two = Place(), Place()
    lease = Leases([None, one, two, one, None])
    assert [driver is expected for driver, expected in zip(lease.drivers, (one, two), strict=True)] == [True, True]


def test_the_last_who_gives_a_driver_back_closes_it_and_nobody_closes_it_twice() -> None:
    async def body() -> None:
        shared, own = Place(), Place()
        first, second = Leases([shared, own]), Leases([shared])
        assert await first.release(Attempts()) == []
        assert (shared.closed, own.closed) == (0, 1)
        await second.release(Attempts())
        assert (shared.closed, own.closed) == (1, 1)
        await asyncio.gather(first.release(Attempts()), second.release(Attempts()))
        assert (shared.closed, own.closed) == (1, 1)

    run(body)


def test_what_is_used_anew_is_closed_anew() -> None:
    async def body() -> None:
        place = Place()
        await Leases([place]).release(Attempts())
        first, second = Leases([place]), Leases([place])
        await first.release(Attempts())
        assert place.closed == 1
        await second.release(Attempts())
        assert place.closed == 2

    run(body)


def test_who_comes_while_a_driver_is_being_closed_closes_it_again() -> None:
    async def body() -> None:
        entered, release = asyncio.Event(), asyncio.Event()

        class Slow(Place):
            async def aclose(self) -> None:
                entered.set()
                await release.wait()
                await super().aclose()

        slow = Slow()
        closing = asyncio.create_task(Leases([slow]).release(Attempts()))
        await entered.wait()
        late = Leases([slow])
        release.set()
        await closing
        assert slow.closed == 1
        await late.release(Attempts())
        assert slow.closed == 2

    run(body)


def test_who_is_dropped_holds_nothing() -> None:
    async def body() -> None:
        place = Place()
        dropped, kept = Leases([place]), Leases([place])
        assert dropped.drivers == kept.drivers
        del dropped
        gc.collect()
        await kept.release(Attempts())
        assert place.closed == 1

    run(body)


def test_nothing_is_kept_of_a_driver_that_nobody_uses() -> None:
    before = len(module._places)  # type: ignore[reportPrivateUsage]
    lease = Leases([Place(), Place()])
    assert len(module._places) == before + 2  # type: ignore[reportPrivateUsage]
    del lease
    gc.collect()
    assert len(module._places) == before  # type: ignore[reportPrivateUsage]


def test_a_driver_need_not_close_and_may_close_at_once() -> None:
    class Sudden(Minimal):
        __slots__ = ("closed",)

        def aclose(self) -> None:
            self.closed = True

    async def body() -> None:
        sudden = Sudden()
        assert await Leases([Minimal(), sudden]).release(Attempts()) == []
        assert sudden.closed

    run(body)


def test_a_driver_may_call_it_close_as_the_seed_does() -> None:
    class Seeds(Minimal):
        __slots__ = ("closed",)

        async def close(self) -> None:
            self.closed = True

    async def body() -> None:
        place = Seeds()
        assert await Leases([place]).release(Attempts()) == []
        assert place.closed

    run(body)


def test_every_driver_is_tried_and_every_failure_is_told() -> None:
    async def body() -> None:
        places = [Place(ValueError("a")), Place(), Place(SystemExit(3)), Place(asyncio.CancelledError())]
        failures = await Leases(places).release(Attempts())
        assert [place.closed for place in places] == [1, 1, 1, 1]
        assert [(type(failure), str(failure)) for failure in failures] == [
            (ValueError, "a"),
            (RuntimeError, "the sandbox 'minimal' raised SystemExit while closing"),
            (RuntimeError, "the sandbox 'minimal' raised CancelledError while closing"),
        ]

    run(body)


def test_a_request_to_end_the_process_is_not_swallowed() -> None:
    def hold() -> list[Exception]:
        return asyncio.run(Leases([Place(KeyboardInterrupt())]).release(Attempts()))

    with pytest.raises(KeyboardInterrupt):
        hold()


def test_a_driver_that_does_not_close_is_given_up_and_the_others_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRIVER_CLOSE", 0.01)

    class Stuck(Place):
        async def aclose(self) -> None:
            await asyncio.Event().wait()

    async def body() -> None:
        other, attempts = Place(), Attempts()
        (failure,) = await Leases([Stuck(), other]).release(attempts)
        assert (type(failure), other.closed, attempts.abandoned_total) == (TimeoutError, 1, 0)

    run(body)


def test_a_cancellation_reaches_the_driver_and_the_others_are_closed_all_the_same() -> None:
    told: list[str] = []

    class Stuck(Place):
        def __init__(self, entered: asyncio.Event) -> None:
            super().__init__()
            self.entered = entered

        async def aclose(self) -> None:
            self.entered.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append("cancelled")
                raise

    async def body() -> None:
        entered = asyncio.Event()
        broken, other = Place(ValueError("a")), Place()
        closing = asyncio.create_task(Leases([broken, Stuck(entered), other]).release(Attempts()))
        await entered.wait()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await closing
        assert (told, other.closed) == (["cancelled"], 1)
        assert isinstance(caught.value.__cause__, ExceptionGroup)

    run(body)


@given(st.lists(st.tuples(st.sets(st.integers(0, 3)), st.booleans()), max_size=6), st.randoms(use_true_random=False))
def test_however_users_share_and_leave_each_driver_is_closed_once_at_the_end(
    users: list[tuple[set[int], bool]], order: Any
) -> None:
    async def body() -> None:
        places = [Place() for _ in range(4)]
        leases = [(Leases([places[index] for index in sorted(held)]), held, twice) for held, twice in users]
        order.shuffle(leases)
        while leases:
            lease, _, twice = leases.pop()
            await lease.release(Attempts())
            if twice:
                await lease.release(Attempts())
            in_use = {index for _, held, _ in leases for index in held}
            was_used = {index for held, _ in users for index in held}
            assert [place.closed for place in places] == [
                int(index in was_used and index not in in_use) for index in range(4)
            ]

    asyncio.run(body())


@pytest.mark.slow
def test_users_in_several_loops_leave_one_close_between_them() -> None:
    for _ in range(20):
        place = Place()
        held = [Leases([place]) for _ in range(8)]
        ready = threading.Barrier(len(held))

        def leave(lease: Leases, ready: threading.Barrier = ready) -> None:
            ready.wait()
            asyncio.run(lease.release(Attempts()))

        threads = [threading.Thread(target=leave, args=(lease,)) for lease in held]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert place.closed == 1


# --- gates ---


def test_a_shared_driver_outlives_the_gate_that_closes_first_and_its_calls_go_on() -> None:
    async def body() -> None:
        place, entered, release = Place(), asyncio.Event(), asyncio.Event()

        async def execute(args: Amount) -> int:
            entered.set()
            await release.wait()
            return place.closed

        first = gate(tool(pay), tool(pay, "own", sandbox=place), sandbox=place)
        second = gate(tool(execute), sandbox=place)
        call = asyncio.create_task(second.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        await first.aclose()
        closing = asyncio.create_task(second.aclose())
        await asyncio.sleep(0)
        release.set()
        await closing
        assert ((await call).value, place.closed) == (0, 1)

    run(body)


def test_a_gate_that_is_dropped_leaves_its_driver_to_the_others() -> None:
    async def body() -> None:
        place = Place()
        gate(tool(pay), sandbox=place)
        kept = gate(tool(pay), sandbox=place)
        gc.collect()
        await kept.aclose()
        assert place.closed == 1

    run(body)


def test_a_gate_that_could_not_be_made_holds_nothing() -> None:
    async def body() -> None:
        place = Place()
        with pytest.raises(ConfigError):
            gate(tool(pay), sandbox=place, approval_timeout=-1)
        kept = gate(tool(pay), sandbox=place)
        await kept.aclose()
        assert place.closed == 1

    run(body)
