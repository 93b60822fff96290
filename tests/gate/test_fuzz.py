"""Random sequences of events against the table: what it accepts, where it leads, and what may never happen.

A few thousand run with the suite; `RINGFENCE_FUZZ=1` means all million, a larger number how many, and
`RINGFENCE_FUZZ_SEED` where to begin.
"""

from __future__ import annotations

import os
import random
from typing import Final, get_args

import pytest

from ringfence.gate.machine import TRANSITIONS, IllegalTransition, start, step
from ringfence.gate.states import (
    Aborted,
    Ambiguous,
    Announce,
    Approving,
    Ask,
    Barred,
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
    State,
    TimedOut,
    Validated,
    Waiting,
    Woke,
)

ALL: Final = 1_000_000
_ASKED: Final = int(os.environ.get("RINGFENCE_FUZZ", "5000"))
SEQUENCES: Final = ALL if _ASKED == 1 else _ASKED
SEED: Final = int(os.environ.get("RINGFENCE_FUZZ_SEED", "7"))
PARTS: Final = 10
"""Tests among which the sequences are divided, each of which has a time."""
LONGEST: Final = 40
"""Events of one sequence; most of them cannot follow where they come."""

ANY: Final[tuple[Event, ...]] = (
    Validated(),
    Invalid(),
    Refused("unknown_tool"),
    Refused("policy_refused"),
    Aborted(),
    Granted(),
    Granted(edited=True),
    Responded(),
    Denied("denied", "no"),
    Denied("not_a_bool"),
    Expired(),
    Entered(),
    Returned(),
    Failed(),
    Failed(None),
    Failed(2.5),
    Ambiguous(),
    Ambiguous(None),
    Ambiguous(2.5),
    Exhausted("bad_result"),
    Exhausted("tool_raised"),
    Barred(ran=False),
    Barred(ran=True),
    Faulted("sandbox_unavailable", started=False),
    Faulted("sandbox_crashed", started=True),
    TimedOut(),
    Interrupted(),
    Woke(),
    Recovered(),
    RecoveryFailed(),
    RecoveryFailed("bad_result"),
)

EXPECTED: Final[dict[type[State], frozenset[type[Event]]]] = {
    Received: frozenset({Validated, Invalid, Refused, Aborted, Interrupted}),
    Approving: frozenset({Granted, Responded, Denied, Expired, Aborted, Interrupted}),
    Queued: frozenset({Entered, Refused, Aborted, Interrupted}),
    Running: frozenset({Returned, Failed, Ambiguous, Exhausted, TimedOut, Barred, Faulted, Interrupted}),
    Waiting: frozenset({Woke, Expired, Aborted, Interrupted}),
    Recovering: frozenset({Recovered, RecoveryFailed, Interrupted}),
    Done: frozenset(),
}
"""The table once more, written by hand: what is accepted where. An edit of one alone is a mistake."""

REFUSALS: Final = frozenset({Invalid, Refused, Denied, Responded})
IN_DOUBT: Final = frozenset({Exhausted, TimedOut, Faulted, Interrupted})
"""After these nothing is repeated, whatever the plan is."""


def random_plan(chance: random.Random) -> Plan:
    return Plan(
        asks=chance.random() < 0.5,
        max_attempts=chance.choice((1, 1, 2, 3, 5)),
        stakes=chance.choice(("none", "undeclared", "effect")),
        idempotent=chance.random() < 0.3,
        recovers=chance.random() < 0.5,
        limited=chance.random() < 0.3,
    )


class Life:
    """One call's life, and what has happened in it so far."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.state: State = start(plan)
        self.runs = self.finishes = self.asks = self.recoveries = self.last_words = 0
        self.past: set[type[Event]] = set()
        self.is_in_doubt = False
        """Something may have happened that must not happen twice."""

    def take(self, event: Event) -> None:
        """Offer an event; check whether it is accepted, and everything that follows."""
        before = self.state
        kind = type(event)
        if kind not in EXPECTED[type(before)]:
            try:
                step(before, event)
            except IllegalTransition:
                return
            raise AssertionError(f"{kind.__name__} was accepted in {type(before).__name__}")
        after, commands = step(before, event)
        assert type(after) in TRANSITIONS[type(before), kind].targets
        self.past.add(kind)
        plan = self.plan
        if kind in IN_DOUBT or (kind is Ambiguous and plan.stakes == "effect" and not plan.idempotent):
            self.is_in_doubt |= type(before) is Running
        self.state = after
        for command in commands:
            self.heed(command, after)

    def heed(self, command: object, state: State) -> None:
        plan, past = self.plan, self.past
        match command:
            case Run(attempt):
                self.runs += 1
                assert attempt == self.runs <= plan.max_attempts
                assert not self.finishes
                assert not self.is_in_doubt
                assert Granted in past or not plan.asks
                assert Entered in past or not plan.limited
                assert not past & REFUSALS
                assert not self.recoveries
            case Finish():
                self.finishes += 1
                assert isinstance(state, Done)
                assert state.attempts == self.runs
                assert (state.code is None) == (state.status == "succeeded")
                assert (state.status == "refused") == (self.runs == 0 and Responded not in past)
                assert state.status != "unknown" or plan.stakes != "none"
            case Recover():
                self.recoveries += 1
                assert plan.recovers
                assert self.runs
                assert not past & (REFUSALS | {Barred, Faulted})
            case Ask():
                self.asks += 1
                assert plan.asks
            case Enter():
                assert plan.limited
                assert Granted in past or not plan.asks
            case Announce(status=status):
                assert not self.last_words
                self.last_words += status is not None
            case _:
                pass
        assert max(self.finishes, self.recoveries, self.asks) <= 1


def sequences(count: int, seed: int) -> int:
    """So many lives; how many of them came to an end."""
    chance = random.Random(seed)
    legal = {kind: [event for event in ANY if type(event) in may] for kind, may in EXPECTED.items()}
    ended = 0
    for _ in range(count):
        life = Life(random_plan(chance))
        stray = chance.choice((0.0, 0.1, 0.5, 1.0))
        for _ in range(chance.randrange(1, LONGEST)):
            likely = legal[type(life.state)]
            life.take(chance.choice(ANY if chance.random() < stray or not likely else likely))
            if isinstance(life.state, Done) and chance.random() < 0.5:
                break
        if isinstance(life.state, Done):
            assert (life.finishes, life.last_words) == (1, 1)
            ended += 1
        else:
            assert not life.finishes
    return ended


def test_the_table_accepts_what_is_written_here_and_nothing_else() -> None:
    accepted = {state: {event for before, event in TRANSITIONS if before is state} for state in get_args(State)}
    assert accepted == {state: set(may) for state, may in EXPECTED.items()}
    assert {type(event) for event in ANY} == set(get_args(Event))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_sequence_of_events_leads_where_no_call_may_go(part: int) -> None:
    ended = sequences(SEQUENCES // PARTS, SEED * PARTS + part)
    assert 0 < ended < SEQUENCES // PARTS
