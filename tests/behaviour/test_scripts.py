"""Calls that scripts make: bounded as they are told to be, ended together, in a language without surprises."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import Payment, door, never, pay, run
from tests.requirements import requirement

pytestmark = pytest.mark.slow

BATCH = "import asyncio\nawait asyncio.gather(*(call_tool('pay', {'amount': n}) for n in range(60)))\nreturn 'fine'"


@requirement("B34", "B35")
@pytest.mark.parametrize(("allowed", "code", "ran"), [(20, "MAX_TOOL_CALLS", 20), (60, None, 60)])
def test_a_budget_is_taken_before_each_call_of_a_batch(allowed: int, code: str | None, ran: int) -> None:
    async def body() -> None:
        paid: list[int] = []

        async def execute(given: Payment) -> int:
            await asyncio.sleep(0.001)
            paid.append(given.amount)
            return given.amount

        async with door(pay(execute)) as boundary:
            result = await boundary.run_script(BATCH, max_tool_calls=allowed)
            assert ((result.error.code if result.error else None), len(paid)) == (code, ran)
            assert result.stats.tool_call_count == 60
            assert [it.code for it in result.calls] == [None] * ran + ["limit_exceeded"] * (60 - ran)

    run(body, seconds=20)


@requirement("B40")
def test_when_one_of_a_batch_fails_the_others_have_ended_before_that_is_told() -> None:
    async def body() -> None:
        begun, ended, late = asyncio.Event(), list[str](), list[str]()

        @rf.tool(effect="write")
        async def slow() -> None:
            """Send something, slowly."""
            begun.set()
            try:
                await never()
                late.append("sent")
            finally:
                ended.append("slow")

        @rf.tool
        async def broken() -> None:
            """Fail."""
            await begun.wait()
            raise rf.ToolError("broken")

        async with door(slow, broken) as boundary:
            source = "import asyncio\nawait asyncio.gather(call_tool('slow', {}), call_tool('broken', {}))"
            result = await boundary.run_script(source)
            assert result.error is not None
            assert (result.error.code, ended, late) == ("TOOL_ERROR", ["slow"], [])
            assert [(it.name, it.status) for it in result.calls] == [("slow", "unknown"), ("broken", "failed")]

    run(body, seconds=20)


@requirement("B47")
def test_a_script_that_spins_is_ended_also_when_it_was_started_in_a_thread() -> None:
    results: list[rf.RunResult] = []

    def work() -> None:
        with rf.Enclave(timeout=0.3) as enclave:
            results.append(enclave.run_sync("while True: pass"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    (result,) = results
    assert result.error is not None
    assert (result.error.code, result.stats.duration < 3.0) == ("TIMEOUT", True)


MANAGER = """
events = []

class Outer:
    def __enter__(self):
        return Inner()
    def __exit__(self, kind, error, trace):
        events.append(kind.__name__)
        return True

class Inner:
    def __exit__(self, *_):
        events.append('wrong')

with Outer() as inner:
    events.append(type(inner).__name__)
    1 / 0
return events
"""


@requirement("B49")
def test_a_context_manager_of_a_script_leaves_by_the_object_that_it_came_in_by() -> None:
    async def body() -> Any:
        async with rf.Enclave() as enclave:
            return (await enclave.run(MANAGER)).value

    assert run(body, seconds=20) == ["Inner", "ZeroDivisionError"]


@requirement("B5", "B7")
def test_a_script_gets_no_further_with_arguments_than_a_plain_call() -> None:
    async def body() -> None:
        ran: list[object] = []

        @rf.tool
        async def set_flag(enabled: bool) -> None:
            """Set a flag."""
            ran.append(enabled)

        async with door(set_flag) as boundary:
            for args in ({"enabled": "false"}, {"enabled": 0}, {"enabled": 1}, {"enabled": True, "extra": 1}, {}):
                plain = await boundary.call("set_flag", args)
                source = f"return await call_tool('set_flag', {args!r}, throw_on_error=False)"
                script = await boundary.run_script(source)
                assert plain.error is not None
                assert script.calls[0].code == plain.error.code == "invalid_input"
                assert [issue["path"] for issue in plain.error.issues] == ["extra" if "extra" in args else "enabled"]
            assert ran == []

    run(body, seconds=30)
