"""What these tests share: a loop with a bound, a tool that pays, two places to run it, and a record of every event.

Everything goes through `import ringfence as rf`: what these tests need, users have.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar

import pytest
from pydantic import BaseModel

import ringfence as rf

T = TypeVar("T")

HANG: Final = 5.0
"""Seconds after which a test that waits is broken."""

EVERY: Final = (
    "tool.called",
    "tool.completed",
    "tool.failed",
    "tool.recovered",
    "tool.rejected",
    "approval.required",
    "approval.granted",
    "approval.denied",
    "approval.answered",
)
"""The types that one call can cause, those that come only when asked for included."""


class Payment(BaseModel):
    """Arguments with a default, so that what was validated differs from what was given."""

    amount: int
    to: str = "ada"


class Minimal:
    """The least that is a driver: the function is called where it is."""

    name = "minimal"
    permissions = None

    def __init__(self) -> None:
        self.runs: list[tuple[list[Any], rf.Signal | None]] = []
        self.closed = 0

    def guarantees(self) -> Mapping[str, str]:
        return {}

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        self.runs.append((args, signal))
        result = fn(*args)
        return await result if inspect.isawaitable(result) else result

    async def aclose(self) -> None:
        self.closed += 1


PLACES: Final[Mapping[str, Callable[[], rf.Driver]]] = {"local": lambda: rf.local(unsafe=True), "minimal": Minimal}

each_place = pytest.mark.parametrize("place", PLACES)
"""Runs a test once for each driver; it gets the driver's name."""


class Heard:
    """Every event that a boundary emits about calls, as those see it who ask for all of them and for none by name."""

    def __init__(self, boundary: rf.Boundary) -> None:
        self.events: list[rf.Event] = []
        self.seed: list[rf.Event] = []
        boundary.on(EVERY, self.events.append)
        boundary.on(None, self.seed.append)

    @property
    def types(self) -> list[str]:
        """What a subscriber without a filter hears."""
        return [event.type for event in self.seed]

    @property
    def all_types(self) -> list[str]:
        return [event.type for event in self.events]


def run(body: Callable[[], Coroutine[Any, Any, T]], *, seconds: float = HANG) -> T:
    """Run a test's coroutine; a hang fails instead of hanging, and so does a task that stays behind."""

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            result = await body()
        for _ in range(5):
            await asyncio.sleep(0)  # cancelled helpers end one step later
        left = [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left
        return result

    return asyncio.run(bounded())


class Book:
    """A tool's function that keeps what it was given, and fails as often as it is told to."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.paid: list[tuple[int, str]] = []
        self.contexts: list[rf.ToolContext] = []

    async def __call__(self, payment: Payment, ctx: rf.ToolContext) -> str:
        self.paid.append((payment.amount, payment.to))
        self.contexts.append(ctx)
        if self.errors:
            raise self.errors.pop(0)
        return f"paid {payment.amount} to {payment.to}"


def pay(execute: Callable[..., Any], name: str = "pay", **options: Any) -> rf.Tool[..., Any]:
    """A tool over `Payment`."""
    return rf.Tool(name, "Pay somebody.", Payment, execute, **options)


def door(*tools: rf.Tool[..., Any], place: str = "local", **options: Any) -> rf.Boundary:
    """A boundary with one of the places, unless another sandbox is given."""
    if "sandbox" not in options:
        options["sandbox"] = PLACES[place]()
    return rf.Boundary(tools=list(tools), **options)


def call(
    *tools: rf.Tool[..., Any],
    args: Any = None,
    signal: rf.Signal | None = None,
    session_id: str | None = "session",
    **options: Any,
) -> tuple[rf.Outcome, Heard]:
    """One call of the first tool behind a fresh boundary, and what was heard of it."""

    async def body() -> tuple[rf.Outcome, Heard]:
        async with door(*tools, **options) as boundary:
            heard = Heard(boundary)
            given = {"amount": 5} if args is None else args
            return await boundary.call(tools[0].name, given, session_id=session_id, signal=signal), heard

    return run(body)


def ending(outcome: rf.Outcome) -> tuple[str, str | None, int]:
    """Status, code, attempts."""
    return outcome.status, outcome.error.code if outcome.error else None, outcome.attempts


async def never(*_: Any) -> Any:
    """Waits for ever, until it is cancelled."""
    await asyncio.Event().wait()


def yes(request: rf.ApprovalRequest) -> bool:
    """Approves."""
    return True


def later(answer: T) -> Callable[..., Awaitable[T]]:
    """A handler that answers after the others have had their turn."""

    async def handler(request: object) -> T:
        del request
        await asyncio.sleep(0)
        return answer

    return handler


class Slow:
    """Never answers, and says whether it was cancelled."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.cancelled = False

    async def __call__(self, request: rf.ApprovalRequest) -> bool:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return False


SUCCESS: Final = ["tool.called", "tool.completed"]
APPROVED: Final = ["approval.required", "approval.granted", "tool.called", "tool.completed"]
FAILED: Final = ["tool.called", "tool.failed"]
DENIED: Final = ["approval.required", "approval.denied", "tool.rejected"]


def no(request: rf.ApprovalRequest) -> bool:
    """Denies."""
    return False


def fails(request: rf.ApprovalRequest) -> bool:
    """Decides nothing."""
    raise RuntimeError("the service is down")


async def fails_later(request: rf.ApprovalRequest) -> bool:
    """Decides nothing, and not at once."""
    await asyncio.sleep(0)
    raise RuntimeError("the service is down")


def judged(approve: Any, **options: Any) -> tuple[tuple[str, str | None, int], list[str], list[tuple[int, str]]]:
    """How a call of a tool for people ends, all that was announced, and what was paid."""
    book = Book()
    outcome, heard = call(pay(book, approval="human", **options), approve=approve)
    return ending(outcome), heard.all_types, book.paid


GRANTED: Final = (("succeeded", None, 1), APPROVED, [(5, "ada")])
NOTHING: Final[list[tuple[int, str]]] = []
REFUSED: Final = (("refused", "approval_denied", 0), DENIED, NOTHING)
"""How `judged` ends."""


def down(times: int) -> list[Exception]:
    """That many failures of a service."""
    return [ConnectionError("down") for _ in range(times)]
