"""One run of one script, seen from the host: budgets, calls in flight, the clock that kills, the verdict.

Decisions are taken in one synchronous step when a frame arrives, so concurrent calls cannot overspend. The first
terminal error is latched: whatever the guest does afterwards, the run has failed with it. Knows frames and the
`ToolCaller` port; neither processes (`pool`, `channel`) nor what a tool is.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from ringfence import values
from ringfence.enclave import protocol, results
from ringfence.enclave.channel import Channel, describe_exit
from ringfence.enclave.results import CallFailure, CallRecord, RunResult, RunStats, run_error
from ringfence.errors import CODES, ErrorInfo, SandboxFault, Status
from ringfence.limits import RunLimits
from ringfence.ports import Answer, Origin, Position, ToolCaller

_log: Final = logging.getLogger("ringfence")

TERMINAL_GRACE: Final = 1.0
"""Seconds that a guest has left after a terminal refusal."""
UNWIND: Final = 0.7
"""Seconds for cancelled calls to unwind, before they are left behind: a run may overshoot its time by one second."""
EXCESS_CALLS: Final = 1_000
"""Refused calls beyond the budget (one large gather) before a guest is ended for flooding."""
EXIT_WAIT: Final = 0.5
"""Seconds to learn how a guest ended that said nothing; a real end is reported within 20 ms."""


@dataclass(slots=True)
class _Call:
    """One call from frame to record. Also the call's watch: approval time stops the run's clock."""

    session: ScriptSession
    number: int
    call_id: str
    name: str
    position: Position
    received: float
    args: bytes = b""
    """Canonical arguments, until the call starts."""
    task: asyncio.Task[None] | None = None
    deciding: bool = False
    over: bool = False
    """Beyond the budget."""
    undecided: bool = False
    """Cancelled while somebody was deciding about it, so it did not run."""
    status: Status = "failed"
    code: str | None = None
    taken: float = 0.0
    cause: BaseException | None = None

    def record(self) -> CallRecord:
        return CallRecord(
            call_id=self.call_id,
            name=self.name,
            status=self.status,
            code=self.code,
            line=self.position.line,
            duration=self.taken,
            cause=self.cause,
        )

    def approval_began(self) -> None:
        if not self.deciding:
            self.deciding = True
            self.session.hold_clock()

    def approval_ended(self) -> None:
        if self.deciding:
            self.deciding = False
            self.session.release_clock()


class ScriptSession:
    """One run. `run` once; `abort` at any time from the same event loop."""

    def __init__(self, *, channel: Channel, caller: ToolCaller, limits: RunLimits, origin: Origin) -> None:
        self._channel = channel
        self._caller = caller
        self._limits = limits
        self._origin = origin
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        """The caller's, for the script's calls: a frame arrives in that of whoever started the worker."""
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._verdict: ErrorInfo | None = None
        self._last: bytes | protocol.Failed | None = None
        self._recorded: dict[int, _Call] = {}
        self._failures: dict[int, CallFailure] = {}
        self._queue: deque[_Call] = deque()
        self._queued_bytes = 0
        self._running: dict[int, _Call] = {}
        self._made = 0
        self._output: list[str] = []
        self._output_bytes = 0
        self._prints_left = protocol.print_allowance(limits)
        self._started_at = time.time()
        self._started = time.monotonic()
        self._deadline = self._started + limits.timeout
        self._timer: asyncio.TimerHandle | None = None
        self._holds = 0
        self._held_since = 0.0
        self._approval_wait = 0.0

    async def run(self, request: protocol.RunRequest) -> RunResult:
        """Send the script and wait for its end, or for a limit.

        Raises:
            SandboxFault: the child could not close its jail, and never saw the script.
            asyncio.CancelledError: the caller was cancelled; the guest is dead and its calls are unwound.
        """
        self._channel.attach(self)
        self._arm()
        try:
            self._channel.send(protocol.run_frame(request, self._limits.value))
            await self._ended
            error, value = await self._conclude()
        except asyncio.CancelledError:
            self._latch(run_error("aborted", "the run was cancelled"), now=True)
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self._channel.kill()
            await self._unwind()
        return self._result(error, value)

    def abort(self, reason: str = "the run was aborted") -> None:
        """End the run now with `ABORTED`."""
        self._latch(run_error("aborted", reason), now=True)

    def abort_threadsafe(self) -> None:
        """`abort`, from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.abort)

    # what the channel says

    def on_frame(self, frame: protocol.GuestFrame) -> None:
        match frame:
            case protocol.Call():
                self._on_call(frame)
            case protocol.Print():
                self._on_print(frame.text)
            case protocol.Done(value=raw):
                self._finish(bytes(raw))
            case protocol.Failed():
                self._finish(frame)
            case protocol.Ready() | protocol.GlobalCall() | protocol.Checked():
                raise protocol.WireViolation("a frame that nobody expects")

    def _finish(self, last: bytes | protocol.Failed) -> None:
        if self._last is None:
            self._last = last
        self._end()

    def on_violation(self, reason: str) -> None:
        self._latch(run_error("wire_violation", f"the guest broke the protocol: {reason}"), now=True)

    def on_closed(self) -> None:
        self._end()

    def on_writable(self) -> None:
        self._start_queued()

    def _on_print(self, text: str) -> None:
        size = len(text.encode("utf-8", "replace"))
        self._prints_left -= 1
        if self._prints_left < 0:
            raise protocol.WireViolation("a flood of print frames")
        room = self._limits.output - self._output_bytes
        if size <= room:
            self._output.append(text)
            self._output_bytes += size
            return
        self._output.append(text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore"))
        self._output_bytes += room
        hint = "print less, or raise max_output"
        message = f"the script printed more than {self._limits.output} bytes"
        self._latch(run_error("output_limit", message, hint=hint), now=True)

    # calls

    def _on_call(self, frame: protocol.Call) -> None:
        if frame.id != self._made + 1:
            raise protocol.WireViolation("a call id out of order")
        self._made += 1
        if self._made > self._limits.max_tool_calls + EXCESS_CALLS:
            raise protocol.WireViolation("a flood of calls")
        call = _Call(
            session=self,
            number=frame.id,
            call_id=f"{self._origin.run_id}.{frame.id}",
            name=frame.name,
            position=Position(line=frame.line, site=frame.site, task=frame.task, sequence=frame.seq),
            received=time.monotonic(),
        )
        if self._verdict is not None or self._ended.done():
            self._refuse(call, _after(self._verdict), terminal=True)
        elif self._made > self._limits.max_tool_calls:
            call.over = True  # refused in its turn: calls before it had their budget, and start before the refusal
            self._queue.append(call)
            self._start_queued()
        elif (problem := self._take_arguments(call, frame)) is not None:
            self._refuse(call, problem, terminal=False)
        else:
            self._queue.append(call)
            self._queued_bytes += len(call.args)
            if self._queued_bytes > 2 * self._limits.value.size:
                self._channel.pause()
            self._start_queued()

    def _too_many(self) -> ErrorInfo:
        return ErrorInfo(
            code="limit_exceeded",
            message=f"the script made more than {self._limits.max_tool_calls} tool calls",
            hint="ask for more at once with fewer calls, or raise max_tool_calls",
        )

    def _take_arguments(self, call: _Call, frame: protocol.Call) -> ErrorInfo | None:
        """Canonical arguments into `call.args`, or why they are refused."""
        if frame.fault is not None:
            return ErrorInfo(code="invalid_input", message=frame.fault)
        try:
            args = values.parse(frame.args, self._limits.value)
            if type(args) is not dict:
                return ErrorInfo(code="invalid_input", message="Tool arguments must be an object", hint="pass a dict")
            call.args = values.recode(args, self._limits.value)  # type: ignore[reportUnknownArgumentType]
        except values.ValueRefused as refused:
            return ErrorInfo(code="invalid_input", message=f"the arguments were refused: {refused}")
        return None

    def _start_queued(self) -> None:
        """Start waiting calls while there is room and the guest reads its answers."""
        while (
            self._queue
            and self._verdict is None
            and not self._ended.done()
            and len(self._running) < self._limits.max_concurrent_calls
            and self._channel.writable
        ):
            call = self._queue.popleft()
            if call.over:
                self._refuse(call, self._too_many(), terminal=True)
                return
            self._queued_bytes -= len(call.args)
            self._running[call.number] = call
            call.task = self._context.copy().run(self._loop.create_task, self._serve(call))
        if self._queued_bytes <= self._limits.value.size:
            self._channel.resume()

    async def _serve(self, call: _Call) -> None:
        args, call.args = call.args, b""
        origin = Origin(
            session_id=self._origin.session_id,
            principal=self._origin.principal,
            run_id=self._origin.run_id,
            position=call.position,
        )
        try:
            answer = await self._caller.call(call.name, args, origin, call.call_id, call)
        except asyncio.CancelledError:
            self._record_interrupted(call)
            raise
        except Exception as error:  # noqa: BLE001 - a caller does not raise; if it does, the call must not hang
            _log.error("call %s failed inside the host: %s", call.call_id, type(error).__name__)
            answer = Answer(status="unknown", error=ErrorInfo(code="outcome_unknown", message="the host failed"))
        finally:
            call.approval_ended()
            self._running.pop(call.number, None)
        self._answer(call, answer)
        if self._queue:
            self._start_queued()

    def _answer(self, call: _Call, answer: Answer) -> None:
        error = answer.error
        if error is None:
            self._record(call, answer.status, None if answer.status == "succeeded" else "outcome_unknown")
            self._channel.send(protocol.answer_frame(call.number, answer.value))
            return
        call.cause = answer.cause
        self._fail(call, answer.status, error, terminal=answer.terminal, returnable=answer.returnable)

    def _refuse(self, call: _Call, error: ErrorInfo, *, terminal: bool) -> None:
        self._fail(call, "refused", error, terminal=terminal, returnable=False)

    def _fail(self, call: _Call, status: Status, error: ErrorInfo, *, terminal: bool, returnable: bool) -> None:
        name = call.name
        failure = CallFailure(tool=name, call_id=call.call_id, error=error)
        self._record(call, status, error.code)
        self._failures[call.number] = failure
        self._channel.send(
            protocol.error_frame(call.number, name, error, terminal=terminal, returnable=returnable and not terminal)
        )
        if terminal:
            self._latch(results.from_call(failure, call.position.line), now=False)

    def _record(self, call: _Call, status: Status, code: str | None) -> None:
        """Note how a call ended; the public record is made when the run has."""
        call.status, call.code, call.taken = status, code, time.monotonic() - call.received
        self._recorded[call.number] = call

    def _record_interrupted(self, call: _Call) -> None:
        effect = self._caller.effects().get(call.name)
        self._record(call, "refused" if call.undecided else results.in_doubt(effect), "interrupted")

    # the clock

    def _arm(self) -> None:
        self._timer = self._loop.call_at(self._loop.time() + self._deadline - time.monotonic(), self._on_deadline)

    def _on_deadline(self) -> None:
        text = f"the script ran longer than {self._limits.timeout:g} s"
        self._latch(run_error("deadline_exceeded", text, hint="do less in one script, or raise timeout"), now=True)

    def hold_clock(self) -> None:
        """A person decides: their time is not the script's."""
        self._holds += 1
        if self._holds == 1:
            self._held_since = time.monotonic()
            if self._timer is not None:
                self._timer.cancel()

    def release_clock(self) -> None:
        self._holds -= 1
        if self._holds == 0:
            waited = time.monotonic() - self._held_since
            self._approval_wait += waited
            self._deadline += waited
            if not self._ended.done():
                self._arm()

    # the end

    def _latch(self, error: ErrorInfo, *, now: bool) -> None:
        """The first terminal error wins. `now` ends the guest at once, else it has a moment to end by itself."""
        if self._verdict is None and not (self._ended.done() and self._last is not None):
            self._verdict = error
        while self._queue:
            call = self._queue.popleft()
            self._queued_bytes -= len(call.args)
            self._refuse(call, _after(self._verdict), terminal=False)
        if now:
            self._end()
        elif not self._ended.done():
            self._loop.call_later(TERMINAL_GRACE, self._end)

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    async def _conclude(self) -> tuple[ErrorInfo | None, Any]:
        if self._verdict is not None:
            return self._verdict, None
        match self._last:
            case bytes() as data:
                return self._take_value(data)
            case protocol.Failed() as failed:
                failure = self._failures.get(failed.call) if failed.call is not None else None
                error = results.from_guest(failed, failure, calls_made=self._made, tools=self._caller.catalogue() or ())
                lie = run_error("wire_violation", "the guest broke the protocol: a contradiction")
                return error or lie, None
            case None:
                return await self._explain_death(), None

    def _take_value(self, data: bytes) -> tuple[ErrorInfo | None, Any]:
        try:
            return None, values.parse(data, self._limits.value)
        except values.ValueRefused as refused:
            code = "result_too_large" if refused.too_large else "wire_violation"
            hint = "return a summary" if refused.too_large else None
            return run_error(code, f"the script's result was refused: {refused}", hint=hint), None

    async def _explain_death(self) -> ErrorInfo:
        gone = await self._channel.wait_exited(EXIT_WAIT)
        if not self._channel.was_ready:
            why = describe_exit(gone) if gone is not None else "it closed its channel"
            raise SandboxFault(f"a jailed child could not be started: {why}", code="sandbox_unavailable")
        if gone is None:
            return run_error("sandbox_crashed", "the guest closed its channel")
        if gone.signal == signal.SIGXCPU or gone.cpu >= max(1.0, self._limits.timeout):
            return run_error("deadline_exceeded", "the script used up its CPU time", hint="do less in one script")
        return run_error("sandbox_crashed", f"the guest ended without a result: {describe_exit(gone)}")

    async def _unwind(self) -> None:
        """Cancel what still runs, and wait for it, bounded. What never started is recorded too."""
        while self._queue:
            self._record(self._queue.popleft(), "refused", "interrupted")
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

    def _result(self, error: ErrorInfo | None, value: Any) -> RunResult:
        stats = RunStats(
            tool_call_count=self._made,
            duration=time.monotonic() - self._started,
            approval_wait=self._approval_wait,
            output_bytes=self._output_bytes,
            started_at=self._started_at,
        )
        return RunResult(
            success=error is None,
            value=value,
            error=error,
            stats=stats,
            output="".join(self._output),
            calls=tuple(self._recorded[number].record() for number in sorted(self._recorded)),
            status="succeeded" if error is None else "interrupted" if error.code == "ABORTED" else "failed",
            run_id=self._origin.run_id or "",
        )


def _after(verdict: ErrorInfo | None) -> ErrorInfo:
    """The answer to calls made when the run has already failed."""
    code = str(verdict.data["code"]) if verdict is not None and "code" in verdict.data else "aborted"
    assert code in CODES
    return ErrorInfo(code=code, message="the run has already failed; no further call starts")
