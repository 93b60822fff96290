"""The question about one validated call: what is shown, and what the decision does to the call.

Turns a decision into the event that the machine folds. Edited arguments pass the same validation as a caller's, a
response the same check as a tool's result, and what was approved must be what is about to run. Arguments and the text
of exceptions stay out of the log. Knows a call and its tool; asks through `gate.approval` and decides nothing. Called
by `gate.runner`.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Iterable
from typing import Any, Final, assert_never, cast

from ringfence import values
from ringfence.errors import Issue
from ringfence.gate.approval import Decision, decide
from ringfence.gate.copies import private
from ringfence.gate.decisions import Allowed, AllowedWith, AnsweredWith, Blocked
from ringfence.gate.entries import Entry, LiveCall
from ringfence.gate.explain import class_name
from ringfence.gate.handlers import discard
from ringfence.gate.means import BUDGET, Means, too_long
from ringfence.gate.shown import shown
from ringfence.gate.states import Aborted, Denied, Event, Expired, Granted, Interrupted, Responded
from ringfence.gate.waits import finished
from ringfence.ports import ApprovalRequest, InvalidInput, Unfinished

_log: Final = logging.getLogger("ringfence.approval")


async def ask(call: LiveCall, means: Means) -> Event:
    """Get the decision. The time it takes belongs to no deadline but its own."""
    entry = cast("Entry", call.entry)
    who = entry.approver if call.ask is None else entry.judge
    if who is None:
        return _denied(call, "no_handler")
    try:
        request = _request(call, entry)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (the user's types may refuse to be copied or read; then nobody can judge them)
        _log.warning("the arguments of %s cannot be shown: %s", call.name, class_name(error))
        return _denied(call, "handler_failed", cause=error)
    until = None if means.approval_timeout is None else asyncio.get_running_loop().time() + means.approval_timeout
    watch = call.watch
    if watch is not None:
        watch.approval_began()
    try:
        decision = await decide(
            who,
            request,
            threads=means.threads,
            attempts=means.attempts,
            timeout=means.approval_timeout,
            signal=call.signal,
        )
        event = await _event(call, entry, request, decision, means, until)
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit) as error:
        call.cancelled = error
        return Interrupted()
    finally:
        if watch is not None:
            watch.approval_ended()
    if isinstance(event, Granted | Responded):  # a decision does not outlive what has changed while it was waited for
        if call.signal is not None and call.signal.aborted:
            return Aborted()
        if means.closing:
            return Interrupted()
    return event


def _request(call: LiveCall, entry: Entry) -> ApprovalRequest:
    arguments = shown(call.value)
    position = call.origin.position
    return ApprovalRequest(
        tool=entry.tool.name,
        description=entry.tool.description,
        input=private(call.value),
        arguments=arguments,
        digest=values.digest(values.canonical(arguments, BUDGET)),
        session_id=call.origin.session_id,
        principal=call.origin.principal,
        call_id=call.call_id,
        run_id=call.origin.run_id,
        line=position.line if position is not None else None,
        effect=entry.tool.effect,
        reason=call.ask,
    )


async def _event(
    call: LiveCall, entry: Entry, request: ApprovalRequest, decision: Decision, means: Means, until: float | None
) -> Event:
    match decision:
        case Allowed():
            return Granted() if _is_as_shown(call, request.digest) else _denied(call, "changed")
        case AllowedWith(args):
            return await _edited(call, entry, args, means, until)
        case AnsweredWith(value):
            return await _responded(call, entry, value, means, until)
        case Blocked(reason, text, cause):
            return _denied(call, reason, text, cause)
        case Expired() | Aborted() | Interrupted():
            return decision
        case _:
            assert_never(decision)


def _denied(call: LiveCall, reason: str, text: str = "", cause: BaseException | None = None) -> Denied:
    call.reason, call.said, call.cause = reason, text, cause
    return Denied(reason, text)


def _is_as_shown(call: LiveCall, digest: str) -> bool:
    """Whether what will run is what was approved. Handlers hold copies, but a schema that is not ours may hand out an
    object that somebody else keeps.
    """
    try:
        if values.digest(values.canonical(shown(call.value), BUDGET)) == digest:
            return True
        _log.error("the arguments of %s changed while a decision was waited for", call.name)
    except Exception as error:  # noqa: BLE001  (they could be read before, and cannot be now)
        _log.error("the arguments of %s cannot be read any more: %s", call.name, class_name(error))
    return False


async def _edited(call: LiveCall, entry: Entry, args: bytes, means: Means, until: float | None) -> Event:
    """Put other arguments in the place of the call's own, if the tool would take them from a caller."""
    schema = entry.tool.input
    try:
        value = schema.validate(args)
        if type(value) is Unfinished:
            ended, value = await _finished(call, value, means, until)
            if ended is not None:
                return ended
    except InvalidInput as error:
        _log.warning("an approver's edit of %s does not fit: %s", call.name, _codes(error.issues))
        return _denied(call, "invalid_edit")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (a schema that is not ours may raise anything)
        _log.warning("an approver's edit of %s was not accepted: its schema raised %s", call.name, class_name(error))
        return _denied(call, "invalid_edit", cause=error)
    call.data, call.value, call.edited = args, value, values.parse(args, BUDGET)
    return Granted(edited=True)


async def _responded(call: LiveCall, entry: Entry, value: object, means: Means, until: float | None) -> Event:
    """Answer the caller in the tool's place, if the tool might have returned this."""
    tool = entry.tool
    try:
        result = copy.deepcopy(value)
        encoded: Any = tool.output.dump(result)
        if type(encoded) is Unfinished:
            ended, encoded = await _finished(call, encoded, means, until)
            if ended is not None:
                return ended
        if len(encoded) > (BUDGET.size if tool.max_result is None else tool.max_result):
            raise too_long(tool, encoded)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (besides ValueRefused, whatever the value or a schema raises)
        _log.warning("an approver's response for %s does not fit: %s", call.name, class_name(error))
        discard(value)
        return _denied(call, "invalid_response", cause=error)
    call.result, call.encoded = result, encoded
    return Responded()


async def _finished(
    call: LiveCall, given: Unfinished, means: Means, until: float | None
) -> tuple[Expired | Aborted | Interrupted | None, Any]:
    """What an asynchronous schema comes to, within the question's time and a schema's. Raises as `waits.finished` does."""
    left = None if until is None else until - asyncio.get_running_loop().time()
    return await finished(call, given, means.attempts, call.signal, left=left)


def _codes(issues: Iterable[Issue]) -> str:
    """What is wrong, without the places: a key of a mapping is as private as its value."""
    return ", ".join(sorted({issue["code"] for issue in issues})) or "no reason given"
