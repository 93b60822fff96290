"""Secrets go in by every door, and come out by none that is not theirs.

Each scenario carries a canary in one place. Afterwards everything is searched that telemetry, logs, callers and
models can see: events, spans, log records at every level with their arguments and tracebacks, error messages, hints, issues,
data, and the texts of objects.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel, field_validator

import ringfence as rf
from tests.behaviour.kit import Book, Minimal, Payment, door, never, pay, run, yes
from tests.requirements import requirement

CANARY = "sk-canary-7f3a91"
NUMBER = 714_893_662_051
"""The same, as a number."""
ALL = (
    "tool.called",
    "tool.completed",
    "tool.failed",
    "tool.recovered",
    "tool.rejected",
    "tool.progress",
    "approval.required",
    "approval.granted",
    "approval.denied",
    "approval.answered",
    "run.started",
    "run.finished",
)


class Login(BaseModel):
    """Arguments of which one is a secret."""

    user: str
    password: str

    @field_validator("user")
    @classmethod
    def known(cls, user: str) -> str:
        if user == "nobody":
            raise ValueError(f"no user {user}")
        return user


@dataclass
class Seen:
    """What can be seen from outside."""

    texts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    codes: list[str | None] = field(default_factory=list[str | None])

    def outcome(self, outcome: rf.Outcome) -> None:
        """What the caller, often a model, gets of a call that did not succeed."""
        self.codes.append(outcome.error.code if outcome.error else None)
        if outcome.error is None:
            return
        error = outcome.error
        self.texts += [("outcome", repr(outcome)), ("error", repr(error)), ("error text", str(error))]
        self.texts.append(("parts", repr([error.message, error.hint, error.issues, dict(error.data), error.name])))
        try:
            outcome.unwrap()
        except rf.RingfenceError as raised:
            self.texts += [("raised", str(raised)), ("raised repr", repr(raised)), ("info", repr(raised.info()))]

    def leaks(self, *canaries: object) -> list[tuple[str, str]]:
        return [(where, text) for where, text in self.texts if any(str(canary) in text for canary in canaries)]


def traced(seen: Seen) -> tuple[TracerProvider, Callable[[], None]]:
    """A provider, and what puts its spans among the texts."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def gather() -> None:
        spans = exporter.get_finished_spans()
        assert spans
        seen.texts += [("span", span.to_json()) for span in spans]

    return provider, gather


Scenario = Callable[[Seen], Coroutine[Any, Any, None]]


@pytest.fixture
def watch(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[Scenario], Seen]:
    """Play a scenario and gather everything that it left."""
    caplog.set_level(logging.DEBUG)

    def play(scenario: Scenario) -> Seen:
        seen = Seen()
        run(lambda: scenario(seen), seconds=20)
        formatter = logging.Formatter()
        for record in caplog.records:
            seen.texts.append(("log", f"{formatter.format(record)} {record.args!r} {record.__dict__!r}"))
        printed = capfd.readouterr()
        seen.texts += [("stdout", printed.out), ("stderr", printed.err)]
        return seen

    return play


def listen(boundary: rf.Boundary, seen: Seen) -> None:
    def hear(event: rf.Event) -> None:
        seen.texts.append((event.type, f"{event!r} {dict(event.meta)!r}"))

    boundary.on(ALL, hear)


async def one(seen: Seen, tool: rf.Tool[..., Any], args: Any = None, **options: Any) -> rf.Outcome:
    """One call, watched."""
    provider, gather_spans = traced(seen)
    async with door(tool, tracer_provider=provider, **options) as boundary:
        listen(boundary, seen)
        outcome = await boundary.call(tool.name, {"amount": 5} if args is None else args, principal="ada")
        seen.outcome(outcome)
        gather_spans()
        seen.texts += [
            ("boundary", repr(boundary)),
            ("statistics", repr(boundary.statistics())),
            ("tool", repr(tool)),
            ("toolset", repr(boundary.tools)),
        ]
        return outcome


def login(execute: Any = None, **options: Any) -> rf.Tool[..., Any]:
    async def enter(given: Login) -> str:
        return f"token of {given.password}"

    return rf.Tool("login", "Log in.", Login, execute or enter, **options)


def fallback(error: Exception) -> str:
    return "fallback"


SECRET = {"user": "ada", "password": CANARY}


def test_what_is_leaked_is_found(watch: Callable[[Scenario], Seen]) -> None:
    async def scenario(seen: Seen) -> None:
        async def says(given: Payment, ctx: rf.ToolContext) -> None:
            ctx.log(CANARY)
            print(CANARY)
            raise rf.ToolError(CANARY)

        await one(seen, pay(says))

    assert {where for where, _ in watch(scenario).leaks(CANARY)} >= {"log", "stdout", "outcome", "error", "raised"}


# --- arguments and results ---


@requirement("AC18", "seed.secrets")
@pytest.mark.parametrize("place", ["local", "minimal"])
@pytest.mark.parametrize("approval", ["auto", "human"])
def test_arguments_and_results_of_a_call_that_succeeds_are_its_callers_alone(
    watch: Callable[[Scenario], Seen], place: str, approval: str
) -> None:
    async def scenario(seen: Seen) -> None:
        outcome = await one(seen, login(approval=approval), SECRET, place=place, approve=yes)
        assert outcome.value == f"token of {CANARY}"

    seen = watch(scenario)
    assert (seen.codes, seen.leaks(CANARY)) == ([None], [])


@requirement("AC18", "seed.secrets", "W33")
@pytest.mark.parametrize(
    "options", [{"retries": 2}, {"timeout": 0.01}, {"on_error": fallback}, {"effect": "write"}], ids=str
)
def test_arguments_of_a_call_that_fails_are_in_nothing(
    watch: Callable[[Scenario], Seen], options: dict[str, Any]
) -> None:
    async def breaks(given: Login) -> None:
        if "timeout" in options:
            await never()
        raise ConnectionError(f"postgres://ada:{given.password}@db")

    async def scenario(seen: Seen) -> None:
        await one(seen, login(breaks, **options), SECRET)

    assert watch(scenario).leaks(CANARY, "postgres") == []


@requirement("B158", "AC18", "W32")
@pytest.mark.parametrize(
    "args",
    [
        {"user": "ada", "password": NUMBER},
        {"user": CANARY, "password": 1},
        {"user": "ada", "password": [CANARY]},
        {"user": "ada", "password": {"text": CANARY, "n": NUMBER}},
        {"user": "ada", "password": CANARY, "extra": CANARY},
        {"password": CANARY},
        [CANARY],
        CANARY,
        {"user": CANARY, "password": {1: CANARY}},
        {"user": CANARY, "password": {CANARY}},
        {"user": f"{CANARY}\ud835", "password": CANARY},
        {"user": CANARY, "password": CANARY.encode()},
    ],
    ids=lambda args: type(args).__name__,
)
def test_a_refusal_of_arguments_does_not_repeat_them(watch: Callable[[Scenario], Seen], args: Any) -> None:
    async def scenario(seen: Seen) -> None:
        await one(seen, login(), args)

    seen = watch(scenario)
    assert (seen.codes, seen.leaks(CANARY, NUMBER)) == (["invalid_input"], [])


@requirement("B158", "W33")
def test_a_validators_own_complaint_does_not_repeat_the_value(watch: Callable[[Scenario], Seen]) -> None:
    class Key(BaseModel):
        key: str

        @field_validator("key")
        @classmethod
        def shape(cls, key: str) -> str:
            raise ValueError(f"{key} is no key")

    class Broken(BaseModel):
        key: str

        @field_validator("key")
        @classmethod
        def shape(cls, key: str) -> str:
            raise KeyError(key)

    async def scenario(seen: Seen) -> None:
        for kind in (Key, Broken):
            await one(seen, rf.Tool("use", "Use.", kind, str), {"key": CANARY})

    seen = watch(scenario)
    assert (seen.codes, seen.leaks(CANARY)) == (["invalid_input"] * 2, [])


class PairOfSecrets:
    """A schema of another library, which repeats what it was given or breaks."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def validate(self, value: dict[str, str]) -> Any:
        match self.answer:
            case "message":
                return {"issues": [{"message": f"{value['key']} is no key", "path": ["key"]}]}
            case "breaks":
                raise KeyError(value["key"])
            case _:
                return value["key"]

    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"key": {"type": "string"}}, "additionalProperties": False}


RAW_KEY = {"type": "object", "properties": {"key": {"type": "string", "maxLength": 3, "enum": ["a"], "pattern": "^a"}}}


@requirement("B158", "D2", "W33")
@pytest.mark.parametrize("schema", [*map(PairOfSecrets, ("message", "breaks", "nonsense")), RAW_KEY], ids=repr)
def test_no_kind_of_schema_repeats_the_value(watch: Callable[[Scenario], Seen], schema: Any) -> None:
    async def scenario(seen: Seen) -> None:
        await one(seen, rf.Tool("use", "Use.", schema, str), {"key": CANARY})

    seen = watch(scenario)
    assert (seen.codes, seen.leaks(CANARY)) == (["invalid_input"], [])


@requirement("AC18")
def test_a_name_that_no_tool_has_is_in_no_event_and_no_log(watch: Callable[[Scenario], Seen]) -> None:
    async def scenario(seen: Seen) -> None:
        provider, gather_spans = traced(seen)
        async with door(pay(Book()), tracer_provider=provider) as boundary:
            listen(boundary, seen)
            outcome = await boundary.call(CANARY, {CANARY: CANARY})
            gather_spans()
            assert outcome.error is not None
            assert outcome.error.code == "unknown_tool"

    assert watch(scenario).leaks(CANARY) == []


@requirement("B161", "AC18")
@pytest.mark.parametrize("result", [CANARY, [CANARY], {"token": CANARY}, {1: CANARY}, CANARY.encode(), {CANARY}])
def test_a_result_that_is_refused_is_kept_nowhere(watch: Callable[[Scenario], Seen], result: Any) -> None:
    async def answers(given: Payment) -> Any:
        return result

    async def scenario(seen: Seen) -> None:
        outcome = await one(seen, pay(answers, output=int, effect="read"))
        assert (outcome.value, outcome.encoded) == (None, None)

    seen = watch(scenario)
    assert (seen.codes, seen.leaks(CANARY)) == (["bad_result"], [])


@requirement("AC18", "D7")
@pytest.mark.parametrize(
    "decision", [rf.Reject(CANARY), rf.Respond(CANARY), rf.Edit({"amount": 5, "to": CANARY}), CANARY]
)
def test_what_an_approver_says_is_in_no_telemetry(watch: Callable[[Scenario], Seen], decision: Any) -> None:
    async def decides(request: rf.ApprovalRequest) -> Any:
        return decision

    async def scenario(seen: Seen) -> None:
        await one(seen, pay(Book(), approval="human"), approve=decides)

    callers = {"outcome", "error", "error text", "parts", "raised", "raised repr", "info"}
    assert {where for where, _ in watch(scenario).leaks(CANARY)} <= callers


# --- exceptions, wherever they come from ---


class Secretive(Exception):
    """An exception whose every text is a secret."""

    def __init__(self) -> None:
        super().__init__(CANARY)
        self.token = CANARY
        self.add_note(CANARY)


def raising(*_: object) -> Any:
    raise Secretive


async def raising_later(*_: object) -> Any:
    await asyncio.sleep(0)
    raise Secretive


def chained(*_: object) -> Any:
    try:
        raise Secretive
    except Secretive as error:
        raise ExceptionGroup(CANARY, [error, ValueError(CANARY)]) from error


class NamedAfterIt(Minimal):
    """A place that fails while it runs and while it closes."""

    async def run(self, fn: Any, args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        raise Secretive


@requirement("B160", "W33", "D8", "AC18", "seed.secrets")
@pytest.mark.parametrize("broken", [raising, raising_later, chained])
@pytest.mark.parametrize(
    ("options", "door_options"),
    [
        ({}, {}),
        ({"retries": 2}, {}),
        ({"effect": "write"}, {}),
        ({"effect": "read", "retries": 1, "approval": "human"}, {"approve": yes}),
    ],
    ids=str,
)
def test_what_a_tools_exception_says_is_for_the_host_alone(
    watch: Callable[[Scenario], Seen], broken: Any, options: dict[str, Any], door_options: dict[str, Any]
) -> None:
    causes: list[BaseException | None] = []

    async def scenario(seen: Seen) -> None:
        outcome = await one(seen, pay(broken, **options), **door_options)
        causes.append(outcome.cause)
        assert outcome.error is not None
        assert outcome.call_id in outcome.error.message

    seen = watch(scenario)
    assert seen.leaks(CANARY) == []
    assert isinstance(causes[0], Secretive | ExceptionGroup)


@requirement("B160", "D8")
def test_the_log_has_class_and_call_of_a_failure(
    watch: Callable[[Scenario], Seen], caplog: pytest.LogCaptureFixture
) -> None:
    ids: list[str] = []

    async def scenario(seen: Seen) -> None:
        ids.append((await one(seen, pay(raising))).call_id)

    watch(scenario)
    assert [
        ids[0] in record.getMessage() and "Secretive" in record.getMessage()
        for record in caplog.records
        if record.name.startswith("ringfence")
    ] == [True]


@requirement("W33", "AC18")
@pytest.mark.parametrize("broken", [raising, raising_later])
@pytest.mark.parametrize("where", ["approve", "approval", "on_error", "driver", "handler", "retry_on"])
def test_what_a_function_of_the_hosts_raises_is_for_nobody_else(
    watch: Callable[[Scenario], Seen], broken: Any, where: str
) -> None:
    async def scenario(seen: Seen) -> None:
        match where:
            case "approve":
                await one(seen, pay(Book(), approval="human"), approve=broken)
            case "approval":
                await one(seen, pay(Book(), approval=broken))
            case "on_error":
                await one(seen, pay(Book(ValueError("x")), on_error=broken))
            case "driver":
                await one(seen, pay(Book()), sandbox=NamedAfterIt())
            case "retry_on":
                await one(seen, pay(Book(ValueError("x")), retries=1, retry_on=raising))
            case _:
                async with door(pay(Book())) as boundary:
                    boundary.on(None, broken)
                    listen(boundary, seen)
                    seen.outcome(await boundary.call("pay", {"amount": 5}))
                    for _ in range(9):
                        await asyncio.sleep(0)

    assert watch(scenario).leaks(CANARY) == []


@requirement("D8", "W33")
def test_a_tools_own_text_passes_to_its_caller_and_stays_out_of_telemetry(watch: Callable[[Scenario], Seen]) -> None:
    async def says(given: Payment) -> None:
        raise rf.ToolError(f"no such order {CANARY}", code=CANARY, data={"near": [CANARY]})

    async def scenario(seen: Seen) -> None:
        provider, gather_spans = traced(seen)
        async with door(pay(says, retries=1), tracer_provider=provider) as boundary:
            listen(boundary, seen)
            outcome = await boundary.call("pay", {"amount": 5})
            gather_spans()
            assert outcome.error is not None
            assert (outcome.error.message, outcome.error.data["near"]) == (f"no such order {CANARY}", [CANARY])

    assert watch(scenario).leaks(CANARY) == []


@requirement("D8")
def test_a_tools_own_text_is_bounded() -> None:
    async def says(given: Payment) -> None:
        raise rf.ToolError("x" * 100_000)

    async def body() -> None:
        async with door(pay(says)) as boundary:
            error = (await boundary.call("pay", {"amount": 5})).error
            assert error is not None
            assert len(error.message) == 4_096

    run(body)


@requirement("W33", "AC18")
def test_a_late_failure_of_work_that_was_left_behind_is_told_to_nobody(watch: Callable[[Scenario], Seen]) -> None:
    async def scenario(seen: Seen) -> None:
        release, over = threading.Event(), threading.Event()

        def late(given: Payment) -> None:
            release.wait(5)
            over.set()
            raise Secretive

        await one(seen, pay(late, timeout=0.02))
        release.set()
        assert await asyncio.to_thread(over.wait, 5)
        await asyncio.sleep(0.01)

    seen = watch(scenario)
    assert (seen.codes, seen.leaks(CANARY)) == (["tool_timeout"], [])


@requirement("AC18", "D9")
def test_what_a_tool_reports_of_its_progress_is_a_share_without_its_text() -> None:
    heard: list[str] = []

    async def reports(given: Payment, ctx: rf.ToolContext) -> None:
        ctx.progress(0.5, CANARY)

    async def body() -> None:
        async with door(pay(reports)) as boundary:
            boundary.on("tool.progress", lambda event: heard.append(repr(event)))
            await boundary.call("pay", {"amount": 5})

    run(body)
    assert (len(heard), CANARY in heard[0]) == (1, False)


# --- scripts ---


@requirement("B160", "B163", "AC18", "D8")
@pytest.mark.slow
def test_a_script_sees_class_and_call_of_a_failure_and_no_place_of_the_host(watch: Callable[[Scenario], Seen]) -> None:
    async def scenario(seen: Seen) -> None:
        async with door(pay(raising)) as boundary:
            listen(boundary, seen)
            result = await boundary.run_script("await call_tool('pay', {'amount': 5})")
            assert result.error is not None
            assert (result.error.code, result.error.name) == ("TOOL_ERROR", "Secretive")
            seen.texts.append(("result", f"{result!r} {result.error} {dict(result.error.data)}"))

    seen = watch(scenario)
    assert seen.leaks(CANARY) == []
    assert [text for where, text in seen.leaks("/src/", "site-packages", __file__) if where != "log"] == []


@requirement("B163")
@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["'/usr/lib/python3/' * 60_000", "'File \"/a' * 120_000", "'(' * 1_000_000", "'a@' * 500_000"]
)
def test_a_huge_exception_of_a_script_is_cut_quickly_and_shows_no_frame_of_the_host(text: str) -> None:
    async def body() -> None:
        async with door(pay(Book())) as boundary:
            result = await boundary.run_script(f"raise ValueError({text})", timeout=5.0)
            assert result.error is not None
            assert (result.error.code, result.error.name, result.error.line) == ("RUNTIME_ERROR", "ValueError", 1)
            assert len(result.error.message) <= 4_096
            assert len(result.error.data["traceback"]) <= 8_192
            assert "ringfence" not in str(result.error.data)
            assert result.stats.duration < 3.0

    run(body, seconds=20)
