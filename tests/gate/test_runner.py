"""One call from request to outcome, seen from outside: admission, approvals, events, closing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, field_serializer, field_validator

from ringfence.contract.context import ToolContext
from ringfence.contract.tool import Tool
from ringfence.errors import (
    ConfigError,
    ToolApprovalError,
    ToolSandboxRequiredError,
    ToolValidationError,
)
from ringfence.ports import ApprovalRequest, Origin, Position
from ringfence.sandbox.local_unsafe import local
from ringfence.testing import FakeClock
from ringfence.values import digest
from tests.gate.kit import ARGS, ORIGIN, Amount, Trace, Watch, failing, gate, outcome_of, pay, run, tool, verdict, yes


def recorder(asked: list[object]) -> Callable[[ApprovalRequest], bool]:
    """Approves, and remembers that it was asked."""

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    return approve


# --- admission ---


def test_a_call_is_announced_run_and_completed() -> None:
    outcome, trace = outcome_of(tool(pay))
    assert (verdict(outcome), outcome.value, outcome.tool) == (("succeeded", None, 1), "paid 5 EUR", "pay")
    assert trace.types == ["tool.called", "tool.completed"]
    assert outcome.unwrap() == "paid 5 EUR"


def test_canonical_text_is_as_good_as_an_object() -> None:
    assert outcome_of(tool(pay), args=b'{"cents":5}')[0].value == "paid 5 EUR"


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"cents": "5"},
        {"cents": True},
        {"cents": 5, "extra": 1},
        [],
        None,
        "",
        7,
        {"cents": float("nan")},
        b"",
        b"[1",
    ],
)
def test_invalid_arguments_are_refused_before_anything_happens(args: object) -> None:
    asked: list[object] = []
    careful = tool(pay, approval=recorder(asked), retries=3, on_error=asked.append)
    outcome, trace = outcome_of(careful, args=args)
    assert (verdict(outcome), asked) == (("refused", "invalid_input", 0), [])
    assert (trace.types, trace.seed()) == (["tool.rejected"], [])
    assert outcome.error is not None
    with pytest.raises(ToolValidationError) as caught:
        outcome.unwrap()
    assert caught.value.issues == outcome.error.issues != ()


def test_the_error_names_the_place_and_not_the_value() -> None:
    outcome, _ = outcome_of(tool(pay), args={"cents": "secret"})
    assert outcome.error is not None
    assert outcome.error.issues[0]["path"] == "cents"
    assert "secret" not in repr(outcome.error)


def test_an_unknown_tool_is_refused_with_the_nearest_name() -> None:
    outcome, trace = outcome_of(tool(pay), name="pya")
    assert (verdict(outcome), outcome.tool) == (("refused", "unknown_tool", 0), "pya")
    assert outcome.error is not None
    assert outcome.error.hint == "did you mean 'pay'?"
    assert [(event.type, event.tool) for event in trace.events] == [("tool.rejected", None)]


@pytest.mark.parametrize("name", ["ignore_previous_instructions", "pay\nsecret", "x" * 100, "é", "", None, 7, b"pay"])
def test_a_name_that_the_caller_made_up_stays_out_of_events(name: object) -> None:
    outcome, trace = outcome_of(tool(pay), name=name)
    assert verdict(outcome) == ("refused", "unknown_tool", 0)
    assert [(event.type, event.tool) for event in trace.events] == [("tool.rejected", None)]


def test_a_tool_without_a_sandbox_is_refused_at_call_time() -> None:
    asked: list[object] = []
    outcome, trace = outcome_of(
        tool(pay, approval="human", on_error=asked.append), sandbox=None, approve=recorder(asked)
    )
    assert (verdict(outcome), trace.types, asked) == (("refused", "sandbox_required", 0), ["tool.rejected"], [])
    with pytest.raises(ToolSandboxRequiredError, match="'pay' has no sandbox"):
        outcome.unwrap()


def test_starting_names_every_tool_without_a_sandbox() -> None:
    of = gate(tool(pay, "one", sandbox=local(unsafe=True)), tool(pay, "two"), tool(pay, "three"), sandbox=None)
    with pytest.raises(ToolSandboxRequiredError, match="no explicit sandbox for two, three"):
        of.start()
    gate(tool(pay, sandbox=local(unsafe=True)), sandbox=None).start()
    gate(sandbox=None).start()


def test_starting_warns_once_of_tools_that_nobody_can_approve(caplog: pytest.LogCaptureFixture) -> None:
    of = gate(tool(pay, "one", approval="human"), tool(pay, "two"), tool(pay, "three", approval="human"))
    of.start()
    of.start()
    assert [record.getMessage() for record in caplog.records] == [
        "one, three need approval, and approve= is not set: every call will be denied"
    ]


@pytest.mark.parametrize(
    "options", [{"approval_timeout": 0}, {"approval_timeout": True}, {"approve": 7}, {"when_aborted": "maybe"}]
)
def test_wrong_options_are_found_while_building(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        gate(tool(pay), **options)


class OwnSchema:
    """An input contract that is not ours, and breaks."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def validate(self, data: bytes) -> Any:
        raise self.error

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {}}


@pytest.mark.parametrize("error", [ZeroDivisionError(), SystemExit(1), asyncio.CancelledError(), GeneratorExit()])
def test_a_validator_that_breaks_refuses_the_call(error: BaseException) -> None:
    broken = tool(pay)
    object.__setattr__(broken, "input", OwnSchema(error))
    outcome, _ = outcome_of(broken)
    assert verdict(outcome) == ("refused", "invalid_input", 0)
    assert outcome.error is not None
    assert outcome.error.issues[0]["message"] == f"the validator raised {type(error).__name__}"


def leave(*_: object) -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"approval": leave}, ("refused", "approval_denied", 0)),
        ({"on_error": leave, "effect": "read"}, ("failed", "tool_raised", 1)),
    ],
)
def test_no_function_of_the_hosts_can_end_the_process_from_within_a_call(options: Any, expected: Any) -> None:
    outcome, _ = outcome_of(tool(failing(9, ValueError()), **options))
    assert verdict(outcome) == expected


def test_no_subscriber_can_end_the_process_from_within_a_call() -> None:
    async def body() -> None:
        of = gate(tool(pay))
        of.hub.on(None, leave)
        assert (await of.call("pay", ARGS, origin=ORIGIN)).status == "succeeded"

    run(body)


# --- approvals ---


def test_an_approved_call_runs_what_was_approved() -> None:
    seen: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> bool:
        seen.append(request)
        request.input.cents = 10_000
        return True

    outcome, trace = outcome_of(tool(pay, approval="human", effect="write"), approve=approve)
    assert outcome.value == "paid 5 EUR"
    assert trace.types == ["approval.required", "approval.granted", "tool.called", "tool.completed"]
    (request,) = seen
    assert request.arguments == {"cents": 5, "currency": "EUR"}
    assert request.digest == digest(b'{"cents":5,"currency":"EUR"}')
    assert (request.tool, request.session_id, request.principal, request.effect) == ("pay", "s", "ada", "write")
    assert request.call_id == outcome.call_id


@pytest.mark.parametrize(
    ("approve", "reason"),
    [
        (lambda request: False, "denied"),  # type: ignore[misc]
        (lambda request: "yes", "not_a_bool"),  # type: ignore[misc]
        (lambda request: 1 / 0, "handler_failed"),  # type: ignore[misc]
        (None, "no_handler"),
    ],
)
def test_a_denied_call_does_not_run_and_the_event_says_why(approve: Any, reason: str) -> None:
    later: list[object] = []
    outcome, trace = outcome_of(
        tool(pay, approval="human", retries=2, on_error=later.append),
        approve=approve,
    )
    assert (verdict(outcome), later) == (("refused", "approval_denied", 0), [])
    assert trace.types == ["approval.required", "approval.denied", "tool.rejected"]
    assert trace.events[1].meta["reason"] == reason
    with pytest.raises(ToolApprovalError):
        outcome.unwrap()


def test_silence_expires_into_a_refusal() -> None:
    async def approve(request: ApprovalRequest) -> bool:
        await asyncio.Event().wait()
        return True

    outcome, trace = outcome_of(tool(pay, approval="human"), approve=approve, approval_timeout=0.001)
    assert verdict(outcome) == ("refused", "approval_expired", 0)
    assert trace.events[1].meta["reason"] == "expired"


def test_a_person_is_asked_once_however_often_the_tool_fails() -> None:
    asked: list[object] = []

    async def fail(args: Amount) -> None:
        raise ValueError

    def approve(given: Any, info: Any) -> bool:
        asked.append(given)
        return True

    outcome, trace = outcome_of(tool(fail, approval=approve, retries=2))
    assert (verdict(outcome), len(asked)) == (("failed", "tool_raised", 3), 1)
    assert trace.seed() == ["approval.required", "approval.granted", *["tool.called", "tool.failed"] * 3]


def test_approval_time_is_not_the_tools() -> None:
    async def approve(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0.03)
        return True

    outcome, _ = outcome_of(tool(pay, approval="human", timeout=0.02), approve=approve)
    assert verdict(outcome) == ("succeeded", None, 1)


@pytest.mark.parametrize(
    ("options", "approve", "heard"),
    [
        ({"approval": "human"}, lambda request: True, ["began", "ended", "tool"]),  # type: ignore[misc]
        ({"approval": "human"}, lambda request: 1 / 0, ["began", "ended"]),  # type: ignore[misc]
        ({"approval": "human"}, None, []),
        ({}, None, ["tool"]),
        ({"retries": 1}, None, ["tool"]),
    ],
)
def test_the_owner_of_a_call_hears_when_somebody_is_waited_for_and_when_the_tool_begins(
    options: dict[str, Any], approve: Any, heard: list[str]
) -> None:
    async def body() -> None:
        watch = Watch()
        await gate(tool(pay, **options), approve=approve).call("pay", ARGS, origin=ORIGIN, watch=watch)
        assert watch.heard == heard

    run(body)


class Uncopyable(Amount):
    def __deepcopy__(self, memo: Any = None) -> Any:
        raise ValueError("secret")


def test_arguments_that_nobody_can_be_shown_are_not_approved() -> None:
    careful = Tool("pay", "Pay.", Uncopyable, pay, approval="human")
    outcome, trace = outcome_of(careful, approve=yes)
    assert verdict(outcome) == ("refused", "approval_denied", 0)
    assert trace.events[1].meta["reason"] == "handler_failed"


class Unwritable(Amount):
    @field_serializer("cents")
    def refuse(self, value: int) -> int:
        raise ValueError("secret")


def test_arguments_that_refuse_to_be_written_are_read_field_by_field() -> None:
    seen: list[object] = []
    outcome, _ = outcome_of(Tool("pay", "Pay.", Unwritable, pay, approval="human"), approve=recorder(seen))
    assert outcome.status == "succeeded"
    assert [request.arguments for request in seen if isinstance(request, ApprovalRequest)] == [
        {"cents": 5, "currency": "EUR"}
    ]


# --- results ---


@pytest.mark.parametrize(("effect", "status"), [("read", "failed"), ("write", "unknown"), (None, "unknown")])
def test_a_result_longer_than_the_tool_may_answer_is_refused_with_a_hint(effect: Any, status: str) -> None:
    async def execute(args: Amount) -> str:
        return "x" * 99

    outcome, _ = outcome_of(tool(execute, max_result=100, effect=effect, retries=2))
    assert verdict(outcome) == (status, "bad_result", 1)
    assert outcome.error is not None
    assert "its JSON text has 101 bytes, more than the tool's max_result of 100" in outcome.error.message
    assert (outcome.error.hint or "").startswith("return less")
    assert outcome_of(tool(execute, max_result=101))[0].status == "succeeded"
    assert outcome_of(tool(execute))[0].status == "succeeded"


# --- events and ids ---


def test_events_say_where_a_call_came_from_and_how_long_it_took() -> None:
    async def body() -> None:
        ticks = iter(range(100))
        of = gate(tool(pay), clock=lambda: float(next(ticks)))
        trace = Trace(of)
        position = Position(line=12, site="a", task="0", sequence=0)
        origin = Origin(session_id="chat", run_id="r1", position=position)
        outcome = await of.call("pay", ARGS, origin=origin, call_id="mine")
        called, completed = trace.events
        assert (called.type, called.tool, called.session_id) == ("tool.called", "pay", "chat")
        shared = {"call_id": "mine", "attempt": 1, "max_attempts": 1, "run_id": "r1", "line": 12}
        assert called.meta == shared
        assert completed.meta == {**shared, "duration": 1.0, "status": "succeeded"}
        assert (outcome.call_id, outcome.duration) == ("mine", 3.0)

    run(body)


def test_call_ids_are_unique_within_and_between_gates() -> None:
    async def body() -> None:
        gates = [gate(tool(pay)) for _ in range(3)]
        outcomes = await asyncio.gather(*(of.call("pay", ARGS, origin=ORIGIN) for of in gates for _ in range(50)))
        assert len({outcome.call_id for outcome in outcomes}) == 150

    run(body)


def test_a_failing_subscriber_changes_nothing() -> None:
    async def body() -> None:
        ran: list[int] = []
        of = gate(tool(failing(1, ValueError(), ran), retries=1, approval="human"), approve=yes)
        trace = Trace(of)
        plain = of.hub.statistics()

        def failing_handler(event: Any) -> None:
            raise ValueError

        async def failing_later(event: Any) -> None:
            raise ValueError

        for handler in (failing_handler, failing_later):
            of.hub.on(None, handler)
        outcome = await of.call("pay", ARGS, origin=ORIGIN)
        await of.aclose()
        assert (verdict(outcome), len(ran)) == (("succeeded", None, 2), 2)
        assert trace.seed() == [
            "approval.required",
            "approval.granted",
            *["tool.called", "tool.failed", "tool.called", "tool.completed"],
        ]
        assert of.hub.statistics().failed == 2 * 6 + plain.failed

    run(body)


def test_what_a_tool_logs_reaches_the_operators(caplog: pytest.LogCaptureFixture) -> None:
    async def execute(args: Amount, ctx: Any) -> None:
        ctx.log("half way")

    caplog.set_level(logging.INFO, "ringfence.tools")
    outcome_of(tool(execute))
    assert [record.getMessage() for record in caplog.records] == ["pay: half way"]


def test_the_context_says_which_call_it_is() -> None:
    seen: list[Any] = []

    async def execute(args: Amount, ctx: Any) -> None:
        seen.append(ctx)
        raise ValueError

    outcome, _ = outcome_of(tool(execute, retries=1, timeout=5.0), clock=lambda: 100.0)
    assert [(ctx.attempt, ctx.max_attempts, ctx.deadline) for ctx in seen] == [(1, 2, 105.0), (2, 2, 105.0)]
    assert {(ctx.session_id, ctx.principal, ctx.call_id) for ctx in seen} == {("s", "ada", outcome.call_id)}
    assert len({ctx.idempotency_key for ctx in seen}) == 1


def test_logs_hold_classes_only(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    outcome_of(tool(failing(9, ValueError("secret"))), args={"cents": 424242})
    assert "attempt 1 raised ValueError" in caplog.text
    assert "secret" not in caplog.text
    assert "424242" not in caplog.text


def test_a_gate_serves_several_loops() -> None:
    of = gate(tool(pay))

    async def body() -> str:
        return (await of.call("pay", ARGS, origin=ORIGIN)).value

    assert [asyncio.run(body()) for _ in range(3)] == ["paid 5 EUR"] * 3


# --- schemas that break ---


class Judged(BaseModel):
    """Its validator is broken."""

    cents: int

    @field_validator("cents")
    @classmethod
    def judge(cls, value: int) -> int:
        raise KeyError("secret")


class BrokenPair:
    """A schema of another library whose validator raises, or answers in no known form."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    def validate(self, value: Any) -> Any:
        if self.error is not None:
            raise self.error
        return 5

    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"cents": {"type": "integer"}}}


@pytest.mark.parametrize("schema", [Judged, BrokenPair(KeyError("secret")), BrokenPair(None)])
def test_a_schema_that_breaks_is_not_the_callers_fault_and_the_host_finds_out_why(schema: Any) -> None:
    outcome, _ = outcome_of(Tool("pay", "Pay.", schema, pay))
    assert verdict(outcome) == ("refused", "invalid_input", 0)
    assert outcome.error is not None
    assert outcome.error.hint == "the tool's schema failed; tell the tool's author"
    assert "secret" not in repr(outcome)
    is_malformed = isinstance(schema, BrokenPair) and schema.error is None
    assert isinstance(outcome.cause, KeyError) is not is_malformed


def test_arguments_that_do_not_fit_have_no_cause() -> None:
    outcome, _ = outcome_of(tool(pay), args={"cents": "x"})
    assert (verdict(outcome), outcome.cause) == (("refused", "invalid_input", 0), None)


@pytest.mark.parametrize("clock", [5, None, FakeClock, lambda: "now", lambda: True])
def test_what_tells_no_seconds_is_no_clock(clock: Any) -> None:
    with pytest.raises(ConfigError, match="clock must be a function that tells seconds"):
        gate(tool(pay), clock=clock)


def test_a_share_that_is_no_number_is_none() -> None:
    async def execute(ctx: ToolContext) -> None:
        ctx.progress(float("nan"))

    _, trace = outcome_of(Tool.from_function(execute, name="pay", description="Pay."), args={})
    assert [event.meta["fraction"] for event in trace.events if event.type == "tool.progress"] == [0.0]
