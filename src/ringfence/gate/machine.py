"""The life of one tool call, as one table and one step.

`TRANSITIONS` says which event may follow in which state, and where that can lead; `step` applies it and returns what
the runner must do. Pure: it does not know what a tool, a clock or an exception is. Called by `gate.runner` for live
calls; folding a journal's events through it gives the same states.

Rules:
- Arguments are validated exactly once, before anybody is asked and before anything runs.
- A refusal (no such tool, no sandbox, a policy) comes before a person is asked.
- Only a grant leads from approving to running; an answer in the tool's place leads past it, to the end.
- A tool of limited concurrency runs only after its turn has come, which it waits for once, when it may run. A wait
  that could not end, since a call around this one holds what is waited for, is refused.
- Another attempt needs one that is left, a failure that another attempt can mend, time and a wish for it, and, for a
  tool with a declared effect that is not declared idempotent, the tool's own word that the failed attempt did nothing.
- After a timeout, an abort, an interruption or an unusable result, a tool that is not declared a read may have done
  its work: `unknown`.
- A doubt stays: after an attempt that may have had its effect, no later attempt that failed makes the call `failed`.
- `on_error` comes after the last attempt, never after a refusal or a fault; its answer is the caller's, and no
  `tool.completed` is announced for it, but `tool.recovered`. What is known of the tool's own work is kept beside it.
- The last announcement of a call, and no other, says how its record ends.
- Whatever is not in the table is a mistake of this library: `IllegalTransition`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ringfence.errors import Status
from ringfence.gate.states import (
    Aborted,
    Ambiguous,
    Announce,
    Approving,
    Ask,
    Barred,
    Command,
    Denied,
    Done,
    Enter,
    Entered,
    Event,
    Exhausted,
    Expired,
    Failed,
    Faulted,
    Finish,
    Granted,
    Interrupted,
    Invalid,
    Plan,
    Queued,
    Received,
    Recover,
    Recovered,
    Recovering,
    RecoveryFailed,
    Refused,
    Responded,
    Returned,
    Run,
    Running,
    Sleep,
    State,
    TimedOut,
    Validated,
    Waiting,
    Woke,
)
from ringfence.ports import Effect

Step = tuple[State, tuple[Command, ...]]


class IllegalTransition(Exception):
    """An event that cannot follow in this state: a mistake of this library, not of its caller."""

    def __init__(self, state: State, event: Event) -> None:
        super().__init__(f"{type(event).__name__} cannot follow in {type(state).__name__}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table."""

    apply: Callable[[Any, Any], Step]
    targets: tuple[type[State], ...]
    """Where it can lead; for the picture, and checked against what `apply` does."""


def plan_for(
    *,
    asks: bool,
    retries: int,
    effect: Effect | None,
    idempotent: bool | None,
    recovers: bool,
    limited: bool = False,
) -> Plan:
    """What a tool's declarations mean for its calls.

    `idempotent=False` without `effect` declares an effect. An undeclared tool keeps the seed's retries, and an
    exception of its own counts as failed.
    """
    if effect == "read":
        stakes = "none"
    elif effect == "write" or idempotent is False:
        stakes = "effect"
    else:
        stakes = "undeclared"
    return Plan(
        asks=asks,
        max_attempts=retries + 1,
        stakes=stakes,
        idempotent=idempotent is True,
        recovers=recovers,
        limited=limited,
    )


def start(plan: Plan) -> State:
    """Where every call begins."""
    return Received(plan)


def step(state: State, event: Event) -> Step:
    """The next state, and what the runner must do, in order. At most the last command has an answer.

    Raises:
        IllegalTransition: the table has no such line.
    """
    rule = TRANSITIONS.get((type(state), type(event)))
    if rule is None:
        raise IllegalTransition(state, event)
    return rule.apply(state, event)


def may_repeat(plan: Plan, attempt: int, event: Event) -> bool:
    """Whether another attempt may follow this failure, if one is wanted. No wish of anybody's goes beyond it."""
    if attempt >= plan.max_attempts:
        return False
    if isinstance(event, Ambiguous):
        return plan.stakes != "effect" or plan.idempotent
    return isinstance(event, Failed)


# --- received ---


def _validated(state: Received, _: Validated) -> Step:
    if state.plan.asks:
        return Approving(state.plan), _ASK
    if state.plan.limited:
        return Queued(state.plan), _ENTER
    return Running(state.plan, 1), _FIRST_RUN


def _invalid(_: Received, __: Invalid) -> Step:
    return _refuse("invalid_input")


def _refused(_: Received | Queued, event: Refused) -> Step:
    return _refuse(event.code)


def _aborted_early(_: Received | Queued, __: Aborted) -> Step:
    return _refuse("aborted")


def _interrupted_early(_: Received | Queued, __: Interrupted) -> Step:
    return _refuse("interrupted")


# --- approving ---


def _granted(state: Approving, event: Granted) -> Step:
    granted = Announce("approval.granted", edited=event.edited)
    if state.plan.limited:
        return Queued(state.plan), (granted, *_ENTER)
    return Running(state.plan, 1), (granted, *_FIRST_RUN)


def _responded(_: Approving, __: Responded) -> Step:
    return Done("succeeded", None, 0), (Announce("approval.answered", status="succeeded"), _FINISH)


def _denied(_: Approving, event: Denied) -> Step:
    return _no_approval("approval_denied", event.reason)


def _expired(_: Approving, __: Expired) -> Step:
    return _no_approval("approval_expired", "expired")


def _aborted_while_asking(_: Approving, __: Aborted) -> Step:
    return _no_approval("aborted", "cancelled")


def _interrupted_while_asking(_: Approving, __: Interrupted) -> Step:
    return _no_approval("interrupted", "cancelled")


# --- queued ---


def _entered(state: Queued, _: Entered) -> Step:
    return Running(state.plan, 1), _FIRST_RUN


# --- running ---


def _returned(state: Running, _: Returned) -> Step:
    if state.attempt == 1:
        return _FIRST_SUCCESS  # every field is known: the usual end is not built anew
    return Done("succeeded", None, state.attempt), (
        Announce("tool.completed", state.attempt, status="succeeded"),
        _FINISH,
    )


def _failed(state: Running, event: Failed) -> Step:
    return _after_failure(state, event, in_doubt=state.in_doubt)


def _ambiguous(state: Running, event: Ambiguous) -> Step:
    return _after_failure(state, event, in_doubt=state.plan.stakes == "effect")


def _exhausted(state: Running, event: Exhausted) -> Step:
    status = _stopped(state.plan)
    code = "outcome_unknown" if status == "unknown" and event.code == "tool_raised" else event.code
    return _over(state, status=status, code=code)


def _timed_out(state: Running, _: TimedOut) -> Step:
    return _over(state, status=_stopped(state.plan), code="tool_timeout")


def _barred(state: Running, event: Barred) -> Step:
    if state.in_doubt or (event.ran and state.plan.stakes == "effect"):
        return _end(state, status="unknown", code="outcome_unknown")
    return _end(state, status="failed", code="tool_raised")


def _faulted(state: Running, event: Faulted) -> Step:
    status = _stopped(state.plan) if event.started else "unknown" if state.in_doubt else "failed"
    return _end(state, status=status, code=event.code)


def _interrupted(state: Running, _: Interrupted) -> Step:
    return _end(state, status=_stopped(state.plan), code="interrupted")


# --- waiting ---


def _woke(state: Waiting, _: Woke) -> Step:
    attempt = state.attempt + 1
    after = Running(state.plan, attempt, state.code == "outcome_unknown")
    return after, (Announce("tool.called", attempt), Run(attempt))


def _aborted_while_waiting(state: Waiting, _: Aborted) -> Step:
    return _called_off(state, "aborted")


def _expired_while_waiting(state: Waiting, _: Expired) -> Step:
    return _called_off(state, "tool_timeout")


def _interrupted_while_waiting(state: Waiting, _: Interrupted) -> Step:
    """No attempt is at work, so the one before says what may have happened."""
    status = _failed_status(state)
    return Done(status, "interrupted", state.attempt), (_off(state, "interrupted", status), _FINISH)


# --- recovering ---


def _recovered(state: Recovering, _: Recovered) -> Step:
    done = Done("succeeded", None, state.attempt, state.status)
    return done, (Announce("tool.recovered", state.attempt, state.code, status="succeeded"), _FINISH)


def _recovery_failed(state: Recovering, event: RecoveryFailed) -> Step:
    return _not_recovered(state, event.code)


def _interrupted_while_recovering(state: Recovering, _: Interrupted) -> Step:
    return _not_recovered(state, "interrupted")


def _not_recovered(state: Recovering, code: str) -> Step:
    last = Announce("tool.recovered", state.attempt, code, status=state.status)
    return Done(state.status, code, state.attempt), (last, _FINISH)


# --- shared ---


def _refuse(code: str) -> Step:
    return Done("refused", code, 0), (Announce("tool.rejected", code=code, status="refused"), _FINISH)


def _no_approval(code: str, reason: str) -> Step:
    denied = Announce("approval.denied", code=code, reason=reason)
    return Done("refused", code, 0), (denied, Announce("tool.rejected", code=code, status="refused"), _FINISH)


def _after_failure(state: Running, event: Failed | Ambiguous, *, in_doubt: bool) -> Step:
    """Another attempt, the fallback, or the end."""
    code = "outcome_unknown" if in_doubt else "tool_raised"
    if event.pause is not None and may_repeat(state.plan, state.attempt, event):
        return Waiting(state.plan, state.attempt, code), (
            Announce("tool.failed", state.attempt, code),
            Sleep(event.pause),
        )
    return _over(state, status="unknown" if in_doubt else "failed", code=code)


def _over(state: Running, *, status: Status, code: str) -> Step:
    """After the last attempt: the fallback, or the end."""
    plan, attempt = state.plan, state.attempt
    if plan.recovers:
        return Recovering(plan, attempt, status, code), (Announce("tool.failed", attempt, code), Recover())
    return _end(state, status=status, code=code)


def _end(state: Running, *, status: Status, code: str) -> Step:
    """After an attempt whose failure no fallback answers."""
    failed = Announce("tool.failed", state.attempt, code, status=status)
    return Done(status, code, state.attempt), (failed, _FINISH)


def _called_off(state: Waiting, why: str) -> Step:
    """No further attempt after all: the last one's failure stands."""
    status = _failed_status(state)
    if state.plan.recovers:
        return Recovering(state.plan, state.attempt, status, state.code), (_off(state, why, None), Recover())
    return Done(status, state.code, state.attempt), (_off(state, why, status), _FINISH)


def _off(state: Waiting, why: str, status: Status | None) -> Announce:
    return Announce("tool.rejected", state.attempt + 1, why, status=status)


def _stopped(plan: Plan) -> Status:
    """What is known of work that was stopped halfway, or whose result cannot be used."""
    return "failed" if plan.stakes == "none" else "unknown"


def _failed_status(state: Waiting) -> Status:
    return "unknown" if state.code == "outcome_unknown" else "failed"


_FINISH: Final = Finish()
_ASK: Final = (Announce("approval.required"), Ask())
_ENTER: Final = (Enter(),)
_FIRST_RUN: Final = (Announce("tool.called", 1), Run(1))
_FIRST_SUCCESS: Final[Step] = (
    Done("succeeded", None, 1),
    (Announce("tool.completed", 1, status="succeeded"), _FINISH),
)

_AFTER_ATTEMPT: Final = (Waiting, Recovering, Done)
_AFTER_LAST: Final = (Recovering, Done)

TRANSITIONS: Final[Mapping[tuple[type[State], type[Event]], Rule]] = {
    (Received, Validated): Rule(_validated, (Approving, Queued, Running)),
    (Received, Invalid): Rule(_invalid, (Done,)),
    (Received, Refused): Rule(_refused, (Done,)),
    (Received, Aborted): Rule(_aborted_early, (Done,)),
    (Received, Interrupted): Rule(_interrupted_early, (Done,)),
    (Approving, Granted): Rule(_granted, (Queued, Running)),
    (Approving, Responded): Rule(_responded, (Done,)),
    (Approving, Denied): Rule(_denied, (Done,)),
    (Approving, Expired): Rule(_expired, (Done,)),
    (Approving, Aborted): Rule(_aborted_while_asking, (Done,)),
    (Approving, Interrupted): Rule(_interrupted_while_asking, (Done,)),
    (Queued, Entered): Rule(_entered, (Running,)),
    (Queued, Refused): Rule(_refused, (Done,)),
    (Queued, Aborted): Rule(_aborted_early, (Done,)),
    (Queued, Interrupted): Rule(_interrupted_early, (Done,)),
    (Running, Returned): Rule(_returned, (Done,)),
    (Running, Failed): Rule(_failed, _AFTER_ATTEMPT),
    (Running, Ambiguous): Rule(_ambiguous, _AFTER_ATTEMPT),
    (Running, Exhausted): Rule(_exhausted, _AFTER_LAST),
    (Running, TimedOut): Rule(_timed_out, _AFTER_LAST),
    (Running, Barred): Rule(_barred, (Done,)),
    (Running, Faulted): Rule(_faulted, (Done,)),
    (Running, Interrupted): Rule(_interrupted, (Done,)),
    (Waiting, Woke): Rule(_woke, (Running,)),
    (Waiting, Expired): Rule(_expired_while_waiting, _AFTER_LAST),
    (Waiting, Aborted): Rule(_aborted_while_waiting, _AFTER_LAST),
    (Waiting, Interrupted): Rule(_interrupted_while_waiting, (Done,)),
    (Recovering, Recovered): Rule(_recovered, (Done,)),
    (Recovering, RecoveryFailed): Rule(_recovery_failed, (Done,)),
    (Recovering, Interrupted): Rule(_interrupted_while_recovering, (Done,)),
}


def picture() -> str:
    """The table as a Mermaid state diagram, for ARCHITECTURE.md."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), rule in TRANSITIONS.items():
        for target in rule.targets:
            arrows.setdefault((state.__name__, target.__name__), []).append(event.__name__)
    lines = ["stateDiagram-v2", "    [*] --> Received"]
    lines += [f"    {source} --> {target}: {', '.join(names)}" for (source, target), names in arrows.items()]
    return "\n".join([*lines, "    Done --> [*]"]) + "\n"
