"""What an exception that came out of an attempt means for the call's life, and whether and when to try again.

Judged by the identity of our own signals and by our own classes, never by name or text, since those are the tool's to
choose, and never by foreign classes: a client's time-out need not be an OSError, and a ValueError may come after the
request was sent. Only `ToolError` is the tool's own no, and only where the tool itself raised it: a driver that raises
one after the tool has begun cannot know what was done.
Pure; called by `gate.perform`, which knows whether the tool itself raised it.
"""

from __future__ import annotations

from typing import Final

from ringfence.contract.backoff import Backoff
from ringfence.errors import CODES, ConfigError, Family, Refusal, RingfenceError, SandboxFault, ToolError
from ringfence.gate.states import Ambiguous, Barred, Event, Exhausted, Failed, Faulted

_CHAIN: Final = 100
"""Causes, contexts and group members looked at; deeper ones count as unknown, and therefore as barred."""


def classify(
    error: BaseException, *, by_tool: bool, started: bool, aborted: bool, handled: BaseException | None = None
) -> Event:
    """The event that an attempt's exception stands for.

    Args:
        error: what came out of the driver.
        by_tool: the tool's function raised it, not the driver.
        started: the tool's function was entered.
        aborted: the caller's signal had asked the tool to stop.
        handled: what the host was handling when it called, which is the context of what a tool raises, too.
    """
    if isinstance(error, SandboxFault) and not by_tool:
        known = error.code in CODES and CODES[error.code].family is Family.FAULT
        return Faulted(error.code if known else "sandbox_crashed", started)
    is_own_no = isinstance(error, ToolError) and (by_tool or not started)
    if ours := _ours_within(error, handled):
        return Barred(
            ran=(started and not is_own_no) or not all(isinstance(one, Refusal | ConfigError) for one in ours)
        )
    if is_own_no:
        return Failed()
    return Exhausted("tool_raised") if aborted else Ambiguous()


def _ours_within(error: BaseException, handled: BaseException | None) -> list[BaseException]:
    """Errors of boundaries in there, for which asking again would ask a person again; and what was not looked at.

    Also where the tool was only handling one: `raise ... from None` hides it from people, not from us.
    """
    ours: list[BaseException] = []
    pending: list[BaseException | None] = [error]
    seen = {id(None), id(handled)}
    while pending:
        item = pending.pop()
        if item is None or id(item) in seen:
            continue
        if len(seen) > _CHAIN:
            return [*ours, item]
        seen.add(id(item))
        if isinstance(item, RingfenceError):
            ours.append(item)
        pending += [item.__cause__, item.__context__]
        if isinstance(item, BaseExceptionGroup):
            pending.extend(item.exceptions)  # type: ignore[reportUnknownMemberType]
    return ours


def pause_after(attempt: int, backoff: Backoff | None, *, left: float | None, chance: float) -> float | None:
    """Seconds until another attempt; None when the time would be up before it began.

    Args:
        attempt: number of the attempt that failed, from 1.
        left: seconds that are left for all attempts; None, as many as it takes.
        chance: a random number, at least 0 and below 1.
    """
    pause = 0.0 if backoff is None else backoff.pause(attempt, chance)
    return pause if left is None or pause < left else None
