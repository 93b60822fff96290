"""What becomes of a run's other calls when one refusal ends it: none starts any more (decision 15)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.session import TERMINAL_GRACE
from tests.enclave.kit import Stage, code, detail, never, outcomes


class Desk:
    """Tools of every sort of waiting, and an approver that denies `pay(n=0)` and does as it is told with others."""

    def __init__(self) -> None:
        self.began: list[tuple[str, int]] = []
        self.denied = asyncio.Event()
        """Somebody was denied, so the run has failed."""
        self.boundary = rf.Boundary(
            [
                rf.tool(name="pay", effect="write", approval="human")(self._pay),
                rf.tool(name="work", effect="write", max_concurrency=1)(self._work),
            ],
            sandbox=rf.local(unsafe=True),
            approve=self._approve,
        )

    async def _pay(self, n: int) -> int:
        """Pay."""
        self.began.append(("pay", n))
        return n

    async def _work(self, n: int) -> int:
        """Work until somebody is denied."""
        self.began.append(("work", n))
        await self.denied.wait()
        await asyncio.sleep(0.02)
        return n

    async def _approve(self, request: rf.ApprovalRequest) -> bool:
        if request.arguments["n"] == 0:
            await asyncio.sleep(0.05)  # the others are on their way
            asyncio.get_running_loop().call_soon(self.denied.set)
            return False
        await self.denied.wait()
        await asyncio.sleep(0)
        return True


def play(stage: Stage, source: str, **options: Any) -> tuple[rf.RunResult, Desk]:
    async def body() -> tuple[rf.RunResult, Desk]:
        desk = Desk()
        async with rf.Enclave(tools=desk.boundary, timeout=10.0, **options) as enclave:
            return await enclave.run(f"import asyncio\n{source}"), desk

    return stage.run(body())


def gathered(*calls: str) -> str:
    """A script that makes these calls at once, says what came of them, and fails to look at any."""
    return (
        f"done = await asyncio.gather({', '.join(calls)}, return_exceptions=True)\n"
        "print(*(type(one).__name__ for one in done))\n'fine'"
    )


def test_a_call_that_waits_for_a_decision_does_not_run_after_anothers_denial(stage: Stage) -> None:
    result, desk = play(stage, gathered("tools.pay(n=1)", "tools.pay(n=0)"))
    assert (code(result), detail(result), desk.began) == ("APPROVAL_DENIED", "approval_denied", [])
    assert outcomes(result) == [("pay", "refused", "interrupted"), ("pay", "refused", "approval_denied")]


def test_a_call_that_waits_for_its_turn_does_not_run_after_anothers_denial_and_one_that_runs_ends(stage: Stage) -> None:
    result, desk = play(stage, gathered("tools.work(n=1)", "tools.work(n=2)", "tools.pay(n=0)"))
    assert (code(result), desk.began) == ("APPROVAL_DENIED", [("work", 1)])
    assert outcomes(result) == [
        ("work", "succeeded", None),
        ("work", "refused", "interrupted"),
        ("pay", "refused", "approval_denied"),
    ]


def test_whatever_did_not_run_is_refused_to_the_script_in_one_way(stage: Stage) -> None:
    calls = ["tools.work(n=1)", "tools.work(n=2)", "tools.pay(n=0)", "tools.work(n=3)"]
    result, desk = play(stage, gathered(*calls), max_concurrent_calls=3)
    assert (code(result), desk.began, result.output) == (
        "APPROVAL_DENIED",
        [("work", 1)],
        "int ToolRefused ToolRefused ToolRefused\n",
    )


@pytest.mark.slow
def test_calls_before_the_one_too_many_have_started(stage: Stage) -> None:
    result, desk = play(stage, gathered("tools.work(n=1)", "tools.pay(n=1)", "tools.pay(n=2)"), max_tool_calls=2)
    assert (code(result), desk.began) == ("MAX_TOOL_CALLS", [("work", 1)])
    assert outcomes(result) == [
        ("work", "unknown", "interrupted"),
        ("pay", "refused", "interrupted"),
        ("pay", "refused", "limit_exceeded"),
    ]


@pytest.mark.parametrize("end", ["'fine'", "1 / 0"])
def test_calls_beyond_the_budget_fail_the_run_even_where_their_turn_never_came(stage: Stage, end: str) -> None:
    """T62, T63."""
    stage.tools["never"] = never
    source = (
        "import asyncio\ntasks = [asyncio.create_task(call_tool('never', {})) for _ in range(4)]\n"
        f"await asyncio.sleep(0.05)\n{end}"
    )
    result = stage.script(source, max_tool_calls=2, max_concurrent_calls=1)
    assert (code(result), detail(result)) == ("MAX_TOOL_CALLS", "limit_exceeded")
    assert outcomes(result) == [
        ("never", "unknown", "interrupted"),
        ("never", "refused", "interrupted"),
        ("never", "refused", "limit_exceeded"),
        ("never", "refused", "limit_exceeded"),
    ]


def test_one_timer_ends_a_refused_run_and_it_is_gone_with_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import asyncio\nawait asyncio.gather(*(call_tool('a', {}) for _ in range(9)), return_exceptions=True)"

    async def body() -> tuple[rf.RunResult, list[bool]]:
        loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
        later = loop.call_later

        def call_later(delay: float, *args: Any, **kwargs: Any) -> asyncio.TimerHandle:
            handle = later(delay, *args, **kwargs)
            if delay == TERMINAL_GRACE:
                timers.append(handle)
            return handle

        with monkeypatch.context() as patch:
            patch.setattr(loop, "call_later", call_later)
            result = await stage.enclave(max_tool_calls=0).run(source)
        return result, [timer.cancelled() for timer in timers]

    result, cancelled = stage.run(body())
    assert (code(result), cancelled) == ("MAX_TOOL_CALLS", [True])
