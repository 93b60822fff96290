"""No event, no log record and no span holds what a call was about: arguments, results, or texts of exceptions.

Every way in which a call can end is tried, with a text of its own in every value that a caller, a tool, an approver,
a schema, a driver or a handler can choose. What a tool says by `ctx.log` and `ctx.progress` is meant for the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import ringfence as rf
from ringfence.events import EVENT_TYPES

CANARY = "canary-5a1f"


def secret(place: str) -> str:
    return f"{CANARY}-{place}"


class SecretError(Exception):
    """Its text, arguments, cause and notes are all secrets."""

    def __init__(self, place: str) -> None:
        super().__init__(secret(place), {"token": secret(place)})
        self.__cause__ = ValueError(secret(place))
        self.add_note(secret(place))


class Place:
    """A driver that may break, before or after the tool ran."""

    name = "place"

    def __init__(self, breaks: str) -> None:
        self.breaks = breaks

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        if self.breaks == "before":
            raise SecretError("driver")
        result = await fn(*args)
        if self.breaks == "after":
            raise SecretError("driver")
        if self.breaks == "fault":
            raise rf.SandboxFault(secret("driver"), code="sandbox_crashed")
        return result

    async def aclose(self) -> None:
        if self.breaks == "closing":
            raise SecretError("driver")


def approving(answer: str) -> Any:
    async def handler(request: rf.ApprovalRequest) -> Any:
        match answer:
            case "approve":
                return True
            case "edit":
                return rf.Edit({"text": secret("edit")})
            case "bad edit":
                return rf.Edit({"text": 7, secret("edit"): secret("edit")})
            case "reject":
                return rf.Reject(secret("reject"))
            case "respond":
                return rf.Respond({"answer": secret("respond")})
            case "nonsense":
                return secret("answer")
            case "raise":
                raise SecretError("approver")
            case _:
                return await asyncio.Event().wait()

    return handler


def behaving(what: str) -> Callable[..., Any]:
    async def echo(text: str, ctx: rf.ToolContext) -> Any:
        match what:
            case "return":
                return {"text": text, secret("result"): secret("result")}
            case "raise" if ctx.attempt == 1:
                raise SecretError("tool")
            case "say no":
                raise rf.ToolError(secret("tool"), code=secret("code"), data={"token": secret("data")})
            case "bad result":
                return object.__new__(type(secret("type"), (), {}))
            case "hang":
                return await asyncio.Event().wait()
            case _:
                return secret("result")

    return echo


def falling_back(what: str) -> Any:
    def on_error(error: Exception) -> Any:
        if what == "raise":
            raise SecretError("fallback")
        return secret("fallback")

    return on_error


@dataclass
class Seen:
    """What telemetry and operators can see."""

    texts: list[str] = field(default_factory=list[str])
    kinds: set[str] = field(default_factory=set[str])

    def hear(self, event: rf.Event) -> None:
        self.kinds.add(event.type)
        self.texts.append(repr(event))

    async def hear_and_fail(self, event: rf.Event) -> None:
        raise SecretError("handler")


class Records(logging.Handler):
    """Every log record, with everything that hangs on it."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(logging.DEBUG)
        self.seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.texts.append(f"{logging.Formatter().format(record)} {record.__dict__!r}")


ARGUMENTS: Mapping[str, Any] = {
    "good": {"text": secret("argument")},
    "wrong type": {"text": [secret("argument")]},
    "unknown": {"text": "", secret("name"): secret("argument")},
    "no json": {"text": cast("Any", {secret("argument")})},
    "none": {},
}


async def play(seen: Seen, case: Mapping[str, str]) -> None:
    """One call of a boundary that is heard on every channel."""
    tool = rf.Tool.from_function(
        behaving(case["tool"]),
        name="echo",
        description="Give the text back.",
        retries=1,
        effect="read",
        timeout=0.01 if case["tool"] == "hang" else None,
        output=int if case["tool"] == "bad result" else None,
        approval="human" if case["approver"] != "nobody" else "auto",
        on_error=None if case["fallback"] == "none" else falling_back(case["fallback"]),
    )
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    boundary = rf.Boundary(
        [tool],
        sandbox=Place(case["driver"]),
        approve=approving(case["approver"]),
        approval_timeout=0.01 if case["approver"] == "silent" else None,
        tracer_provider=provider,
    )
    for kind in EVENT_TYPES:
        boundary.on(kind, seen.hear)
        boundary.on(kind, seen.hear_and_fail)
    name = secret("tool name") if case["name"] == "wrong" else "echo"
    await boundary.call(name, ARGUMENTS[case["arguments"]], session_id="s", principal=secret("principal"))
    try:
        await boundary.aclose()
    except* SecretError:  # the host's own to read
        assert case["driver"] == "closing"
    seen.texts += [span.to_json() for span in exporter.get_finished_spans()]


CASES = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["right"] * 9 + ["wrong"]),
        "arguments": st.sampled_from(["good"] * 4 + sorted(ARGUMENTS)),
        "approver": st.sampled_from(
            ["nobody", "approve", "edit", "bad edit", "reject", "respond", "nonsense", "raise", "silent"]
        ),
        "driver": st.sampled_from(["", "", "", "before", "after", "fault", "closing"]),
        "tool": st.sampled_from(["return", "raise", "say no", "bad result", "hang"]),
        "fallback": st.sampled_from(["none", "answer", "raise"]),
    }
)


def told(case: Mapping[str, str]) -> Seen:
    seen = Seen()
    records, root = Records(seen), logging.getLogger()
    level = root.level
    root.addHandler(records)
    root.setLevel(logging.DEBUG)
    try:
        asyncio.run(play(seen, case))
    finally:
        root.removeHandler(records)
        root.setLevel(level)
    return seen


@pytest.mark.slow
@given(CASES)
def test_no_event_record_or_span_holds_what_a_call_was_about(case: Mapping[str, str]) -> None:
    seen = told(case)
    assert seen.texts
    assert [text for text in seen.texts if CANARY in text] == []


def test_the_canary_would_be_found() -> None:
    case = {"name": "right", "arguments": "good", "approver": "nobody", "driver": "", "tool": "", "fallback": "none"}
    seen = told(case)
    assert seen.kinds == {"tool.called", "tool.completed"}
    logging.getLogger("ringfence").addHandler(records := Records(seen))
    try:
        logging.getLogger("ringfence").warning("x", extra={"token": secret("log")})
    finally:
        logging.getLogger("ringfence").removeHandler(records)
    assert [text for text in seen.texts if CANARY in text]
