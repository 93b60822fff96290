"""What happens while a tool runs, fails, is stopped, and is answered for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ringfence.errors import (
    ToolApprovalError,
    ToolError,
    ToolFailure,
    ToolTimeoutError,
)
from ringfence.gate import attempt as attempt_module
from ringfence.gate import perform
from ringfence.gate.runner import Gate, GateStatistics
from ringfence.gate.signals import AbortSignal
from ringfence.ports import ApprovalRequest, Signal
from ringfence.testing import Run as RunStep
from ringfence.testing import ScriptedDriver
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, failing, gate, outcome_of, pay, run, tool, verdict


def recorder(asked: list[object]) -> Callable[[ApprovalRequest], bool]:
    """Approves, and remembers that it was asked."""

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    return approve


# --- attempts ---


def test_a_retry_gets_the_arguments_as_they_were() -> None:
    ran: list[int] = []
    outcome, trace = outcome_of(tool(failing(1, ValueError(), ran), retries=1))
    assert (verdict(outcome), ran) == (("succeeded", None, 2), [5, 5])
    assert trace.types == ["tool.called", "tool.failed", "tool.called", "tool.completed"]
    assert [(event.meta["attempt"], event.meta["max_attempts"]) for event in trace.events] == [
        (1, 2),
        (1, 2),
        (2, 2),
        (2, 2),
    ]


@pytest.mark.parametrize(
    ("options", "error", "expected"),
    [
        ({}, TimeoutError("mine"), ("succeeded", None, 2)),
        ({"effect": "read"}, ConnectionError(), ("succeeded", None, 2)),
        ({"effect": "write"}, ToolError("busy"), ("succeeded", None, 2)),
        ({"effect": "write"}, ValueError(), ("unknown", "outcome_unknown", 1)),
        ({"effect": "write"}, SystemExit(1), ("unknown", "outcome_unknown", 1)),
        ({"effect": "write", "idempotent": True}, ValueError(), ("succeeded", None, 2)),
        ({"effect": "write"}, ConnectionError(), ("unknown", "outcome_unknown", 1)),
        ({"effect": "write"}, TimeoutError(), ("unknown", "outcome_unknown", 1)),
        ({"idempotent": False}, ConnectionError(), ("unknown", "outcome_unknown", 1)),
        ({"effect": "write", "idempotent": True}, ConnectionError(), ("succeeded", None, 2)),
        ({"effect": "write"}, asyncio.CancelledError(), ("unknown", "outcome_unknown", 1)),
        ({}, asyncio.CancelledError(), ("succeeded", None, 2)),
        ({}, SystemExit(1), ("succeeded", None, 2)),
        ({}, ToolApprovalError("nested", code="approval_denied"), ("failed", "tool_raised", 1)),
    ],
)
def test_only_what_is_safe_is_repeated(
    options: dict[str, Any], error: BaseException, expected: tuple[str, str | None, int]
) -> None:
    assert verdict(outcome_of(tool(failing(1, error), retries=2, **options))[0]) == expected


@pytest.mark.parametrize("effect", ["read", "write", None])
def test_a_tool_that_says_no_has_failed(effect: Any) -> None:
    outcome, _ = outcome_of(tool(failing(9, ToolError("closed")), retries=1, effect=effect))
    assert verdict(outcome) == ("failed", "tool_raised", 2)


def test_the_cause_is_for_the_host_and_the_text_for_nobody() -> None:
    error = ValueError("secret")
    outcome, trace = outcome_of(tool(failing(9, error)))
    assert outcome.cause is error
    assert "secret" not in repr(outcome)
    assert "secret" not in repr(trace.events)
    with pytest.raises(ToolFailure) as caught:
        outcome.unwrap()
    assert caught.value.__cause__ is error
    assert "secret" not in str(caught.value)


def test_a_tool_may_say_something_to_its_caller() -> None:
    outcome, _ = outcome_of(tool(failing(9, ToolError("no such order", code="gone"))))
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message, outcome.error.data) == (
        "tool_raised",
        "no such order",
        {"code": "gone"},
    )


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(("effect", "status"), [("read", "failed"), ("write", "unknown"), (None, "unknown")])
def test_a_timeout_ends_the_attempt_and_is_never_repeated(effect: Any, status: str, is_async: bool) -> None:
    release = threading.Event()

    async def slow(args: Amount) -> None:
        await asyncio.Event().wait()

    def blocking(args: Amount) -> None:
        release.wait()

    try:
        outcome, trace = outcome_of(tool(slow if is_async else blocking, timeout=0.005, retries=2, effect=effect))
    finally:
        release.set()
    assert verdict(outcome) == (status, "tool_timeout", 1)
    assert (trace.types, trace.codes()) == (["tool.called", "tool.failed"], [None, "tool_timeout"])
    with pytest.raises(ToolTimeoutError, match=r"pay took longer than 0\.005 s"):
        outcome.unwrap()


@pytest.mark.slow
def test_every_attempt_has_the_whole_timeout() -> None:
    count = 0

    async def execute(args: Amount) -> str:
        nonlocal count
        count += 1
        await asyncio.sleep(0.25)
        if count < 3:
            raise ValueError
        return "paid"

    assert verdict(outcome_of(tool(execute, timeout=0.7, retries=2))[0]) == ("succeeded", None, 3)


def test_a_tool_that_swallows_its_timeout_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_module, "STOPPED_GRACE", 0.01)

    async def body() -> None:
        release = asyncio.Event()

        async def stubborn(args: Amount) -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        of = gate(tool(stubborn, timeout=0.005))
        assert verdict(await of.call("pay", ARGS, origin=ORIGIN)) == ("unknown", "tool_timeout", 1)
        assert of.statistics() == GateStatistics(
            running=0, queued=0, abandoned=1, abandoned_total=1, abandoned_handlers=0
        )
        release.set()
        await asyncio.sleep(0.001)
        assert of.statistics().abandoned == 0

    run(body)


def test_plain_functions_and_plain_values_are_as_good() -> None:
    def execute(args: Amount) -> str:
        return f"paid {args.cents}"

    def broken(args: Amount) -> str:
        raise ValueError

    assert outcome_of(tool(execute))[0].value == "paid 5"
    assert verdict(outcome_of(tool(broken))[0]) == ("failed", "tool_raised", 1)


def test_the_driver_gets_one_argument_and_a_signal() -> None:
    seen: list[tuple[list[Any], Signal | None]] = []

    class Spy:
        name = "spy"
        permissions = None

        def guarantees(self) -> Mapping[str, str]:
            return {}

        def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Signal | None = None) -> Any:
            seen.append((args, signal))
            return asyncio.ensure_future(fn(Amount(cents=5)))  # any awaitable, and a copy

        async def aclose(self) -> None: ...

    outcome, _ = outcome_of(tool(pay, timeout=5.0), sandbox=Spy())
    assert outcome.value == "paid 5 EUR"
    ((args, signal),) = seen
    assert args == [Amount(cents=5)]
    assert signal is not None
    assert not signal.aborted


@pytest.mark.parametrize(("effect", "status"), [("read", "failed"), ("write", "unknown"), (None, "unknown")])
def test_a_result_is_compared_with_what_was_declared_and_the_effect_has_happened(effect: Any, status: str) -> None:
    async def execute(args: Amount) -> Any:
        return "no number"

    outcome, trace = outcome_of(tool(execute, output=int, retries=2, effect=effect))
    assert verdict(outcome) == (status, "bad_result", 1)
    assert (trace.types, outcome.value) == (["tool.called", "tool.failed"], None)
    assert outcome.error is not None
    assert "pay ran to its end" in outcome.error.message


def test_a_result_that_was_not_declared_comes_back_as_it_is() -> None:
    thing = object()

    async def execute(args: Amount) -> Any:
        return thing

    assert outcome_of(tool(execute))[0].value is thing


def test_a_caller_may_have_the_result_as_text() -> None:
    async def body() -> None:
        async def strange(args: Amount) -> Any:
            return object()

        of = gate(tool(pay), tool(strange, "strange"))
        outcome = await of.call("pay", ARGS, origin=ORIGIN, encode=True)
        assert (outcome.value, outcome.encoded) == ("paid 5 EUR", b'"paid 5 EUR"')
        assert verdict(await of.call("strange", ARGS, origin=ORIGIN, encode=True)) == ("unknown", "bad_result", 1)
        assert verdict(await of.call("strange", ARGS, origin=ORIGIN)) == ("succeeded", None, 1)

    run(body)


# --- fallbacks ---


def test_a_fallback_answers_after_the_last_attempt() -> None:
    seen: list[BaseException] = []
    error = ValueError("x")

    async def on_error(failure: BaseException) -> dict[str, bool]:
        seen.append(failure)
        return {"available": False}

    outcome, trace = outcome_of(tool(failing(9, error), retries=1, on_error=on_error))
    assert (verdict(outcome), outcome.value, seen) == (("succeeded", None, 2), {"available": False}, [error])
    assert trace.types == [*["tool.called", "tool.failed"] * 2, "tool.recovered"]
    last = dict(trace.events[-1].meta)
    assert last.pop("duration") >= 0.0
    assert last == {
        "call_id": outcome.call_id,
        "attempt": 2,
        "max_attempts": 2,
        "code": "tool_raised",
        "status": "succeeded",
    }
    assert ["status" in event.meta for event in trace.events] == [False] * 4 + [True]


@pytest.mark.parametrize(
    ("effect", "error", "recorded"),
    [("write", OSError(), "unknown"), ("write", ToolError("no"), "failed"), ("read", OSError(), "failed")],
)
def test_what_is_known_of_the_tools_work_stays_beside_the_fallbacks_answer(
    effect: Any, error: Exception, recorded: str
) -> None:
    outcome, trace = outcome_of(tool(failing(9, error), effect=effect, on_error=lambda _: "later"))  # type: ignore[misc]
    assert (verdict(outcome), outcome.value, outcome.recorded) == (("succeeded", None, 1), "later", recorded)
    assert (trace.events[-1].type, trace.events[-1].meta["status"]) == ("tool.recovered", "succeeded")
    plain, _ = outcome_of(tool(pay))
    assert plain.recorded is None


@pytest.mark.parametrize("encode", [False, True])
def test_a_fallbacks_answer_has_no_more_bytes_than_a_result(encode: bool) -> None:
    async def body() -> None:
        of = gate(tool(failing(9, ValueError()), effect="write", max_result=10, on_error=lambda _: "x" * 20))  # type: ignore[misc]
        outcome = await of.call("pay", ARGS, origin=ORIGIN, encode=encode)
        assert verdict(outcome) == ("unknown", "bad_result", 1)
        assert outcome.error is not None
        assert outcome.error.message == (
            "pay: the tool failed, and the answer of its on_error was refused: value: its JSON text has 22 bytes, "
            "more than the tool's max_result of 10"
        )

    run(body)


def test_a_fallback_learns_of_the_timeout() -> None:
    seen: list[BaseException] = []

    async def slow(args: Amount) -> None:
        await asyncio.Event().wait()

    outcome, _ = outcome_of(tool(slow, timeout=0.001, on_error=seen.append))
    assert verdict(outcome) == ("succeeded", None, 1)
    assert [type(error) for error in seen] == [ToolTimeoutError]


def test_a_failing_fallback_replaces_the_error() -> None:
    first, error = ValueError("first"), KeyError("second")

    def on_error(failure: BaseException) -> None:
        raise error

    outcome, trace = outcome_of(tool(failing(9, first), on_error=on_error))
    assert (verdict(outcome), outcome.cause, outcome.recorded) == (("failed", "tool_raised", 1), error, None)
    assert error.__context__ is first
    last = trace.events[-1]
    assert (last.type, last.meta["code"], last.meta["status"]) == ("tool.recovered", "tool_raised", "failed")


def test_a_fallback_that_raises_the_tools_own_exception_again_makes_no_circle() -> None:
    first = ValueError("first")

    def again(failure: BaseException) -> None:
        raise failure

    def around(failure: BaseException) -> None:
        try:
            raise failure
        except ValueError:
            raise KeyError("second")  # noqa: B904

    outcome, _ = outcome_of(tool(failing(9, first), on_error=again))
    assert (outcome.cause, first.__context__) == (first, None)
    outcome, _ = outcome_of(tool(failing(9, first), on_error=around))
    assert outcome.cause is not None
    assert (outcome.cause.__context__, first.__context__) == (first, None)


def test_a_silent_fallback_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perform, "RECOVERY_TIMEOUT", 0.001)

    async def on_error(failure: BaseException) -> None:
        await asyncio.Event().wait()

    outcome, _ = outcome_of(tool(failing(9, ValueError()), on_error=on_error))
    assert verdict(outcome) == ("failed", "tool_raised", 1)
    assert isinstance(outcome.cause, ToolTimeoutError)


def test_a_fallback_that_cannot_be_written_is_a_failure_for_those_who_want_text() -> None:
    def strange(error: BaseException) -> object:
        return object()

    def plain(error: BaseException) -> object:
        return {"available": False}

    async def body() -> None:
        of = gate(tool(failing(9, ValueError()), on_error=strange))
        assert verdict(await of.call("pay", ARGS, origin=ORIGIN, encode=True)) == ("failed", "bad_result", 1)

        of = gate(tool(failing(9, ValueError()), output=int, on_error=plain))
        outcome = await of.call("pay", ARGS, origin=ORIGIN, encode=True)
        assert outcome.encoded == b'{"available":false}'

    run(body)


# --- stopping ---


def test_an_aborted_signal_refuses_the_call_before_anybody_is_asked() -> None:
    async def body() -> None:
        signal = AbortSignal()
        signal.abort()
        asked: list[object] = []
        of = gate(tool(pay, approval="human"), approve=recorder(asked))
        trace = Trace(of)
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=signal)
        assert (verdict(outcome), asked, trace.types) == (("refused", "aborted", 0), [], ["tool.rejected"])

    run(body)


def test_an_abort_while_the_tool_runs_is_seen_by_the_tool_and_not_repeated() -> None:
    async def body() -> None:
        signal, seen = AbortSignal(), list[str | None]()

        async def execute(args: Amount, ctx: Any) -> None:
            signal.abort("enough")
            await ctx.signal.wait()
            seen.append(ctx.signal.reason)
            ctx.signal.raise_if_aborted()

        of = gate(tool(execute, retries=2))
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=signal)
        assert (verdict(outcome), seen) == (("unknown", "outcome_unknown", 1), ["enough"])

    run(body)


def test_a_tool_may_finish_in_spite_of_an_abort() -> None:
    async def body() -> None:
        signal = AbortSignal()

        async def execute(args: Amount) -> str:
            signal.abort()
            return "paid"

        outcome = await gate(tool(execute)).call("pay", ARGS, origin=ORIGIN, signal=signal)
        assert outcome.value == "paid"

    run(body)


def test_an_abort_during_approval_or_right_after_it_runs_nothing() -> None:
    async def body() -> None:
        signal, waiting = AbortSignal(), AbortSignal()

        async def approve(request: ApprovalRequest) -> bool:
            if request.arguments["cents"] == 1:
                waiting.abort()
                await asyncio.Event().wait()
            signal.abort()
            return True

        of = gate(tool(pay, approval="human"), approve=approve)
        trace = Trace(of)
        assert verdict(await of.call("pay", ARGS, origin=ORIGIN, signal=signal)) == ("refused", "aborted", 0)
        assert verdict(await of.call("pay", {"cents": 1}, origin=ORIGIN, signal=waiting)) == ("refused", "aborted", 0)
        assert trace.types == ["approval.required", "approval.denied", "tool.rejected"] * 2

    run(body)


def test_an_abort_between_attempts_starts_no_other() -> None:
    async def body() -> None:
        signal = AbortSignal()

        class Late:
            """Aborted when somebody has looked twice: after the failure was judged."""

            looks = 0
            reason = "late"

            @property
            def aborted(self) -> bool:
                self.looks += 1
                return self.looks > 2

            def raise_if_aborted(self) -> None: ...
            async def wait(self) -> None: ...

        of = gate(tool(failing(9, ValueError()), retries=5))
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=Late())
        assert verdict(outcome) == ("failed", "tool_raised", 1)
        assert not signal.aborted

    run(body)


async def cancelled_in(of: Gate, entered: asyncio.Event) -> None:
    call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
    await entered.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_the_hosts_cancellation_unwinds_the_tool_and_is_recorded() -> None:
    async def body() -> None:
        entered, ended, signals = asyncio.Event(), list[str](), list[Signal]()

        async def execute(args: Amount, ctx: Any) -> None:
            signals.append(ctx.signal)
            try:
                entered.set()
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        def fallback(error: BaseException) -> None:
            ended.append("fallback")

        of = gate(tool(execute, on_error=fallback))
        trace = Trace(of)
        await cancelled_in(of, entered)
        assert (ended, trace.types, trace.codes()) == (
            ["cancelled"],
            ["tool.called", "tool.failed"],
            [None, "interrupted"],
        )
        assert [signal.aborted for signal in signals] == [True]
        assert of.statistics().running == 0

    run(body)


def test_a_cancellation_while_somebody_is_asked_is_a_rejection() -> None:
    async def body() -> None:
        entered = asyncio.Event()

        async def approve(request: ApprovalRequest) -> bool:
            entered.set()
            await asyncio.Event().wait()
            return True

        of = gate(tool(pay, approval="human"), approve=approve)
        trace = Trace(of)
        await cancelled_in(of, entered)
        assert trace.types == ["approval.required", "approval.denied", "tool.rejected"]
        assert trace.codes() == [None, "interrupted", "interrupted"]

    run(body)


def test_a_cancellation_during_a_fallback_goes_through() -> None:
    async def body() -> None:
        entered = asyncio.Event()

        async def on_error(error: BaseException) -> None:
            entered.set()
            await asyncio.Event().wait()

        of = gate(tool(failing(9, ValueError()), on_error=on_error))
        trace = Trace(of)
        await cancelled_in(of, entered)
        assert trace.types == ["tool.called", "tool.failed", "tool.recovered"]
        assert trace.events[-1].meta["code"] == "interrupted"

    run(body)


def test_a_cancellation_between_attempts_calls_the_next_one_off() -> None:

    async def body() -> None:
        entered = asyncio.Event()
        of = gate(tool(failing(9, ValueError()), retries=1, backoff=60.0))
        trace = Trace(of)
        of.hub.on("tool.failed", lambda _: entered.set())
        await cancelled_in(of, entered)
        assert (trace.types, trace.codes()[-1]) == (["tool.called", "tool.failed", "tool.rejected"], "interrupted")

    run(body)


def test_a_request_to_end_the_process_leaves_the_gate() -> None:
    async def execute(args: Amount) -> None:
        raise KeyboardInterrupt

    async def body() -> None:
        of = gate(tool(execute))
        trace = Trace(of)
        try:
            await of.call("pay", ARGS, origin=ORIGIN)
        finally:
            assert trace.codes() == [None, "interrupted"]

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(body())


# --- what an attempt leaves open ---


def test_an_earlier_attempts_doubt_is_not_forgotten() -> None:
    raised = iter([OSError("the answer was lost"), ToolError("no")])

    async def execute(args: Amount) -> None:
        raise next(raised)

    outcome, trace = outcome_of(tool(execute, effect="write", idempotent=True, retries=1))
    assert verdict(outcome) == ("unknown", "outcome_unknown", 2)
    assert trace.events[-1].meta["status"] == "unknown"


def test_a_driver_that_says_no_after_the_tool_has_run_does_not_make_it_run_again() -> None:
    ran: list[int] = []

    async def execute(args: Amount) -> None:
        ran.append(args.cents)

    driver = ScriptedDriver([RunStep(then=ToolError("no"))])
    outcome, _ = outcome_of(tool(execute, effect="write", retries=3), sandbox=driver)
    assert (verdict(outcome), ran) == (("unknown", "outcome_unknown", 1), [5])


@pytest.mark.parametrize(
    ("effect", "ending"), [("write", ("unknown", "outcome_unknown", 1)), (None, ("failed", "tool_raised", 1))]
)
def test_a_person_is_not_asked_again_by_a_tool_that_hides_the_refusal(effect: Any, ending: Any) -> None:
    asked: list[str] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request.tool)
        return False

    async def outer(args: Amount) -> None:
        try:
            (await inner.call("inner", ARGS, origin=ORIGIN)).unwrap()
        except ToolApprovalError:
            raise ValueError("x") from None

    inner = gate(tool(pay, "inner", approval=approve))
    outcome, _ = outcome_of(tool(outer, effect=effect, idempotent=True, retries=3))
    assert (verdict(outcome), asked) == (ending, ["inner"])


def test_what_the_host_was_handling_is_nothing_of_the_call() -> None:
    async def body() -> None:
        of = gate(tool(failing(1, ValueError()), retries=1))
        try:
            raise ToolApprovalError("another call's", code="approval_denied")
        except ToolApprovalError:
            assert verdict(await of.call("pay", ARGS, origin=ORIGIN)) == ("succeeded", None, 2)

    run(body)


def test_arguments_that_cannot_be_copied_are_no_reason_to_doubt() -> None:
    class Odd:
        def __deepcopy__(self, memo: object) -> Odd:
            raise TypeError("no")

    class Schema:
        def validate(self, data: bytes) -> Odd:
            return Odd()

        def json_schema(self) -> dict[str, Any]:
            return {"type": "object", "properties": {}}

    ran: list[Any] = []

    async def execute(args: Any) -> None:
        ran.append(args)

    made = tool(execute, effect="write", retries=1)
    object.__setattr__(made, "input", Schema())
    outcome, _ = outcome_of(made)
    assert (verdict(outcome), ran) == (("failed", "tool_raised", 1), [])
    assert isinstance(outcome.cause, TypeError)


# --- how long a result may be ---

LONG = "x" * (5 * 1024 * 1024)


@pytest.mark.parametrize(
    ("options", "encode", "status"),
    [
        ({}, False, "succeeded"),
        ({}, True, "unknown"),
        ({"output": str}, False, "unknown"),
        ({"output": str, "max_result": "6MB"}, False, "succeeded"),
        ({"max_result": "6MB"}, True, "succeeded"),
        ({"output": str, "max_result": "64KB"}, False, "unknown"),
    ],
)
def test_a_result_that_is_written_has_at_most_five_mebibytes_unless_its_tool_says_otherwise(
    options: Any, encode: bool, status: str
) -> None:
    async def long(args: Amount) -> Any:
        return LONG

    async def body() -> None:
        of = gate(tool(long, **options))
        outcome = await of.call("pay", ARGS, origin=ORIGIN, encode=encode)
        assert outcome.status == status
        if outcome.error is not None:
            assert outcome.error.code == "bad_result"
            assert "its JSON text has 5242882 bytes, more than the" in outcome.error.message

    run(body)
