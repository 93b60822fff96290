"""No event holds what a call was about: neither arguments nor results nor the text of an exception."""

from __future__ import annotations

import asyncio
from typing import get_args

import ringfence as rf
from ringfence.events import EVENT_TYPES, EventType

CANARY = "canary-5a1f"
META = {"call_id", "attempt", "max_attempts", "duration", "code", "reason", "run_id", "line"}


@rf.tool(approval="human", retries=1)
async def echo(text: str) -> str:
    """Give the text back, or break with it."""
    if text.endswith("!"):
        raise RuntimeError(text)
    return text


async def approve(request: rf.ApprovalRequest) -> bool:
    return not request.arguments["text"].endswith("?")


def test_no_event_holds_an_argument_a_result_or_an_exception() -> None:
    seen: list[rf.Event] = []

    async def body() -> None:
        async with rf.Boundary(tools=[echo], sandbox=rf.local(unsafe=True), approve=approve) as boundary:
            for name in EVENT_TYPES:
                boundary.on(name, seen.append)
            for text in (CANARY, CANARY + "!", CANARY + "?", 7):
                await boundary.call("echo", {"text": text}, session_id="s", principal="p")

    asyncio.run(body())
    assert {event.type for event in seen} >= {"tool.called", "tool.completed", "tool.failed", "tool.rejected"}
    for event in seen:
        assert event.type in get_args(EventType)
        assert CANARY not in repr(event)
        assert set(event.meta) <= META, event
