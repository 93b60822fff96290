"""When another attempt is made, after how long, and which time bounds them all. Nothing here waits for real."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ringfence.contract.backoff import Backoff
from ringfence.errors import SandboxFault, ToolApprovalError, ToolError, ToolTimeoutError
from ringfence.ports import Outcome
from ringfence.testing.clock import FakeClock
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, failing, gate, outcome_of, pay, tool, verdict


def timed(*, chance: float = 0.0, signal: Any = None, **options: Any) -> tuple[Outcome, Trace, float]:
    """One call of `pay` by a fake clock: its outcome, what was said, and how long it took."""
    clock = FakeClock()
    execute = options.pop("execute", pay)

    async def body() -> tuple[Outcome, Trace]:
        of = gate(tool(execute, **options), clock=clock, chance=lambda: chance)
        trace = Trace(of)
        outcome = await of.call("pay", ARGS, origin=ORIGIN, signal=signal)
        await of.aclose()
        return outcome, trace

    outcome, trace = clock.run(body())
    return outcome, trace, clock.time()


def lasting(seconds: list[float], ran: list[float] | None = None) -> Callable[..., Any]:
    """Each attempt lasts so long, and all but the last fail."""
    left = list(seconds)

    async def execute(args: Amount) -> str:
        started = asyncio.get_running_loop().time()
        if ran is not None:
            ran.append(started)
        await asyncio.sleep(left.pop(0))
        if left:
            raise ValueError
        return "paid"

    return execute


# --- which failures ---


class Busy(ConnectionError):
    """Something that passes."""


def busy(error: BaseException) -> bool:
    return isinstance(error, Busy)


def as_text(error: BaseException) -> Any:
    return "yes"


def broken(error: BaseException) -> bool:
    raise SystemExit(1)


class BadMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("secret")


class BadError(Exception, metaclass=BadMeta):
    """Cannot be asked about."""


@pytest.mark.parametrize(
    ("retry_on", "error", "attempts"),
    [
        (Busy, Busy(), 3),
        (ConnectionError, Busy(), 3),
        ((KeyError, Busy), Busy(), 3),
        (busy, Busy(), 3),
        (BaseException, asyncio.CancelledError(), 3),
        (ToolError, ToolError("no"), 3),
        (Busy, ValueError(), 1),
        ((KeyError, Busy), ValueError(), 1),
        (busy, ValueError(), 1),
        (as_text, Busy(), 1),
        (broken, Busy(), 1),
        (BadError, Busy(), 1),
        (Exception, asyncio.CancelledError(), 1),
    ],
)
def test_only_failures_that_another_attempt_may_mend_are_repeated(
    retry_on: Any, error: BaseException, attempts: int
) -> None:
    outcome, _ = outcome_of(tool(failing(9, error), retries=2, retry_on=retry_on))
    assert verdict(outcome) == ("failed", "tool_raised", attempts)


@pytest.mark.parametrize(
    ("options", "error", "expected"),
    [
        ({"effect": "write"}, Busy(), ("unknown", "outcome_unknown", 1)),
        ({"effect": "write", "idempotent": False}, Busy(), ("unknown", "outcome_unknown", 1)),
        ({"effect": "write", "idempotent": True}, Busy(), ("unknown", "outcome_unknown", 3)),
        ({"effect": "write"}, ToolError("no"), ("failed", "tool_raised", 3)),
        ({}, ToolApprovalError("nested", code="approval_denied"), ("failed", "tool_raised", 1)),
        ({}, SandboxFault("nested", code="memory_limit"), ("failed", "tool_raised", 1)),
        ({}, ExceptionGroup("two", [ToolApprovalError("n", code="approval_denied")]), ("failed", "tool_raised", 1)),
        ({"effect": "read"}, ToolTimeoutError("nested", code="tool_timeout"), ("failed", "tool_raised", 1)),
    ],
)
def test_no_wish_makes_a_repetition_of_what_is_not_safe(options: Any, error: BaseException, expected: Any) -> None:
    asked: list[BaseException] = []

    def always(error: BaseException) -> bool:
        asked.append(error)
        return True

    assert verdict(outcome_of(tool(failing(9, error), retries=2, retry_on=always, **options))[0]) == expected
    assert len(asked) == expected[2] - 1


def test_an_unsafe_failure_says_that_it_was_not_retried() -> None:
    ran: list[int] = []
    outcome, _ = outcome_of(tool(failing(9, ConnectionError(), ran), retries=2, idempotent=False))
    assert (verdict(outcome), ran) == (("unknown", "outcome_unknown", 1), [5])
    assert outcome.error is not None
    assert "outcome unknown, not retried" in outcome.error.message


def test_a_broken_question_is_logged_by_class(caplog: pytest.LogCaptureFixture) -> None:
    outcome_of(tool(failing(9, Busy()), retries=2, retry_on=BadError))
    assert "retry_on of pay raised RuntimeError, so nothing is repeated" in caplog.text
    assert "secret" not in caplog.text


# --- pauses ---


def test_pauses_grow_and_chance_shortens_them() -> None:
    options: dict[str, Any] = {"retries": 3, "backoff": Backoff(first=1.0, factor=3.0, longest=5.0, jitter=0.5)}
    outcome, _, took = timed(execute=failing(9, ValueError()), **options)
    assert (verdict(outcome), took) == (("failed", "tool_raised", 4), 1.0 + 3.0 + 5.0)
    _, _, took = timed(execute=failing(9, ValueError()), chance=0.5, **options)
    assert took == (1.0 + 3.0 + 5.0) * 0.75


def test_without_backoff_the_next_attempt_is_made_at_once() -> None:
    outcome, _, took = timed(execute=failing(2, ValueError()), retries=2)
    assert (verdict(outcome), took) == (("succeeded", None, 3), 0.0)


# --- times ---


def test_every_attempt_has_its_own_full_timeout_and_pauses_belong_to_none() -> None:
    outcome, _, took = timed(execute=lasting([0.04, 0.04, 0.045]), timeout=0.05, retries=2, backoff=10.0)
    assert (verdict(outcome), round(took, 6)) == (("succeeded", None, 3), 20.125)


def test_the_total_bounds_attempts_and_pauses_together() -> None:
    outcome, _, took = timed(execute=lasting([3.0, 3.0, 3.0]), total_timeout=9.5, retries=9, backoff=1.0)
    assert (verdict(outcome), took) == (("unknown", "tool_timeout", 3), 9.5)
    with pytest.raises(ToolTimeoutError, match=r"pay took longer than 9\.5 s, the total_timeout of all its attempts"):
        outcome.unwrap()


@pytest.mark.parametrize(
    ("durations", "options", "attempts", "hint"),
    [
        ([1.0, 1.0], {"backoff": 2.5, "total_timeout": 3.0}, 1, "total_timeout=3 ended it after 1 of 6 attempts"),
        ([2.0, 9.0], {"total_timeout": 4.5, "effect": "read"}, 2, "total_timeout=4.5 ended it after 2 of 6 attempts"),
        (
            [2.0, 9.0],
            {"total_timeout": 4.0, "effect": "write", "idempotent": True},
            2,
            "total_timeout=4 ended it after 2 of 6 attempts; it may have taken effect: find out before calling it again",
        ),
    ],
)
def test_what_the_total_ended_says_so(durations: list[float], options: Any, attempts: int, hint: str) -> None:
    outcome, _, _ = timed(execute=lasting(durations), retries=5, **options)
    assert (outcome.attempts, outcome.error and outcome.error.hint) == (attempts, hint)


def test_what_used_up_its_attempts_or_its_own_timeout_was_not_ended_by_the_total() -> None:
    outcome, _, _ = timed(execute=lasting([0.1, 0.1]), retries=1, total_timeout=60.0, effect="read")
    assert (outcome.attempts, outcome.error and outcome.error.hint) == (2, None)
    outcome, _, _ = timed(execute=lasting([9.0]), timeout=1.0, total_timeout=60.0, effect="read")
    assert (outcome.attempts, outcome.error and outcome.error.hint) == (1, None)


def test_the_smaller_limit_ends_an_attempt_and_says_which_it_was() -> None:
    outcome, _, took = timed(execute=lasting([9.0]), timeout=2.0, total_timeout=5.0)
    assert (took, outcome.error and outcome.error.message) == (
        2.0,
        "pay took longer than 2 s, the timeout of one attempt",
    )
    outcome, _, took = timed(execute=lasting([4.0, 9.0, 0.0]), timeout=5.0, total_timeout=6.0, retries=3)
    assert (took, outcome.error and outcome.error.message) == (
        6.0,
        "pay took longer than 6 s, the total_timeout of all its attempts",
    )


@pytest.mark.parametrize("recovers", [False, True])
def test_no_attempt_begins_for_which_there_is_no_time(recovers: bool) -> None:
    seen: list[BaseException] = []
    outcome, trace, took = timed(
        execute=lasting([1.0, 1.0, 1.0]),
        total_timeout=3.0,
        retries=5,
        backoff=2.5,
        on_error=seen.append if recovers else None,
    )
    assert (took, trace.types) == (1.0, ["tool.called", "tool.failed", *["tool.recovered"] * recovers])
    assert verdict(outcome) == (("succeeded", None, 1) if recovers else ("failed", "tool_raised", 1))
    assert [type(error) for error in seen] == [ValueError] * recovers


def test_a_total_that_was_used_up_while_waiting_starts_nothing() -> None:
    """The host was busy, and the pause took longer than it should."""
    clock = FakeClock()
    ran: list[int] = []

    async def body() -> tuple[Outcome, Trace]:
        of = gate(tool(failing(9, ValueError(), ran), retries=1, total_timeout=5.0, backoff=4.0), clock=clock)
        trace = Trace(of)

        def hang(_: object) -> None:
            asyncio.get_running_loop().call_later(3.0, clock.advance, 10.0)

        of.hub.on("tool.failed", hang)
        return await of.call("pay", ARGS, origin=ORIGIN), trace

    outcome, trace = clock.run(body())
    assert (verdict(outcome), ran) == (("failed", "tool_raised", 1), [5])
    assert (trace.types, trace.codes()[-1]) == (["tool.called", "tool.failed", "tool.rejected"], "tool_timeout")


def test_decisions_queues_and_fallbacks_are_outside_the_total() -> None:
    async def body() -> Outcome:
        async def approve(request: Any) -> bool:
            await asyncio.sleep(100)
            return True

        async def on_error(error: BaseException) -> str:
            await asyncio.sleep(20)
            return "later"

        made = tool(
            lasting([5.0, 3.0, 0.0, 0.0]),
            approval=approve,
            on_error=on_error,
            total_timeout=6.0,
            max_concurrency=1,
        )
        of = gate(made, clock=clock)
        first = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        second = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        assert (await first).value == "later"
        outcome = await second
        await of.aclose()
        return outcome

    clock = FakeClock()
    outcome = clock.run(body())
    assert (outcome.status, outcome.value) == ("succeeded", "later")


def test_the_context_tells_the_deadline_that_will_come_first() -> None:
    deadlines: list[float | None] = []

    async def execute(args: Amount, ctx: Any) -> None:
        deadlines.append(ctx.deadline)
        await asyncio.sleep(2.0)
        raise ValueError

    timed(execute=execute, timeout=4.0, total_timeout=7.0, retries=2)
    timed(execute=execute, total_timeout=7.0)
    timed(execute=execute)
    assert deadlines == [4.0, 6.0, 7.0, 7.0, None]


# --- telemetry ---


def test_a_failure_is_known_to_telemetry_by_its_class_and_the_last_word_by_its_status() -> None:
    outcome, trace, _ = timed(execute=failing(1, ValueError("secret")), retries=1)
    assert outcome.status == "succeeded"
    assert [(event.meta.get("error"), event.meta.get("status")) for event in trace.events] == [
        (None, None),
        ("ValueError", None),
        (None, None),
        (None, "succeeded"),
    ]
    outcome, trace, _ = timed(execute=lasting([9.0]), timeout=1.0, effect="write")
    assert [(event.meta.get("error"), event.meta.get("status")) for event in trace.events[1:]] == [
        ("ToolTimeoutError", "unknown")
    ]


def test_an_interruption_after_a_failure_does_not_bear_the_failures_name() -> None:
    async def body() -> tuple[str | None, BaseException | None]:
        entered = asyncio.Event()
        count = 0

        async def execute(args: Amount) -> None:
            nonlocal count
            count += 1
            if count == 1:
                raise ValueError
            entered.set()
            await asyncio.Event().wait()

        of = gate(tool(execute, retries=1))
        trace = Trace(of)
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        await of.aclose(drain=0.001)
        return trace.events[-1].meta.get("error"), (await call).cause

    assert FakeClock().run(body()) == (None, None)
