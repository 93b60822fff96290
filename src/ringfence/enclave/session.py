"""One run of one script, seen from the host: frames in and out, calls in flight, the clock that kills.

Does what `ledger` decides: a call is counted when its frame arrives and starts in its turn, and the first terminal
error is latched, so that whatever the guest does afterwards the run has failed with it. Knows frames and the
`ToolCaller` port; neither processes (`pool`, `channel`) nor what a tool is.
"""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, assert_never

from ringfence.enclave import protocol, results
from ringfence.enclave.calls import Call, Flagged
from ringfence.enclave.channel import Channel
from ringfence.enclave.deadline import Deadline
from ringfence.enclave.endings import explain_death
from ringfence.enclave.functions import GlobalFunctions
from ringfence.enclave.languages import LANGUAGES, PYTHON
from ringfence.enclave.ledger import NO_ARGUMENTS, Entry, Flood, Ledger, OutOfOrder, Refuse, Screen, Start
from ringfence.enclave.received import Printed, take_arguments, take_done
from ringfence.enclave.results import CallFailure, Ending, RunResult, RunStats, run_error
from ringfence.errors import ErrorInfo, Status
from ringfence.limits import RunLimits
from ringfence.ports import Answer, Origin, Position, ToolCaller

_log: Final = logging.getLogger("ringfence")

TERMINAL_GRACE: Final = 1.0
"""Seconds that a guest has left after a terminal refusal."""
WATCHED: Final = frozenset({"STRICT", "SECURE"})
"""Levels at which a guest watches its script, and may say that it did what the level forbids."""
MOST_BLAMED: Final = 2
"""Times the bytes of one value that exceptions of failed calls may keep alive: beyond, they are not kept."""
UNWIND: Final = 0.7
"""Seconds for cancelled calls to unwind, before they are left behind: a run may overshoot its time by one second."""


def _ignore(_: Flagged) -> None:
    """Nobody wants to hear of flagged calls."""


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
        self._calls: dict[int, Call] = {}
        """Those that wait or run."""
        self._running: dict[int, Call] = {}
        self._recorded: dict[int, Call] = {}
        self._failures: dict[int, CallFailure] = {}
        self._printed = Printed(limits)
        self._blamed = 0
        """Bytes of arguments that exceptions of calls keep alive in their frames."""
        self._keeps_variables = False
        self._taken: frozenset[str] = frozenset()
        self._language = PYTHON
        self._sanitizes = False
        self._started_at = time.time()
        self._grace: asyncio.TimerHandle | None = None
        """Ends a guest that goes on after a terminal refusal."""
        self.deadline = Deadline(limits.timeout, self._on_deadline)

    async def run(self, request: protocol.RunRequest) -> RunResult:
        """Send the script and wait for its end, or for a limit.

        Raises:
            SandboxFault: the child could not close its jail, and never saw the script.
            asyncio.CancelledError: the caller was cancelled; the guest is dead and its calls are unwound.
        """
        self._keeps_variables, self._taken, self._sanitizes = request.keep_variables, request.taken, not request.traces
        self._language = LANGUAGES[request.language]
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
            if self._grace is not None:
                self._grace.cancel()
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

    def on_fault(self, error: Exception) -> None:
        _log.error("run %s failed inside the host: %s", self._origin.run_id, type(error).__name__)
        text = f"the host failed while it served the script ({type(error).__name__})"
        self._latch(run_error("sandbox_crashed", text), now=True)

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
        call = Call(
            deadline=self.deadline,
            entry=self._entry(frame),
            call_id=f"{self._origin.run_id}.{frame.id}",
            position=Position(line=frame.line, site=frame.site, task=frame.task, sequence=frame.seq),
            received=time.monotonic(),
        )
        entry = call.entry
        try:
            refusal = self._ledger.arrive(entry)
        except OutOfOrder as wrong:
            raise protocol.WireViolation(str(wrong)) from None
        except Flood as flood:  # faster than the first refusal: the run has failed with what that would have said
            self._fail(call, "refused", self._ledger.excess(entry.kind), terminal=True)
            raise protocol.WireViolation(str(flood)) from None
        if refusal is not None:
            self._refuse(call, refusal)
            return
        if not entry.over:
            taken = take_arguments(frame, self._limits.value)
            if isinstance(taken, ErrorInfo):
                form = self._caller.form(entry.name) if entry.kind == "tool" else None
                hint = taken.hint or (form and f"pass {form}{self._language.or_else}")
                self._fail(call, "refused", dataclasses.replace(taken, hint=hint))
                return
            call.args = taken
            entry.size = taken.size
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
            step.entry.arguments = NO_ARGUMENTS
            if step.cause is not None:
                _log.warning("a detector raised %s about call %s", type(step.cause).__name__, call.call_id)
            match step:
                case Start(entry=entry):
                    call.ask = step.ask
                    if step.flags and step.ask is None:
                        self._on_flagged(call.flagged())
                    self._running[entry.number] = call
                    call.task = self._context.copy().run(self._loop.create_task, self._serve(call))
                case Refuse(error=error):
                    call.cause = step.cause
                    self._fail(call, "refused", error, terminal=True)
                case _:
                    assert_never(step)
        if self._ledger.roomy:
            self._channel.resume()

    async def _serve(self, call: Call) -> None:
        call.served = True
        try:
            if call.withdrawn:
                return
            answer = await self._called(call)
        except asyncio.CancelledError:
            self._interrupted(call)
            raise
        except Exception as error:  # noqa: BLE001 - a caller does not raise; if it does, the call must not hang
            _log.error("call %s failed inside the host: %s", call.call_id, type(error).__name__)
            answer = Answer(status="unknown", error=ErrorInfo(code="outcome_unknown", message="the host failed"))
        finally:
            call.approval_ended()
            self._running.pop(call.entry.number, None)
            self._ledger.finished(call.entry)
        if call.withdrawn:  # it has its answer
            self._interrupted(call)
            return
        try:
            self._answer(call, answer)
            self._start_queued()
        except Exception as error:  # noqa: BLE001 - nobody awaits this task, so the run would hang
            self.on_fault(error)

    def _called(self, call: Call) -> Coroutine[Any, Any, Answer]:
        args, call.args = call.args, None
        assert args is not None
        if call.entry.kind == "function":
            assert self._functions is not None
            call.tool_began()
            return self._functions.call(call.entry.function, args.data, args.tags)
        origin = Origin(
            session_id=self._origin.session_id,
            principal=self._origin.principal,
            run_id=self._origin.run_id,
            position=call.position,
        )
        return self._caller.call(call.entry.name, args.data, origin, call.call_id, call, tags=args.tags, ask=call.ask)

    def _answer(self, call: Call, answer: Answer) -> None:
        if answer.error is not None:
            if answer.cause is not None and self._blamed + call.entry.size <= MOST_BLAMED * self._limits.value.size:
                call.cause = answer.cause
                self._blamed += call.entry.size
            self._fail(call, answer.status, answer.error, terminal=answer.terminal, returnable=answer.returnable)
            return
        call.end(answer.status, None if answer.status == "succeeded" else "outcome_unknown")
        self._record(call)
        self._channel.send(protocol.answer_frame(call.entry.number, answer.value, answer.tags))

    def _fail(
        self, call: Call, status: Status, error: ErrorInfo, *, terminal: bool = False, returnable: bool = False
    ) -> None:
        """The call has failed, and with it the run where that is `terminal`."""
        entry = call.entry
        failure = CallFailure(kind=entry.kind, name=entry.name, call_id=call.call_id, error=error)
        call.end(status, error.code)
        self._record(call)
        self._failures[entry.number] = failure
        self._tell(call, error, terminal=terminal, returnable=returnable)
        if terminal:
            self._latch(results.from_call(failure, call.position.line), now=False)

    def _refuse(self, call: Call, error: ErrorInfo, code: str | None = None) -> None:
        """The run is over, so the call does not happen. Its record says `code`; by default that of the error."""
        call.end("refused", error.code if code is None else code)
        self._record(call)
        self._tell(call, error, terminal=True)

    def _tell(self, call: Call, error: ErrorInfo, *, terminal: bool, returnable: bool = False) -> None:
        entry = call.entry
        if self._sanitizes:
            error = results.without_traces(error)
        self._channel.send(
            protocol.error_frame(
                entry.number, entry.name, error, terminal=terminal, returnable=returnable and not terminal
            )
        )

    def _record(self, call: Call) -> None:
        self._calls.pop(call.entry.number, None)
        self._recorded[call.entry.number] = call

    def _interrupted(self, call: Call) -> None:
        call.interrupt(self._caller.effects().get(call.entry.name) if call.entry.kind == "tool" else None)
        self._record(call)

    # the end

    def _on_deadline(self) -> None:
        text = f"the script ran longer than {self._limits.timeout:g} s"
        self._latch(run_error("deadline_exceeded", text, hint="do less in one script, or raise timeout"), now=True)

    def _latch(self, error: ErrorInfo, *, now: bool) -> None:
        """The first terminal error wins. `now` ends the guest at once, else it has a moment to end by itself."""
        if self._last is None:
            self._ledger.latch(error)
        if now:
            self._end()
            return
        if self._grace is None and not self._ended.done():
            self._grace = self._loop.call_later(TERMINAL_GRACE, self._end)
        self._withdraw(served=True)
        # calls that were judged before this one take their first step; if that is not their tool's, they go no further
        self._loop.call_soon(self._withdraw)

    def _withdraw(self, *, served: bool = False) -> None:
        """Nothing starts any more: take back calls that wait for their turn, and those on their way to their tool
        (`served`: that have set out already). Calls whose tool runs go on.
        """
        refusal = self._ledger.afterwards()
        for entry in self._ledger.drain():
            self._refuse(self._calls[entry.number], refusal)
        for call in self._running.values():
            if call.began or call.withdrawn or (served and not call.served):
                continue
            call.withdrawn = True
            self._refuse(call, refusal, "interrupted")
            if call.served and call.task is not None:
                call.task.cancel()

    def _end(self) -> None:
        if self._ended.done():
            return
        self._ended.set_result(None)
        self._ledger.over = True
        if self._ledger.verdict is None:
            self._settle_queue()
        self._withdraw()

    def _settle_queue(self) -> None:
        """A script that ends by itself has failed all the same when it made calls beyond its budget, seen or not."""
        refusal = self._ledger.afterwards()
        for entry in self._ledger.drain():
            call = self._calls[entry.number]
            if not entry.over:
                self._refuse(call, refusal, "interrupted")
                continue
            error = self._ledger.excess(entry.kind)
            self._refuse(call, error)
            failure = CallFailure(kind=entry.kind, name=entry.name, call_id=call.call_id, error=error)
            self._ledger.latch(results.from_call(failure, call.position.line))

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
                    language=self._language.name,
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
            return take_done(
                done,
                self._limits.value,
                variables=self._keeps_variables,
                taken=self._taken,
                language=self._language,
            )
        except protocol.WireViolation as violation:
            return Ending(error=run_error("wire_violation", f"the guest broke the protocol: {violation}"))

    async def _unwind(self) -> None:
        """Cancel what still runs, and wait for it, bounded."""
        tasks: list[asyncio.Task[None]] = []
        for call in self._running.values():
            if call.task is not None:
                if not call.withdrawn:
                    call.task.cancel()
                tasks.append(call.task)
        if tasks:
            await asyncio.wait(tasks, timeout=UNWIND)
        for call in self._running.values():  # ignores its cancellation; nobody waits for it any more
            _log.warning("call %s goes on although it was cancelled", call.call_id)
            self._interrupted(call)

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
