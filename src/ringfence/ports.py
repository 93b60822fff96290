"""The interfaces between parts, on one page. Who implements what is said beside each; nothing here does anything.

Level 0: shells above meet through these and never import each other. Records that are made for every call are msgspec
structs: a frozen dataclass of four fields takes ten times as long to make.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from ringfence.errors import ErrorInfo, Issue, Status, exception_for

Effect = Literal["read", "write"]
"""`read`: may run again freely. `write`: may have happened even when the tool raised. Undeclared: recovered and timed out
as a write, retried as the seed says."""


Target = Literal["2020-12", "draft-07"]
"""A draft of JSON Schema in which contracts are published."""


class Unfinished:
    """What `validate` or `dump` answers when a validator is asynchronous: only awaiting can tell.

    Whoever gets one awaits `awaitable`, within a deadline, and hands what comes out of it to `finish`, which answers
    or raises as the method itself would have.
    """

    __slots__ = ("awaitable", "finish")

    def __init__(self, awaitable: Awaitable[Any], finish: Callable[[Any], Any]) -> None:
        self.awaitable = awaitable
        self.finish = finish


class Signal(Protocol):
    """A cooperative request to stop (`ctx.signal`)."""

    @property
    def aborted(self) -> bool:
        """Stopping has been asked for."""
        ...

    @property
    def reason(self) -> str | None:
        """Why, for logs; None while nobody asks."""
        ...

    def raise_if_aborted(self) -> None:
        """Raise when stopping has been asked for; for code between two steps of its work."""
        ...

    async def wait(self) -> None:
        """Return once stopping is asked for."""
        ...


@runtime_checkable
class Driver(Protocol):
    """A place where a tool's function runs (first seed, "Driver contract"). Implementations: `sandbox.*`, users'.

    Two members are needed. A driver may have further ones, and is asked for each before it is used:

    - `permissions`: what code may do there. A claim for reports, never enforcement.
    - `guarantees()`: what is enforced, as a mapping of guarantee (`files`, `network`, `time`, …) to mechanism, `"none"`
      where nothing is. A driver without it enforces nothing, as far as anybody knows.
    - `aclose()`: frees what the place holds. Called once, when the last boundary that uses the driver closes, after
      the last call has ended. A boundary made later may use the driver again, and closes it again: `run` then opens
      what it needs, or raises a `SandboxFault`.
    - `statistics()`: counts for `Boundary.statistics`.
    - `hands_over_unchanged`: True, when `fn` gets the very object that `args` holds, which the driver neither copies nor
      changes. Otherwise a gate compares what arrives with what was validated, which takes as long as writing both.
    """

    @property
    def name(self) -> str:
        """For messages and reports."""
        ...

    def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Signal | None = None) -> Awaitable[Any]:
        """Call `fn(*args)` in this place, once, and give what it returns, awaited if it is awaitable.

        Args:
            fn: an `async def`, or a function that may block.
            args: one value, the validated arguments.
            signal: says when to stop; the awaitable is cancelled besides.
        """
        ...


class InputSchema(Protocol):
    """The arguments' contract: one validator and the JSON Schema published for it. Implementations: `contract.schema`."""

    def validate(self, data: bytes) -> Any:
        """The typed value of canonical JSON bytes, or `Unfinished`. Called exactly once per call.

        Raises:
            InvalidInput: with every issue.
        """
        ...

    def json_schema(self, target: Target = "2020-12") -> dict[str, Any]:
        """A fresh copy of the published object schema, in the draft asked for."""
        ...


class OutputSchema(Protocol):
    """The result's contract. Implementations: `contract.schema`."""

    def dump(self, value: Any) -> bytes | Unfinished:
        """JSON text of a result, or `Unfinished`.

        Raises:
            values.ValueRefused: not representable, or not what was declared.
        """
        ...

    def json_schema(self, target: Target = "2020-12") -> dict[str, Any] | None:
        """Schema of the dumped result, in the draft asked for; None when nothing was declared."""
        ...


class InvalidInput(Exception):
    """Raised by `InputSchema.validate`."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__(f"{len(issues)} issue(s)")
        self.issues = tuple(issues)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What an approver sees. Approvers are the privileged tier: this holds the arguments."""

    tool: str
    description: str
    input: Any
    """A private copy of the validated arguments, typed as the tool sees them."""
    arguments: Mapping[str, Any]
    """The same as plain JSON values, secrets, excluded and private fields included."""
    digest: str
    """Name of `arguments`: what is approved is what runs."""
    session_id: str
    principal: str | None
    call_id: str
    run_id: str | None
    line: int | None
    """1-based line of the script that made the call."""
    effect: Effect | None
    reason: str | None = None
    """Why it is asked about although its tool does not demand it: what screening saw."""


@dataclass(frozen=True, slots=True)
class ApprovalInfo:
    """Second argument of an approval callback (first seed, "Policy callback")."""

    tool: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Approve:
    """A decision: the call may run, as it was shown. The same as True."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A decision: the call may run with these arguments in place of its own. They are validated like any others."""

    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reject:
    """A decision: the call may not run, and the caller (often a model) is told why."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Respond:
    """A decision: the call does not run; the caller gets this in place of a result."""

    value: Any


Verdict = bool | Approve | Edit | Reject | Respond
"""What an approval handler answers. Anything that is not exactly one of these denies."""

ApprovalHandler = Callable[..., Verdict | Awaitable[Verdict]]
"""`(input, info)` or one `ApprovalRequest`. Sync or async."""


@dataclass(frozen=True, slots=True)
class Combination:
    """Several handlers that decide together; made by `any_of`, `all_of` and `veto`."""

    rule: Literal["any_of", "all_of", "veto"]
    members: tuple[ApprovalHandler | Combination, ...]


Approvers = ApprovalHandler | Combination

Approval = Literal["auto", "human"] | Approvers


class Position(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where in a script a call was made; identifies the call again when the script is replayed."""

    line: int
    """1-based line in the user's source."""
    site: str
    """Call site, stable for one source text."""
    task: str
    """Path of the guest task: `0` is the script, `0.2` its third child."""
    sequence: int
    """0-based number of the call within its task."""


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Who calls, and from where."""

    session_id: str
    principal: str | None = None
    run_id: str | None = None
    position: Position | None = None


class CallWatch(Protocol):
    """What the owner of a call hears about it. Methods return at once and never raise."""

    def approval_began(self) -> None: ...
    def approval_ended(self) -> None: ...
    def tool_began(self) -> None:
        """From now on the tool may have had an effect. Until then the call can be taken back as if never made."""
        ...


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a script gets back from one call."""

    value: bytes = b"null"
    """JSON text of the result, when `error` is None."""
    tags: Mapping[Any, Any] | None = None
    """Which texts in `value` stand for dates, decimals and the like (`enclave.protocol.Tags`)."""
    error: ErrorInfo | None = None
    status: Status = "succeeded"
    """What the call's record says: `unknown` also with a value, where a fallback answered for work that is in doubt."""
    terminal: bool = False
    """The run has failed with this error, whatever the script does next."""
    returnable: bool = False
    """The tool's own failure, which `throw_on_error=False` turns into data."""
    cause: BaseException | None = None
    """The tool's own exception, for the host only."""


class ToolCaller(Protocol):
    """How an enclave reaches tools. Implementations: `enclave.callers` over a gate or over a plain handler."""

    def catalogue(self) -> Collection[str] | None:
        """Names that exist; None when only a call can tell."""
        ...

    def effects(self) -> Mapping[str, Effect | None]:
        """Declared effect of every tool known by name."""
        ...

    def form(self, name: str) -> str | None:
        """One object of a tool's arguments as scripts write it; None when nobody knows."""
        ...

    async def call(
        self,
        name: str,
        args: bytes,
        origin: Origin,
        call_id: str,
        watch: CallWatch,
        *,
        tags: Mapping[Any, Any] | None = None,
        ask: str | None = None,
    ) -> Answer:
        """One call with canonical JSON arguments. Raises only `asyncio.CancelledError`.

        Args:
            tags: which texts in `args` stand for dates, decimals and the like (`enclave.protocol.Tags`).
            ask: somebody has to approve the call for this reason, whatever its tool says.
        """
        ...


class Outcome(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How a governed call ended. Two are equal when they say the same, apart from `encoded` and `cause`."""

    status: Status
    value: Any = None
    error: ErrorInfo | None = None
    tool: str
    call_id: str
    attempts: int = 0
    """Times the tool was started."""
    edited: Mapping[str, Any] | None = None
    """Arguments that ran in place of the caller's, since an approver changed them; None when nobody did."""
    recorded: Status | None = None
    """What is known of the tool's own work, `failed` or `unknown`, where its `on_error` answered in its place."""
    duration: float = 0.0
    """Seconds from request to outcome."""
    encoded: bytes | None = None
    """JSON text of `value`, when the caller asked the gate for it."""
    cause: BaseException | None = None
    """The tool's own exception, or that of a schema or an approval handler that failed; for the host only."""

    def _said(self) -> dict[str, Any]:
        """All of it that anybody may see."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("encoded", "cause")}

    def __eq__(self, other: object) -> bool:
        return self._said() == other._said() if isinstance(other, Outcome) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.call_id, self.status, self.attempts))

    def __repr__(self) -> str:
        return f"Outcome({', '.join(f'{name}={value!r}' for name, value in self._said().items())})"

    def unwrap(self) -> Any:
        """The value.

        Raises:
            RingfenceError: the class that fits `error.code` (`ToolValidationError`, `ToolApprovalError`, …); the
                tool's own exception is its `__cause__`.
        """
        if self.error is not None:
            raise exception_for(self.error) from self.cause
        return self.value
