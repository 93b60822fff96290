"""What a call waits for besides its attempts and its decision: a validator, its turn, the next attempt.

Each function returns the event that it led to, or hands over what came of it. All of them end when the gate, the host,
or (before the tool has run) the caller's signal says so. Knows a call and its tool's schemas; decides nothing. Called by `gate.runner` and `gate.perform`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Final

from ringfence.gate import explain
from ringfence.gate.attempt import Attempt, Attempts, Stop, Stopped, withdrawn
from ringfence.gate.entries import LiveCall
from ringfence.gate.means import Means
from ringfence.gate.states import Aborted, Entered, Event, Expired, Interrupted, Refused, Woke
from ringfence.ports import Signal, Unfinished

VALIDATION_TIMEOUT: Final = 30.0
"""Seconds for an asynchronous schema to judge one value. It is the gate's own time, not the tool's."""


Ended = Aborted | Expired | Interrupted
"""How a wait ends that came to nothing."""

_ENDS: Final[dict[Stop, Ended]] = {Stop.EXPIRED: Expired(), Stop.ABORTED: Aborted(), Stop.CLOSING: Interrupted()}


class SchemaTimeoutError(Exception):
    """An asynchronous schema did not answer in time."""


async def attended(
    call: LiveCall,
    code: Coroutine[Any, Any, Any],
    attempts: Attempts,
    *,
    signal: Signal | None,
    timeout: float | None = None,
) -> tuple[Ended | None, Any]:
    """Await code of our own or of a schema's. How the wait was ended from outside, or None and what the code returned.

    Raises:
        BaseException: what the code raised itself.
    """
    attempt = Attempt(code, attempts, timeout)
    try:
        with withdrawn(signal, attempt):
            return None, await attempt
    except Stopped as stopped:
        return _ENDS[stopped.why], None
    except BaseException as error:
        if attempt.cancelled or isinstance(error, KeyboardInterrupt):
            call.cancelled = error
            return Interrupted(), None
        raise


async def finished(
    call: LiveCall, given: Unfinished, attempts: Attempts, signal: Signal | None, *, left: float | None = None
) -> tuple[Ended | None, Any]:
    """What an asynchronous `validate` or `dump` comes to.

    Args:
        left: seconds that whoever asks still has, where these are less than a schema has: then the wait ends `Expired`.

    Raises:
        SchemaTimeoutError: it did not answer in time.
        BaseException: what the schema raised.
    """
    timeout = VALIDATION_TIMEOUT if left is None else min(max(left, 0.0), VALIDATION_TIMEOUT)
    ended, answer = await attended(call, _awaiting(given.awaitable), attempts, signal=signal, timeout=timeout)
    if isinstance(ended, Expired) and timeout >= VALIDATION_TIMEOUT:
        raise SchemaTimeoutError
    return ended, given.finish(answer) if ended is None else None


async def entered(call: LiveCall, means: Means) -> Event:
    """Wait for the call's turn among those of its tool."""
    assert call.entry is not None
    assert call.entry.slots is not None
    turn = call.turn = call.entry.slots.turn()
    if turn.is_hopeless:
        call.refusal = explain.would_deadlock(call.name, call.entry.tool.max_concurrency)
        return Refused("would_deadlock")
    if not turn.is_held:
        ended, _ = await attended(call, turn.wait(), means.attempts, signal=call.signal)
        if ended is not None:
            return ended
    if call.signal is not None and call.signal.aborted:  # at dispatch, what was true while asking may not be so
        return Aborted()
    if means.closing:
        return Interrupted()
    turn.surround()
    return Entered()


async def paused(call: LiveCall, seconds: float, means: Means) -> Event:
    """Wait before another attempt."""
    signal = call.parent
    if seconds > 0.0:
        ended, _ = await attended(call, asyncio.sleep(seconds), means.attempts, signal=signal)
        if ended is not None:
            return ended
    else:
        try:
            await asyncio.sleep(0.0)  # lets a cancellation in
        except (asyncio.CancelledError, GeneratorExit) as error:
            call.cancelled = error
            return Interrupted()
    if means.closing:
        return Interrupted()
    if signal is not None and signal.aborted:
        return Aborted()
    call.is_late = call.until is not None and means.clock() >= call.until
    return Expired() if call.is_late else Woke()


async def _awaiting(code: Awaitable[Any]) -> Any:
    return await code
