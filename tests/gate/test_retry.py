"""What an exception means is judged by class and origin, not by name or text."""

from __future__ import annotations

import asyncio
import json

import pytest

from ringfence.contract.backoff import Backoff
from ringfence.errors import (
    ConfigError,
    SandboxFault,
    ToolApprovalError,
    ToolError,
    ToolFailure,
    ToolTimeoutError,
)
from ringfence.gate.retry import classify, pause_after
from ringfence.gate.states import Ambiguous, Barred, Event, Exhausted, Failed, Faulted


def judged(
    error: BaseException,
    *,
    by_tool: bool = True,
    started: bool = True,
    aborted: bool = False,
    handled: BaseException | None = None,
) -> Event:
    return classify(error, by_tool=by_tool, started=started, aborted=aborted, handled=handled)


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


DENIED = ToolApprovalError("no", code="approval_denied")


class ReadTimeout(Exception):
    """As in HTTP clients: no OSError."""


class Closed(ToolError):
    """A tool's own class."""


class AbortError(Exception):
    """Only sounds like one of ours."""


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        json.JSONDecodeError("an answer that is no JSON", "x", 0),
        ReadTimeout(),
        SystemExit(1),
        asyncio.CancelledError(),
        MemoryError(),
        AbortError("ToolError"),
        FileNotFoundError("x"),
        ConnectionResetError(),
        TimeoutError("mine"),
    ],
)
def test_any_exception_leaves_open_whether_it_was_done(error: BaseException) -> None:
    assert judged(error) == Ambiguous()


@pytest.mark.parametrize("error", [ToolError("no such order"), Closed("no"), caused(ToolError("no"), ValueError())])
def test_only_the_tools_own_no_says_that_it_was_not_done(error: BaseException) -> None:
    assert judged(error) == judged(error, aborted=True) == Failed()


@pytest.mark.parametrize(
    "error",
    [
        ToolTimeoutError("a nested call", code="tool_timeout"),
        SandboxFault("the tool made it up", code="memory_limit"),
        caused(ToolError("no"), caused(ValueError(), ToolFailure("unknown", code="outcome_unknown"))),
        ExceptionGroup("two", [DENIED, ToolFailure("it ran", code="tool_raised")]),
    ],
)
def test_a_nested_call_that_ran_is_final_and_leaves_it_open(error: BaseException) -> None:
    assert judged(error) == Barred(ran=True)


@pytest.mark.parametrize(
    "error",
    [
        DENIED,
        ConfigError("closed", code="not_running"),
        caused(ValueError("wrapped"), ToolApprovalError("no", code="approval_denied")),
        caused(ValueError(), caused(ValueError(), ToolApprovalError("no", code="approval_denied"))),
        ExceptionGroup("two", [ValueError(), ToolApprovalError("no", code="approval_denied")]),
    ],
)
def test_what_a_nested_boundary_refused_is_final_and_leaves_the_work_around_it_open(error: BaseException) -> None:
    assert judged(error) == Barred(ran=True)
    assert judged(error, by_tool=False, started=False) == Barred(ran=False)


def raised_while(handling: BaseException, error: BaseException, *, hidden: bool = False) -> BaseException:
    try:
        try:
            raise handling
        except BaseException:
            if hidden:
                raise error from None
            raise error  # noqa: B904
    except BaseException as caught:
        return caught


@pytest.mark.parametrize("hidden", [False, True])
def test_what_is_raised_while_a_nested_refusal_is_handled_is_final_too(hidden: bool) -> None:
    denied = ToolApprovalError("no", code="approval_denied")
    error = raised_while(denied, ValueError("x"), hidden=hidden)
    assert judged(error) == Barred(ran=True)
    assert judged(error, handled=denied) == Ambiguous()  # the host's own, and not of this call


def test_the_tools_own_no_after_a_nested_refusal_is_final_and_believed() -> None:
    error = raised_while(ToolApprovalError("no", code="approval_denied"), ToolError("nobody allows it"))
    assert judged(error) == Barred(ran=False)


def test_a_no_of_a_driver_counts_only_before_the_tool_has_begun() -> None:
    assert judged(ToolError("no"), by_tool=False, started=False) == Failed()
    assert judged(ToolError("no"), by_tool=False, started=True) == Ambiguous()


def test_a_circle_of_causes_is_looked_at_once_and_an_endless_chain_counts_as_the_worst() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert judged(first) == Ambiguous()
    last = ValueError()
    for _ in range(200):
        last = caused(ValueError(), last)
    assert judged(last) == Barred(ran=True)


def test_a_fault_is_the_drivers_only_when_the_tool_did_not_raise_it() -> None:
    fault = SandboxFault("gone", code="sandbox_crashed")
    assert judged(fault, by_tool=False, started=True) == Faulted("sandbox_crashed", started=True)
    assert judged(fault, by_tool=False, started=False) == Faulted("sandbox_crashed", started=False)


@pytest.mark.parametrize("code", ["approval_denied", "made_up"])
def test_a_driver_cannot_make_up_a_code(code: str) -> None:
    fault = SandboxFault("gone", code=code)
    assert judged(fault, by_tool=False, started=False) == Faulted("sandbox_crashed", started=False)


def test_after_an_abort_nothing_is_repeated() -> None:
    assert judged(ValueError("x"), aborted=True) == Exhausted("tool_raised")
    assert judged(ConnectionError("x"), aborted=True) == Exhausted("tool_raised")


@pytest.mark.parametrize(
    ("attempt", "backoff", "left", "chance", "pause"),
    [
        (1, None, None, 0.5, 0.0),
        (1, None, 0.5, 0.5, 0.0),
        (1, None, 0.0, 0.5, None),
        (1, None, -1.0, 0.5, None),
        (1, Backoff(first=2.0, jitter=0.0), None, 0.5, 2.0),
        (3, Backoff(first=2.0, jitter=0.0), None, 0.5, 8.0),
        (3, Backoff(first=2.0, jitter=0.5), None, 0.5, 6.0),
        (3, Backoff(first=2.0, jitter=0.0), 8.1, 0.5, 8.0),
        (3, Backoff(first=2.0, jitter=0.0), 8.0, 0.5, None),
    ],
)
def test_a_pause_follows_the_backoff_unless_the_time_would_be_up(
    attempt: int, backoff: Backoff | None, left: float | None, chance: float, pause: float | None
) -> None:
    assert pause_after(attempt, backoff, left=left, chance=chance) == pause
