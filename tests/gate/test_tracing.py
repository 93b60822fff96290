"""A span per call, that says what happened and not what it was about, and whose failures are nobody else's."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

import ringfence as rf
from ringfence.errors import ConfigError
from ringfence.gate import tracing as module
from ringfence.gate.runner import Gate
from ringfence.gate.tracing import Tracing
from ringfence.ports import Edit, Origin, Outcome, Position, Respond
from tests.gate.kit import ARGS, ORIGIN, Amount, failing, gate, pay, run, tool, verdict, yes

Said = tuple[str, dict[str, Any]]


class Sink:
    """A provider that keeps what it is given."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False, **options)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def spans(self) -> list[ReadableSpan]:
        """In the order of their ends."""
        return list(self.exporter.get_finished_spans())

    def one(self) -> ReadableSpan:
        (span,) = self.spans
        return span


def said(span: ReadableSpan) -> list[Said]:
    return [(event.name, dict(event.attributes or {})) for event in span.events]


def traced(sink: Any, *tools: Any, content: bool = False, **options: Any) -> Gate:
    return gate(*tools, tracing=Tracing(getattr(sink, "provider", sink), content=content), **options)


def call_of(sink: Any, *tools: Any, args: object = ARGS, name: object = "pay", **options: Any) -> Outcome:
    async def body() -> Outcome:
        of = traced(sink, *tools, **options)
        outcome = await of.call(name, args, origin=ORIGIN, call_id="c-1")
        await of.aclose()
        return outcome

    return run(body)


def parent_of(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent is not None else None


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return span.context.span_id


def later(error: Exception) -> str:
    return "later"


# --- what a span says ---


def test_a_call_is_one_span_named_after_the_convention() -> None:
    sink = Sink()
    call_of(sink, tool(pay))
    span = sink.one()
    assert (span.name, span.kind, span.status.status_code) == ("execute_tool pay", SpanKind.INTERNAL, StatusCode.UNSET)
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "pay",
        "gen_ai.tool.call.id": "c-1",
        "gen_ai.tool.type": "function",
        "ringfence.session_id": "s",
        "ringfence.status": "succeeded",
        "ringfence.attempts": 1,
    }
    assert said(span) == [("tool.called", {"ringfence.attempt": 1}), ("tool.completed", {"ringfence.attempt": 1})]
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "ringfence"


def test_a_scripts_call_says_which_run_and_which_line() -> None:
    sink = Sink()

    async def body() -> None:
        position = Position(line=7, site="a", task="0", sequence=0)
        origin = Origin(session_id="s", run_id="r", position=position)
        await traced(sink, tool(pay)).call("pay", ARGS, origin=origin)

    run(body)
    attributes = sink.one().attributes or {}
    assert (attributes["ringfence.run_id"], attributes["ringfence.line"]) == ("r", 7)


def test_attempts_and_decisions_are_events_and_an_error_is_its_code() -> None:
    sink = Sink()
    call_of(sink, tool(failing(9, ValueError("secret")), retries=1, approval="human"), approve=yes)
    span = sink.one()
    assert [name for name, _ in said(span)] == [
        "approval.required",
        "approval.granted",
        "tool.called",
        "tool.failed",
        "tool.called",
        "tool.failed",
    ]
    assert said(span)[-1] == ("tool.failed", {"ringfence.attempt": 2, "error.type": "tool_raised"})
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "tool_raised")
    attributes = span.attributes or {}
    assert (attributes["error.type"], attributes["ringfence.status"], attributes["ringfence.attempts"]) == (
        "tool_raised",
        "failed",
        2,
    )
    assert "secret" not in span.to_json()


@pytest.mark.parametrize(
    ("options", "args", "code"),
    [
        ({}, {"cents": "secret"}, "invalid_input"),
        ({"approval": "human"}, ARGS, "approval_denied"),
        ({}, {"cents": object()}, "invalid_input"),
    ],
)
def test_a_refusal_is_an_error_with_its_code(options: dict[str, Any], args: object, code: str) -> None:
    sink = Sink()
    call_of(sink, tool(pay, **options), args=args)
    span = sink.one()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, code)
    assert (span.attributes or {})["ringfence.status"] == "refused"
    assert said(span)[-1] == ("tool.rejected", {"error.type": code})
    assert "secret" not in span.to_json()


def test_the_name_of_a_tool_that_does_not_exist_is_the_callers_text_and_not_said() -> None:
    sink = Sink()
    call_of(sink, tool(pay), name="secret")
    span = sink.one()
    assert span.name == "execute_tool"
    assert not {"gen_ai.tool.name", "gen_ai.tool.type"} & set(span.attributes or {})
    assert "secret" not in span.to_json()


def test_edited_arguments_are_said_to_be_and_shown_only_where_content_is() -> None:
    def edit(request: Any) -> Edit:
        return Edit({"cents": 424242})

    sink = Sink()
    call_of(sink, tool(pay, approval="human"), approve=edit)
    assert said(sink.one())[1] == ("approval.granted", {"ringfence.edited": True})
    assert "424242" not in sink.one().to_json()
    sink = Sink()
    call_of(sink, tool(pay, approval="human"), approve=edit, content=True)
    assert json.loads(str((sink.one().attributes or {})["gen_ai.tool.call.arguments"])) == {"cents": 424242}


def test_an_answer_in_the_tools_place_is_a_success_of_no_attempt() -> None:
    sink = Sink()
    assert call_of(sink, tool(pay, approval="human"), approve=lambda request: Respond("later")).value == "later"  # type: ignore[reportUnknownLambdaType]
    span = sink.one()
    assert [name for name, _ in said(span)] == ["approval.required", "approval.answered"]
    assert ((span.attributes or {})["ringfence.attempts"], span.status.status_code) == (0, StatusCode.UNSET)


def test_a_fallbacks_answer_is_a_success_after_a_failure() -> None:
    sink = Sink()
    outcome = call_of(sink, tool(failing(1, ValueError()), on_error=later))
    assert outcome.value == "later"
    span = sink.one()
    assert (span.status.status_code, [name for name, _ in said(span)]) == (
        StatusCode.UNSET,
        ["tool.called", "tool.failed", "tool.recovered"],
    )
    assert (span.attributes or {})["ringfence.status"] == "succeeded"
    sink = Sink()
    call_of(sink, tool(failing(1, ValueError()), on_error=later, effect="write"))
    assert (sink.one().attributes or {})["ringfence.status"] == "unknown"


def test_a_cancelled_call_ends_its_span_as_interrupted() -> None:
    sink = Sink()

    async def body() -> None:
        entered = asyncio.Event()

        async def execute(args: Amount) -> None:
            entered.set()
            await asyncio.Event().wait()

        call = asyncio.create_task(traced(sink, tool(execute, effect="read")).call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(body)
    attributes = sink.one().attributes or {}
    assert (attributes["error.type"], attributes["ringfence.status"]) == ("interrupted", "failed")


# --- content ---


def test_content_is_there_only_for_who_asks_for_it() -> None:
    sink = Sink()
    call_of(sink, tool(pay), content=True)
    attributes = sink.one().attributes or {}
    assert json.loads(str(attributes["gen_ai.tool.call.arguments"])) == {"cents": 5}
    assert json.loads(str(attributes["gen_ai.tool.call.result"])) == "paid 5 EUR"


def test_content_of_a_call_that_failed_is_its_arguments() -> None:
    sink = Sink()
    call_of(sink, tool(failing(9, ValueError("secret"))), content=True)
    attributes = sink.one().attributes or {}
    assert "gen_ai.tool.call.arguments" in attributes
    assert "gen_ai.tool.call.result" not in attributes


def test_what_is_no_json_is_left_out_and_the_call_is_unchanged() -> None:
    async def strange(args: Amount) -> Any:
        return object()

    sink = Sink()
    assert verdict(call_of(sink, tool(strange), content=True)) == ("succeeded", None, 1)
    assert "gen_ai.tool.call.result" not in (sink.one().attributes or {})
    sink = Sink()
    call_of(sink, tool(pay), args=object(), content=True)
    assert "gen_ai.tool.call.arguments" not in (sink.one().attributes or {})


# --- where a span belongs ---


def test_the_callers_span_is_the_parent_and_is_current_again_afterwards() -> None:
    sink = Sink()

    async def body() -> None:
        of = traced(sink, tool(pay))
        with sink.provider.get_tracer("host").start_as_current_span("agent") as agent:
            await of.call("pay", ARGS, origin=ORIGIN)
            assert trace.get_current_span() is agent

    run(body)
    ours, agent = sink.spans
    assert parent_of(ours) == id_of(agent)


@pytest.mark.parametrize("own_task", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_spans_of_the_tool_are_children_also_in_threads(is_async: bool, own_task: bool) -> None:
    sink = Sink()
    host = sink.provider.get_tracer("host")

    async def with_await(args: Amount) -> str:
        await asyncio.sleep(0)
        return in_thread(args)

    def in_thread(args: Amount) -> str:
        with host.start_as_current_span("inner"):
            return "paid"

    async def body() -> None:
        of = traced(sink, tool(with_await if is_async else in_thread))
        await of.call("pay", ARGS, origin=ORIGIN, own_task=own_task)
        assert not trace.get_current_span().get_span_context().is_valid

    run(body)
    inner, ours = sink.spans
    assert (inner.name, parent_of(inner)) == ("inner", id_of(ours))


def test_spans_of_approvers_and_of_nested_calls_are_children() -> None:
    sink = Sink()
    host = sink.provider.get_tracer("host")

    async def approve(request: Any) -> bool:
        with host.start_as_current_span("asked"):
            return True

    async def body() -> None:
        async def outer(args: Amount) -> Any:
            return (await of.call("pay", ARGS, origin=ORIGIN)).value

        of = traced(sink, tool(pay), tool(outer, "outer", approval="human"), approve=approve)
        await of.call("outer", ARGS, origin=ORIGIN)

    run(body)
    asked, inner, outer = sink.spans
    assert [span.name for span in (asked, inner, outer)] == ["asked", "execute_tool pay", "execute_tool outer"]
    assert (parent_of(asked), parent_of(inner)) == (id_of(outer), id_of(outer))


def test_concurrent_calls_do_not_become_each_others_children() -> None:
    sink = Sink()

    async def body() -> None:
        both = asyncio.Barrier(2)

        async def execute(args: Amount) -> None:
            await both.wait()

        of = traced(sink, tool(execute))
        with sink.provider.get_tracer("host").start_as_current_span("agent"):
            await asyncio.gather(*(of.call("pay", ARGS, origin=ORIGIN) for _ in range(2)))

    run(body)
    one, two, agent = sink.spans
    assert (parent_of(one), parent_of(two)) == (id_of(agent), id_of(agent))


@pytest.mark.slow
def test_a_scripts_calls_are_children_of_who_runs_it_though_its_worker_is_older() -> None:
    sink = Sink()

    @rf.tool(effect="read")
    def look(at: int) -> int:
        """Look."""
        return at

    async def body() -> None:
        host = sink.provider.get_tracer("host")
        boundary = rf.Boundary([look], sandbox=rf.local(unsafe=True), tracer_provider=sink.provider)
        async with boundary, rf.Enclave(tools=boundary) as enclave:
            with host.start_as_current_span("warming"):
                await enclave.warm()
            with host.start_as_current_span("agent"):
                result = await enclave.run("[await tools.look(at=1), await tools.look(at=2)]", session_id="s")
        assert result.value == [1, 2]

    run(body, seconds=20.0)
    _, one, two, agent = sink.spans
    assert [(span.name, parent_of(span)) for span in (one, two)] == [("execute_tool look", id_of(agent))] * 2


def test_a_call_that_is_dropped_half_way_leaves_other_contexts_alone(caplog: pytest.LogCaptureFixture) -> None:
    sink = Sink()

    async def body() -> None:
        async def execute(args: Amount) -> None:
            await asyncio.Event().wait()

        call = traced(sink, tool(execute)).call("pay", ARGS, origin=ORIGIN)
        contextvars.copy_context().run(call.send, None)
        call.close()
        assert not trace.get_current_span().get_span_context().is_valid

    run(body)
    assert sink.one().status.description == "interrupted"
    assert not caplog.records


# --- nobody traces ---


def test_without_an_sdk_no_span_is_made_and_one_that_comes_later_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    sink = Sink()

    async def body() -> None:
        of = gate(tool(pay), tracing=Tracing(trace.get_tracer_provider()))
        assert Tracing().begin("pay", "c", ORIGIN) is None
        await of.call("pay", ARGS, origin=ORIGIN)
        monkeypatch.setattr(trace, "_TRACER_PROVIDER", sink.provider)
        await of.call("pay", ARGS, origin=ORIGIN)

    run(body)
    assert sink.one().name == "execute_tool pay"


def test_an_api_that_keeps_its_provider_elsewhere_is_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_API", {})
    assert Tracing().begin("pay", "c", ORIGIN) is None
    sink = Sink()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", sink.provider)
    span = Tracing().begin("pay", "c", ORIGIN)
    assert span is not None
    span.leave()


def test_a_provider_that_does_nothing_costs_no_span() -> None:
    tracing = Tracing(trace.NoOpTracerProvider())
    assert tracing.begin("pay", "c", ORIGIN) is None
    assert tracing.begin("pay", "c", ORIGIN) is None


def test_a_span_that_is_not_sampled_is_current_but_told_nothing() -> None:
    sink = Sink(sampler=ALWAYS_OFF)
    seen: list[bool] = []

    async def execute(args: Amount) -> None:
        context = trace.get_current_span().get_span_context()
        seen.append(context.is_valid and not context.trace_flags.sampled)

    call_of(sink, tool(execute), content=True)
    assert (seen, sink.spans) == ([True], [])


@pytest.mark.parametrize(("provider", "content"), [(object(), False), ("global", False), (None, 1), (None, None)])
def test_what_is_no_provider_or_no_choice_is_a_configuration_error(provider: object, content: object) -> None:
    with pytest.raises(ConfigError) as caught:
        Tracing(provider, content=content)
    assert caught.value.code == "bad_config"


# --- a tracer that fails ---


class Hostile:
    """Provider, tracer and span in one, with one step that raises."""

    def __init__(self, step: str, error: BaseException) -> None:
        self.step = step
        self.error = error
        self.ended = 0

    def do(self, step: str, result: Any = None) -> Any:
        if step == self.step:
            raise self.error
        return result

    def get_tracer(self, *args: Any, **kwargs: Any) -> Any:
        return self.do("get_tracer", self)

    def start_span(self, *args: Any, **kwargs: Any) -> Any:
        return self.do("start_span", self)

    def is_recording(self) -> Any:
        return self.do("is_recording", True)

    def add_event(self, *args: Any) -> None:
        self.do("add_event")

    def set_attribute(self, *args: Any) -> None:
        self.do("set_attribute")

    def set_attributes(self, *args: Any) -> None:
        self.do("set_attributes")

    def set_status(self, *args: Any) -> None:
        self.do("set_status")

    def end(self) -> None:
        self.ended += 1
        self.do("end")


STEPS = [
    "get_tracer",
    "start_span",
    "is_recording",
    "add_event",
    "set_attribute",
    "set_attributes",
    "set_status",
    "end",
]


@pytest.mark.parametrize("error", [RuntimeError("secret"), SystemExit(3), asyncio.CancelledError(), GeneratorExit()])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("execute", [pay, failing(1_000, ValueError("x"))])
def test_a_failing_tracer_changes_nothing_and_is_told_of_once(
    step: str, error: BaseException, execute: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    hostile = Hostile(step, error)
    one = tool(execute, retries=1, effect="read")
    with caplog.at_level(logging.WARNING):
        outcome = call_of(hostile, one, content=True)
    assert verdict(outcome) == verdict(call_of(None, one))
    is_reached = step != "set_status" or outcome.error is not None
    names = [f"a tracer raised {type(error).__name__}; later failures are not logged"] if is_reached else []
    assert [record.getMessage() for record in caplog.records] == names
    assert hostile.ended == (0 if step in ("get_tracer", "start_span") else 1)


def test_a_request_to_end_the_process_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        Tracing(Hostile("start_span", KeyboardInterrupt())).begin("pay", "c", ORIGIN)
