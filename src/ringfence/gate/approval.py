"""The decision about one validated call: from a tool's callback, or from the person behind the boundary's handler.

Only the value True approves. Everything else denies, and the denial says which it was: `denied` (False),
`no_handler`, `handler_failed`, `not_a_bool`, `expired`, `cancelled`. Handlers are the privileged tier: they alone see
the arguments, as a private copy. Knows nothing of states or events; `gate.runner` calls it, between two of them.

Asynchronous handlers run in the event loop, synchronous ones in a daemon thread each, since the obvious one asks with
`input()`, and a blocked loop could neither expire the question nor serve other calls. What a handler returns is
awaited once; an awaitable that comes out of that is one more wrong type. A handler that outlives its deadline is left behind and cannot approve any more.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from ringfence.contract.calling import is_async
from ringfence.errors import ConfigError
from ringfence.gate.attempt import Attempt, Attempts, Stop, Stopped
from ringfence.gate.states import Aborted, Denied, Expired, Granted, Interrupted
from ringfence.ports import ApprovalHandler, ApprovalInfo, ApprovalRequest, Signal
from ringfence.threads import DaemonThreads

Form = Literal["pair", "request"]
"""How a handler wants to be called: `(input, info)` or one `ApprovalRequest`."""

Decision = Granted | Denied | Expired | Aborted | Interrupted

_log: Final = logging.getLogger("ringfence.approval")


@dataclass(frozen=True, slots=True)
class Approver:
    """A handler, and how to call it."""

    handler: ApprovalHandler
    form: Form


def approver(handler: object, field: str) -> Approver:
    """A handler that takes `(input, info)` or one request.

    Raises:
        ConfigError: it cannot be called so; the message names `field`.
    """
    if not callable(handler):
        raise ConfigError(f"{field} must be callable, not {type(handler).__name__}")
    return Approver(cast("ApprovalHandler", handler), _form(handler, field))


def _form(handler: Callable[..., Any], field: str) -> Form:
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature
        return "request"
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    keywords = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if not keywords and required <= 2 and (len(positional) >= 2 or takes_more):
        return "pair"
    if not keywords and len(positional) == 1:
        return "request"
    raise ConfigError(
        f"{field} must take (input, info) or one request", hint="def approve(request: rf.ApprovalRequest) -> bool: ..."
    )


async def decide(
    who: Approver,
    request: ApprovalRequest,
    *,
    threads: DaemonThreads,
    attempts: Attempts,
    timeout: float | None,
    signal: Signal | None,
) -> Decision:
    """Ask, and translate the answer. Everything but a grant means that nothing runs.

    Args:
        threads: where a synchronous handler runs.
        timeout: seconds until the question expires; None waits for ever.
        signal: the caller's; an abort withdraws the question.

    Raises:
        asyncio.CancelledError: the host cancelled; the handler has been cancelled too.
    """
    if signal is not None and signal.aborted:
        return Aborted()
    args: list[Any] = [request]
    if who.form == "pair":
        args = [request.input, ApprovalInfo(tool=request.tool, session_id=request.session_id)]
    attempt = Attempt(in_place(who.handler, args, threads), attempts, timeout)
    watch = _watch(signal, attempt)
    try:
        answer = await attempt
    except Stopped as stopped:
        return {Stop.EXPIRED: Expired(), Stop.ABORTED: Aborted(), Stop.CLOSING: Interrupted()}[stopped.why]
    except BaseException as error:
        if attempt.cancelled or isinstance(error, KeyboardInterrupt):
            raise
        _log.warning("the approval handler of %s raised %s", request.tool, type(error).__name__)
        return Denied("handler_failed")
    finally:
        if watch is not None:
            watch.cancel()
    if answer is True:
        return Granted()
    if answer is False:
        return Denied("denied")
    if inspect.iscoroutine(answer):
        answer.close()  # somebody forgot an `await` inside the handler
    _log.warning("the approval handler of %s answered with a %s", request.tool, type(answer).__name__)
    return Denied("not_a_bool")


async def in_place(function: Callable[..., Any], args: list[Any], threads: DaemonThreads) -> Any:
    """Call the host's own function where it cannot block the loop, and await what can be awaited."""
    result = function(*args) if is_async(function) else await threads.call(function, args)
    return await result if inspect.isawaitable(result) else result


def _watch(signal: Signal | None, attempt: Attempt) -> asyncio.Task[None] | None:
    """Withdraw the question when the caller aborts."""
    if signal is None:
        return None

    async def withdraw() -> None:
        await signal.wait()
        attempt.stop(Stop.ABORTED)

    coroutine: Coroutine[Any, Any, None] = withdraw()
    return asyncio.get_running_loop().create_task(coroutine, name="ringfence-approval-signal")
