"""Doing what the machine commands for one call where the tool's author is concerned: an attempt, and a fallback.

Each function returns the event that it led to. All foreign code is awaited through `gate.attempt`, so each of them
ends when the gate or the host says so. Knows a tool and its driver's port; decides nothing. Called by `gate.runner`.
"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Coroutine
from functools import partial
from types import CoroutineType
from typing import Any, Final, cast

from ringfence.contract.context import ToolContext
from ringfence.contract.hints import UNDECLARED
from ringfence.contract.output import PydanticOutput
from ringfence.contract.tool import Tool
from ringfence.errors import SandboxFault, ToolTimeoutError
from ringfence.gate import explain, waits
from ringfence.gate.attempt import Attempt, InPlace, Stop, Stopped
from ringfence.gate.body import Body, GuardedBody
from ringfence.gate.copies import private
from ringfence.gate.entries import Entry, LiveCall
from ringfence.gate.explain import class_name
from ringfence.gate.handlers import in_place
from ringfence.gate.machine import may_repeat
from ringfence.gate.means import BUDGET, Means, too_long
from ringfence.gate.retry import classify, pause_after
from ringfence.gate.signals import AbortSignal
from ringfence.gate.states import (
    Ambiguous,
    Event,
    Exhausted,
    Failed,
    Faulted,
    Interrupted,
    Recovered,
    RecoveryFailed,
    Returned,
    TimedOut,
)
from ringfence.ports import Unfinished

RECOVERY_TIMEOUT: Final = 30.0
"""Seconds for `on_error`: it makes an answer out of what is at hand."""

_LONGEST_CONTEXT: Final = 100
"""Exceptions looked at that were raised while another one was handled; a circle is longer."""

_log: Final = logging.getLogger("ringfence.calls")
_Code = Coroutine[Any, Any, Any]
_RETURNED: Final = Returned()
_FALLBACK: Final = PydanticOutput(UNDECLARED, "on_error")


async def run_attempt(call: LiveCall, number: int, means: Means) -> Event:
    """Start the tool once, in its sandbox and within its time."""
    entry = call.entry
    assert entry is not None
    tool = entry.tool
    timeout = tool.timeout if tool.total_timeout is None else _time_left(call, tool, means)
    if number > 1:
        call.cause = None
    signal = AbortSignal(call.parent)
    # for a tool that does not look at it, it is not made: 1.5 of 20 us
    context = _context(call, entry, number, timeout, signal, means) if tool.takes_context else None
    attempt: Attempt | InPlace | None = None
    handled = sys.exception()
    try:
        value = call.value if entry.plan.max_attempts == 1 else private(call.value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (the user's types may refuse to be copied; nothing has begun)
        return _not_begun(call, number, error)
    if call.watch is not None:
        call.watch.tool_began()
    body = Body(tool, context, value)
    try:
        if not entry.is_plain:
            body = GuardedBody(tool, context, value, turn=call.turn, is_trusted=entry.is_trusted)
        assert entry.driver is not None
        code: Any = entry.driver.run(body.on_loop if tool.is_async else body.in_thread, [value], signal=signal)
        coroutine = cast("_Code", code) if type(code) is CoroutineType else _awaiting(code)
        if call.own_task and timeout is None:
            attempt = InPlace(coroutine, means.attempts)
            attempt.on_stop = signal.abort
        else:
            attempt, call.result = Attempt.begun(coroutine, means.attempts, timeout, signal.abort)
        if attempt is not None:
            call.result = await attempt
    except Stopped as stopped:
        if stopped.why is not Stop.EXPIRED:
            return Interrupted()
        call.is_late = timeout is not tool.timeout
        text = explain.too_slow(tool.name, tool.timeout if timeout is tool.timeout else None, tool.total_timeout)
        call.cause = ToolTimeoutError(text, code="tool_timeout")
        return TimedOut()
    except BaseException as error:  # noqa: BLE001  (a tool may raise anything; what is ours was handled above)
        if isinstance(error, KeyboardInterrupt) or (attempt is not None and attempt.cancelled):
            signal.abort("cancelled")
            call.cancelled = error
            return Interrupted()
        return _raised(call, number, body, error, handled, aborted=signal.aborted, means=means)
    finally:
        body.end()
    if body.fault is not None:
        return _violated(call, body.fault, started=body.started)
    if not (call.encode or entry.is_checked):
        return _RETURNED
    event = _checked(call, tool)
    return await _checked_later(call, tool, event, means) if isinstance(event, Unfinished) else event


def _time_left(call: LiveCall, tool: Tool[..., Any], means: Means) -> float | None:
    """Seconds for an attempt that begins now: its own, unless less is left for all of them."""
    assert tool.total_timeout is not None
    now = means.clock()
    if call.until is None:
        call.until = now + tool.total_timeout
    left = max(call.until - now, 0.0)
    return left if tool.timeout is None or left < tool.timeout else tool.timeout


def _not_begun(call: LiveCall, number: int, error: BaseException) -> Event:
    """The arguments could not be copied for an attempt, and could not be for another."""
    call.cause = error
    _log.info(
        "call %s of %s: copying the arguments for attempt %d raised %s",
        call.call_id,
        call.name,
        number,
        class_name(error),
    )
    return Failed(None)


def _raised(
    call: LiveCall,
    number: int,
    body: Body,
    error: BaseException,
    handled: BaseException | None,
    *,
    aborted: bool,
    means: Means,
) -> Event:
    """What an exception that came out of an attempt means."""
    if body.fault is not None:
        return _violated(call, body.fault, started=body.started)
    call.cause = error
    entry = cast("Entry", call.entry)
    _log.info("call %s of %s: attempt %d raised %s", call.call_id, entry.tool.name, number, class_name(error))
    event = classify(error, by_tool=body.raised, started=body.started, aborted=aborted, handled=handled)
    match event:
        case Failed() if may_repeat(entry.plan, number, event):
            return Failed(_pause(call, entry.tool, number, error, means))
        case Ambiguous() if may_repeat(entry.plan, number, event):
            return Ambiguous(_pause(call, entry.tool, number, error, means))
        case _:
            return event


def _pause(call: LiveCall, tool: Tool[..., Any], number: int, error: BaseException, means: Means) -> float | None:
    """Seconds until another attempt that is allowed; None when it is not wanted, or there is no time for it."""
    if tool.retry_on is not None and not _is_wanted(tool, error):
        return None
    left = None if call.until is None else call.until - means.clock()
    pause = pause_after(number, tool.backoff, left=left, chance=0.0 if tool.backoff is None else means.chance())
    call.is_late = pause is None
    return pause


def _is_wanted(tool: Tool[..., Any], error: BaseException) -> bool:
    """Whether `retry_on` says so. A question that is not answered with True, or not at all, is no wish."""
    retry_on = tool.retry_on
    assert retry_on is not None
    try:
        if isinstance(retry_on, type | tuple):
            return isinstance(error, retry_on)
        return retry_on(error) is True
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001  (the question is the user's, and may raise anything)
        _log.warning("retry_on of %s raised %s, so nothing is repeated", tool.name, class_name(failure))
        return False


def _violated(call: LiveCall, fault: SandboxFault, *, started: bool) -> Event:
    """The driver broke the rules, whatever it says came of it."""
    call.cause = fault
    return Faulted(fault.code, started)


def _checked(call: LiveCall, tool: Tool[..., Any]) -> Event | Unfinished:
    """Compare a result with what was declared. The tool has run, so that no second attempt may mend it."""
    try:
        encoded = tool.output.dump(call.result)
        return encoded if isinstance(encoded, Unfinished) else _bounded(call, tool, encoded)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (besides ValueRefused, whatever a schema that is not ours raises)
        call.cause = error
        return Exhausted("bad_result")


async def _checked_later(call: LiveCall, tool: Tool[..., Any], pending: Unfinished, means: Means) -> Event:
    """The same, where the schema is asynchronous."""
    try:
        ended, encoded = await waits.finished(call, pending, means.attempts, call.parent)
        return Interrupted() if ended is not None else _bounded(call, tool, encoded)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (the same)
        call.cause = error
        return Exhausted("bad_result")


def _bounded(call: LiveCall, tool: Tool[..., Any], encoded: bytes) -> Event:
    if len(encoded) > (BUDGET.size if tool.max_result is None else tool.max_result):
        raise too_long(tool, encoded)
    call.encoded = encoded
    return _RETURNED


async def _awaiting(code: Any) -> Any:
    """A driver may answer with any awaitable, or, against its contract, with what the function returned."""
    return await code if inspect.isawaitable(code) else code


def _context(
    call: LiveCall, entry: Entry, number: int, timeout: float | None, signal: AbortSignal, means: Means
) -> ToolContext:
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


async def recover(call: LiveCall, means: Means) -> Event:
    """Ask `on_error` for a result in place of the last failure (first seed, "Handle terminal errors").

    Its answer may have any shape, but no more bytes than a result.
    """
    tool = cast("Entry", call.entry).tool
    assert tool.on_error is not None
    if means.closing:
        return Interrupted()
    attempt = Attempt(in_place(tool.on_error, [call.cause], means.threads), means.attempts, RECOVERY_TIMEOUT)
    try:
        result = await attempt
    except Stopped as stopped:
        if stopped.why is not Stop.EXPIRED:
            return Interrupted()
        text = f"{tool.name}: on_error took longer than {RECOVERY_TIMEOUT:g} s"
        _replace(call, ToolTimeoutError(text, code="tool_timeout"))
        return RecoveryFailed()
    except BaseException as error:  # noqa: BLE001  (a fallback may raise anything)
        if isinstance(error, KeyboardInterrupt) or attempt.cancelled:
            call.cancelled = error
            return Interrupted()
        _replace(call, error)
        _log.info("call %s of %s: on_error raised %s", call.call_id, tool.name, class_name(error))
        return RecoveryFailed()
    try:
        if call.encode or tool.max_result is not None:
            _bounded(call, tool, _FALLBACK.dump(result))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (besides ValueRefused, whatever the answer's own classes raise)
        _replace(call, error)
        call.refusal = explain.bad_fallback(tool.name, error)
        return RecoveryFailed("bad_result")
    call.result = result
    return Recovered()


def _replace(call: LiveCall, error: BaseException) -> None:
    """An error in place of the tool's own, which stays at the end of its context."""
    first, call.cause = call.cause, error
    if first is None:
        return
    chain, known = _contexts(error), _contexts(first)
    if chain[-1].__context__ is None and not any(one is other for one in chain for other in known):
        chain[-1].__context__ = first


def _contexts(error: BaseException) -> list[BaseException]:
    """The exception and what was handled when it was raised, as far as that goes on."""
    chain = [error]
    while len(chain) < _LONGEST_CONTEXT and (further := chain[-1].__context__) is not None:
        chain.append(further)
    return chain
