"""Asking about one validated call: a tool's callback, the person behind the boundary's handler, or several of them.

A question ends with a decision, with its deadline, when the caller's signal or the closing gate withdraws it, or when
the host cancels. What answers mean is `gate.decisions`' business, how handlers are called that of `gate.handlers` and
`gate.polling`. Knows nothing of calls or events; `gate.asking` calls it.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, cast

from ringfence.contract.approvers import any_of
from ringfence.contract.calling import is_same
from ringfence.errors import ConfigError
from ringfence.gate.attempt import Attempt, Attempts, Stop, Stopped, withdrawn
from ringfence.gate.decisions import Panel, Ruling, Tree
from ringfence.gate.handlers import Member, answered, failed, form_of
from ringfence.gate.polling import Poll
from ringfence.gate.states import Aborted, Expired, Interrupted
from ringfence.ports import ApprovalHandler, ApprovalRequest, Combination, Signal
from ringfence.threads import DaemonThreads

Ended = Expired | Aborted | Interrupted
Decision = Ruling | Ended

_ENDINGS: Final[Mapping[Stop, Ended]] = MappingProxyType(
    {Stop.EXPIRED: Expired(), Stop.ABORTED: Aborted(), Stop.CLOSING: Interrupted()}
)
"""What becomes of a question that is stopped from outside."""

SETTLING: Final = 0.05
"""Seconds for which a decision waits for handlers that are not needed any more; afterwards they unwind alone."""


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


def approvers(given: object) -> Approver | None:
    """What an option `approve` holds: one handler or combination; of a sequence of them, any may approve, and an empty
    one is nobody.

    Raises:
        ConfigError: as for `approver`.
    """
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        handlers = tuple(cast("Sequence[Any]", given))
        return approver(any_of(*handlers), "approve") if handlers else None
    return approver(given, "approve") if given is not None else None


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
        if is_same(handler, member.handler):
            return number
    members.append(Member(cast("ApprovalHandler", handler), form_of(handler, field)))
    return len(members) - 1


def both(first: Approver, second: Approver) -> Approver:
    """Whoever decides where two have to agree. A handler that is in both is one, and is asked once."""
    members = list(first.members)
    numbers: list[int] = []
    for member in second.members:
        known = next((at for at, one in enumerate(members) if is_same(one.handler, member.handler)), None)
        numbers.append(len(members) if known is None else known)
        if known is None:
            members.append(member)
    tree = _renumbered(second.tree, numbers)
    return first if tree == first.tree else Approver(tuple(members), Panel("all_of", (first.tree, tree)))


def _renumbered(tree: Tree, numbers: list[int]) -> Tree:
    if isinstance(tree, int):
        return numbers[tree]
    return Panel(tree.rule, tuple(_renumbered(part, numbers) for part in tree.members))


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
    if isinstance(who.tree, int):
        member = who.members[0]
        code = answered(member, request, threads)
        return await _bounded(code, request.tool, attempts, timeout, signal, member.handler)
    poll = Poll(who.members, who.tree, threads, attempts)
    try:
        decision = await _bounded(poll.run(request), request.tool, attempts, timeout, signal)
        await poll.settle(SETTLING)
    finally:
        poll.release()
    return decision


async def _bounded(
    code: Coroutine[Any, Any, Ruling],
    tool: str,
    attempts: Attempts,
    timeout: float | None,
    signal: Signal | None,
    handler: object = None,
) -> Decision:
    """What the code decides, unless its time is up, or somebody else ends the question, before."""
    attempt = Attempt(code, attempts, timeout)
    try:
        with withdrawn(signal, attempt):
            return await attempt
    except Stopped as stopped:
        return _ENDINGS[stopped.why]
    except BaseException as error:
        if attempt.cancelled or isinstance(error, KeyboardInterrupt):
            raise
        return failed(tool, error, handler)
