"""One run of one script, seen from the host: frames in and out, calls in flight, the clock that kills.

Does what `ledger` decides: a call is counted when its frame arrives and starts in its turn, and the first terminal
error is latched, so that whatever the guest does afterwards the run has failed with it. Knows frames and the
`ToolCaller` port; neither processes (`pool`, `channel`) nor what a tool is.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from ringfence import values
from ringfence.enclave import protocol, results
from ringfence.enclave.channel import Channel
from ringfence.enclave.deadline import Deadline
from ringfence.enclave.endings import explain_death
from ringfence.enclave.functions import GlobalFunctions
from ringfence.enclave.ledger import Entry, Flood, Ledger, Refuse, Screen, Start
from ringfence.enclave.received import Arguments, Printed, take_arguments, take_done
from ringfence.enclave.results import CallFailure, CallRecord, Ending, RunResult, RunStats, run_error
from ringfence.errors import ErrorInfo, Status
from ringfence.limits import RunLimits
from ringfence.ports import Answer, Origin, Position, ToolCaller

_log: Final = logging.getLogger("ringfence")

TERMINAL_GRACE: Final = 1.0
"""Seconds that a guest has left after a terminal refusal."""
_NO_ARGUMENTS: Final[Mapping[str, Any]] = {}
WATCHED: Final = frozenset({"STRICT", "SECURE"})
"""Levels at which a guest watches its script, and may say that it did what the level forbids."""
UNWIND: Final = 0.7
"""Seconds for cancelled calls to unwind, before they are left behind: a run may overshoot its time by one second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """A call that screening noticed and let pass."""

    call_id: str
    name: str
    line: int
    patterns: tuple[str, ...]


def _ignore(_: Flagged) -> None:
    """Nobody wants to hear of flagged calls."""


@dataclass(slots=True)
class _Call:
    """One call from frame to record. Also the call's watch: approval time stops the run's clock."""

    session: ScriptSession
    entry: Entry
    call_id: str
    position: Position
    received: float
    args: Arguments | None = None
    """Until the call starts."""
    ask: str | None = None
    """Why somebody has to approve it, whatever its tool says."""
    flags: tuple[str, ...] = ()
    task: asyncio.Task[None] | None = None
    deciding: bool = False
    undecided: bool = False
    """Cancelled while somebody was deciding about it, so it did not run."""
    status: Status = "failed"
    code: str | None = None
    taken: float = 0.0
    cause: BaseException | None = None

    def record(self) -> CallRecord:
        return CallRecord(
            call_id=self.call_id,
            name=self.entry.name,
            status=self.status,
            code=self.code,
            line=self.position.line,
            duration=self.taken,
            flags=self.flags,
            cause=self.cause,
        )

    def flagged(self) -> Flagged:
        return Flagged(call_id=self.call_id, name=self.entry.name, line=self.position.line, patterns=self.flags)

    def approval_began(self) -> None:
        if not self.deciding:
            self.deciding = True
            self.session.deadline.hold()

    def approval_ended(self) -> None:
        if self.deciding:
            self.deciding = False
            self.session.deadline.release()


class ScriptSession:
    """One run. `run` once; `abort` at any time from the same event loop."""

    def __init__(
        self,
        *,
        channel: Channel,
        caller: ToolCaller,
        limits: RunLimits,
        origin: Origin,
        functions: GlobalFunctions | None = None,
        screen: Screen | None = None,
        on_flagged: Callable[[Flagged], None] = _ignore,
    ) -> None:
        self._channel = channel
        self._caller = caller
        self._functions = functions
        self._limits = limits
        self._origin = origin
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        """The caller's, for the script's calls: a frame arrives in that of whoever started the worker."""
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._screened = screen is not None
        self._on_flagged = on_flagged
        self._ledger = Ledger(limits, screen)
        self._impossible: list[protocol.FailureKind] = []
        """What this guest cannot have failed with."""
        self._last: protocol.Done | protocol.Failed | None = None
        self._calls: dict[int, _Call] = {}
        """Those that wait or run."""
        self._running: dict[int, _Call] = {}
        self._recorded: dict[int, _Call] = {}
        self._failures: dict[int, CallFailure] = {}
        self._printed = Printed(limits)
        self._keeps_variables = False
        self._started_at = time.time()
        self.deadline = Deadline(limits.timeout, self._on_deadline)

    async def run(self, request: protocol.RunRequest) -> RunResult:
        """Send the script and wait for its end, or for a limit.

        Raises:
            SandboxFault: the child could not close its jail, and never saw the script.
            asyncio.CancelledError: the caller was cancelled; the guest is dead and its calls are unwound.
        """
        self._keeps_variables = request.keep_variables
        self._channel.attach(self)
        if not request.max_iterations:
            self._impossible.append("iterations")
        if request.rules not in WATCHED:
            self._impossible.append("violation")
        self.deadline.start()
        try:
            self._channel.send(protocol.run_frame(request, self._limits.value))
            await self._ended
            ending = await self._conclude()
        except asyncio.CancelledError:
            self._latch(run_error("aborted", "the run was cancelled"), now=True)
            raise
        finally:
            self.deadline.stop()
            self._channel.kill()
            await self._unwind()
        return self._finished(ending)

    def abort(self, reason: str = "the run was aborted") -> None:
        """End the run now with `ABORTED`."""
        self._latch(run_error("aborted", reason), now=True)

    # what the channel says

    def on_frame(self, frame: protocol.GuestFrame) -> None:
        match frame:
            case protocol.Call() | protocol.GlobalCall():
                self._on_call(frame)
            case protocol.Print():
                self._on_print(frame.text)
            case protocol.Done() | protocol.Failed():
                if self._last is None:
                    self._last = frame
                self._end()
            case protocol.Ready() | protocol.Checked():
                raise protocol.WireViolation("a frame that nobody expects")
            case _:
                assert_never(frame)

    def on_violation(self, reason: str) -> None:
        self._latch(run_error("wire_violation", f"the guest broke the protocol: {reason}"), now=True)

    def on_closed(self) -> None:
        self._end()

    def on_writable(self) -> None:
        self._start_queued()

    def _on_print(self, text: str) -> None:
        if not self._printed.add(text):
            hint = "print less, or raise max_output"
            message = f"the script printed more than {self._limits.output} bytes"
            self._latch(run_error("output_limit", message, hint=hint), now=True)

    # calls

    def _on_call(self, frame: protocol.Call | protocol.GlobalCall) -> None:
        call = _Call(
            session=self,
            entry=self._entry(frame),
            call_id=f"{self._origin.run_id}.{frame.id}",
            position=Position(line=frame.line, site=frame.site, task=frame.task, sequence=frame.seq),
            received=time.monotonic(),
        )
        entry = call.entry
        try:
            refusal = self._ledger.arrive(entry)
        except Flood as flood:
            raise protocol.WireViolation(str(flood)) from None
        if refusal is not None:
            self._fail(call, "refused", refusal, terminal=True)
            return
        if not entry.over:
            taken = take_arguments(frame, self._limits.value)
            if isinstance(taken, ErrorInfo):
                self._fail(call, "refused", taken)
                return
            call.args = taken
            entry.size = values.footprint(taken.data)
            if self._screened and entry.kind == "tool":
                entry.arguments = taken.value
        self._calls[entry.number] = call
        self._ledger.queue(entry)
        if self._ledger.full:
            self._channel.pause()
        self._start_queued()

    def _entry(self, frame: protocol.Call | protocol.GlobalCall) -> Entry:
        if isinstance(frame, protocol.Call):
            return Entry(number=frame.id, kind="tool", name=frame.name)
        name = None if self._functions is None else self._functions.name(frame.function)
        if name is None:
            raise protocol.WireViolation("a call of a function that does not exist")
        return Entry(number=frame.id, kind="function", name=name, function=frame.function)

    def _start_queued(self) -> None:
        """Start waiting calls while there is room and the guest reads its answers."""
        while (step := self._ledger.next(time.monotonic(), writable=self._channel.writable)) is not None:
            call = self._calls[step.entry.number]
            call.flags = step.flags
            step.entry.arguments = _NO_ARGUMENTS
            match step:
                case Start(entry=entry):
                    call.ask = step.ask
                    if step.flags and step.ask is None:
                        self._on_flagged(call.flagged())
                    self._running[entry.number] = call
                    call.task = self._context.copy().run(self._loop.create_task, self._serve(call))
                case Refuse(error=error):
                    self._fail(call, "refused", error, terminal=True)
                case _:
                    assert_never(step)
        if self._ledger.roomy:
            self._channel.resume()

    async def _serve(self, call: _Call) -> None:
        try:
            answer = await self._called(call)
        except asyncio.CancelledError:
            self._record_interrupted(call)
            raise
        except Exception as error:  # noqa: BLE001 - a caller does not raise; if it does, the call must not hang
            _log.error("call %s failed inside the host: %s", call.call_id, type(error).__name__)
            answer = Answer(status="unknown", error=ErrorInfo(code="outcome_unknown", message="the host failed"))
        finally:
            call.approval_ended()
            self._running.pop(call.entry.number, None)
            self._ledger.finished(call.entry)
        self._answer(call, answer)
        self._start_queued()

    def _called(self, call: _Call) -> Coroutine[Any, Any, Answer]:
        args, call.args = call.args, None
        assert args is not None
        if call.entry.kind == "function":
            assert self._functions is not None
            return self._functions.call(call.entry.function, args.data, args.tags)
        origin = Origin(
            session_id=self._origin.session_id,
            principal=self._origin.principal,
            run_id=self._origin.run_id,
            position=call.position,
        )
        return self._caller.call(call.entry.name, args.data, origin, call.call_id, call, tags=args.tags, ask=call.ask)

    def _answer(self, call: _Call, answer: Answer) -> None:
        if answer.error is not None:
            call.cause = answer.cause
            self._fail(call, answer.status, answer.error, terminal=answer.terminal, returnable=answer.returnable)
            return
        self._record(call, answer.status, None if answer.status == "succeeded" else "outcome_unknown")
        self._channel.send(protocol.answer_frame(call.entry.number, answer.value, answer.tags))

    def _fail(
        self, call: _Call, status: Status, error: ErrorInfo, *, terminal: bool = False, returnable: bool = False
    ) -> None:
        entry = call.entry
        failure = CallFailure(kind=entry.kind, name=entry.name, call_id=call.call_id, error=error)
        self._record(call, status, error.code)
        self._failures[entry.number] = failure
        self._channel.send(
            protocol.error_frame(
                entry.number, entry.name, error, terminal=terminal, returnable=returnable and not terminal
            )
        )
        if terminal:
            self._latch(results.from_call(failure, call.position.line), now=False)

    def _record(self, call: _Call, status: Status, code: str | None) -> None:
        """Note how a call ended; the public record is made when the run has."""
        call.status, call.code, call.taken = status, code, time.monotonic() - call.received
        self._calls.pop(call.entry.number, None)
        self._recorded[call.entry.number] = call

    def _record_interrupted(self, call: _Call) -> None:
        effect = self._caller.effects().get(call.entry.name) if call.entry.kind == "tool" else None
        self._record(call, "refused" if call.undecided else results.in_doubt(effect), "interrupted")

    # the end

    def _on_deadline(self) -> None:
        text = f"the script ran longer than {self._limits.timeout:g} s"
        self._latch(run_error("deadline_exceeded", text, hint="do less in one script, or raise timeout"), now=True)

    def _latch(self, error: ErrorInfo, *, now: bool) -> None:
        """The first terminal error wins. `now` ends the guest at once, else it has a moment to end by itself."""
        if self._last is None:
            self._ledger.latch(error)
        refusal = self._ledger.afterwards()
        for entry in self._ledger.drain():
            self._fail(self._calls[entry.number], "refused", refusal)
        if now:
            self._end()
        elif not self._ended.done():
            self._loop.call_later(TERMINAL_GRACE, self._end)

    def _end(self) -> None:
        self._ledger.over = True
        if not self._ended.done():
            self._ended.set_result(None)

    async def _conclude(self) -> Ending:
        if self._ledger.verdict is not None:
            return Ending(error=self._ledger.verdict)
        match self._last:
            case protocol.Done() as done:
                return self._ending(done)
            case protocol.Failed() as failed:
                failure = self._failures.get(failed.call) if failed.call is not None else None
                error = results.from_guest(
                    failed,
                    failure,
                    calls_made=self._ledger.made,
                    tools=self._caller.catalogue() or (),
                    impossible=self._impossible,
                )
                return Ending(
                    error=error or run_error("wire_violation", "the guest broke the protocol: a contradiction")
                )
            case None:
                return Ending(error=await explain_death(self._channel, self._limits))
            case _:
                assert_never(self._last)

    def _ending(self, done: protocol.Done) -> Ending:
        try:
            taken = take_done(done, self._limits.value, variables=self._keeps_variables)
        except protocol.WireViolation as violation:
            return Ending(error=run_error("wire_violation", f"the guest broke the protocol: {violation}"))
        if isinstance(taken, ErrorInfo):
            return Ending(error=taken)
        return Ending(value=taken[0], variables=taken[1])

    async def _unwind(self) -> None:
        """Cancel what still runs, and wait for it, bounded. What never started is recorded too."""
        for entry in self._ledger.drain():
            self._record(self._calls[entry.number], "refused", "interrupted")
        tasks: list[asyncio.Task[None]] = []
        for call in self._running.values():
            call.undecided = call.deciding
            if call.task is not None:
                call.task.cancel()
                tasks.append(call.task)
        if tasks:
            await asyncio.wait(tasks, timeout=UNWIND)
        for call in self._running.values():  # ignores its cancellation; nobody waits for it any more
            _log.warning("call %s goes on although it was cancelled", call.call_id)
            self._record_interrupted(call)

    def _finished(self, ending: Ending) -> RunResult:
        stats = RunStats(
            tool_call_count=self._ledger.counts["tool"],
            global_call_count=self._ledger.counts["function"],
            duration=self.deadline.elapsed,
            approval_wait=self.deadline.waited,
            output_bytes=self._printed.size,
            started_at=self._started_at,
        )
        calls = [self._recorded[number] for number in sorted(self._recorded)]
        return results.finished(
            ending,
            stats=stats,
            output=self._printed.text(),
            calls=tuple(call.record() for call in calls if call.entry.kind == "tool"),
            run_id=self._origin.run_id or "",
        )
