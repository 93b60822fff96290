"""What a script's run leaves: the result, its calls, its statistics, and how failures are named.

Knows frames as far as a guest says in them why it failed; neither sessions nor channels. `session` and `facade` fill
these in. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, assert_never, cast

from ringfence.contract.advice import fix_for
from ringfence.enclave import hints_javascript
from ringfence.enclave.hints import hint_for
from ringfence.enclave.protocol import Failed, FailureKind, own_code
from ringfence.errors import CODES, ErrorInfo, Status
from ringfence.ports import Effect

RunStatus = Literal["succeeded", "failed", "interrupted"]

RUN_CODES: Final = frozenset(spec.run_code for spec in CODES.values())
"""Every code that `RunResult.error.code` can have."""

_EXIT_CODE: Final = re.compile(r"-?[0-9]+|True")
_RETURN: Final = {
    "python": "return numbers, text, lists and dicts with text keys",
    "javascript": "return numbers, text, arrays and plain objects",
}
_AWAIT: Final = {
    "python": "await something that a tool call or a sleep completes",
    "javascript": "await a tool call, or something that one completes",
}
_SHOWN_FINDINGS: Final = 10
"""Findings in the message; the error's data has all."""

_HOST_PATH: Final = re.compile(
    r"(?:file://|(?<![\w/]))/(?:home|root|Users|usr|opt|var|tmp|etc|srv|mnt|media|proc|sys|dev|run|lib|lib64|bin|sbin|app"
    r"|workspace|private|nix|snap)(?:/[^\s'\"<>|:;,()\[\]{}]*)?|\b[A-Za-z]:\\[^\s'\"<>|;,()\[\]{}]*"
)
"""Paths below the directories that systems and people keep their files in; other texts with slashes are data."""


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
    flags: tuple[str, ...] = ()
    """Ids of the screening's patterns that the call matched, whatever came of it."""
    cause: BaseException | None = field(default=None, repr=False, compare=False)
    """The tool's own exception, for the host only: scripts, events and logs see its class at most. It keeps the call's
    arguments alive, so that calls with large ones lose theirs when many have failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStats:
    """Counts and times of one run."""

    tool_call_count: int
    """Calls that used up the budget, refused ones included."""
    global_call_count: int = 0
    """Calls of functions in `globals`, refused ones included."""
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
    variables: Mapping[str, Any] | None = None
    """What the script's top level held at its end, data only, when variables were given and it succeeded."""
    unkept: tuple[str, ...] = ()
    """Top-level names that `variables` lacks because their values were no data, or too much of it; sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a run came to, before its statistics are known."""

    error: ErrorInfo | None = None
    value: Any = None
    variables: dict[str, Any] | None = None
    unkept: tuple[str, ...] = ()


def finished(
    ending: Ending, *, stats: RunStats, run_id: str, output: str = "", calls: tuple[CallRecord, ...] = ()
) -> RunResult:
    """The public record of a run."""
    error = ending.error
    return RunResult(
        success=error is None,
        value=ending.value,
        error=error,
        stats=stats,
        output=output,
        calls=calls,
        status="succeeded" if error is None else "interrupted" if error.code == "ABORTED" else "failed",
        run_id=run_id,
        variables=ending.variables,
        unkept=ending.unkept,
    )


def never_started(error: ErrorInfo, run_id: str, now: float, duration: float) -> RunResult:
    """The record of a run that no guest ever saw. `now`: seconds since the epoch; `duration`: seconds it took."""
    stats = RunStats(tool_call_count=0, duration=duration, approval_wait=0.0, output_bytes=0, started_at=now - duration)
    return finished(Ending(error=error), stats=stats, run_id=run_id)


def in_doubt(effect: Effect | None) -> Status:
    """How a call ended that had started and has no usable end: only of a read is it certain that nothing happened."""
    return "failed" if effect == "read" else "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """The host's own record of a failed call."""

    kind: Literal["tool", "function"]
    name: str
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
    code = CODES[error.code].run_code
    return ErrorInfo(
        code="RUNTIME_ERROR" if failure.kind == "function" and code == "TOOL_ERROR" else code,
        message=error.message,
        hint=error.hint,
        name=error.name,
        line=line,
        issues=error.issues,
        data=MappingProxyType(
            {**_own(error), "code": error.code, failure.kind: failure.name, "call_id": failure.call_id, **data}
        ),
    )


def _own(error: ErrorInfo) -> dict[str, str]:
    """The code that the tool itself gave its failure, or the id of the pattern that screening refused."""
    if CODES[error.code].run_code == "SECURITY_VIOLATION":
        return {"pattern": error.data["pattern"]} if "pattern" in error.data else {}
    code = own_code(error)
    return {} if code is None else {"tool_code": code}


def from_guest(
    frame: Failed,
    failure: CallFailure | None,
    *,
    calls_made: int,
    tools: Collection[str],
    impossible: Collection[FailureKind] = (),
    language: str = "python",
) -> ErrorInfo | None:
    """The error of a run that the guest says has failed; None when the claim contradicts what the host knows.

    `impossible` are kinds that cannot be: a limit that is not set, a watch that nobody keeps. `language` is the script's.
    """
    if frame.kind in impossible:
        return None
    trace: dict[str, Any] = {"traceback": frame.trace} if frame.trace else {}
    match frame.kind:
        case "raised" if failure is not None:
            return from_call(failure, frame.line, **trace)
        case "raised":
            error = run_error(
                "script_raised",
                _said(frame),
                hint=hint_for(frame, tools) if language == "python" else hints_javascript.hint_for(frame, tools),
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
            hint = fix_for(frame.message) or _RETURN[language]
            return _named(run_error("script_raised", frame.message, hint=hint), frame.name)
        case "large":
            return run_error("result_too_large", frame.message, hint="return a summary")
        case "deadlock":
            hint = _AWAIT[language]
            return _named(run_error("script_raised", frame.message, hint=hint, line=frame.line), frame.name)
        case "iterations":
            hint = "loop over less, let a tool do the search, or raise max_iterations"
            return run_error("iteration_limit", frame.message, hint=hint, line=frame.line, **trace)
        case "violation":
            hint = "write it without the attribute, name or call that the message names"
            return run_error("script_violation", frame.message, hint=hint, line=frame.line, **trace)
        case _:
            assert_never(frame.kind)


def _said(frame: Failed) -> str:
    """A KeyError's text is a key, which says nothing alone."""
    if frame.name == "KeyError":
        return f"KeyError: {frame.message}"
    if frame.name == "SystemExit" and _EXIT_CODE.fullmatch(frame.message):
        return f"the script left with the exit code {frame.message}"
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
    shown = frame.findings[:_SHOWN_FINDINGS]
    if len(findings) > 1:
        lines = "; ".join(f"line {one.line}: {one.message}{f' ({one.fix})' * bool(one.fix)}" for one in shown)
        lines += f"; and {len(findings) - len(shown)} more" * (len(findings) > len(shown))
    hint = findings[0]["fix"] if findings else None
    text = f"the script was refused before anything ran: {lines}"
    return run_error("script_rejected", text, hint=str(hint) if hint else None, line=frame.line, findings=findings)


def without_traces(error: ErrorInfo) -> ErrorInfo:
    """The error without tracebacks and without paths of the host's directories in any text (enclave catalogue 1.O)."""
    data = {key: _without_paths(value) for key, value in error.data.items() if key != "traceback"}
    return replace(
        error,
        message=_without_paths(error.message),
        hint=_without_paths(error.hint),
        name=_without_paths(error.name),
        issues=tuple(_without_paths(issue) for issue in error.issues),
        data=MappingProxyType(data),
    )


def _without_paths(value: Any) -> Any:
    """The same of every text in plain data; its keys are ours."""
    match value:
        case str():
            return _HOST_PATH.sub("<path>", value)
        case Mapping():
            return {key: _without_paths(item) for key, item in cast("Mapping[Any, Any]", value).items()}
        case list() | tuple():
            return [_without_paths(item) for item in cast("list[Any]", value)]
        case _:
            return value
