"""Asking about one validated call: a tool's callback, the person behind the boundary's handler, or several of them.

What an answer means, and what several decide, is `gate.decisions`' business. Handlers are the privileged tier: they
alone see the arguments, each as a private copy. Asynchronous handlers run in the event loop, synchronous ones in a
daemon thread each, since the obvious one asks with `input()`, and a blocked loop could neither expire the question nor
serve other calls. What a handler returns is awaited once; an awaitable that comes out of that is one more wrong type.
All handlers of a combination are asked at once, and whoever is not needed any more is cancelled: a late answer changes
nothing. Knows nothing of calls or events; `gate.asking` calls it.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType, MethodType
from typing import Any, Final, Literal, cast

from ringfence.contract.calling import is_async
from ringfence.errors import ConfigError
from ringfence.gate.attempt import STOPPED_GRACE, Attempt, Attempts, Stop, Stopped, withdrawn
from ringfence.gate.decisions import Blocked, Panel, Ruling, Tree, judge, outcome
from ringfence.gate.explain import class_name
from ringfence.gate.states import Aborted, Expired, Interrupted
from ringfence.ports import ApprovalHandler, ApprovalInfo, ApprovalRequest, Combination, Edit, Respond, Signal
from ringfence.threads import DaemonThreads

Form = Literal["pair", "request"]
"""How a handler wants to be called: `(input, info)` or one `ApprovalRequest`."""

Ended = Expired | Aborted | Interrupted
Decision = Ruling | Ended

_ENDINGS: Final[Mapping[Stop, Ended]] = MappingProxyType(
    {Stop.EXPIRED: Expired(), Stop.ABORTED: Aborted(), Stop.CLOSING: Interrupted()}
)
"""What becomes of a question that is stopped from outside."""

DISMISSAL: Final = 0.05
"""Seconds for which a decision waits for handlers that are not needed any more; afterwards they unwind alone."""

_log: Final = logging.getLogger("ringfence.approval")


@dataclass(frozen=True, slots=True)
class Member:
    """A handler, and how to call it."""

    handler: ApprovalHandler
    form: Form


@dataclass(frozen=True, slots=True)
class Approver:
    """Whoever decides about a tool's calls."""

    members: tuple[Member, ...]
    """Every handler once."""
    tree: Tree
    """How they decide together; 0 where there is only one."""


def approver(handler: object, field: str) -> Approver:
    """A handler that takes `(input, info)` or one request, or a combination of such handlers.

    Raises:
        ConfigError: one cannot be called so; the message names `field`.
    """
    members: list[Member] = []
    tree = _seated(handler, field, members)
    return Approver(tuple(members), tree)


def _seated(handler: object, field: str, members: list[Member]) -> Tree:
    """A handler's number, or its combination's tree. Adds handlers that are not among the members yet."""
    if isinstance(handler, Combination):
        name = f"{field}: {handler.rule}"
        parts = tuple(_seated(part, f"{name} handler {at}", members) for at, part in enumerate(handler.members))
        if not parts:
            raise ConfigError(f"{name} needs at least one approval handler")
        return parts[0] if len(parts) == 1 else Panel(handler.rule, parts)
    if not callable(handler):
        raise ConfigError(f"{field} must be callable, not {type(handler).__name__}")
    for number, member in enumerate(members):
        if _is_same(handler, member.handler):
            return number
    members.append(Member(cast("ApprovalHandler", handler), _form(handler, field)))
    return len(members) - 1


def _is_same(one: object, other: object) -> bool:
    """By identity, since equality is whatever a handler's class says; a bound method is made anew at every access."""
    if isinstance(one, MethodType) and isinstance(other, MethodType):
        return one.__self__ is other.__self__ and one.__func__ is other.__func__
    return one is other


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
    """Ask, and translate what is answered.

    Args:
        request: a private copy for the first handler; the others get copies of it.
        threads: where a synchronous handler runs.
        timeout: seconds until the question expires; None waits for ever.
        signal: the caller's; an abort withdraws the question.

    Raises:
        asyncio.CancelledError: the host cancelled; the handlers have been cancelled too.
    """
    if signal is not None and signal.aborted:
        return Aborted()
    poll = None if isinstance(who.tree, int) else _Poll(who.members, who.tree, threads, attempts)
    code = _called(who.members[0], request, threads) if poll is None else poll.run(request)
    attempt = Attempt(code, attempts, timeout)
    try:
        with withdrawn(signal, attempt):
            answer = await attempt
    except Stopped as stopped:
        return _ENDINGS[stopped.why]
    except BaseException as error:
        if attempt.cancelled or isinstance(error, KeyboardInterrupt):
            raise
        return _failed(request.tool, error)
    if poll is None:
        return _read(answer, request.tool)
    await poll.dismiss(DISMISSAL)
    return answer


async def in_place(function: Callable[..., Any], args: list[Any], threads: DaemonThreads) -> Any:
    """Call the host's own function where it cannot block the loop, and await what can be awaited."""
    result = function(*args) if is_async(function) else await threads.call(function, args)
    return await result if inspect.isawaitable(result) else result


def _called(member: Member, request: ApprovalRequest, threads: DaemonThreads) -> Coroutine[Any, Any, Any]:
    args: list[Any] = [request]
    if member.form == "pair":
        args = [request.input, ApprovalInfo(tool=request.tool, session_id=request.session_id)]
    return in_place(member.handler, args, threads)


def _failed(tool: str, error: BaseException) -> Blocked:
    _log.warning("an approval handler of %s raised %s", tool, class_name(error))
    return Blocked("handler_failed")


def _read(answer: object, tool: str) -> Ruling:
    ruling = judge(answer)
    if isinstance(ruling, Blocked) and ruling.reason != "denied":
        _log.warning("an approval handler of %s answered with a %s (%s)", tool, type(answer).__name__, ruling.reason)
        discard(answer)
    return ruling


def discard(answer: object) -> None:
    """Close a coroutine that somebody forgot to await, so that it does not warn."""
    match answer:
        case Edit(inner) | Respond(inner):
            answer = inner
        case _:
            pass
    if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
        answer.close()


class _Poll:
    """Several handlers, asked at once."""

    def __init__(self, members: tuple[Member, ...], tree: Panel, threads: DaemonThreads, attempts: Attempts) -> None:
        self._members = members
        self._tree = tree
        self._threads = threads
        self._attempts = attempts
        self._loop = asyncio.get_running_loop()
        self._known: asyncio.Future[Ruling] = self._loop.create_future()
        """What they decide; done, or cancelled, when nobody's answer counts any more."""
        self._heard: list[tuple[int, Ruling]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, request: ApprovalRequest) -> Ruling:
        """What they decide, as soon as it is known. Who has not answered by then still waits to be dismissed."""
        copies = [_copied(request) for _ in self._members[1:]]
        for number, (member, shown) in enumerate(zip(self._members, [request, *copies], strict=True)):
            task = self._loop.create_task(self._hear(number, member, shown), name="ringfence-approver")
            self._tasks.append(task)
        try:
            return await self._known
        except GeneratorExit:  # the caller's coroutine is closed, and nothing is awaited any more
            self._cancel()
            raise
        except BaseException:
            await self.dismiss(STOPPED_GRACE)
            raise

    async def dismiss(self, seconds: float) -> None:
        """Cancel handlers that have not answered, and wait a little for them. Who unwinds longer does so alone, and is
        counted as left behind when its grace is over.
        """
        rest = self._cancel()
        if not rest:
            return
        try:
            await asyncio.wait(rest, timeout=seconds)
        finally:
            for task in rest:
                if not task.done():
                    self._loop.call_later(STOPPED_GRACE - seconds, self._give_up, task)

    def _cancel(self) -> list[asyncio.Task[None]]:
        self._known.cancel()
        rest = [task for task in self._tasks if not task.done()]
        for task in rest:
            if not task.cancelling() and not self._loop.is_closed():  # a second time would cut its unwinding short
                task.cancel()
        return rest

    def _give_up(self, task: asyncio.Task[None]) -> None:
        if not task.done():
            task.cancel()
            self._loop.call_soon(self._leave, task)  # after the step that this cancellation leads to

    def _leave(self, task: asyncio.Task[None]) -> None:
        if not task.done():
            self._attempts.leave(task)

    async def _hear(self, number: int, member: Member, request: ApprovalRequest) -> None:
        try:
            answer = await _called(member, request, self._threads)
        except KeyboardInterrupt as error:
            if self._known.done():
                raise
            self._known.set_exception(error)
        except BaseException as error:  # noqa: BLE001  (a handler may raise anything, at once or later)
            if not self._known.done():
                self._note(number, _failed(request.tool, error))
        else:
            if self._known.done():
                discard(answer)
            else:
                self._note(number, _read(answer, request.tool))

    def _note(self, number: int, ruling: Ruling) -> None:
        self._heard.append((number, ruling))
        if (known := outcome(self._tree, self._heard)) is not None:
            self._known.set_result(known)


def _copied(request: ApprovalRequest) -> ApprovalRequest:
    """A copy that one handler may change without another's seeing it."""
    return replace(request, input=copy.deepcopy(request.input), arguments=copy.deepcopy(request.arguments))
