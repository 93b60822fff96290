"""What a script's run leaves: the result, its calls, its statistics, and how failures are named. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from ringfence.enclave.hints import hint_for
from ringfence.enclave.protocol import Failed, own_code
from ringfence.errors import CODES, ErrorInfo, Status
from ringfence.ports import Effect

RunStatus = Literal["succeeded", "failed", "interrupted"]

RUN_CODES: Final = frozenset(spec.run_code for spec in CODES.values())
"""Every code that `RunResult.error.code` can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call that a script made, whatever became of it."""

    call_id: str
    name: str
    status: Status
    """`refused`: the tool did not run; `unknown`: an effect may have happened."""
    code: str | None
    """A key of `errors.CODES`; None when it succeeded."""
    line: int
    """1-based line of the script."""
    duration: float
    """Seconds."""
    cause: BaseException | None = field(default=None, repr=False, compare=False)
    """The tool's own exception, for the host only: scripts, events and logs see its class at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStats:
    """Counts and times of one run."""

    tool_call_count: int
    """Calls that used up the budget, refused ones included."""
    duration: float
    """Seconds from the start of the run to its result."""
    approval_wait: float
    """Seconds of it in which a call waited for a decision; they do not count against the timeout."""
    output_bytes: int
    started_at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a script ended. `run` never raises for anything that a script does."""

    success: bool
    value: Any = None
    """The script's value as plain data; None on failure."""
    error: ErrorInfo | None = None
    """`code` is one of `RUN_CODES`; `data` holds the finer `code`, `tool`, `call_id`, `traceback`, `findings`."""
    stats: RunStats
    output: str = ""
    """What the script printed."""
    calls: tuple[CallRecord, ...] = ()
    """In the order in which they were made."""
    status: RunStatus
    run_id: str


def in_doubt(effect: Effect | None) -> Status:
    """How a call ended that had started and has no usable end: only of a read is it certain that nothing happened."""
    return "failed" if effect == "read" else "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """The host's own record of a failed call."""

    tool: str
    call_id: str
    error: ErrorInfo


def run_error(code: str, message: str, *, hint: str | None = None, line: int | None = None, **data: Any) -> ErrorInfo:
    """The error of a run that ended with a gate code."""
    return ErrorInfo(
        code=CODES[code].run_code,
        message=message,
        hint=hint,
        line=line,
        data=MappingProxyType({"code": code, **data}),
    )


def from_call(failure: CallFailure, line: int | None, **data: Any) -> ErrorInfo:
    """The error of a run that a call's error ended."""
    error = failure.error
    return ErrorInfo(
        code=CODES[error.code].run_code,
        message=error.message,
        hint=error.hint,
        name=error.name,
        line=line,
        issues=error.issues,
        data=MappingProxyType(
            {**_own(error), "code": error.code, "tool": failure.tool, "call_id": failure.call_id, **data}
        ),
    )


def _own(error: ErrorInfo) -> dict[str, str]:
    """The code that the tool itself gave its failure."""
    code = own_code(error)
    return {} if code is None else {"tool_code": code}


def from_guest(
    frame: Failed, failure: CallFailure | None, *, calls_made: int, tools: Collection[str]
) -> ErrorInfo | None:
    """The error of a run that the guest says has failed; None when the claim contradicts what the host knows."""
    trace: dict[str, Any] = {"traceback": frame.trace} if frame.trace else {}
    match frame.kind:
        case "raised" if failure is not None:
            return from_call(failure, frame.line, **trace)
        case "raised":
            error = run_error(
                "script_raised",
                _said(frame),
                hint=hint_for(frame, tools),
                line=frame.line,
                **trace,
            )
            return _named(error, frame.name)
        case "rejected" if calls_made:
            return None
        case "rejected":
            return _rejected(frame)
        case "memory":
            hint = "work on less data at a time, or raise memory_limit"
            return run_error("memory_limit", "the script used up its memory", hint=hint, line=frame.line, **trace)
        case "unawaited":
            hint = f"line {frame.line}: write await before the call" if frame.line else "write await before it"
            return _named(run_error("script_raised", frame.message, hint=hint, line=frame.line), frame.name)
        case "value":
            hint = "return numbers, text, lists and dicts with text keys"
            return _named(run_error("script_raised", frame.message, hint=hint), frame.name)
        case "large":
            return run_error("result_too_large", frame.message, hint="return a summary")
        case "deadlock":
            hint = "await something that a tool call or a sleep completes"
            return _named(run_error("script_raised", frame.message, hint=hint, line=frame.line), frame.name)


def _said(frame: Failed) -> str:
    """A KeyError's text is a key, which says nothing alone."""
    if frame.name == "KeyError":
        return f"KeyError: {frame.message}"
    return frame.message or frame.name


def _named(error: ErrorInfo, name: str) -> ErrorInfo:
    return ErrorInfo(
        code=error.code, message=error.message, hint=error.hint, name=name, line=error.line, data=error.data
    )


def _rejected(frame: Failed) -> ErrorInfo:
    findings = [
        {"code": one.code, "line": one.line, "column": one.column, "message": one.message, "fix": one.fix}
        for one in frame.findings
    ]
    lines = frame.message  # of the first, whose place is the error's
    if len(findings) > 1:
        lines = "; ".join(f"line {one['line']}: {one['message']}" for one in findings)
    hint = findings[0]["fix"] if findings else None
    text = f"the script was refused before anything ran: {lines}"
    return run_error("script_rejected", text, hint=str(hint) if hint else None, line=frame.line, findings=findings)
