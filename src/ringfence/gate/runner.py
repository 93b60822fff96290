"""The one path from a request to an execution.

`Gate.call` runs `gate.machine` for one call: it admits the request in one synchronous step, does what the machine
commands (`gate.perform`), and answers with an `Outcome`. It decides nothing itself. Knows tools, drivers through
their port, one approval handler and a hub; does not know scripts or boundaries, which call it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, assert_never

from ringfence import values
from ringfence.contract.toolset import Toolset
from ringfence.errors import ConfigError, ErrorInfo, Issue, ToolSandboxRequiredError
from ringfence.events import Event as Notice
from ringfence.gate import explain, perform
from ringfence.gate.approval import approver
from ringfence.gate.attempt import STOPPED_GRACE, Stop
from ringfence.gate.entries import LiveCall, entry_for
from ringfence.gate.hub import EventHub
from ringfence.gate.machine import start, step
from ringfence.gate.states import (
    Aborted,
    Announce,
    Ask,
    Done,
    Event,
    Finish,
    Invalid,
    Plan,
    Recover,
    Refused,
    Run,
    Sleep,
    State,
    Validated,
)
from ringfence.limits import parse_seconds
from ringfence.ports import ApprovalHandler, CallWatch, Driver, InvalidInput, Origin, Outcome, Signal

DRAIN: Final = 5.0
"""Seconds that running calls get to finish when the gate closes, before they are stopped."""
DRIVER_CLOSE: Final = 10.0
"""Seconds for one driver to close."""
_STOPS: Final = 20
"""Times that running calls are told to stop: one may only be about to wait when the others hear of it."""

_Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]

_NOBODY: Final = start(Plan(asks=False, max_attempts=1, stakes="none", idempotent=False, recovers=False))
"""Where a call of a tool that does not exist begins."""
_TIMELESS: Final = frozenset({"tool.called", "approval.required"})
"""Events that begin something, and so have no duration."""

_log: Final = logging.getLogger("ringfence")
_tool_log: Final = logging.getLogger("ringfence.tools")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStatistics:
    """What a gate is doing now."""

    running: int
    """Calls without an outcome yet."""
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
        approve: ApprovalHandler | None = None,
        approval_timeout: float | None = None,
        hub: EventHub | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare every tool. Starts nothing.

        Args:
            sandbox: for tools that bring none of their own.
            approve: decides about tools with `approval="human"`.
            approval_timeout: seconds until a question expires; None waits for ever.
            clock: monotonic seconds.

        Raises:
            ConfigError: a handler with the wrong parameters, or a timeout that is none.
        """
        self.tools = tools
        self.hub = hub if hub is not None else EventHub()
        human = approver(approve, "approve") if approve is not None else None
        timeout = None if approval_timeout is None else parse_seconds(approval_timeout, "approval_timeout")
        self._means = perform.Means(clock=clock, approval_timeout=timeout, progress=self._progress)
        self._entries = {
            tool.name: entry_for(tool, sandbox=sandbox, human=human, log=partial(_tool_log.info, "%s: %s", tool.name))
            for tool in tools
        }
        drivers = [sandbox, *(entry.driver for entry in self._entries.values())]
        self._drivers = tuple({id(driver): driver for driver in drivers if driver is not None}.values())
        self._clock = clock
        self._prefix = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._calls: set[LiveCall] = set()
        self._idle: list[_Waiter] = []
        self._started = False
        self._closed = False
        self._lock = threading.Lock()
        self._gone = False
        """Closed, and everything that closing does is done."""
        self._closers: list[_Waiter] = []

    @property
    def drivers(self) -> tuple[Driver, ...]:
        """Every driver that a tool uses, once."""
        return self._drivers

    def start(self) -> None:
        """Check what only the whole can show; warn of a tool that nobody can approve. Does nothing the second time.

        Raises:
            ToolSandboxRequiredError: tools without a sandbox, by name.
            ConfigError: `not_running`, the gate is closed.
        """
        self._refuse_when_closed()
        if self._started:
            return
        bare = [name for name, entry in self._entries.items() if entry.driver is None]
        if bare:
            raise ToolSandboxRequiredError(
                f"no explicit sandbox for {', '.join(bare)}, and nothing runs without one",
                hint="pass sandbox= to the boundary or to the tool; rf.local(unsafe=True) for code that you trust",
            )
        silent = [name for name, entry in self._entries.items() if entry.plan.asks and entry.approver is None]
        if silent:
            _log.warning("%s need approval, and approve= is not set: every call will be denied", ", ".join(silent))
        self._started = True

    async def call(
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
    ) -> Outcome:
        """Govern one call from request to outcome.

        Args:
            name: the tool's.
            args: an object of JSON values, or its canonical JSON text as bytes.
            call_id: names the call in events; a fresh one by default.
            watch: hears when a decision is waited for.
            signal: asks the call to stop: before it runs it is refused, while it runs the tool sees it.
            own_task: the task that awaits this was made for this call alone, and its maker can leave it behind.
            encode: also dump the result, into `Outcome.encoded`; one that cannot be dumped is a `bad_result`.

        Raises:
            asyncio.CancelledError: the host cancelled; the call has unwound, and is recorded as `interrupted`.
            ConfigError: `not_running`, the gate is closed.
        """
        self._refuse_when_closed()
        entry = self._entries.get(name) if type(name) is str else None
        call = LiveCall(
            name=entry.tool.name if entry is not None else explain.shown_name(name),
            entry=entry,
            origin=origin,
            call_id=call_id if call_id is not None else f"{self._prefix}-{next(self._numbers)}",
            signal=signal,
            watch=watch,
            encode=encode,
            own_task=own_task,
            began=self._clock(),
        )
        self._calls.add(call)
        try:
            return await self._live(call, self._admit(call, name, args))
        finally:
            self._calls.discard(call)
            if self._closed and not self._calls:
                self._wake()

    def statistics(self) -> GateStatistics:
        """Counts of now."""
        attempts = self._means.attempts
        return GateStatistics(
            running=len(self._calls),
            abandoned=len(attempts.abandoned),
            abandoned_total=attempts.abandoned_total,
            abandoned_handlers=self._means.threads.statistics().abandoned,
        )

    async def aclose(self, *, drain: float = DRAIN) -> None:
        """Take no further call, let running ones finish for `drain` seconds, stop the rest, close every driver and
        the hub once. Idempotent; concurrent callers wait for the one that does it.

        Raises:
            ExceptionGroup: drivers that failed to close; all have been tried.
        """
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        with self._lock:
            is_first, self._closed = not self._closed, True
            if self._gone:
                return
            if not is_first:
                self._closers.append((loop, done))
        if not is_first:
            await done
            return
        try:
            await self._close(drain)
        finally:
            with self._lock:
                self._gone = True
                waiting, self._closers = self._closers, []
            _release(waiting)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ConfigError("the boundary is closed", code="not_running")

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
            call.data = args if type(args) is bytes else values.canonical(args, perform.BUDGET)
            call.value = entry.tool.input.validate(call.data)
        except values.ValueRefused as error:
            call.refusal = explain.not_json(call.name, error)
        except InvalidInput as error:
            call.refusal = explain.invalid_input(call.name, error.issues)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a schema that is not ours may raise anything)
            reason = f"the validator raised {explain.class_name(error)}"
            call.refusal = explain.invalid_input(call.name, [Issue(path="", message=reason, code="validator")])
        else:
            return Validated()
        return Invalid()

    async def _live(self, call: LiveCall, event: Event) -> Outcome:
        state, commands = step(call.entry.received if call.entry is not None else _NOBODY, event)
        while True:
            for command in commands:
                match command:
                    case Announce():
                        self._announce(call, command)
                    case Run():
                        call.since = self._clock()
                        event = await perform.run_attempt(call, command.attempt, self._means)
                    case Finish():
                        return self._outcome(call, state)
                    case Ask():
                        call.since = self._clock()
                        event = await perform.ask(call, self._means)
                    case Sleep():
                        event = await perform.pause(call, command.seconds, self._means)
                    case Recover():
                        event = await perform.recover(call, self._means)
                    case _:
                        assert_never(command)
            state, commands = step(state, event)

    def _announce(self, call: LiveCall, what: Announce) -> None:
        if not self.hub.wants(what.type):
            return
        origin, entry = call.origin, call.entry
        meta: dict[str, Any] = {"call_id": call.call_id}
        if what.attempt is not None and entry is not None:
            meta["attempt"] = what.attempt
            meta["max_attempts"] = entry.plan.max_attempts
        if what.type not in _TIMELESS:
            meta["duration"] = self._clock() - call.since
        if what.code is not None:
            meta["code"] = what.code
        if what.reason is not None:
            meta["reason"] = what.reason
        if origin.run_id is not None:
            meta["run_id"] = origin.run_id
        if origin.position is not None:
            meta["line"] = origin.position.line
        tool = call.name if entry is not None else None  # else it is the caller's own text
        self.hub.emit(Notice(what.type, tool, origin.session_id, MappingProxyType(meta)))

    def _progress(self, call: LiveCall, fraction: float, message: str) -> None:
        """A tool reports: the share goes to whoever asked for `tool.progress`, the text to the tools' log."""
        share = min(max(float(fraction), 0.0), 1.0)
        if message and call.entry is not None:
            call.entry.log(f"{share:.0%} {message}")
        if self.hub.wants("tool.progress"):
            meta: dict[str, Any] = {"call_id": call.call_id, "fraction": share}
            if call.origin.run_id is not None:
                meta["run_id"] = call.origin.run_id
            self.hub.emit(Notice("tool.progress", call.name, call.origin.session_id, MappingProxyType(meta)))

    def _outcome(self, call: LiveCall, state: State) -> Outcome:
        assert isinstance(state, Done)
        if call.cancelled is not None:
            raise call.cancelled
        succeeded = state.code is None
        return Outcome(
            status=state.status,
            value=call.result if succeeded else None,
            encoded=call.encoded if succeeded else None,
            error=None if succeeded else self._error(call, state),
            tool=call.name,
            call_id=call.call_id,
            attempts=state.attempts,
            duration=self._clock() - call.began,
            cause=None if succeeded else call.cause,
        )

    def _error(self, call: LiveCall, done: Done) -> ErrorInfo:
        assert done.code is not None
        match done.code:
            case _ if call.refusal is not None:
                return call.refusal
            case "approval_denied" | "approval_expired":
                return explain.not_approved(call.name, done.code, call.reason, self._means.approval_timeout)
            case "tool_timeout" | "aborted" | "interrupted":
                timeout = call.entry.tool.timeout if call.entry is not None else None
                return explain.stopped(call.name, done.code, done.status, timeout)
            case _:
                cause = call.cause if call.cause is not None else RuntimeError()
                return explain.failed(call.name, done.code, done.status, cause, call.call_id)

    # closing

    async def _close(self, drain: float) -> None:
        if not await self._drained(drain):
            self._means.closing = True
            for _ in range(_STOPS):
                self._means.attempts.stop_all(Stop.CLOSING)
                if await self._drained(2 * STOPPED_GRACE / _STOPS):
                    break
        failures = [error for driver in self._drivers if (error := await _close(driver)) is not None]
        await self.hub.aclose()
        if failures:
            raise ExceptionGroup("sandboxes failed to close", failures)

    async def _drained(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        idle = loop.create_future()
        self._idle.append((loop, idle))
        if not self._calls:
            return True
        await asyncio.wait([idle], timeout=seconds)
        return not self._calls

    def _wake(self) -> None:
        waiting, self._idle = self._idle, []
        _release(waiting)


def _release(waiting: list[_Waiter]) -> None:
    for loop, future in waiting:
        if not loop.is_closed():
            loop.call_soon_threadsafe(_done, future)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _close(driver: Driver) -> Exception | None:
    try:
        async with asyncio.timeout(DRIVER_CLOSE):
            await driver.aclose()
    except Exception as error:  # noqa: BLE001  (the other drivers must be closed all the same)
        return error
    return None
