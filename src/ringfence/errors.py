"""Every way in which ringfence says no, sorted by whose fault it is.

One closed set of codes (`CODES`), one record that travels (`ErrorInfo`), one family of exceptions for callers who
want `raise`. Codes of calls are set by the host: nothing that a guest or a tool raises can produce one. Of a script's
run, five rest on the guest's word and can only fail its own run: `script_rejected` (before any call), `memory_limit`,
`result_too_large`, and `iteration_limit` and `script_violation` (each only where the run has such a limit).
This module knows neither tools nor sandboxes; everybody above imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, TypedDict

Status = Literal["succeeded", "failed", "refused", "unknown"]


class Family(Enum):
    """Whose fault an error is."""

    CONFIG = "config"
    """The host's author: raised while tools, boundaries and enclaves are built or started."""
    CORRECTABLE = "correctable"
    """The caller, who may repair the call and try again; a script may catch it."""
    TERMINAL = "terminal"
    """The caller; a script may see it, but its run has failed with this code whatever it does next."""
    FAILURE = "failure"
    """The tool broke, or said no."""
    FAULT = "fault"
    """The place where code ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSpec:
    """What is true of every error that carries one code."""

    family: Family
    run_code: str
    """The code a script's run reports when this error ends it (the vocabulary of the enclave seed)."""
    meaning: str


def _spec(family: Family, run_code: str, meaning: str) -> CodeSpec:
    return CodeSpec(family=family, run_code=run_code, meaning=meaning)


CODES: Final[Mapping[str, CodeSpec]] = MappingProxyType(
    {
        # the host's author
        "bad_config": _spec(Family.CONFIG, "INTERNAL", "an option has a wrong type or value"),
        "bad_name": _spec(Family.CONFIG, "INTERNAL", "a tool, namespace or parameter name is not usable"),
        "bad_schema": _spec(Family.CONFIG, "INTERNAL", "a schema cannot be published or enforced"),
        "duplicate_name": _spec(Family.CONFIG, "INTERNAL", "two tools have the same name"),
        "sandbox_required": _spec(Family.CONFIG, "INTERNAL", "a tool has no explicit sandbox"),
        "permission_unenforceable": _spec(Family.CONFIG, "INTERNAL", "a permission cannot be enforced here"),
        "not_running": _spec(Family.CONFIG, "INTERNAL", "the boundary or enclave is closed"),
        # the caller, who may try again
        "invalid_input": _spec(Family.CORRECTABLE, "TOOL_ERROR", "the arguments do not fit the tool's schema"),
        "unknown_tool": _spec(Family.CORRECTABLE, "TOOL_ERROR", "no tool has this name"),
        "would_deadlock": _spec(
            Family.CORRECTABLE, "TOOL_ERROR", "the call would wait for a turn that a call around it holds"
        ),
        "no_tool_handler": _spec(Family.CORRECTABLE, "TOOL_ERROR", "the enclave was given no tools"),
        # the caller, and that is final for the run
        "policy_refused": _spec(Family.TERMINAL, "SECURITY_VIOLATION", "a policy refused the call"),
        "approval_denied": _spec(Family.TERMINAL, "APPROVAL_DENIED", "nobody approved the call"),
        "approval_expired": _spec(Family.TERMINAL, "APPROVAL_EXPIRED", "no decision came in time"),
        "limit_exceeded": _spec(Family.TERMINAL, "MAX_TOOL_CALLS", "the run made more calls than allowed"),
        "global_limit": _spec(
            Family.TERMINAL, "MAX_GLOBAL_CALLS", "the run called functions of its globals more often than allowed"
        ),
        "iteration_limit": _spec(
            Family.TERMINAL, "MAX_ITERATIONS", "a loop of the script took more turns than allowed"
        ),
        "name_refused": _spec(Family.TERMINAL, "SECURITY_VIOLATION", "no call may have a tool name like this one"),
        "script_violation": _spec(Family.TERMINAL, "SECURITY_VIOLATION", "the script tried what its level forbids"),
        "output_limit": _spec(Family.TERMINAL, "OUTPUT_LIMIT", "the script printed more than allowed"),
        "rate_limited": _spec(Family.TERMINAL, "SECURITY_VIOLATION", "too many calls in one second"),
        "suspicious_sequence": _spec(Family.TERMINAL, "SECURITY_VIOLATION", "the order of calls looks like an attack"),
        "aborted": _spec(Family.TERMINAL, "ABORTED", "the run was aborted by the host"),
        "script_rejected": _spec(Family.TERMINAL, "VALIDATION_ERROR", "the script was refused before it ran"),
        "result_too_large": _spec(Family.TERMINAL, "SERIALIZATION_LIMIT_EXCEEDED", "the script's result is too large"),
        "deadline_exceeded": _spec(Family.TERMINAL, "TIMEOUT", "the run used up its time"),
        "script_raised": _spec(Family.FAILURE, "RUNTIME_ERROR", "the script raised an exception that it did not catch"),
        # the tool
        "tool_raised": _spec(Family.FAILURE, "TOOL_ERROR", "the tool raised an exception"),
        "tool_timeout": _spec(Family.FAILURE, "TOOL_ERROR", "the tool took longer than its timeout"),
        "global_raised": _spec(Family.FAILURE, "RUNTIME_ERROR", "a function of the globals raised an exception"),
        "bad_result": _spec(Family.FAILURE, "TOOL_ERROR", "the tool's result does not fit its output schema"),
        "outcome_unknown": _spec(Family.FAILURE, "TOOL_ERROR", "an effect may or may not have happened"),
        "interrupted": _spec(Family.FAILURE, "ABORTED", "the call was cancelled before it finished"),
        # the place
        "sandbox_unavailable": _spec(Family.FAULT, "SANDBOX_UNAVAILABLE", "this machine cannot enforce the jail"),
        "sandbox_crashed": _spec(Family.FAULT, "SANDBOX_CRASHED", "the jailed process ended on its own"),
        "memory_limit": _spec(Family.FAULT, "MEMORY_LIMIT_EXCEEDED", "the jailed process used up its memory"),
        "wire_violation": _spec(
            Family.FAULT, "SANDBOX_CRASHED", "the jailed process broke the frame protocol, or a driver its contract"
        ),
    }
)


class Issue(TypedDict):
    """One reason why arguments do not fit a schema."""

    path: str
    """Where: dotted field names and list positions, `""` for the whole value."""
    message: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """An error as data. Holds no argument values, host paths, frames or secrets."""

    code: str
    """A key of `CODES` in a tool call's outcome; the enclave's run code in a script's result."""
    message: str
    hint: str | None = None
    """The smallest change that helps, when there is one."""
    name: str | None = None
    """Class name of the exception behind it, as text."""
    line: int | None = None
    """1-based line in the user's script."""
    issues: tuple[Issue, ...] = ()
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for a log or a document."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {
            "issues": [dict(issue) for issue in self.issues],
            "data": dict(self.data),
        }

    def __str__(self) -> str:
        place = f" at line {self.line}" if self.line is not None else ""
        fix = f"\n  fix: {self.hint}" if self.hint else ""
        return f"{self.code}{place}: {self.message}{fix}"


class RingfenceError(Exception):
    """Base of everything that ringfence raises."""

    def __init__(self, message: str, *, code: str, hint: str | None = None) -> None:
        super().__init__(f"{message}\n  fix: {hint}" if hint else message)
        self.code = code
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """So that it travels between processes; what `__init__` takes by name does not pass through `args`."""
        return _revived, (type(self), self.args, self.__dict__)

    def info(self) -> ErrorInfo:
        """The same as data."""
        return ErrorInfo(code=self.code, message=self.message, hint=self.hint, name=type(self).__name__)


def _revived(kind: type[RingfenceError], args: tuple[Any, ...], attributes: dict[str, Any]) -> RingfenceError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class ConfigError(RingfenceError, TypeError, ValueError):
    """The host's author made a mistake; found while building or starting, never during a call."""

    def __init__(self, message: str, *, code: str = "bad_config", hint: str | None = None) -> None:
        super().__init__(message, code=code, hint=hint)


class ToolSandboxRequiredError(ConfigError):
    """A tool has no sandbox, and nothing runs without one (first seed, "Sandbox security")."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, code="sandbox_required", hint=hint)


class Refusal(RingfenceError):
    """The boundary said no; the tool did not run."""


class ToolValidationError(Refusal):
    """The arguments do not fit (first seed, "Handle terminal errors")."""

    def __init__(self, message: str, issues: Sequence[Issue], *, hint: str | None = None) -> None:
        super().__init__(message, code="invalid_input", hint=hint)
        self.issues = tuple(issues)

    def info(self) -> ErrorInfo:
        return ErrorInfo(
            code=self.code, message=self.message, hint=self.hint, name=type(self).__name__, issues=self.issues
        )


class ToolApprovalError(Refusal):
    """Nobody approved (first seed, "Handle terminal errors")."""


class ToolFailure(RingfenceError):
    """The tool ran, and broke or said no. Its own exception is `__cause__` when it is known here."""


class ToolTimeoutError(ToolFailure):
    """The tool took longer than its timeout (first seed, "Handle terminal errors")."""


class SandboxFault(RingfenceError):
    """The place where code should run, or ran, failed."""


class ToolError(Exception):
    """Raised *by* a tool: its text is meant for the caller, the model included.

    Any other exception of a tool reaches a script as its class name only, so that no secret or path leaks.
    """

    def __init__(self, text: str, code: str | None = None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.data = data


def exception_for(error: ErrorInfo) -> RingfenceError:
    """The exception that `Outcome.unwrap` raises for an error record."""
    match error.code:
        case "invalid_input":
            return ToolValidationError(error.message, error.issues, hint=error.hint)
        case "approval_denied" | "approval_expired":
            return ToolApprovalError(error.message, code=error.code, hint=error.hint)
        case "sandbox_required":
            return ToolSandboxRequiredError(error.message, hint=error.hint)
        case "tool_timeout":
            return ToolTimeoutError(error.message, code=error.code, hint=error.hint)
        case _:
            pass
    kinds = {
        Family.CONFIG: ConfigError,
        Family.CORRECTABLE: Refusal,
        Family.TERMINAL: Refusal,
        Family.FAILURE: ToolFailure,
        Family.FAULT: SandboxFault,
    }
    return kinds[CODES[error.code].family](error.message, code=error.code, hint=error.hint)
