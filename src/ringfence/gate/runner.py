"""The one path from a request to an execution.

`Gate.call` runs `gate.machine` for one call: it admits the request in one synchronous step, does what the machine
commands (`gate.asking`, `gate.perform`, `gate.waits`), and answers with an `Outcome`. It decides nothing itself. Knows
tools, drivers through their port, approvers and a hub; does not know scripts or boundaries, which call it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import random
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal, assert_never

from ringfence import values
from ringfence.contract.rules import one_of
from ringfence.contract.toolset import Toolset
from ringfence.errors import ConfigError, ErrorInfo, Issue, ToolSandboxRequiredError
from ringfence.events import Event as Notice
from ringfence.gate import asking, explain, perform, waits
from ringfence.gate.approval import approvers
from ringfence.gate.closing import Closing
from ringfence.gate.entries import LiveCall, entry_for
from ringfence.gate.hub import EventHub
from ringfence.gate.leases import Leases
from ringfence.gate.machine import Step, start, step
from ringfence.gate.means import BUDGET, Means
from ringfence.gate.signals import readable
from ringfence.gate.states import (
    Aborted,
    Announce,
    Ask,
    Done,
    Enter,
    Event,
    Finish,
    Interrupted,
    Invalid,
    Plan,
    Recover,
    Refused,
    Returned,
    Run,
    Sleep,
    State,
    Validated,
)
from ringfence.gate.tracing import Tracing
from ringfence.limits import parse_seconds
from ringfence.ports import (
    Approvers,
    CallWatch,
    Driver,
    InvalidInput,
    Origin,
    Outcome,
    Signal,
    Unfinished,
)

DRAIN: Final = 5.0
"""Seconds that running calls get to finish when the gate closes, before they are stopped."""

WhenAborted = Literal["refuse", "run"]
"""What becomes of a call whose signal is aborted before the tool runs: nothing, or one run that sees it."""

_NOBODY: Final = start(Plan(asks=False, max_attempts=1, stakes="none", idempotent=False, recovers=False))
"""Where a call of a tool that does not exist begins."""
_VALIDATED: Final = Validated()
_INVALID: Final = Invalid()
_INTERRUPTED: Final = Interrupted()
_TIMELESS: Final = frozenset({"tool.called", "approval.required"})
"""Events that begin something, and so have no duration."""

_log: Final = logging.getLogger("ringfence")
_tool_log: Final = logging.getLogger("ringfence.tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStatistics:
    """What a gate is doing now."""

    running: int
    """Calls without an outcome yet."""
    queued: int
    """Those of them that wait for their turn, since too many of the tool's calls run already."""
    abandoned: int
    """Coroutines that did not stop when asked to, and still run."""
    abandoned_total: int
    """The same, ever."""
    abandoned_handlers: int
    """Threads of synchronous approval handlers and fallbacks that nobody waits for any more."""


class Gate:
    """All calls of one set of tools. Usable from any event loop; see `boundary.Boundary` for its life."""

    def __init__(
        self,
        tools: Toolset,
        *,
        sandbox: Driver | None = None,
        approve: Approvers | Sequence[Approvers] | None = None,
        approval_timeout: float | None = None,
        when_aborted: WhenAborted = "refuse",
        hub: EventHub | None = None,
        tracing: Tracing | None = None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Prepare every tool. Starts nothing.

        Args:
            sandbox: for tools that bring none of their own.
            approve: decides about tools with `approval="human"`; of several, any may approve.
            approval_timeout: seconds until a question expires; None waits for ever.
            when_aborted: what becomes of a call whose signal is aborted before the tool runs.
            clock: monotonic seconds.
            chance: a random number, at least 0 and below 1, for pauses between attempts.

        Raises:
            ConfigError: a handler with the wrong parameters, a timeout that is none, or another word.
        """
        self.tools = tools
        self.hub = hub if hub is not None else EventHub()
        human = approvers(approve)
        timeout = None if approval_timeout is None else parse_seconds(approval_timeout, "approval_timeout")
        _check_clock(clock)
        self._obeys = one_of(when_aborted, ("refuse", "run"), "when_aborted") == "refuse"
        self._means = Means(clock=clock, chance=chance, approval_timeout=timeout, progress=self._progress)
        self._entries = {
            tool.name: entry_for(tool, sandbox=sandbox, human=human, log=partial(_tool_log.info, "%s: %s", tool.name))
            for tool in tools
        }
        self._tracing = tracing if tracing is not None else Tracing()
        self._leases = Leases([sandbox, *(entry.driver for entry in self._entries.values())])
        self._clock = clock
        self._prefix = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._calls: set[LiveCall] = set()
        self._closing = Closing(self._calls, self._means, self._leases, self.hub)
        self._started = False

    @property
    def drivers(self) -> tuple[Driver, ...]:
        """Every driver that a tool uses, once."""
        return self._leases.drivers

    def start(self) -> None:
        """Check what only the whole can show; warn of a tool that nobody can approve. Does nothing the second time.

        Raises:
            ToolSandboxRequiredError: tools without a sandbox, by name.
            ConfigError: `not_running`, the gate is closed.
        """
        if self._started and not self._closing.has_begun:
            return
        self._closing.check()
        bare = [name for name, entry in self._entries.items() if entry.driver is None]
        if bare:
            raise ToolSandboxRequiredError(
                f"no explicit sandbox for {', '.join(bare)}, and nothing runs without one",
                hint="pass sandbox= to the tool, Boundary or Enclave; rf.local(unsafe=True) for code that you trust",
            )
        silent = [name for name, entry in self._entries.items() if entry.plan.asks and entry.approver is None]
        if silent:
            need = "needs" if len(silent) == 1 else "need"
            _log.warning("%s %s approval, and approve= is not set: every call will be denied", ", ".join(silent), need)
        self._started = True

    def call(
        self,
        name: object,
        args: object,
        *,
        origin: Origin,
        call_id: str | None = None,
        watch: CallWatch | None = None,
        signal: Signal | None = None,
        encode: bool = False,
        own_task: bool = False,
        ask: str | None = None,
    ) -> Coroutine[Any, Any, Outcome]:
        """Govern one call from request to outcome. Nothing happens before it is awaited.

        Args:
            name: the tool's.
            args: an object of JSON values, or its canonical JSON text as bytes.
            call_id: names the call in events; a fresh one by default.
            watch: hears when a decision is waited for.
            signal: asks the call to stop: before the tool runs it is refused, unless the gate was told to run it all
                the same; while it runs the tool sees it.
            own_task: the task that awaits this was made for this call alone, and its maker can leave it behind.
            ask: why somebody has to approve this call whatever its tool says: the gate's handler is asked, once, with
                this as `ApprovalRequest.reason`, and a callback of the tool's own has to agree. Without such a handler
                the callback decides.
            encode: also dump the result, into `Outcome.encoded`; one that cannot be dumped is a `bad_result`.

        Raises:
            asyncio.CancelledError: the host cancelled; the call has unwound, and is recorded as `interrupted`.
            ConfigError: `not_running`, the gate is closed.
        """
        entry = self._entries.get(name) if type(name) is str else None
        began = self._clock()
        if signal is not None:
            signal = readable(signal)
        call = LiveCall(
            name=entry.tool.name if entry is not None else explain.shown_name(name),
            entry=entry,
            origin=origin,
            call_id=call_id if call_id is not None else f"{self._prefix}-{next(self._numbers)}",
            parent=signal,
            signal=signal if self._obeys else None,
            watch=watch,
            encode=encode,
            own_task=own_task,
            ask=ask,
            began=began,
            since=began,
        )
        return self._governed(call, name, args)

    def statistics(self) -> GateStatistics:
        """Counts of now."""
        attempts = self._means.attempts
        return GateStatistics(
            running=len(self._calls),
            queued=sum(len(entry.slots.waiting) for entry in self._entries.values() if entry.slots is not None),
            abandoned=len(attempts.abandoned),
            abandoned_total=attempts.abandoned_total,
            abandoned_handlers=self._means.threads.statistics().abandoned,
        )

    @property
    def unasked(self) -> tuple[str, ...]:
        """Tools about whose calls nobody can be asked: what a policy wants approved is denied."""
        return tuple(name for name, entry in self._entries.items() if entry.judge is None)

    async def aclose(self, *, drain: float = DRAIN) -> None:
        """Take no further call, let running ones finish for `drain` seconds, stop the rest, close every driver and
        the hub once. Idempotent; concurrent callers wait for the one that does it.

        Raises:
            ExceptionGroup: drivers that failed to close; all have been tried.
        """
        await self._closing.run(drain)

    # one call

    def _admit(self, call: LiveCall, name: object, args: object) -> Event:
        """Whether the request is one. Synchronous: no other call comes in between."""
        entry = call.entry
        if entry is None:
            call.refusal = explain.unknown_tool(name, self._entries)
            return Refused("unknown_tool")
        if call.signal is not None and call.signal.aborted:
            return Aborted()
        if entry.driver is None:
            call.refusal = explain.no_sandbox(call.name)
            return Refused("sandbox_required")
        try:
            call.data = args if type(args) is bytes else values.canonical(args, BUDGET)
            call.value = entry.tool.input.validate(call.data)
        except values.ValueRefused as error:
            call.refusal = explain.not_json(call.name, error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a schema that is not ours may raise anything)
            call.refusal = _invalid(call, error)
        else:
            return _VALIDATED
        return _INVALID

    async def _validated(self, call: LiveCall, pending: Unfinished) -> Event:
        """Wait for a schema that is asynchronous."""
        try:
            ended, call.value = await waits.finished(call, pending, self._means.attempts, call.signal)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (the same)
            call.refusal = _invalid(call, error)
            return Invalid()
        if ended is not None:
            return Interrupted() if isinstance(ended, Interrupted) else Aborted()
        if call.signal is not None and call.signal.aborted:
            return Aborted()
        return Interrupted() if self._means.closing else _VALIDATED

    async def _governed(self, call: LiveCall, name: object, args: object) -> Outcome:
        """What `call` promises: ask the machine, do what it commands, until it says that the call is over."""
        self._closing.check()
        entry = call.entry
        span = call.span = self._tracing.begin(call.name if entry is not None else None, call.call_id, call.origin)
        self._calls.add(call)
        state = entry.received if entry is not None else _NOBODY
        try:
            event = self._admit(call, name, args)
            if type(call.value) is Unfinished:
                event = await self._validated(call, call.value)
            state, commands = _first_step(call, event)
            first = state
            while True:
                for command in commands:
                    match command:
                        case Announce():
                            self._announce(call, command)
                        case Run():
                            call.since = self._clock()
                            event = await perform.run_attempt(call, command.attempt, self._means)
                        case Finish():
                            outcome = self._outcome(call, state)
                            if self.hub.is_heard_later():  # so that who has the outcome can look at what was heard
                                await asyncio.sleep(0)
                            return outcome
                        case _:
                            event = await self._waited(call, command)
                if type(event) is Returned and state is first and entry is not None and entry.returned is not None:
                    state, commands = entry.returned
                else:
                    state, commands = step(state, event)
        except BaseException:
            self._break_off(call, state)
            raise
        finally:
            self._calls.discard(call)
            if call.turn is not None:
                call.turn.end()
            if self._closing.has_begun:
                self._closing.call_ended()
            if span is not None:
                span.leave()

    def _break_off(self, call: LiveCall, state: State) -> None:
        """Nobody waits for the call any more (its coroutine is closed or collected): say at least how it stands."""
        if not isinstance(state, Done):
            for command in step(state, _INTERRUPTED)[1]:
                if isinstance(command, Announce):
                    self._announce(call, command)

    async def _waited(self, call: LiveCall, command: Ask | Enter | Sleep | Recover) -> Event:
        """What became of a command that most calls do not have."""
        match command:
            case Ask():
                call.since = self._clock()
                return await asking.ask(call, self._means)
            case Enter():
                call.since = self._clock()
                return await waits.entered(call, self._means)
            case Sleep(seconds):
                return await waits.paused(call, seconds, self._means)
            case Recover():
                call.since = self._clock()
                return await perform.recover(call, self._means)
            case _:
                assert_never(command)

    def _announce(self, call: LiveCall, what: Announce) -> None:
        if call.span is not None:
            call.span.announce(what)
        if what.type not in self.hub.wanted:
            return
        origin, entry = call.origin, call.entry
        meta: dict[str, Any]
        if what.attempt is not None and entry is not None:
            meta = {"call_id": call.call_id, "attempt": what.attempt, "max_attempts": entry.plan.max_attempts}
        else:
            meta = {"call_id": call.call_id}
        if what.type not in _TIMELESS:
            meta["duration"] = self._clock() - call.since
        if what.code is not None:
            meta["code"] = what.code
            if what.reason is not None:
                meta["reason"] = what.reason
            if what.type == "tool.failed" and call.cause is not None:
                meta["error"] = explain.class_name(call.cause)
        if what.edited:
            meta["edited"] = True
        if what.status is not None:
            meta["status"] = what.status
        if origin.run_id is not None:
            meta["run_id"] = origin.run_id
        if origin.position is not None:
            meta["line"] = origin.position.line
        tool = call.name if entry is not None else None  # else it is the caller's own text
        self.hub.emit(Notice(what.type, tool, origin.session_id, MappingProxyType(meta)))

    def _progress(self, call: LiveCall, fraction: float, message: str) -> None:
        """A tool reports: the share goes to whoever asked for `tool.progress`, the text to the tools' log."""
        share = min(max(float(fraction), 0.0), 1.0) if not math.isnan(fraction) else 0.0
        if message and call.entry is not None:
            call.entry.log(f"{share:.0%} {message}")
        if "tool.progress" in self.hub.wanted:
            meta: dict[str, Any] = {"call_id": call.call_id, "fraction": share}
            if call.origin.run_id is not None:
                meta["run_id"] = call.origin.run_id
            self.hub.emit(Notice("tool.progress", call.name, call.origin.session_id, MappingProxyType(meta)))

    def _outcome(self, call: LiveCall, state: State) -> Outcome:
        assert isinstance(state, Done)
        if call.span is not None:
            call.span.finish(
                "unknown" if state.recorded == "unknown" else state.status,
                state.code,
                state.attempts,
                arguments=call.data,
                encoded=call.encoded,
                value=call.result,
            )
        if call.cancelled is not None:
            raise call.cancelled
        if state.code is None:
            return Outcome(
                status=state.status,
                value=call.result,
                encoded=call.encoded,
                tool=call.name,
                call_id=call.call_id,
                attempts=state.attempts,
                edited=call.edited,
                recorded=state.recorded,
                duration=self._clock() - call.began,
            )
        return Outcome(
            status=state.status,
            error=self._error(call, state),
            tool=call.name,
            call_id=call.call_id,
            attempts=state.attempts,
            edited=call.edited,
            duration=self._clock() - call.began,
            cause=call.cause,
        )

    def _error(self, call: LiveCall, done: Done) -> ErrorInfo:
        assert done.code is not None
        match done.code:
            case _ if call.refusal is not None:
                return call.refusal
            case "approval_denied" | "approval_expired":
                return explain.not_approved(call.name, done.code, call.reason, call.said, self._means.approval_timeout)
            case "aborted" | "interrupted":
                return explain.stopped(call.name, done.code, done.status)
            case _:
                cause = call.cause if call.cause is not None else RuntimeError()
                error = explain.failed(call.name, done.code, done.status, cause, call.call_id, done.attempts)
                tool = call.entry.tool if call.entry is not None else None
                if call.is_late and tool is not None and tool.total_timeout is not None:
                    return explain.ended_by_total(error, tool.total_timeout, done.attempts, tool.retries + 1)
                return error


def _check_clock(clock: object) -> None:
    told: object = clock() if callable(clock) and not isinstance(clock, type) else None
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise ConfigError("clock must be a function that tells seconds, such as time.monotonic")


def _first_step(call: LiveCall, event: Event) -> Step:
    """Where a call goes from where it begins."""
    entry = call.entry
    if entry is None:
        return step(_NOBODY, event)
    if call.ask is not None:
        return step(entry.doubted, event)
    return entry.accepted if event is _VALIDATED else step(entry.received, event)


def _invalid(call: LiveCall, error: BaseException) -> ErrorInfo:
    """Why arguments do not fit, in the words of their schema, if it has any. What broke in it is for the host to see."""
    if isinstance(error, InvalidInput):
        if any(issue["code"] == explain.BROKEN for issue in error.issues):
            call.cause = error.__cause__ or error.__context__
        return explain.invalid_input(call.name, error.issues)
    call.cause = error
    reason = f"the validator raised {explain.class_name(error)}"
    return explain.invalid_input(call.name, [Issue(path="", message=reason, code=explain.BROKEN)])
