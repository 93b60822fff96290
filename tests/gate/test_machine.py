"""The table: what may follow what, and what the runner must then do."""

from __future__ import annotations

import itertools
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.errors import CODES
from ringfence.events import EVENT_TYPES
from ringfence.gate.machine import TRANSITIONS, IllegalTransition, may_repeat, picture, plan_for, start, step
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

STATES: tuple[type[State], ...] = get_args(State)
EVENTS: tuple[type[Event], ...] = get_args(Event)

SAMPLES: dict[type[Event], list[Event]] = {
    Refused: [Refused("unknown_tool"), Refused("sandbox_required"), Refused("would_deadlock")],
    Denied: [Denied("denied", "too much"), Denied("no_handler")],
    Granted: [Granted(), Granted(edited=True)],
    Failed: [Failed(), Failed(None), Failed(2.5)],
    Ambiguous: [Ambiguous(), Ambiguous(None), Ambiguous(2.5)],
    RecoveryFailed: [RecoveryFailed(), RecoveryFailed("bad_result")],
    Barred: [Barred(ran=False), Barred(ran=True)],
    Exhausted: [Exhausted("bad_result"), Exhausted("tool_raised")],
    Faulted: [Faulted("sandbox_unavailable", started=False), Faulted("sandbox_crashed", started=True)],
}


def samples(kind: type[Event]) -> list[Event]:
    return SAMPLES[kind] if kind in SAMPLES else [kind()]  # type: ignore[call-arg]


plans = st.builds(
    Plan,
    asks=st.booleans(),
    max_attempts=st.integers(1, 4),
    stakes=st.sampled_from(["none", "undeclared", "effect"]),
    idempotent=st.booleans(),
    recovers=st.booleans(),
    limited=st.booleans(),
)
events = st.sampled_from([event for kind in EVENTS for event in samples(kind)])


def plan(
    *,
    asks: bool = False,
    retries: int = 0,
    effect: Any = None,
    idempotent: bool | None = None,
    recovers: bool = False,
    limited: bool = False,
) -> Plan:
    return plan_for(
        asks=asks, retries=retries, effect=effect, idempotent=idempotent, recovers=recovers, limited=limited
    )


def life(of: Plan, *happenings: Event) -> tuple[State, list[Command]]:
    """State and all commands after these events."""
    state, said = start(of), list[Command]()
    for event in happenings:
        state, commands = step(state, event)
        said += commands
    return state, said


def announced(commands: list[Command]) -> list[str]:
    return [command.type for command in commands if isinstance(command, Announce)]


def legal(state: State) -> list[Event]:
    return [event for kind in EVENTS if (type(state), kind) in TRANSITIONS for event in samples(kind)]


def walk(of: Plan, data: st.DataObject) -> tuple[State, list[tuple[State, Event, tuple[Command, ...]]]]:
    """A random life by the table."""
    state, steps = start(of), list[tuple[State, Event, tuple[Command, ...]]]()
    while not isinstance(state, Done):
        event = data.draw(st.sampled_from(legal(state)))
        after, commands = step(state, event)
        steps.append((state, event, commands))
        state = after
    return state, steps


# --- the table as a whole ---


def sample_states() -> list[State]:
    of = plan(retries=1, recovers=True)
    return [
        Received(of),
        Approving(of),
        Queued(of),
        Running(of, 1),
        Waiting(of, 1, "tool_raised"),
        Recovering(of, 1, "failed", "tool_raised"),
        Done("succeeded", None, 1),
    ]


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (state, kind)
        for state, kind in itertools.product(sample_states(), EVENTS)
        if (type(state), kind) not in TRANSITIONS
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else type(value).__name__,
)
def test_what_is_not_in_the_table_is_refused(state: State, kind: type[Event]) -> None:
    for event in samples(kind):
        with pytest.raises(IllegalTransition, match=f"{kind.__name__} cannot follow in {type(state).__name__}"):
            step(state, event)


@given(plans, st.data())
def test_every_life_ends_in_done_and_stays_within_its_attempts(of: Plan, data: st.DataObject) -> None:
    end, steps = walk(of, data)
    assert isinstance(end, Done)
    runs = [command.attempt for _, _, commands in steps for command in commands if isinstance(command, Run)]
    assert runs == list(range(1, len(runs) + 1))
    assert len(runs) == end.attempts <= of.max_attempts
    assert len(steps) <= 2 * of.max_attempts + 4


@given(plans, st.lists(events, max_size=12))
def test_arbitrary_events_are_accepted_exactly_by_the_table(of: Plan, sequence: list[Event]) -> None:
    state = start(of)
    for event in sequence:
        rule = TRANSITIONS.get((type(state), type(event)))
        if rule is None:
            with pytest.raises(IllegalTransition):
                step(state, event)
            continue
        state, _ = step(state, event)
        assert type(state) in rule.targets


@given(plans, st.data())
def test_commands_are_in_an_order_that_a_runner_can_follow(of: Plan, data: st.DataObject) -> None:
    _, steps = walk(of, data)
    for _, _, commands in steps:
        *notices, last = commands
        assert all(isinstance(command, Announce) for command in notices)
        assert isinstance(last, Ask | Enter | Run | Sleep | Recover | Finish)
    lasts = [commands[-1] for _, _, commands in steps]
    assert [command for command in lasts if isinstance(command, Finish)] == lasts[-1:]
    assert len([command for command in lasts if isinstance(command, Ask)]) <= 1
    assert len([command for command in lasts if isinstance(command, Recover)]) <= 1


@given(plans, st.data())
def test_nothing_runs_before_it_is_validated_and_granted(of: Plan, data: st.DataObject) -> None:
    _, steps = walk(of, data)
    past: list[type[Event]] = []
    for _, event, commands in steps:
        past.append(type(event))
        if any(isinstance(command, Run) for command in commands):
            assert past[0] is Validated
            assert not of.asks or past[1] is Granted
            assert not of.limited or Entered in past
            assert not {Denied, Expired, Responded, Refused, Invalid, Aborted, Interrupted} & set(past)


@given(plans, st.data())
def test_every_attempt_is_announced_and_answered_once(of: Plan, data: st.DataObject) -> None:
    end, steps = walk(of, data)
    assert isinstance(end, Done)
    said = [command for _, _, commands in steps for command in commands if isinstance(command, Announce)]
    called = [one.attempt for one in said if one.type == "tool.called"]
    answered = [one.attempt for one in said if one.type in ("tool.completed", "tool.failed")]
    assert called == answered == list(range(1, end.attempts + 1))
    assert {one.type for one in said} <= EVENT_TYPES
    assert {one.code for one in said if one.code is not None} <= set(CODES)


@given(plans, st.data())
def test_the_end_tells_what_is_known(of: Plan, data: st.DataObject) -> None:
    end, steps = walk(of, data)
    assert isinstance(end, Done)
    assert (end.code is None) == (end.status == "succeeded")
    answered = any(isinstance(event, Responded) for _, event, _ in steps)
    assert (end.attempts == 0) == (end.status == "refused" or answered)
    assert end.code is None or end.code in CODES
    if end.status == "unknown":
        assert of.stakes != "none"
    stopped = any(isinstance(event, TimedOut | Exhausted) for _, event, _ in steps)
    if stopped and of.stakes != "none":
        assert end.status in ("unknown", "succeeded")


@given(plans, st.data())
def test_only_the_last_announcement_says_how_the_record_ends(of: Plan, data: st.DataObject) -> None:
    end, steps = walk(of, data)
    assert isinstance(end, Done)
    said = [command for _, _, commands in steps for command in commands if isinstance(command, Announce)]
    *others, last = [one.status for one in said]
    assert others == [None] * len(others)
    assert last is not None
    assert last == end.status


@given(plans, st.data())
def test_nobody_gets_another_attempt_that_is_not_wanted(of: Plan, data: st.DataObject) -> None:
    _, steps = walk(of, data)
    for state, event, commands in steps:
        pauses = [command.seconds for command in commands if isinstance(command, Sleep)]
        if pauses:
            assert isinstance(state, Running)
            assert isinstance(event, Failed | Ambiguous)
            assert pauses == [event.pause]
            assert may_repeat(of, state.attempt, event)


@given(plans, st.data())
def test_an_effect_in_doubt_is_never_repeated_unless_declared_idempotent(of: Plan, data: st.DataObject) -> None:
    _, steps = walk(of, data)
    for _, event, commands in steps:
        if isinstance(event, TimedOut | Interrupted | Faulted | Barred | Exhausted):
            assert not any(isinstance(command, Sleep | Run) for command in commands)
        if isinstance(event, Ambiguous) and of.stakes == "effect" and not of.idempotent:
            assert not any(isinstance(command, Sleep | Run) for command in commands)


@given(plans, st.data())
def test_a_fallback_follows_only_failures_of_the_tool(of: Plan, data: st.DataObject) -> None:
    _, steps = walk(of, data)
    for _, event, commands in steps:
        if any(isinstance(command, Recover) for command in commands):
            assert of.recovers
            assert isinstance(event, Failed | Ambiguous | Exhausted | TimedOut | Aborted | Expired)
        if isinstance(event, Recovered):
            assert announced(list(commands)) == ["tool.recovered"]


def test_every_target_that_is_drawn_can_be_reached() -> None:
    reached: set[tuple[type[State], type[Event], type[State]]] = set()
    for asks, attempts, stakes, idempotent, recovers, limited in itertools.product(
        (False, True), (1, 2), ("none", "undeclared", "effect"), (False, True), (False, True), (False, True)
    ):
        of = Plan(
            asks=asks,
            max_attempts=attempts,
            stakes=stakes,
            idempotent=idempotent,
            recovers=recovers,
            limited=limited,
        )
        todo = [start(of)]
        while todo:
            state = todo.pop()
            for event in legal(state):
                after, _ = step(state, event)
                reached.add((type(state), type(event), type(after)))
                todo.append(after)
    drawn = {(state, event, target) for (state, event), rule in TRANSITIONS.items() for target in rule.targets}
    assert reached == drawn


# --- plans ---


def test_a_plan_says_what_declarations_mean() -> None:
    assert plan(effect="read").stakes == "none"
    assert plan().stakes == "undeclared"
    assert plan(effect="write").stakes == "effect"
    assert plan(idempotent=False).stakes == "effect"
    assert plan(effect="read", idempotent=False).stakes == "none"
    assert (plan(idempotent=None).idempotent, plan(idempotent=True).idempotent) == (False, True)
    assert plan(retries=2).max_attempts == 3


# --- stories ---


def test_an_automatic_call_is_called_and_completed() -> None:
    end, said = life(plan(), Validated(), Returned())
    assert end == Done("succeeded", None, 1)
    assert said == [Announce("tool.called", 1), Run(1), Announce("tool.completed", 1, status="succeeded"), Finish()]


def test_an_approved_call_is_announced_in_the_seeds_order() -> None:
    end, said = life(plan(asks=True), Validated(), Granted(), Returned())
    assert end == Done("succeeded", None, 1)
    assert announced(said) == ["approval.required", "approval.granted", "tool.called", "tool.completed"]


@pytest.mark.parametrize(
    ("event", "code", "reason"),
    [
        (Denied("not_a_bool"), "approval_denied", "not_a_bool"),
        (Expired(), "approval_expired", "expired"),
        (Aborted(), "aborted", "cancelled"),
        (Interrupted(), "interrupted", "cancelled"),
    ],
)
def test_without_a_grant_nothing_runs_and_the_event_says_why(event: Event, code: str, reason: str) -> None:
    end, said = life(plan(asks=True, retries=3, recovers=True), Validated(), event)
    assert end == Done("refused", code, 0)
    assert said[2:] == [
        Announce("approval.denied", code=code, reason=reason),
        Announce("tool.rejected", code=code, status="refused"),
        Finish(),
    ]


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (Invalid(), "invalid_input"),
        (Refused("policy_refused"), "policy_refused"),
        (Aborted(), "aborted"),
        (Interrupted(), "interrupted"),
    ],
)
def test_a_refused_request_asks_nobody(event: Event, code: str) -> None:
    end, said = life(plan(asks=True, recovers=True), event)
    assert end == Done("refused", code, 0)
    assert said == [Announce("tool.rejected", code=code, status="refused"), Finish()]


def test_a_failure_is_repeated_while_attempts_are_left() -> None:
    of = plan(retries=1, effect="write")
    end, said = life(of, Validated(), Failed(), Woke(), Failed())
    assert end == Done("failed", "tool_raised", 2)
    assert announced(said) == ["tool.called", "tool.failed", "tool.called", "tool.failed"]
    assert Sleep(0.0) in said


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"effect": "write"}, Done("unknown", "outcome_unknown", 1)),
        ({"idempotent": False}, Done("unknown", "outcome_unknown", 1)),
        ({"effect": "write", "idempotent": False}, Done("unknown", "outcome_unknown", 1)),
    ],
)
def test_an_ambiguous_failure_of_a_declared_effect_ends_unknown_at_once(options: dict[str, Any], end: Done) -> None:
    assert life(plan(retries=2, **options), Validated(), Ambiguous())[0] == end


@pytest.mark.parametrize("options", [{}, {"effect": "read"}, {"idempotent": True}])
def test_other_tools_follow_the_retries_they_asked_for(options: dict[str, Any]) -> None:
    end, _ = life(plan(retries=1, **options), Validated(), Ambiguous(), Woke(), Ambiguous())
    assert end == Done("failed", "tool_raised", 2)


def test_an_idempotent_effect_is_repeated_and_may_still_end_unknown() -> None:
    of = plan(retries=1, effect="write", idempotent=True)
    assert life(of, Validated(), Ambiguous(), Woke(), Returned())[0] == Done("succeeded", None, 2)
    assert life(of, Validated(), Ambiguous(), Woke(), Ambiguous())[0] == Done("unknown", "outcome_unknown", 2)


@pytest.mark.parametrize(("effect", "status"), [("read", "failed"), ("write", "unknown"), (None, "unknown")])
def test_an_effect_is_doubted_after_an_unusable_result_and_after_an_abort(effect: Any, status: Any) -> None:
    of = plan(effect=effect, retries=1)
    raised = "tool_raised" if status == "failed" else "outcome_unknown"
    assert life(of, Validated(), Exhausted("bad_result"))[0] == Done(status, "bad_result", 1)
    assert life(of, Validated(), Exhausted("tool_raised"))[0] == Done(status, raised, 1)


@pytest.mark.parametrize(("effect", "status"), [("read", "failed"), ("write", "unknown"), (None, "unknown")])
def test_work_that_was_stopped_is_doubted_unless_it_is_a_read(effect: Any, status: Any) -> None:
    of = plan(retries=3, effect=effect)
    assert life(of, Validated(), TimedOut())[0] == Done(status, "tool_timeout", 1)
    assert life(of, Validated(), Interrupted())[0] == Done(status, "interrupted", 1)
    assert life(of, Validated(), Faulted("memory_limit", started=True))[0] == Done(status, "memory_limit", 1)
    assert life(of, Validated(), Faulted("sandbox_unavailable", started=False))[0] == Done(
        "failed", "sandbox_unavailable", 1
    )


def test_a_fallback_answers_the_caller_without_a_completion() -> None:
    end, said = life(plan(recovers=True, effect="write"), Validated(), TimedOut(), Recovered())
    assert end == Done("succeeded", None, 1, "unknown")
    assert said == [
        Announce("tool.called", 1),
        Run(1),
        Announce("tool.failed", 1, "tool_timeout"),
        Recover(),
        Announce("tool.recovered", 1, "tool_timeout", status="succeeded"),
        Finish(),
    ]


def test_a_failing_fallback_replaces_the_error_and_keeps_the_doubt() -> None:
    of = plan(recovers=True, effect="write")
    assert life(of, Validated(), TimedOut(), RecoveryFailed())[0] == Done("unknown", "tool_raised", 1)
    assert life(of, Validated(), Failed(), RecoveryFailed())[0] == Done("failed", "tool_raised", 1)
    assert life(of, Validated(), TimedOut(), RecoveryFailed("bad_result"))[0] == Done("unknown", "bad_result", 1)
    end, said = life(of, Validated(), Failed(), RecoveryFailed())
    assert said[-2:] == [Announce("tool.recovered", 1, "tool_raised", status="failed"), Finish()]
    end, said = life(of, Validated(), TimedOut(), Interrupted())
    assert end == Done("unknown", "interrupted", 1)
    assert said[-2:] == [Announce("tool.recovered", 1, "interrupted", status="unknown"), Finish()]


@pytest.mark.parametrize(
    "event", [Barred(ran=False), Barred(ran=True), Faulted("sandbox_crashed", started=True), Interrupted()]
)
def test_no_fallback_hides_a_refusal_a_fault_or_an_interruption(event: Event) -> None:
    end, said = life(plan(recovers=True, retries=5, effect="read"), Validated(), event)
    assert isinstance(end, Done)
    assert end.status == "failed"
    assert Recover() not in said


@pytest.mark.parametrize(
    ("ran", "options", "end"),
    [
        (False, {"effect": "write"}, Done("failed", "tool_raised", 1)),
        (True, {"effect": "write"}, Done("unknown", "outcome_unknown", 1)),
        (True, {"effect": "read"}, Done("failed", "tool_raised", 1)),
        (True, {}, Done("failed", "tool_raised", 1)),
    ],
)
def test_an_effect_around_a_nested_call_that_ran_is_doubted(ran: bool, options: dict[str, Any], end: Done) -> None:
    assert life(plan(retries=2, recovers=True, **options), Validated(), Barred(ran))[0] == end


@pytest.mark.parametrize(("event", "code"), [(Aborted(), "aborted"), (Expired(), "tool_timeout")])
def test_what_ends_a_pause_calls_the_next_attempt_off_and_keeps_the_last_failure(event: Event, code: str) -> None:
    end, said = life(plan(retries=1), Validated(), Failed(), event)
    assert end == Done("failed", "tool_raised", 1)
    assert said[-2:] == [Announce("tool.rejected", 2, code, status="failed"), Finish()]
    of = plan(retries=1, effect="write", idempotent=True)
    assert life(of, Validated(), Ambiguous(), event)[0] == Done("unknown", "outcome_unknown", 1)
    state, said = life(plan(retries=1, recovers=True), Validated(), Failed(), event)
    assert isinstance(state, Recovering)
    assert said[-1] == Recover()


def test_an_interruption_between_attempts_calls_the_next_one_off() -> None:
    end, said = life(plan(retries=1), Validated(), Failed(), Interrupted())
    assert end == Done("failed", "interrupted", 1)
    assert said[-2:] == [Announce("tool.rejected", 2, "interrupted", status="failed"), Finish()]


def test_an_approver_may_answer_in_the_tools_place() -> None:
    end, said = life(plan(asks=True, limited=True, retries=2, recovers=True), Validated(), Responded())
    assert end == Done("succeeded", None, 0)
    assert said[2:] == [Announce("approval.answered", status="succeeded"), Finish()]


def test_an_edit_is_said_to_be_one() -> None:
    _, said = life(plan(asks=True), Validated(), Granted(edited=True))
    assert said[2:] == [Announce("approval.granted", edited=True), Announce("tool.called", 1), Run(1)]


def test_calls_of_a_limited_tool_wait_for_their_turn_when_they_may_run() -> None:
    end, said = life(plan(limited=True), Validated(), Entered(), Returned())
    assert (end, said[0], announced(said)) == (
        Done("succeeded", None, 1),
        Enter(),
        ["tool.called", "tool.completed"],
    )
    state, said = life(plan(limited=True, asks=True), Validated(), Granted())
    assert (state, said[2:]) == (
        Queued(plan(limited=True, asks=True)),
        [Announce("approval.granted"), Enter()],
    )


@pytest.mark.parametrize(("event", "code"), [(Aborted(), "aborted"), (Interrupted(), "interrupted")])
def test_who_gives_up_in_the_queue_is_refused_and_has_run_nothing(event: Event, code: str) -> None:
    end, said = life(plan(limited=True, recovers=True, retries=2), Validated(), event)
    assert end == Done("refused", code, 0)
    assert said[1:] == [Announce("tool.rejected", code=code, status="refused"), Finish()]


def test_a_limited_tool_queues_once_for_all_its_attempts() -> None:
    _, said = life(plan(limited=True, retries=1), Validated(), Entered(), Failed(), Woke(), Returned())
    assert said.count(Enter()) == 1


@pytest.mark.parametrize("event", [Failed(None), Ambiguous(None)])
def test_without_a_wish_for_another_attempt_there_is_none(event: Event) -> None:
    assert life(plan(retries=5), Validated(), event)[0] == Done("failed", "tool_raised", 1)
    assert isinstance(life(plan(retries=5, recovers=True), Validated(), event)[0], Recovering)


def test_a_pause_is_as_long_as_the_failure_says() -> None:
    _, said = life(plan(retries=1), Validated(), Failed(2.5))
    assert said[-1] == Sleep(2.5)


def test_a_wish_for_another_attempt_does_not_make_it_safe() -> None:
    of = plan(retries=5, effect="write")
    assert life(of, Validated(), Ambiguous(0.5))[0] == Done("unknown", "outcome_unknown", 1)
    assert life(plan(retries=0), Validated(), Failed(0.5))[0] == Done("failed", "tool_raised", 1)


@pytest.mark.parametrize(
    ("options", "attempt", "event", "may"),
    [
        ({"retries": 1}, 1, Failed(), True),
        ({"retries": 1}, 2, Failed(), False),
        ({"retries": 1, "effect": "write"}, 1, Failed(), True),
        ({"retries": 1, "effect": "write"}, 1, Ambiguous(), False),
        ({"retries": 1, "effect": "write", "idempotent": True}, 1, Ambiguous(), True),
        ({"retries": 1}, 1, Ambiguous(), True),
        ({"retries": 1, "effect": "read"}, 1, TimedOut(), False),
        ({"retries": 1, "effect": "read"}, 1, Exhausted("bad_result"), False),
        ({"retries": 1, "effect": "read"}, 1, Barred(ran=False), False),
        ({"retries": 1, "effect": "read"}, 1, Faulted("sandbox_crashed", started=False), False),
    ],
)
def test_what_may_be_repeated(options: dict[str, Any], attempt: int, event: Event, may: bool) -> None:
    assert may_repeat(plan(**options), attempt, event) is may


# --- the picture ---


def test_the_picture_shows_every_line_of_the_table() -> None:
    lines = picture().splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert lines[1] == "    [*] --> Received"
    assert lines[-1] == "    Done --> [*]"
    for (state, event), rule in TRANSITIONS.items():
        for target in rule.targets:
            arrow = f"    {state.__name__} --> {target.__name__}: "
            (line,) = [line for line in lines if line.startswith(arrow)]
            assert event.__name__ in line.removeprefix(arrow).split(", ")


def test_every_state_and_event_is_in_the_table() -> None:
    assert {state for state, _ in TRANSITIONS} == set(STATES) - {Done}
    assert {event for _, event in TRANSITIONS} == set(EVENTS)
    assert not any(fields(kind) for kind in EVENTS if kind not in SAMPLES)


# --- a doubt stays ---


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (Failed(), "outcome_unknown"),
        (Failed(None), "outcome_unknown"),
        (Ambiguous(), "outcome_unknown"),
        (Barred(ran=False), "outcome_unknown"),
        (Faulted("sandbox_unavailable", started=False), "sandbox_unavailable"),
    ],
)
def test_no_later_failure_takes_back_that_an_earlier_attempt_may_have_had_its_effect(last: Event, code: str) -> None:
    of = plan(effect="write", idempotent=True, retries=1)
    assert life(of, Validated(), Ambiguous(), Woke(), last)[0] == Done("unknown", code, 2)
    assert life(of, Validated(), Failed(), Woke(), last)[0] != Done("unknown", code, 2) or isinstance(last, Ambiguous)


@pytest.mark.parametrize("event", [Aborted(), Expired(), Interrupted()])
def test_a_doubt_outlives_a_second_attempt_that_says_no(event: Event) -> None:
    of = plan(effect="write", idempotent=True, retries=2)
    end, _ = life(of, Validated(), Ambiguous(), Woke(), Failed(), event)
    assert isinstance(end, Done)
    assert (end.status, end.attempts) == ("unknown", 2)


@given(plans, st.data())
def test_a_doubt_ends_in_success_or_stays(of: Plan, data: st.DataObject) -> None:
    end, steps = walk(of, data)
    assert isinstance(end, Done)
    if of.stakes == "effect" and any(isinstance(event, Ambiguous) for _, event, _ in steps):
        assert end.status in ("unknown", "succeeded")
