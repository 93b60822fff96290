"""One approval handler: how it wants to be called, calling it, and reading what comes back.

Asynchronous handlers run in the event loop, synchronous ones in a daemon thread each, since the obvious one asks with
`input()`, and a blocked loop could neither expire the question nor serve other calls. What a handler returns is
awaited once; an awaitable that comes out of that is one more wrong type. Handlers are the privileged tier: what they
raise is logged by its class only. Knows no deadlines and no combinations; called by `gate.approval` and `gate.polling`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Literal

from ringfence.contract.calling import is_async
from ringfence.errors import ConfigError
from ringfence.gate.decisions import DECISIONS, Blocked, Ruling, judge
from ringfence.gate.explain import class_name, class_name_of, code_name
from ringfence.ports import ApprovalHandler, ApprovalInfo, ApprovalRequest, Edit, Respond
from ringfence.threads import DaemonThreads

Form = Literal["pair", "request"]
"""How a handler wants to be called: `(input, info)` or one `ApprovalRequest`."""

_log: Final = logging.getLogger("ringfence.approval")


@dataclass(frozen=True, slots=True)
class Member:
    """A handler, and how to call it."""

    handler: ApprovalHandler
    form: Form


def form_of(handler: Callable[..., Any], field: str) -> Form:
    """Which of the two a handler takes.

    Raises:
        ConfigError: neither; the message names `field`.
    """
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


async def in_place(function: Callable[..., Any], args: list[Any], threads: DaemonThreads) -> Any:
    """Call the host's own function where it cannot block the loop, and await what can be awaited."""
    result = function(*args) if is_async(function) else await threads.call(function, args)
    return await result if inspect.isawaitable(result) else result


def called(member: Member, request: ApprovalRequest, threads: DaemonThreads) -> Coroutine[Any, Any, Any]:
    """The handler's answer to its form of the request. Raises what the handler raises."""
    args: list[Any] = [request]
    if member.form == "pair":
        args = [request.input, ApprovalInfo(tool=request.tool, session_id=request.session_id)]
    return in_place(member.handler, args, threads)


async def answered(member: Member, request: ApprovalRequest, threads: DaemonThreads) -> Ruling:
    """What the handler's answer means. Raises what the handler raises."""
    return read(await called(member, request, threads), request.tool, member.handler)


def read(answer: object, tool: str, handler: object) -> Ruling:
    """What an answer means; one that is no decision is logged by its type, and with it what to write."""
    ruling = judge(answer)
    if isinstance(ruling, Blocked) and ruling.reason != "denied":
        _log.warning(
            "the approval handler %s of %s answered with %s", code_name(handler), tool, _mistake(answer, ruling)
        )
        discard(answer)
    return ruling


def _mistake(answer: object, ruling: Blocked) -> str:
    if ruling.reason == "invalid_edit":
        return "an Edit whose arguments are no JSON values"
    if isinstance(answer, type):
        name = class_name_of(answer)
        fix = (
            f"return rf.{name}(...)" if any(answer is one for one in DECISIONS) else "return True, False or a decision"
        )
        return f"the class {name}; {fix}"
    if type(answer) is Edit:
        return "an Edit without a mapping of arguments; return rf.Edit({...})"
    return f"a value of type {class_name_of(type(answer))}; return True, False or a decision"


def failed(tool: str, error: BaseException, handler: object = None) -> Blocked:
    """What it means that a handler, or copying something for it (None), raised."""
    if handler is None:
        _log.warning("the question about %s could not be copied for its approval handlers: %s", tool, class_name(error))
    else:
        _log.warning("the approval handler %s of %s raised %s", code_name(handler), tool, class_name(error))
    return Blocked("handler_failed", cause=error)


def discard(answer: object) -> None:
    """Close a coroutine that somebody forgot to await, so that it does not warn."""
    if type(answer) is Edit:
        answer = answer.args
    elif type(answer) is Respond:
        answer = answer.value
    if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
        answer.close()
