"""Doing what the machine commands for one call: an attempt, a question, a pause, a fallback.

Each function returns the event that it led to. All foreign code is awaited through `gate.attempt`, so each of them
ends when the gate or the host says so. Knows a tool and its driver's port; decides nothing. Called by `gate.runner`.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Callable
from functools import partial
from types import CoroutineType
from typing import Any, Final, cast

from ringfence import values
from ringfence.contract.context import ToolContext
from ringfence.contract.hints import UNDECLARED
from ringfence.contract.output import as_output_schema
from ringfence.contract.tool import Tool
from ringfence.errors import ToolTimeoutError
from ringfence.gate.approval import decide, in_place
from ringfence.gate.attempt import Attempt, Attempts, InPlace, Stop, Stopped
from ringfence.gate.entries import Entry, LiveCall
from ringfence.gate.explain import class_name
from ringfence.gate.retry import classify
from ringfence.gate.shown import shown
from ringfence.gate.signals import AbortSignal
from ringfence.gate.states import (
    Aborted,
    Denied,
    Event,
    Exhausted,
    Granted,
    Interrupted,
    Recovered,
    RecoveryFailed,
    Returned,
    TimedOut,
    Woke,
)
from ringfence.limits import ValueBudget
from ringfence.ports import ApprovalRequest
from ringfence.threads import DaemonThreads

BUDGET: Final = ValueBudget()
"""How large the arguments of one call may be."""

RECOVERY_TIMEOUT: Final = 30.0
"""Seconds for `on_error`: it makes an answer out of what is at hand."""

_log: Final = logging.getLogger("ringfence.calls")
_FALLBACK: Final = as_output_schema(UNDECLARED, "on_error")


class Means:
    """What every call of a gate shares."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        approval_timeout: float | None,
        progress: Callable[[LiveCall, float, str], None],
    ) -> None:
        self.clock = clock
        self.progress = progress
        self.approval_timeout = approval_timeout
        self.attempts = Attempts()
        self.threads = DaemonThreads("ringfence-handler")
        self.closing = False
        """No attempt and no fallback is started any more."""


class _Body:
    """The function that a driver gets: the tool with its context bound, taking the validated arguments."""

    __slots__ = ("context", "raised", "started", "tool")

    def __init__(self, tool: Tool[..., Any], context: ToolContext) -> None:
        self.tool = tool
        self.context = context
        self.started = False
        self.raised = False
        """The tool itself did, so that whatever came out of the driver is not the driver's."""

    async def on_loop(self, given: Any) -> Any:
        self.started = True
        try:
            return await self.tool.call_with(given, self.context)
        except BaseException:
            self.raised = True
            raise

    def in_thread(self, given: Any) -> Any:
        self.started = True
        try:
            return self.tool.call_with(given, self.context)
        except BaseException:
            self.raised = True
            raise


async def run_attempt(call: LiveCall, number: int, means: Means) -> Event:
    """Start the tool once, in its sandbox and within its timeout."""
    entry = cast("Entry", call.entry)
    tool = entry.tool
    signal = AbortSignal(call.signal)
    body = _Body(tool, _context(call, entry, number, signal, means))
    attempt: Attempt | InPlace | None = None
    try:
        value = call.value if entry.plan.max_attempts == 1 else copy.deepcopy(call.value)
        assert entry.driver is not None
        code: Any = entry.driver.run(body.on_loop if tool.is_async else body.in_thread, [value], signal=signal)
        coroutine = code if type(code) is CoroutineType else _awaiting(code)
        if call.own_task and tool.timeout is None:
            attempt = InPlace(coroutine, means.attempts)
        else:
            attempt = Attempt(coroutine, means.attempts, tool.timeout)
        attempt.on_stop = signal.abort
        result = await attempt
    except Stopped as stopped:
        if stopped.why is not Stop.EXPIRED:
            return Interrupted()
        call.cause = ToolTimeoutError(f"{tool.name} took longer than {tool.timeout:g} s", code="tool_timeout")
        return TimedOut()
    except BaseException as error:  # noqa: BLE001  (a tool may raise anything; what is ours was handled above)
        if isinstance(error, KeyboardInterrupt) or (attempt is not None and attempt.cancelled):
            signal.abort("cancelled")
            call.cancelled = error
            return Interrupted()
        call.cause = error
        _log.info("call %s of %s: attempt %d raised %s", call.call_id, tool.name, number, class_name(error))
        return classify(error, by_tool=body.raised, started=body.started, aborted=signal.aborted)
    call.result = result
    return _checked(call, tool) if call.encode or entry.is_checked else Returned()


def _checked(call: LiveCall, tool: Tool[..., Any]) -> Event:
    """Compare a result with what was declared. The tool has run, so that no second attempt may mend it."""
    try:
        call.encoded = tool.output.dump(call.result)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (besides ValueRefused, whatever a schema that is not ours raises)
        call.cause = error
        return Exhausted("bad_result")
    return Returned()


async def _awaiting(code: Any) -> Any:
    """A driver may answer with any awaitable, or, against its contract, with what the function returned."""
    return await code if inspect.isawaitable(code) else code


def _context(call: LiveCall, entry: Entry, number: int, signal: AbortSignal, means: Means) -> ToolContext:
    timeout = entry.tool.timeout
    return ToolContext(
        session_id=call.origin.session_id,
        principal=call.origin.principal,
        call_id=call.call_id,
        attempt=number,
        max_attempts=entry.plan.max_attempts,
        idempotency_key=call.call_id,
        deadline=None if timeout is None else means.clock() + timeout,
        signal=signal,
        on_log=entry.log,
        on_progress=partial(means.progress, call),
    )


async def ask(call: LiveCall, means: Means) -> Event:
    """Get the decision. The time it takes belongs to no deadline but its own."""
    entry = cast("Entry", call.entry)
    if entry.approver is None:
        call.reason = "no_handler"
        return Denied(call.reason)
    try:
        request = _request(call, entry)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (the user's types may refuse to be copied or read; then nobody can judge them)
        _log.warning("the arguments of %s cannot be shown: %s", call.name, class_name(error))
        call.reason = "handler_failed"
        return Denied(call.reason)
    watch = call.watch
    if watch is not None:
        watch.approval_began()
    try:
        decision = await decide(
            entry.approver,
            request,
            threads=means.threads,
            attempts=means.attempts,
            timeout=means.approval_timeout,
            signal=call.signal,
        )
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit) as error:
        call.cancelled = error
        return Interrupted()
    finally:
        if watch is not None:
            watch.approval_ended()
    match decision:
        case Granted() if call.signal is not None and call.signal.aborted:
            return Aborted()
        case Granted() if means.closing:
            return Interrupted()
        case Denied(reason):
            call.reason = reason
        case _:
            pass
    return decision


def _request(call: LiveCall, entry: Entry) -> ApprovalRequest:
    given = copy.deepcopy(call.value)
    arguments = shown(given)
    position = call.origin.position
    return ApprovalRequest(
        tool=entry.tool.name,
        description=entry.tool.description,
        input=given,
        arguments=arguments,
        digest=values.digest(values.canonical(arguments, BUDGET)),
        session_id=call.origin.session_id,
        principal=call.origin.principal,
        call_id=call.call_id,
        run_id=call.origin.run_id,
        line=position.line if position is not None else None,
        effect=entry.tool.effect,
    )


async def pause(call: LiveCall, seconds: float, means: Means) -> Event:
    """Wait before another attempt."""
    try:
        await asyncio.sleep(seconds)
    except (asyncio.CancelledError, GeneratorExit) as error:
        call.cancelled = error
        return Interrupted()
    if means.closing:
        return Interrupted()
    return Aborted() if call.signal is not None and call.signal.aborted else Woke()


async def recover(call: LiveCall, means: Means) -> Event:
    """Ask `on_error` for a result in place of the last failure (first seed, "Handle terminal errors")."""
    tool = cast("Entry", call.entry).tool
    assert tool.on_error is not None
    if means.closing:
        return Interrupted()
    attempt = Attempt(in_place(tool.on_error, [call.cause], means.threads), means.attempts, RECOVERY_TIMEOUT)
    try:
        result = await attempt
        call.encoded = _FALLBACK.dump(result) if call.encode else None
    except Stopped as stopped:
        if stopped.why is not Stop.EXPIRED:
            return Interrupted()
        text = f"{tool.name}: on_error took longer than {RECOVERY_TIMEOUT:g} s"
        call.cause = ToolTimeoutError(text, code="tool_timeout")
        return RecoveryFailed()
    except BaseException as error:  # noqa: BLE001  (a fallback may raise anything)
        if isinstance(error, KeyboardInterrupt) or attempt.cancelled:
            call.cancelled = error
            return Interrupted()
        call.cause = error
        _log.info("call %s of %s: on_error raised %s", call.call_id, tool.name, class_name(error))
        return RecoveryFailed()
    call.result = result
    return Recovered()
