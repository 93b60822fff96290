"""The words of one tool call's life: where it is, what can happen to it, what its runner must do next.

Frozen values without behaviour. They know neither tools nor clocks nor exceptions: the runner translates those into
events, and `gate.machine` says what follows. A journal stores the events; folding them again restores the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ringfence.errors import Status
from ringfence.events import EventType

Stakes = Literal["none", "undeclared", "effect"]
"""What a call can leave behind: nothing (a read), unknown to us, or a declared effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is known about a call's tool before anything happens."""

    asks: bool
    """A decision is needed before the first attempt."""
    max_attempts: int
    """`retries + 1`."""
    stakes: Stakes
    idempotent: bool
    """Declared safe to repeat."""
    recovers: bool
    """The tool has an `on_error`."""
    limited: bool = False
    """Only so many of the tool's calls run at the same time."""


# --- states ---


@dataclass(frozen=True, slots=True)
class Received:
    """Requested; nothing is known about the arguments yet."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Approving:
    """Valid; somebody decides."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Queued:
    """May run, and waits until another call of the tool has ended."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Running:
    """The tool is at work."""

    plan: Plan
    attempt: int
    """1-based."""
    in_doubt: bool = False
    """An earlier attempt may have had its effect, whatever becomes of this one."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Between two attempts."""

    plan: Plan
    attempt: int
    """The one that failed."""
    code: str
    """Its error; `outcome_unknown`, when it or an earlier one may have had its effect."""


@dataclass(frozen=True, slots=True)
class Recovering:
    """No further attempt; the tool's `on_error` looks for an answer."""

    plan: Plan
    attempt: int
    status: Status
    """What the record says unless a fallback answers the caller."""
    code: str


@dataclass(frozen=True, slots=True)
class Done:
    """Over."""

    status: Status
    code: str | None
    """A key of `errors.CODES`; None when the caller has a value."""
    attempts: int
    """Times the tool was started."""
    recorded: Status | None = None
    """What is known of the tool's own work, where a fallback answered in its place."""


State = Received | Approving | Queued | Running | Waiting | Recovering | Done


# --- events ---


@dataclass(frozen=True, slots=True)
class Validated:
    """The arguments fit the tool's schema."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """They do not."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The call must not go on, whatever its arguments (no such tool, no sandbox, a turn that could never come)."""

    code: str


@dataclass(frozen=True, slots=True)
class Aborted:
    """The caller's signal says stop, and the tool is not running."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The decision was that the call may run."""

    edited: bool = False
    """With other arguments than its own."""


@dataclass(frozen=True, slots=True)
class Responded:
    """The approver answered in the tool's place."""


@dataclass(frozen=True, slots=True)
class Denied:
    """There was no such decision."""

    reason: str
    """Why, in one word; see `gate.explain`."""
    text: str = ""
    """The approver's own words, for the caller; telemetry does not see them."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The time was up: for a decision, or for all attempts before another one could begin."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The call's turn has come."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The tool returned, and its result fits."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool said no: it did not do it."""

    pause: float | None = 0.0
    """Seconds until another attempt, if the rules allow one; None: none is wanted, or there is no time for it."""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The tool raised any other exception, which leaves open whether it did."""

    pause: float | None = 0.0
    """As in `Failed`."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Another attempt cannot mend it (an unusable result, an aborted signal), and the tool may have done its work."""

    code: str


@dataclass(frozen=True, slots=True)
class Barred:
    """An error of some boundary came out of the tool; nobody is asked twice, and no fallback hides it."""

    ran: bool
    """The tool, or something that it called, did run, or may have."""


@dataclass(frozen=True, slots=True)
class Faulted:
    """The place where the tool should run, or ran, failed."""

    code: str
    started: bool
    """The tool may have begun."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The attempt used up its time: its own, or what was left for all attempts."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The caller's task was cancelled, or the gate is closing."""


@dataclass(frozen=True, slots=True)
class Woke:
    """The pause between two attempts is over."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """`on_error` returned a value."""


@dataclass(frozen=True, slots=True)
class RecoveryFailed:
    """`on_error` raised, or its answer is of no use; that replaces the tool's failure."""

    code: str = "tool_raised"


Event = (
    Validated
    | Invalid
    | Refused
    | Aborted
    | Granted
    | Responded
    | Denied
    | Expired
    | Entered
    | Returned
    | Failed
    | Ambiguous
    | Exhausted
    | Barred
    | Faulted
    | TimedOut
    | Interrupted
    | Woke
    | Recovered
    | RecoveryFailed
)


# --- commands ---


@dataclass(frozen=True, slots=True)
class Ask:
    """Get a decision: Granted, Responded, Denied, Expired, Aborted or Interrupted comes next."""


@dataclass(frozen=True, slots=True)
class Enter:
    """Wait for a turn: Entered, Refused, Aborted or Interrupted comes next."""


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell telemetry; nothing comes back."""

    type: EventType
    attempt: int | None = None
    code: str | None = None
    reason: str | None = None
    edited: bool = False
    status: Status | None = None
    """How the record of the call ends, when this is the last that is said about it."""


@dataclass(frozen=True, slots=True)
class Run:
    """Start an attempt."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Sleep:
    """Pause: Woke, Expired, Aborted or Interrupted comes next."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Recover:
    """Call `on_error`: Recovered, RecoveryFailed or Interrupted comes next."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Answer the caller from the `Done` state."""


Command = Ask | Announce | Enter | Run | Sleep | Recover | Finish
