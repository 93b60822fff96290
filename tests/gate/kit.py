"""What the gate's tests share: a loop with a bound, tools made of plain functions, a record of events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pydantic import BaseModel

from ringfence.contract.tool import Tool
from ringfence.contract.toolset import Toolset
from ringfence.events import EVENT_TYPES, SEED_TYPES, Event
from ringfence.gate.runner import Gate
from ringfence.ports import ApprovalRequest, Origin, Outcome
from ringfence.sandbox.local_unsafe import local

T = TypeVar("T")
Verdict = tuple[str, str | None, int]

ORIGIN = Origin(session_id="s", principal="ada")


class Amount(BaseModel):
    """Arguments with a default, so that what was validated differs from what was given."""

    cents: int
    currency: str = "EUR"


def run(body: Callable[[], Coroutine[Any, Any, T]], *, seconds: float = 5.0) -> T:
    """Run a test's coroutine; a hang fails instead of hanging. Tasks that it leaves behind fail, too."""

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            result = await body()
        for _ in range(3):
            await asyncio.sleep(0)  # cancelled helpers end one step later
        left = [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left
        return result

    return asyncio.run(bounded())


def tool(execute: Callable[..., Any], name: str = "pay", **options: Any) -> Tool[..., Any]:
    """A tool over `Amount`."""
    return Tool(name, "Pay.", Amount, execute, **options)


def gate(*tools: Tool[..., Any], **options: Any) -> Gate:
    """A gate with the local driver, unless another is given."""
    options.setdefault("sandbox", local(unsafe=True))
    return Gate(Toolset(tools), **options)


class Watch:
    """Hears how long a decision is waited for, and when the tool begins."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def approval_began(self) -> None:
        self.heard.append("began")

    def approval_ended(self) -> None:
        self.heard.append("ended")

    def tool_began(self) -> None:
        self.heard.append("tool")


class Trace:
    """Every event of a gate."""

    def __init__(self, of: Gate) -> None:
        self.events: list[Event] = []
        of.hub.on(EVENT_TYPES, self.events.append)

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    def seed(self) -> list[str]:
        """Only the types that a subscriber without a filter gets."""
        return [kind for kind in self.types if kind in SEED_TYPES]

    def codes(self) -> list[str | None]:
        return [event.meta.get("code") for event in self.events]


ARGS = {"cents": 5}


async def pay(args: Amount) -> str:
    """The usual tool."""
    return f"paid {args.cents} {args.currency}"


def yes(request: ApprovalRequest) -> bool:
    """Approves."""
    return True


def outcome_of(
    *tools: Tool[..., Any], args: object = ARGS, name: object = "pay", **options: Any
) -> tuple[Outcome, Trace]:
    """One call of a fresh gate, and what was said about it."""

    async def body() -> tuple[Outcome, Trace]:
        of = gate(*tools, **options)
        trace = Trace(of)
        outcome = await of.call(name, args, origin=ORIGIN)
        await of.aclose()
        return outcome, trace

    return run(body)


def verdict(outcome: Outcome) -> Verdict:
    """Status, code, attempts."""
    return outcome.status, outcome.error.code if outcome.error else None, outcome.attempts


def failing(times: int, error: BaseException, ran: list[int] | None = None) -> Callable[..., Any]:
    """Raises so many times, then pays. Changes its arguments, which must not change those of the next attempt."""
    count = 0

    async def execute(args: Amount) -> str:
        nonlocal count
        count += 1
        if ran is not None:
            ran.append(args.cents)
        args.cents += 1_000
        if count <= times:
            raise error
        return "paid"

    return execute
