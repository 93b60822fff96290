"""The battery passes good drivers, names what is wrong with bad ones, and ends whatever they do."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import ringfence as rf
from ringfence.testing.battery import DriverCheckFailed, DriverReport, check_driver
from ringfence.testing.driver import ScriptedDriver
from ringfence.testing.driver_checks import CHECKS
from ringfence.testing.driver_claims import CLAIMS

EVERY = tuple(check.id for check in (*CHECKS, *CLAIMS) if check.claim is None)
CLAIMED = tuple(check.id for check in CLAIMS if check.claim is not None)


class Minimal:
    """All that a driver must have."""

    name = "minimal"

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        value = fn(*args) if inspect.iscoroutinefunction(fn) else await asyncio.to_thread(fn, *args)
        return await value if inspect.isawaitable(value) else value


def checked(make: Callable[[], Any], seconds: float = 5.0) -> DriverReport:
    return asyncio.run(check_driver(make, seconds=seconds))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: rf.local(unsafe=True), "unsafe_local"),
        (ScriptedDriver, "scripted"),
        (Minimal, "minimal"),
        (lambda: ScriptedDriver(inner=Minimal()), "scripted"),
    ],
)
def test_good_drivers_pass_and_the_report_lists_what_was_checked(make: Callable[[], Any], name: str) -> None:
    assert checked(make) == DriverReport(name=name, checked=EVERY, unclaimed=CLAIMED)


def test_ids_are_unique_and_what_a_check_needs_comes_before_it() -> None:
    seen: list[str] = []
    for check in (*CHECKS, *CLAIMS):
        assert set(check.needs) <= set(seen), check.id
        seen.append(check.id)
    assert len(seen) == len(set(seen))


def test_a_failure_says_which_check_what_was_expected_what_was_found_and_what_to_change() -> None:
    class Wrapping(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            try:
                return await super().run(fn, args)
            except Exception as error:
                raise RuntimeError("wrapped") from error

    with pytest.raises(AssertionError) as caught:
        checked(Wrapping)
    assert isinstance(caught.value, DriverCheckFailed)
    assert str(caught.value) == (
        "the driver 'minimal' fails 1 check(s)\n"
        "exception: expected that an exception of the function comes out as the same object\n"
        "  found: RuntimeError('wrapped') came out in place of ValueError('as it is')\n"
        "  fix: do not catch what fn raises; clean up in `finally`\n"
        "not checked before that is mended: base-exception"
    )
    assert caught.value.skipped == ("base-exception",)


def test_a_driver_that_never_answers_does_not_hold_the_battery() -> None:
    class Deaf(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            while True:
                try:
                    await asyncio.sleep(30)
                except asyncio.CancelledError:
                    if hearing:
                        raise

    async def body() -> None:
        try:
            with pytest.raises(DriverCheckFailed) as caught:
                await check_driver(Deaf, seconds=0.02)
            (fault,) = caught.value.faults
            assert (fault.check, fault.found) == ("signal", "the check did not come to an end in 0.08 s")
        finally:
            hearing.append(True)

    hearing: list[bool] = []
    asyncio.run(body())


def test_a_driver_that_is_cancelled_of_its_own_is_told_so() -> None:
    class Cancelled(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            if inspect.iscoroutinefunction(fn):
                raise asyncio.CancelledError
            return await super().run(fn, args)

    with pytest.raises(DriverCheckFailed) as caught:
        checked(Cancelled)
    (fault,) = caught.value.faults
    assert (fault.check, fault.found) == ("coroutine", "the run was cancelled, and nobody had asked for it")


def test_what_is_no_driver_at_all_is_a_finding() -> None:
    with pytest.raises(DriverCheckFailed) as caught:
        checked(lambda: None)
    assert [fault.check for fault in caught.value.faults] == ["shape"]
    assert set(caught.value.skipped) == {*EVERY, *CLAIMED} - {"shape"}


def test_a_bound_that_is_none_is_refused() -> None:
    with pytest.raises(rf.ConfigError, match="seconds"):
        checked(Minimal, seconds=0)


def test_a_driver_that_ends_the_process_is_a_finding() -> None:
    class Exits:
        name = "exits"

        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            raise SystemExit(3)

        async def aclose(self) -> None:
            raise SystemExit(4)

    with pytest.raises(DriverCheckFailed) as caught:
        checked(Exits, 0.05)
    assert any("SystemExit(3)" in fault.found for fault in caught.value.faults)


def test_drivers_that_do_not_close_are_waited_for_once_and_no_more() -> None:
    made: list[object] = []

    class Stuck:
        name = "stuck"

        def __init__(self) -> None:
            made.append(self)

        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            result = fn(*args)
            return await result if asyncio.iscoroutine(result) else result

        async def aclose(self) -> None:
            await asyncio.Event().wait()

    clock = rf.testing.FakeClock()
    with pytest.raises(DriverCheckFailed):
        clock.run(check_driver(Stuck, seconds=0.2))
    assert clock.time() < 0.2 * 12 < 0.2 * len(made)
