"""What is tried again, what never is, and what happens when time is up or somebody says stop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import (
    FAILED,
    SUCCESS,
    Book,
    Heard,
    Minimal,
    Payment,
    call,
    door,
    down,
    each_place,
    ending,
    never,
    pay,
    run,
)
from tests.requirements import requirement

# --- attempts ---


@requirement("AC19", "seed.attempts", "seed.final")
@each_place
@pytest.mark.parametrize(("retries", "fails", "runs"), [(0, 1, 1), (1, 1, 2), (1, 5, 2), (2, 2, 3), (3, 9, 4)])
def test_a_tool_is_started_once_more_than_its_retries_at_most(place: str, retries: int, fails: int, runs: int) -> None:
    book = Book(*down(fails))
    outcome, heard = call(pay(book, retries=retries), place=place)
    succeeded = fails < runs
    assert ending(outcome) == (("succeeded", None, runs) if succeeded else ("failed", "tool_raised", runs))
    assert len(book.paid) == runs
    assert heard.types == [*FAILED * (runs - 1), *(SUCCESS if succeeded else FAILED)]


@requirement("seed.attempts")
def test_the_last_failure_is_the_calls() -> None:
    outcome, _ = call(pay(Book(ValueError("first"), KeyError("second"), ConnectionError("third")), retries=2))
    with pytest.raises(rf.ToolFailure) as caught:
        outcome.unwrap()
    assert (type(caught.value.__cause__), str(caught.value.__cause__)) == (ConnectionError, "third")


@requirement("AC37", "W16")
@each_place
@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("the other side"),
        TimeoutError(),
        type("ToolTimeoutError", (Exception,), {})("by name only"),
        type("AbortError", (Exception,), {})("by name only"),
        type("CancelledError", (Exception,), {})("by name only"),
        ZeroDivisionError("a mistake"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_that_only_looks_like_one_of_ours_is_repeated(place: str, error: Exception) -> None:
    outcome, heard = call(pay(Book(error), retries=1, timeout=60), place=place)
    assert (ending(outcome), heard.types) == (("succeeded", None, 2), [*FAILED, *SUCCESS])


def wrapped(error: Exception, depth: int) -> Exception:
    """The same, as the cause of the cause of something else."""
    for _ in range(depth):
        outer = RuntimeError("while doing something")
        outer.__cause__ = error
        error = ExceptionGroup("several", [outer])
    return error


@requirement("W16", "seed.final", "W22")
@pytest.mark.parametrize("depth", [0, 1, 5])
@pytest.mark.parametrize(
    "error",
    [
        rf.ToolApprovalError("no", code="approval_denied"),
        rf.ToolValidationError("no", []),
        rf.ToolSandboxRequiredError("no"),
        rf.ToolTimeoutError("no", code="tool_timeout"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_ours_within_a_tools_is_never_repeated_nor_answered(error: Exception, depth: int) -> None:
    recovered: list[object] = []
    book = Book(wrapped(error, depth))
    outcome, _ = call(pay(book, retries=2, on_error=recovered.append))
    assert (outcome.attempts, outcome.status, len(book.paid), recovered) == (1, "failed", 1, [])


@requirement("W16", "AC21")
def test_a_nested_call_that_somebody_denied_is_not_asked_about_again() -> None:
    asked: list[str] = []

    def approve(request: rf.ApprovalRequest) -> bool:
        asked.append(request.tool)
        return False

    async def body() -> None:
        async with door(pay(Book(), "inner", approval="human"), approve=approve) as inner:

            async def outer(given: Payment) -> object:
                return (await inner.call("inner", {"amount": given.amount})).unwrap()

            async with door(pay(outer, "outer", retries=2)) as boundary:
                assert ending(await boundary.call("outer", {"amount": 5})) == ("failed", "tool_raised", 1)

    run(body)
    assert asked == ["inner"]


# --- what is safe to repeat ---


@requirement("B37", "B38", "D5", "W15")
@each_place
@pytest.mark.parametrize(
    "options", [{"effect": "write"}, {"idempotent": False}, {"effect": "write", "idempotent": False}]
)
@pytest.mark.parametrize("error", [ConnectionError("reset"), TimeoutError("read"), ValueError("odd answer")])
def test_an_effect_that_may_have_happened_is_not_repeated(
    place: str, options: dict[str, Any], error: Exception
) -> None:
    book = Book(error)
    outcome, heard = call(pay(book, retries=2, **options), place=place)
    assert (ending(outcome), len(book.paid)) == (("unknown", "outcome_unknown", 1), 1)
    assert heard.types == FAILED
    assert outcome.error is not None
    assert outcome.error.hint is not None


@requirement("B38", "D5", "W15")
@pytest.mark.parametrize("options", [{"effect": "read"}, {"effect": "write", "idempotent": True}, {}])
def test_what_may_be_repeated_is_repeated_as_asked_for(options: dict[str, Any]) -> None:
    assert ending(call(pay(Book(*down(2)), retries=2, **options))[0]) == ("succeeded", None, 3)


@requirement("D5", "W15")
def test_a_tools_own_no_says_that_nothing_happened_and_may_be_repeated() -> None:
    book = Book(rf.ToolError("busy"), rf.ToolError("busy"))
    assert ending(call(pay(book, retries=1, effect="write"))[0]) == ("failed", "tool_raised", 2)


# --- timeouts ---


@requirement("AC35", "seed.final", "seed.cooperative", "seed.order", "B46")
@each_place
def test_a_timeout_ends_the_call_after_one_execution(place: str) -> None:
    started: list[rf.ToolContext] = []

    async def slow(given: Payment, ctx: rf.ToolContext) -> None:
        started.append(ctx)
        await asyncio.Event().wait()

    outcome, heard = call(pay(slow, timeout=0.01, retries=2, effect="read"), place=place)
    assert (ending(outcome), heard.types) == (("failed", "tool_timeout", 1), FAILED)
    assert [ctx.signal.aborted for ctx in started] == [True]
    with pytest.raises(rf.ToolTimeoutError) as caught:
        outcome.unwrap()
    assert "0.01" in str(caught.value)


@requirement("AC35", "seed.fallback")
@each_place
def test_a_fallback_may_answer_a_timeout_and_learns_of_it(place: str) -> None:
    learned: list[Exception] = []

    def recover(error: Exception) -> dict[str, bool]:
        learned.append(error)
        return {"available": False}

    outcome, heard = call(pay(never, timeout=0.01, retries=2, on_error=recover), place=place)
    assert (outcome.unwrap(), outcome.attempts) == ({"available": False}, 1)
    assert ([type(error) for error in learned], heard.types) == ([rf.ToolTimeoutError], FAILED)


@requirement("B46", "AC42")
@pytest.mark.slow
@each_place
def test_a_timeout_longer_than_the_work_changes_nothing_and_each_attempt_has_it_whole(place: str) -> None:
    runs: list[float | None] = []

    async def work(given: Payment, ctx: rf.ToolContext) -> str:
        runs.append(ctx.deadline)
        await asyncio.sleep(0.3)
        if len(runs) < 3:
            raise ConnectionError
        return "done"

    outcome, _ = call(pay(work, timeout=0.8, retries=2), place=place)
    assert (ending(outcome), len(runs)) == (("succeeded", None, 3), 3)  # 0.9 s in all, 0.8 s each
    first, second, third = runs
    assert first is not None
    assert second is not None
    assert third is not None
    assert first < second < third


@requirement("seed.cooperative", "D12")
def test_a_plain_function_that_goes_on_after_its_time_is_counted_and_its_result_dropped() -> None:
    async def body() -> None:
        release, over = threading.Event(), threading.Event()

        def stubborn(given: Payment) -> str:
            release.wait(5)
            over.set()
            return "late"

        sandbox = rf.local(unsafe=True)
        async with door(pay(stubborn, timeout=0.02), pay(Book(), "fine"), sandbox=sandbox) as boundary:
            heard = Heard(boundary)
            outcome = await boundary.call("pay", {"amount": 5})
            assert (ending(outcome), outcome.value) == (("unknown", "tool_timeout", 1), None)
            assert sandbox.statistics().abandoned == 1
            assert (await boundary.call("fine", {"amount": 5})).unwrap() == "paid 5 to ada"
            release.set()
            assert await asyncio.to_thread(over.wait, 5)
            assert heard.types == [*FAILED, *SUCCESS]

    run(body)


@requirement("D12")
@pytest.mark.slow
def test_too_many_functions_that_go_on_are_refused() -> None:
    async def body() -> None:
        release = threading.Event()

        def stubborn(given: Payment) -> bool:
            return release.wait(10)

        async with door(pay(stubborn, timeout=0.02, effect="read")) as boundary:
            try:
                outcomes = await asyncio.gather(*(boundary.call("pay", {"amount": n}) for n in range(32)))
                assert {ending(outcome) for outcome in outcomes} == {("failed", "tool_timeout", 1)}
                outcome = await boundary.call("pay", {"amount": 5})
                assert ending(outcome)[:2] == ("failed", "sandbox_unavailable")
            finally:
                release.set()

    run(body, seconds=15)


# --- stopping ---


@requirement("AC38", "seed.final", "seed.signal")
@each_place
def test_a_caller_who_aborts_is_seen_by_the_tool_and_nothing_is_repeated(place: str) -> None:
    async def body() -> None:
        signal, begun = rf.AbortSignal(), asyncio.Event()
        seen: list[tuple[bool, str | None]] = []

        async def patient(given: Payment, ctx: rf.ToolContext) -> None:
            begun.set()
            await ctx.signal.wait()
            seen.append((ctx.signal.aborted, ctx.signal.reason))
            ctx.signal.raise_if_aborted()

        async with door(pay(patient, timeout=60, retries=2, effect="read"), place=place) as boundary:
            heard = Heard(boundary)
            task = asyncio.create_task(boundary.call("pay", {"amount": 5}, signal=signal))
            await begun.wait()
            signal.abort("the user left")
            assert ending(await task) == ("failed", "tool_raised", 1)
            assert (seen, heard.types) == ([(True, "the user left")], FAILED)

    run(body)


@requirement("AC38", "seed.cooperative")
@each_place
def test_a_tool_that_ignores_an_abort_may_still_succeed(place: str) -> None:
    async def body() -> None:
        signal = rf.AbortSignal()

        async def deaf(given: Payment) -> str:
            signal.abort()
            await asyncio.sleep(0)
            return "done"

        async with door(pay(deaf), place=place) as boundary:
            assert (await boundary.call("pay", {"amount": 5}, signal=signal)).unwrap() == "done"

    run(body)


@requirement("AC43", "W17")
@each_place
def test_a_signal_that_was_aborted_before_the_call_ends_it(place: str) -> None:
    signal, book, asked = rf.AbortSignal(), Book(), list[object]()
    signal.abort()
    tool = pay(book, approval="human", on_error=asked.append)
    outcome, heard = call(tool, signal=signal, approve=asked.append, place=place)
    assert (ending(outcome), heard.types, heard.all_types) == (("refused", "aborted", 0), [], ["tool.rejected"])
    assert (book.paid, asked) == ([], [])
    with pytest.raises(rf.Refusal) as caught:
        outcome.unwrap()
    assert caught.value.code == "aborted"


@requirement("AC43", "W17")
@each_place
def test_a_host_may_have_such_a_call_run_once_and_see_the_signal(place: str) -> None:
    signal, book, asked = rf.AbortSignal(), Book(*down(1)), list[object]()
    signal.abort("before")

    def approve(request: rf.ApprovalRequest) -> bool:
        asked.append(request)
        return True

    tool = pay(book, approval="human", retries=2)
    outcome, heard = call(tool, signal=signal, approve=approve, place=place, when_aborted="run")
    assert (outcome.attempts, len(book.paid), len(asked)) == (1, 1, 1)
    assert [(it.signal.aborted, it.signal.reason) for it in book.contexts] == [(True, "before")]
    assert heard.types == ["approval.required", "approval.granted", *FAILED]
    with pytest.raises(rf.ConfigError):
        door(tool, when_aborted="perhaps")


@requirement("W17")
def test_an_abort_between_attempts_starts_no_other() -> None:
    signal, book = rf.AbortSignal(), Book(*down(3))

    async def body() -> rf.Outcome:
        async with door(pay(book, retries=3)) as boundary:
            boundary.on("tool.failed", lambda event: signal.abort())
            return await boundary.call("pay", {"amount": 5}, signal=signal)

    assert (run(body).attempts, len(book.paid)) == (1, 1)


@requirement("B43")
@each_place
@pytest.mark.parametrize("error", [asyncio.CancelledError(), asyncio.CancelledError("scope 7")])
def test_a_cancellation_that_nobody_asked_for_is_the_tools_failure(place: str, error: BaseException) -> None:
    outcome, heard = call(pay(Book(error), effect="read"), place=place)
    assert (ending(outcome), heard.types) == (("failed", "tool_raised", 1), FAILED)


@requirement("B43")
def test_the_hosts_cancellation_reaches_the_host() -> None:
    async def body() -> None:
        async with door(pay(never)) as boundary:
            heard = Heard(boundary)
            begun = asyncio.Event()
            boundary.on("tool.called", lambda event: begun.set())
            task = asyncio.create_task(boundary.call("pay", {"amount": 5}))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert task.cancelled()
            assert [(event.type, event.meta.get("code")) for event in heard.events] == [
                ("tool.called", None),
                ("tool.failed", "interrupted"),
            ]

    run(body)


@requirement("B41", "D12")
@pytest.mark.slow
def test_a_tool_that_will_not_be_cancelled_is_left_behind_and_counted() -> None:
    async def body() -> None:
        release = asyncio.Event()

        async def stubborn(given: Payment) -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        async with door(pay(stubborn, timeout=0.02, effect="read")) as boundary:
            outcome = await boundary.call("pay", {"amount": 5})
            assert ending(outcome) == ("failed", "tool_timeout", 1)
            assert boundary.statistics().gate.abandoned == 1
            release.set()
            for _ in range(5):
                await asyncio.sleep(0)
            assert boundary.statistics().gate.abandoned == 0

    run(body, seconds=15)


@requirement("AC21", "W12")
def test_retries_repeat_the_execution_only() -> None:
    sandbox = Minimal()
    validated: list[object] = []
    asked: list[object] = []

    class Counted(Payment):
        def model_post_init(self, context: object) -> None:
            validated.append(None)

    def approve(given: Counted, info: rf.ApprovalInfo) -> bool:
        asked.append(given)
        return True

    book = Book(*down(2))
    tool = rf.Tool("pay", "Pay.", Counted, book, approval=approve, retries=2, sandbox=sandbox)
    outcome, heard = call(tool)
    assert (ending(outcome), heard.types.count("tool.completed")) == (("succeeded", None, 3), 1)
    assert (len(validated), len(asked), len(sandbox.runs), len(book.paid)) == (1, 1, 3, 3)


@requirement("seed.final")
def test_none_of_the_five_kinds_is_repeated() -> None:
    signal = rf.AbortSignal()

    async def aborts(given: Payment) -> None:
        signal.abort()
        raise ConnectionError

    def denies(given: Payment, info: rf.ApprovalInfo) -> bool:
        return False

    ends = [
        call(pay(Book(), retries=5), args={})[0],
        call(pay(Book(), retries=5, approval=denies))[0],
        call(pay(never, retries=5, timeout=0.01))[0],
        call(pay(aborts, retries=5), signal=signal)[0],
    ]
    assert [outcome.attempts for outcome in ends] == [0, 0, 1, 1]
    with pytest.raises(rf.ToolSandboxRequiredError):
        call(pay(Book(), retries=5), sandbox=None)
