"""What a call waits for besides its attempts and its decision, and how each wait can end."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ringfence.errors import Issue, ToolError
from ringfence.gate import attempt as attempt_module
from ringfence.gate import waits
from ringfence.gate.runner import Gate
from ringfence.gate.signals import AbortSignal
from ringfence.ports import ApprovalRequest, InvalidInput, Outcome, Unfinished
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, failing, gate, pay, run, tool, verdict, yes

# --- asynchronous schemas ---


class Slow:
    """A schema whose answers take a while: of arguments, or of results."""

    def __init__(self, answer: Callable[[Any], Awaitable[Any]]) -> None:
        self.answer = answer

    def validate(self, data: bytes) -> Any:
        return Unfinished(self.answer(data), self.finish)

    def dump(self, value: Any) -> Any:
        return Unfinished(self.answer(value), lambda answer: json.dumps(answer).encode())  # type: ignore[misc]

    def finish(self, answer: Any) -> Amount:
        if answer is None:
            raise InvalidInput([Issue(path="cents", message="too few", code="few")])
        return Amount(**json.loads(answer))

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {}}


def slow(field: str, answer: Callable[[Any], Awaitable[Any]], execute: Callable[..., Any] = pay, **options: Any) -> Any:
    """The usual tool with such a schema as `input` or `output`."""
    made = tool(execute, **options)
    object.__setattr__(made, field, Slow(answer))
    return made


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


async def never(value: Any) -> Any:
    await asyncio.Event().wait()


async def issues(value: Any) -> Any:
    await asyncio.sleep(0)


async def breaks(value: Any) -> Any:
    raise asyncio.CancelledError


async def called(of: Gate, **options: Any) -> Outcome:
    return await of.call("pay", ARGS, origin=ORIGIN, **options)


def test_an_asynchronous_validator_is_awaited_before_anything_else() -> None:
    async def body() -> None:
        of = gate(slow("input", later, approval="human"), approve=yes)
        trace = Trace(of)
        assert (await called(of)).value == "paid 5 EUR"
        assert trace.types == ["approval.required", "approval.granted", "tool.called", "tool.completed"]

    run(body)


@pytest.mark.parametrize(("answer", "message"), [(issues, "too few"), (breaks, "the validator raised CancelledError")])
def test_an_asynchronous_validator_refuses_like_any_other(answer: Any, message: str) -> None:
    async def body() -> None:
        of = gate(slow("input", answer, on_error=lambda error: 1, retries=2))  # type: ignore[misc]
        trace = Trace(of)
        outcome = await called(of)
        assert (verdict(outcome), trace.types) == (("refused", "invalid_input", 0), ["tool.rejected"])
        assert outcome.error is not None
        assert outcome.error.issues[0]["message"] == message

    run(body)


def test_a_schema_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "VALIDATION_TIMEOUT", 0.001)

    async def body() -> None:
        assert verdict(await called(gate(slow("input", never)))) == ("refused", "invalid_input", 0)
        outcome = await called(gate(slow("output", never)), encode=True)
        assert verdict(outcome) == ("unknown", "bad_result", 1)
        assert outcome.error is not None
        assert outcome.error.message.endswith("its schema raised SchemaTimeoutError")

    run(body)


@pytest.mark.parametrize(
    ("effect", "answer", "expected"),
    [
        ("write", later, ("succeeded", None, 1)),
        ("write", breaks, ("unknown", "bad_result", 1)),
        ("read", breaks, ("failed", "bad_result", 1)),
    ],
)
def test_an_asynchronous_output_schema_is_awaited(effect: Any, answer: Any, expected: Any) -> None:
    async def body() -> None:
        outcome = await called(gate(slow("output", answer, effect=effect, retries=2)), encode=True)
        assert verdict(outcome) == expected
        assert outcome.encoded == (b'"paid 5 EUR"' if expected[0] == "succeeded" else None)

    run(body)


@pytest.mark.parametrize(
    ("field", "expected"), [("input", ("refused", "aborted", 0)), ("output", ("unknown", "interrupted", 1))]
)
def test_an_abort_ends_the_wait_for_a_schema(field: str, expected: Any) -> None:
    async def body() -> None:
        entered, signal = asyncio.Event(), AbortSignal()

        async def answer(value: Any) -> Any:
            entered.set()
            await asyncio.Event().wait()

        of = gate(slow(field, answer))
        call = asyncio.create_task(called(of, signal=signal, encode=True))
        await entered.wait()
        signal.abort()
        assert verdict(await call) == expected

    run(body)


@pytest.mark.parametrize("field", ["input", "output"])
@pytest.mark.parametrize("ending", ["closing", "cancelling"])
def test_the_gate_and_the_host_end_the_wait_for_a_schema(field: str, ending: str) -> None:
    async def body() -> None:
        entered = asyncio.Event()

        async def answer(value: Any) -> Any:
            entered.set()
            await asyncio.Event().wait()

        of = gate(slow(field, answer))
        trace = Trace(of)
        call = asyncio.create_task(called(of, encode=True))
        await entered.wait()
        if ending == "closing":
            await of.aclose(drain=0.001)
            assert (await call).error is not None
        else:
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert trace.codes()[-1] == "interrupted"
        assert of.statistics().running == 0

    run(body)


def test_a_call_aborted_while_its_validator_answered_asks_nobody() -> None:
    async def body() -> None:
        signal, asked = AbortSignal(), list[object]()

        async def answer(value: Any) -> Any:
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_soon(signal.abort)
            return value

        of = gate(slow("input", answer, approval=asked.append))
        assert verdict(await called(of, signal=signal)) == ("refused", "aborted", 0)
        assert asked == []

    run(body)


# --- turns ---


class Busy:
    """A tool that runs until it is told not to."""

    def __init__(self) -> None:
        self.running = self.most = 0
        self.order: list[int] = []
        self.entered = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self, args: Amount) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        self.order.append(args.cents)
        self.entered.set()
        try:
            await self.release.wait()
        finally:
            self.running -= 1
        return args.cents


def numbered(of: Gate, count: int, **options: Any) -> list[asyncio.Task[Outcome]]:
    return [asyncio.create_task(of.call("pay", {"cents": number}, origin=ORIGIN, **options)) for number in range(count)]


async def turns(times: int = 5) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def test_calls_beyond_the_limit_wait_their_turn_in_the_order_in_which_they_came() -> None:
    async def body() -> None:
        busy = Busy()
        of = gate(tool(busy, max_concurrency=2), tool(pay, "other"))
        trace = Trace(of)
        calls = numbered(of, 5)
        await turns()
        assert (busy.order, of.statistics().queued, trace.types) == ([0, 1], 3, ["tool.called"] * 2)
        assert (await of.call("other", ARGS, origin=ORIGIN)).status == "succeeded"
        busy.release.set()
        outcomes = await asyncio.gather(*calls)
        assert [outcome.value for outcome in outcomes] == busy.order == [0, 1, 2, 3, 4]
        assert (busy.most, of.statistics().queued) == (2, 0)

    run(body)


def test_a_call_queues_after_it_is_approved() -> None:
    async def body() -> None:
        busy = Busy()
        of = gate(tool(busy, max_concurrency=1, approval="human"), approve=yes_later)
        trace = Trace(of)
        calls = numbered(of, 2)
        await busy.entered.wait()
        await turns()
        assert sorted(trace.types) == [*["approval.granted"] * 2, *["approval.required"] * 2, "tool.called"]
        busy.release.set()
        await asyncio.gather(*calls)

    run(body)


async def yes_later(request: ApprovalRequest) -> bool:
    await asyncio.sleep(0)
    return True


def test_a_turn_is_kept_for_all_attempts_of_a_call() -> None:
    async def body() -> None:
        order: list[int] = []

        async def execute(args: Amount) -> None:
            order.append(args.cents)
            await asyncio.sleep(0)
            raise ToolError("no")

        of = gate(tool(execute, max_concurrency=1, retries=2))
        await asyncio.gather(*numbered(of, 3))
        assert order == [0, 0, 0, 1, 1, 1, 2, 2, 2]

    run(body)


def test_an_abort_or_a_cancellation_in_the_queue_runs_nothing_and_holds_nobody_up() -> None:
    async def body() -> None:
        busy, signal = Busy(), AbortSignal()
        of = gate(tool(busy, max_concurrency=1))
        trace = Trace(of)
        (first,) = numbered(of, 1)
        await busy.entered.wait()
        (aborted,) = numbered(of, 1, signal=signal)
        (cancelled,) = numbered(of, 1)
        (last,) = numbered(of, 1)
        await turns()
        signal.abort()
        assert verdict(await aborted) == ("refused", "aborted", 0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert trace.types[1:] == ["tool.rejected"] * 2
        assert trace.codes()[1:] == ["aborted", "interrupted"]
        busy.release.set()
        assert [(await call).status for call in (first, last)] == ["succeeded"] * 2
        assert len(busy.order) == 2

    run(body)


def test_a_signal_that_was_aborted_in_the_queue_is_looked_at_when_the_turn_comes() -> None:
    class Mute:
        """Tells nobody; whoever wants to know must look."""

        aborted = False
        reason = None

        def raise_if_aborted(self) -> None: ...

        async def wait(self) -> None:
            await asyncio.Event().wait()

    async def body() -> None:
        busy, mute = Busy(), Mute()
        of = gate(tool(busy, max_concurrency=1))
        (first,) = numbered(of, 1)
        await busy.entered.wait()
        (second,) = numbered(of, 1, signal=mute)
        await turns()
        mute.aborted = True
        busy.release.set()
        assert (await first).status == "succeeded"
        assert verdict(await second) == ("refused", "aborted", 0)

    run(body)


def test_closing_the_gate_ends_the_queue() -> None:
    async def body() -> None:
        busy = Busy()
        of = gate(tool(busy, max_concurrency=1, effect="write"))
        calls = numbered(of, 3)
        await busy.entered.wait()
        await of.aclose(drain=0.001)
        assert [verdict(await call) for call in calls] == [
            ("unknown", "interrupted", 1),
            ("refused", "interrupted", 0),
            ("refused", "interrupted", 0),
        ]

    run(body)


def test_a_turn_ends_with_the_code_that_could_not_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_module, "STOPPED_GRACE", 0.001)

    async def body() -> None:
        release, ran = asyncio.Event(), list[int]()

        async def stubborn(args: Amount) -> None:
            ran.append(args.cents)
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        of = gate(tool(stubborn, max_concurrency=1, timeout=0.001))
        first, second = numbered(of, 2)
        assert verdict(await first) == ("unknown", "tool_timeout", 1)
        await turns()
        assert (ran, second.done()) == ([0], False)
        release.set()
        assert (await second).status == "succeeded"
        assert ran == [0, 1]

    run(body)


def test_a_turn_ends_with_the_thread_that_could_not_be_stopped() -> None:
    release, ran = threading.Event(), list[int]()

    def blocking(args: Amount) -> None:
        ran.append(args.cents)
        if args.cents == 0:
            release.wait()

    async def body() -> None:
        of = gate(tool(blocking, max_concurrency=1, timeout=0.05))
        first, second = numbered(of, 2)
        assert verdict(await first) == ("unknown", "tool_timeout", 1)
        await turns()
        assert (ran, second.done(), of.statistics().queued) == ([0], False, 1)
        release.set()
        assert (await second).status == "succeeded"
        assert ran == [0, 1]

    run(body)


# --- pauses ---


@pytest.mark.parametrize("ending", ["abort", "cancel", "close"])
def test_a_pause_between_attempts_can_be_ended(ending: str) -> None:
    async def body() -> None:
        failed, signal = asyncio.Event(), AbortSignal()
        of = gate(tool(failing(9, ValueError()), retries=1, backoff=3600.0))
        trace = Trace(of)
        of.hub.on("tool.failed", lambda _: failed.set())
        call = asyncio.create_task(called(of, signal=signal))
        await failed.wait()
        await turns()
        if ending == "abort":
            signal.abort()
            assert verdict(await call) == ("failed", "tool_raised", 1)
        elif ending == "close":
            await of.aclose(drain=0.001)
            assert verdict(await call) == ("failed", "interrupted", 1)
        else:
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        assert trace.types == ["tool.called", "tool.failed", "tool.rejected"]
        assert trace.codes()[-1] == ("aborted" if ending == "abort" else "interrupted")

    run(body)


# --- many at once ---


def test_every_one_of_many_concurrent_calls_is_counted() -> None:
    async def body() -> None:
        of = gate(tool(pay), tool(failing(0, ValueError()), "limited", max_concurrency=7))
        trace = Trace(of)
        names = ["pay", "limited"] * 100
        outcomes = await asyncio.gather(*(of.call(name, ARGS, origin=ORIGIN) for name in names))
        assert {outcome.status for outcome in outcomes} == {"succeeded"}
        assert len({outcome.call_id for outcome in outcomes}) == 200
        assert (trace.types.count("tool.called"), trace.types.count("tool.completed")) == (200, 200)
        assert (of.statistics().running, of.statistics().queued) == (0, 0)

    run(body)


def test_siblings_of_a_failed_call_are_cancelled_and_unwound_before_the_error_surfaces() -> None:
    async def body() -> None:
        entered, sent, unwound = asyncio.Event(), list[int](), list[str]()

        async def send(args: Amount) -> None:
            try:
                entered.set()
                await asyncio.sleep(3600)
                sent.append(args.cents)
            finally:
                unwound.append("send")

        async def fail(args: Amount) -> None:
            await entered.wait()
            raise ValueError

        of = gate(tool(send, "send"), tool(fail, "fail"))

        async def need(name: str) -> None:
            (await of.call(name, ARGS, origin=ORIGIN)).unwrap()

        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(need("send"))
                group.create_task(need("fail"))
        assert (sent, unwound, of.statistics().running) == ([], ["send"], 0)

    run(body)


def test_a_tool_that_swallows_the_hosts_cancellation_does_not_hold_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_module, "CANCELLED_GRACE", 0.01)

    async def body() -> None:
        entered, release = asyncio.Event(), asyncio.Event()

        async def stubborn(args: Amount) -> None:
            while not release.is_set():
                try:
                    entered.set()
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        of = gate(tool(stubborn, effect="write"))
        trace = Trace(of)
        call = asyncio.create_task(called(of))
        await entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (trace.codes()[-1], of.statistics().abandoned) == ("interrupted", 1)
        release.set()
        await turns()
        assert of.statistics().abandoned == 0

    run(body)


# --- turns that could never come ---


def nested(limit: int, callers: int, **options: Any) -> list[Outcome]:
    """So many calls at once of a tool that calls itself, through another one, when all of them hold a turn."""

    async def body() -> list[Outcome]:
        began: list[int] = []
        together = asyncio.Event()

        async def outer(args: Amount) -> Any:
            if args.cents == 0:
                return "inner"
            began.append(args.cents)
            if len(began) == callers:
                together.set()
            await together.wait()
            return await of.call("between", ARGS, origin=ORIGIN)

        async def between(args: Amount) -> Outcome:
            return (await asyncio.gather(of.call("pay", {"cents": 0}, origin=ORIGIN)))[0]

        of = gate(tool(outer, max_concurrency=limit, **options), tool(between, "between"))
        trace = Trace(of)
        calls = [of.call("pay", {"cents": n + 1}, origin=ORIGIN) for n in range(callers)]
        outcomes = await asyncio.gather(*calls)
        if callers == limit:
            assert trace.codes().count("would_deadlock") == callers
        assert of.statistics().queued == 0
        return [outcome.value.value for outcome in outcomes]

    return run(body)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_call_within_a_call_of_a_limited_tool_is_refused_where_it_would_have_to_wait(limit: int) -> None:
    for inner in nested(limit, limit):
        assert verdict(inner) == ("refused", "would_deadlock", 0)
        assert inner.error is not None
        assert inner.error.hint == "do not call pay from within itself, or raise its max_concurrency"


def test_a_call_within_a_call_of_a_limited_tool_runs_where_there_is_a_turn() -> None:
    assert [verdict(inner) for inner in nested(2, 1)] == [("succeeded", None, 1)]


def test_a_fallback_and_a_tool_in_a_thread_do_not_wait_for_their_own_turn_either() -> None:
    async def body() -> None:
        inner: list[Outcome] = []

        async def fallback(error: Exception) -> str:
            inner.append(await of.call("pay", ARGS, origin=ORIGIN))
            return "mended"

        def busy(args: Amount) -> str:
            code = of.call("pay", ARGS, origin=ORIGIN)
            inner.append(asyncio.run_coroutine_threadsafe(code, loop).result(3))
            raise ValueError

        loop = asyncio.get_running_loop()
        of = gate(tool(busy, max_concurrency=1, on_error=fallback))
        assert (await called(of)).value == "mended"
        assert [verdict(one) for one in inner] == [("refused", "would_deadlock", 0)] * 2

    run(body)


def test_calls_that_follow_each_other_and_calls_of_an_event_handler_are_not_within_a_turn() -> None:
    async def body() -> None:
        handled: list[Outcome] = []

        async def handler(event: Any) -> None:
            if not handled and event.meta["call_id"] != "inner":
                handled.append(await of.call("pay", ARGS, origin=ORIGIN, call_id="inner"))

        async def busy(args: Amount) -> None:
            for _ in range(5):
                await asyncio.sleep(0)

        of = gate(tool(busy, max_concurrency=1))
        of.hub.on("tool.called", handler)
        outcomes = [await called(of) for _ in range(3)]
        await of.aclose()
        assert [verdict(one) for one in outcomes + handled] == [("succeeded", None, 1)] * 4

    run(body)
