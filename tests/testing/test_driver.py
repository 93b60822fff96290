"""A scripted driver fails as the test says, and remembers what it was given."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ringfence as rf
from ringfence.gate.signals import AbortSignal
from ringfence.sandbox.guarantees import GUARANTEES, NONE
from ringfence.testing.driver import DriverCall, Run, ScriptedDriver, Skip, fault
from ringfence.testing.steps import After, never
from tests.testing.desk import Till, calls, ends

RAN = DriverCall(ran=True, args=1, signal=True)
DID_NOT = DriverCall(ran=False, args=1, signal=True)


def driven(*steps: Any, times: int = 1, **options: Any) -> tuple[list[rf.Outcome], Till, ScriptedDriver]:
    till, driver = Till(**options), ScriptedDriver(steps)
    return calls(till, times=times, sandbox=driver), till, driver


def test_without_a_script_the_tool_runs() -> None:
    outcomes, till, driver = driven(times=2)
    assert ends(outcomes) == [("succeeded", None, 1)] * 2
    assert (till.paid, driver.calls, driver.closed) == ([1, 2], (RAN, RAN), 1)
    driver.assert_exhausted()


def test_steps_are_taken_one_for_each_attempt_and_then_the_tool_runs() -> None:
    outcomes, till, driver = driven(OSError("lost"), Run(then=OSError("lost")), retries=3)
    assert ends(outcomes) == [("succeeded", None, 3)]
    assert (till.paid, driver.calls) == ([1, 1], (DID_NOT, RAN, RAN))
    driver.assert_exhausted()


def test_an_effect_that_has_happened_before_the_answer_was_lost_is_in_doubt() -> None:
    outcomes, till, _ = driven(Run(then=OSError("lost")), effect="write")
    assert (outcomes[0].status, till.paid) == ("unknown", [1])


def test_a_driver_may_answer_in_place_of_the_tool() -> None:
    outcomes, till, driver = driven(Skip(9))
    assert (outcomes[0].unwrap(), till.paid, driver.calls) == (9, [], (DID_NOT,))


@pytest.mark.parametrize("code", ["sandbox_unavailable", "sandbox_crashed", "memory_limit", "wire_violation"])
def test_a_fault_of_the_place_is_reported_by_its_code(code: str) -> None:
    outcomes, till, _ = driven(fault(code))
    assert outcomes[0].error is not None
    assert (outcomes[0].error.code, till.paid) == (code, [])


@pytest.mark.parametrize("code", ["tool_timeout", "no_such_code"])
def test_a_fault_that_is_none_of_a_place_is_refused(code: str) -> None:
    with pytest.raises(rf.ConfigError, match="is no fault of a sandbox") as caught:
        fault(code)
    assert "sandbox_crashed" in (caught.value.hint or "")


def test_never_hangs_until_it_is_cancelled() -> None:
    outcomes, till, driver = driven(never, timeout=30)
    assert (outcomes[0].error and outcomes[0].error.code, outcomes[0].duration) == ("tool_timeout", 30)
    assert (till.paid, driver.calls) == ([], (DID_NOT,))


def test_a_step_may_take_its_time() -> None:
    outcomes, till, _ = driven(After(5, Run()), After(20, Skip(0)), times=2)
    assert ([one.duration for one in outcomes], till.paid) == ([5, 20], [1])


def test_what_the_tool_raises_comes_before_what_the_step_raises() -> None:
    def fail() -> None:
        raise KeyError("the tool's")

    with pytest.raises(KeyError, match="the tool's"):
        asyncio.run(ScriptedDriver([Run(then=OSError())]).run(fail, []))


def test_calls_say_what_came() -> None:
    driver = ScriptedDriver([Skip(1), Skip(2)])

    async def body() -> None:
        assert await driver.run(int, []) == 1
        assert await driver.run(int, [1, 2], signal=AbortSignal()) == 2

    asyncio.run(body())
    assert driver.calls == (DriverCall(ran=False, args=0, signal=False), DriverCall(ran=False, args=2, signal=True))


def test_steps_that_were_not_taken_fail_the_test() -> None:
    driver = ScriptedDriver([Run(), never])
    asyncio.run(driver.run(int, []))
    with pytest.raises(AssertionError) as caught:
        driver.assert_exhausted()
    assert str(caught.value) == (
        "1 of 2 steps are left, the first of them never\n  fix: remove them, or look why there were fewer attempts"
    )
    with pytest.raises(AssertionError, match="1 of 1 steps"), ScriptedDriver([never]):
        pass
    with pytest.raises(KeyError), ScriptedDriver([never]):
        raise KeyError


def test_the_driver_inside_runs_the_tool_and_says_what_is_enforced() -> None:
    class Inner:
        name = "inner"
        closed = False

        def guarantees(self) -> dict[str, str]:
            return {"network": "no wire"}

        async def run(self, fn: Any, args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            return [fn(*args), signal]

        async def aclose(self) -> None:
            self.closed = True

    inner = Inner()
    driver = ScriptedDriver(inner=inner)
    assert asyncio.run(driver.run(int, [7])) == [7, None]
    assert driver.guarantees() == {"network": "no wire"}
    asyncio.run(driver.aclose())
    assert (inner.closed, driver.closed) == (True, 1)


def test_a_driver_inside_that_has_a_name_and_run_only_is_enough() -> None:
    class Inner:
        name = "inner"

        async def run(self, fn: Any, args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            return fn(*args)

    driver = ScriptedDriver(inner=Inner())
    assert driver.guarantees() == dict.fromkeys(GUARANTEES, NONE)
    asyncio.run(driver.aclose())
    assert driver.closed == 1
