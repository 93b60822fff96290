"""A driver runs the tool at most once for an attempt, while it lasts, and with what was validated."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ringfence.contract.context import ToolContext
from ringfence.errors import SandboxFault, ToolError
from ringfence.gate import attempt
from ringfence.gate.body import GuardedBody
from ringfence.gate.signals import AbortSignal
from ringfence.sandbox.local_unsafe import local
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, gate, outcome_of, pay, run, tool, verdict

CONTEXT = ToolContext(
    session_id="s",
    principal=None,
    call_id="c",
    attempt=1,
    max_attempts=1,
    idempotency_key="c",
    deadline=None,
    signal=AbortSignal(),
)

Handling = Callable[[Callable[..., Any], list[Any]], Any]


class Place:
    """A driver that does what it is told with the tool's function."""

    name = "place"

    def __init__(self, handling: Handling) -> None:
        self.handling = handling

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Any = None) -> Any:
        return await self.handling(fn, args)


async def twice(fn: Callable[..., Any], args: list[Any]) -> Any:
    await fn(*args)
    return await fn(*args)


async def twice_in_silence(fn: Callable[..., Any], args: list[Any]) -> Any:
    result = await fn(*args)
    await asyncio.gather(fn(*args), return_exceptions=True)
    return result


async def again_after_a_failure(fn: Callable[..., Any], args: list[Any]) -> Any:
    try:
        return await fn(*args)
    except ValueError:
        return await fn(*args)


async def another_object(fn: Callable[..., Any], args: list[Any]) -> Any:
    return await fn(Amount(cents=9))


async def another_type(fn: Callable[..., Any], args: list[Any]) -> Any:
    return await fn("everything")


async def changed_in_place(fn: Callable[..., Any], args: list[Any]) -> Any:
    args[0].cents = 9
    return await fn(*args)


async def changed_then_right(fn: Callable[..., Any], args: list[Any]) -> Any:
    await asyncio.gather(fn(Amount(cents=9)), return_exceptions=True)
    return await fn(*args)


async def a_copy(fn: Callable[..., Any], args: list[Any]) -> Any:
    return await fn(copy.deepcopy(args[0]))


async def elsewhere(fn: Callable[..., Any], args: list[Any]) -> Any:
    return "paid elsewhere"


def counted(ran: list[int], error: BaseException | None = None) -> Callable[..., Any]:
    async def execute(args: Amount) -> str:
        ran.append(args.cents)
        if error is not None:
            raise error
        return "paid"

    return execute


@pytest.mark.parametrize(("effect", "status"), [("read", "failed"), ("write", "unknown"), (None, "unknown")])
@pytest.mark.parametrize("handling", [twice, twice_in_silence])
def test_a_second_run_is_a_violation_whatever_the_driver_says(handling: Handling, effect: Any, status: str) -> None:
    ran: list[int] = []
    made = tool(counted(ran), effect=effect, retries=3, on_error=lambda error: "fine")  # type: ignore[misc]
    outcome, trace = outcome_of(made, sandbox=Place(handling))
    assert (verdict(outcome), ran) == ((status, "wire_violation", 1), [5])
    assert trace.types == ["tool.called", "tool.failed"]
    with pytest.raises(SandboxFault, match="pay: its sandbox called the tool again"):
        outcome.unwrap()


def test_a_driver_may_not_repeat_what_failed_either() -> None:
    ran: list[int] = []
    outcome, _ = outcome_of(tool(counted(ran, ValueError()), effect="write"), sandbox=Place(again_after_a_failure))
    assert (verdict(outcome), ran) == (("unknown", "wire_violation", 1), [5])


@pytest.mark.parametrize("handling", [another_object, another_type, changed_in_place, changed_then_right])
def test_other_arguments_are_a_violation_and_run_nothing(handling: Handling) -> None:
    ran: list[int] = []
    outcome, _ = outcome_of(tool(counted(ran), effect="write", retries=1), sandbox=Place(handling))
    assert (verdict(outcome), ran) == (("failed", "wire_violation", 1), [])
    assert outcome.error is not None
    assert outcome.error.message == "pay: its sandbox called the tool with other arguments"


class Believed(Place):
    """Says that it hands over what it gets, so that nothing is compared."""

    hands_over_unchanged = True


@pytest.mark.parametrize(
    ("handling", "ran", "status"),
    [(twice, [5], "unknown"), (twice_in_silence, [5], "unknown"), (another_object, [], "failed"),
     (another_type, [], "failed"), (changed_then_right, [], "failed")],
)  # fmt: skip
def test_a_driver_that_is_believed_may_not_lie_about_what_runs(handling: Handling, ran: list[int], status: str) -> None:
    cents: list[int] = []
    outcome, _ = outcome_of(tool(counted(cents), effect="write", retries=1), sandbox=Believed(handling))
    assert (verdict(outcome), cents) == ((status, "wire_violation", 1), ran)


def test_a_driver_that_is_believed_may_not_come_late() -> None:
    late: list[Callable[[], Any]] = []
    ran: list[int] = []

    async def keeps(fn: Callable[..., Any], args: list[Any]) -> str:
        late.append(lambda: fn(*args))
        return "paid elsewhere"

    async def body() -> None:
        outcome = await gate(tool(counted(ran)), sandbox=Believed(keeps)).call("pay", ARGS, origin=ORIGIN)
        assert outcome.value == "paid elsewhere"
        with pytest.raises(SandboxFault, match="when its time was over"):
            await late[0]()

    run(body)
    assert ran == []


@pytest.mark.parametrize("handling", [a_copy, elsewhere])
def test_a_copy_is_as_good_and_the_tool_may_run_elsewhere(handling: Handling) -> None:
    assert outcome_of(tool(pay), sandbox=Place(handling))[0].status == "succeeded"


def test_a_fault_that_the_driver_reports_itself_is_its_own() -> None:
    async def broken(fn: Callable[..., Any], args: list[Any]) -> Any:
        raise SandboxFault("gone", code="sandbox_crashed")

    assert verdict(outcome_of(tool(pay), sandbox=Place(broken))[0]) == ("failed", "sandbox_crashed", 1)


def test_what_the_driver_makes_of_a_tools_own_no_is_still_its_no() -> None:
    outcome, _ = outcome_of(tool(counted([], ToolError("closed")), effect="write"), sandbox=Place(a_copy))
    assert verdict(outcome) == ("failed", "tool_raised", 1)


def test_of_two_threads_that_come_at_once_one_runs() -> None:
    ran: list[int] = []

    def execute(args: Amount) -> str:
        ran.append(args.cents)
        return "paid"

    async def both(fn: Callable[..., Any], args: list[Any]) -> Any:
        gate_ = threading.Barrier(2)

        def one() -> Any:
            gate_.wait(5)
            return fn(*args)

        results = await asyncio.gather(*(asyncio.to_thread(one) for _ in range(2)), return_exceptions=True)
        return next(result for result in results if not isinstance(result, BaseException))

    outcome, _ = outcome_of(tool(execute, effect="write"), sandbox=Place(both))
    assert (verdict(outcome), ran) == (("unknown", "wire_violation", 1), [5])


def test_what_did_not_begin_in_time_does_not_begin_later(caplog: pytest.LogCaptureFixture) -> None:
    ran: list[int] = []
    kept: list[tuple[Callable[..., Any], list[Any]]] = []

    async def keep(fn: Callable[..., Any], args: list[Any]) -> Any:
        kept.append((fn, args))
        await asyncio.Event().wait()

    async def body() -> None:
        of = gate(tool(counted(ran), timeout=0.001), sandbox=Place(keep))
        trace = Trace(of)
        assert verdict(await of.call("pay", ARGS, origin=ORIGIN)) == ("unknown", "tool_timeout", 1)
        ((fn, args),) = kept
        with pytest.raises(SandboxFault, match="when its time was over"):
            await fn(*args)
        assert (ran, trace.types) == ([], ["tool.called", "tool.failed"])

    run(body)
    assert "a sandbox called pay when its time was over" in caplog.text


class Unreadable(dict[str, Any]):
    """Cannot be read by anybody who would compare it."""

    def items(self) -> Any:
        raise RuntimeError("secret")


def test_arguments_that_cannot_be_compared_must_be_the_very_same() -> None:
    async def entered(given: Any, arrives: Any) -> tuple[bool, str | None]:
        body = GuardedBody(tool(lambda args: 7), CONTEXT, given, turn=None, is_trusted=False)  # type: ignore[misc]
        with contextlib.suppress(SandboxFault):
            body.in_thread(arrives)
        return body.started, body.fault.code if body.fault is not None else None

    given = Unreadable(cents=5)
    assert run(lambda: entered(given, given)) == (True, None)
    assert run(lambda: entered(given, Unreadable(cents=5))) == (False, "wire_violation")
    assert run(lambda: entered({"cents": {1, 2}}, {"cents": {2, 1}})) == (True, None)


def test_the_local_driver_needs_no_comparison() -> None:
    assert local(unsafe=True).hands_over_unchanged


# --- functions that are not asynchronous and return something to be awaited ---


def test_what_a_function_leaves_to_be_awaited_is_still_the_tool() -> None:
    async def later() -> None:
        raise SandboxFault("the tool made it up", code="memory_limit")

    outcome, _ = outcome_of(tool(lambda args: later(), retries=1))  # type: ignore[misc]
    assert verdict(outcome) == ("failed", "tool_raised", 1)


def test_what_a_function_leaves_to_be_awaited_holds_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "STOPPED_GRACE", 0.01)

    async def body() -> None:
        running = most = 0

        async def later() -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            while not release.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await release.wait()
            running -= 1

        def begin(args: Amount) -> Any:
            return later()

        release = asyncio.Event()
        of = gate(tool(begin, max_concurrency=1, timeout=0.01))
        first = await of.call("pay", ARGS, origin=ORIGIN)
        second = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        for _ in range(3):
            await asyncio.sleep(0)
        assert (most, of.statistics().queued, of.statistics().abandoned) == (1, 1, 1)
        release.set()
        assert (verdict(first), verdict(await second)) == (("unknown", "tool_timeout", 1), ("succeeded", None, 1))
        assert most == 1

    run(body)


def test_a_turn_comes_back_although_nobody_awaits_what_a_function_has_left() -> None:
    async def forgets(fn: Callable[..., Any], args: list[Any]) -> Any:
        fn(*args).close()
        return "done"

    async def later() -> None:
        await asyncio.sleep(0)

    async def body() -> None:
        of = gate(tool(lambda args: later(), max_concurrency=1), sandbox=Place(forgets))  # type: ignore[misc]
        for _ in range(3):
            assert (await of.call("pay", ARGS, origin=ORIGIN)).value == "done"

    with pytest.warns(RuntimeWarning, match="never awaited"):
        run(body)
