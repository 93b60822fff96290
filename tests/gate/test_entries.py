"""What a gate prepares once per tool."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.errors import ConfigError
from ringfence.gate.approval import approver
from ringfence.gate.entries import LiveCall, entry_for
from ringfence.gate.machine import step
from ringfence.gate.states import Approving, Queued, Returned, Running, State, Validated
from ringfence.sandbox.local_unsafe import local
from tests.gate.kit import ORIGIN, tool

HUMAN = approver(lambda request: True, "approve")  # type: ignore[misc]


async def pay(args: Any) -> str:
    return "paid"


def log(_: str) -> None: ...


def test_a_tools_own_sandbox_comes_before_the_gates() -> None:
    own, common = local(unsafe=True), local(unsafe=True)
    assert entry_for(tool(pay, sandbox=own), sandbox=common, human=None, log=log).driver is own
    assert entry_for(tool(pay), sandbox=common, human=None, log=log).driver is common
    assert entry_for(tool(pay), sandbox=None, human=None, log=log).driver is None


def test_who_decides_follows_from_the_tools_approval() -> None:
    def callback(given: Any, info: Any) -> bool:
        return True

    auto = entry_for(tool(pay), sandbox=None, human=HUMAN, log=log)
    human = entry_for(tool(pay, approval="human"), sandbox=None, human=HUMAN, log=log)
    nobody = entry_for(tool(pay, approval="human"), sandbox=None, human=None, log=log)
    own = entry_for(tool(pay, approval=callback), sandbox=None, human=HUMAN, log=log)
    assert [(one.plan.asks, one.approver) for one in (auto, human, nobody)] == [
        (False, None),
        (True, HUMAN),
        (True, None),
    ]
    assert own.approver is not None
    assert (own.plan.asks, [one.handler for one in own.approver.members]) == (True, [callback])


def test_a_callback_with_other_parameters_is_found_before_any_call() -> None:
    with pytest.raises(ConfigError, match="tool 'pay': approval must take"):
        entry_for(tool(pay, approval=lambda: True), sandbox=None, human=None, log=log)


@pytest.mark.parametrize(
    ("options", "then"),
    [({}, Running), ({"retries": 2}, Running), ({"approval": "human"}, Approving), ({"max_concurrency": 1}, Queued)],
)
def test_what_is_asked_once_is_what_the_machine_says_of_every_call(options: Any, then: type[State]) -> None:
    entry = entry_for(tool(pay, **options), sandbox=None, human=None, log=log)
    state, _ = entry.accepted
    assert (type(state), entry.accepted) == (then, step(entry.received, Validated()))
    assert entry.returned == (step(state, Returned()) if then is Running else None)


def test_only_declared_and_bounded_results_are_compared() -> None:
    assert entry_for(tool(pay, max_result=100), sandbox=None, human=None, log=log).is_checked
    assert entry_for(tool(pay, output=str), sandbox=None, human=None, log=log).is_checked
    assert not entry_for(tool(pay), sandbox=None, human=None, log=log).is_checked


def test_only_limited_tools_have_turns() -> None:
    limited = entry_for(tool(pay, max_concurrency=2), sandbox=None, human=None, log=log)
    assert (limited.slots is not None, limited.plan.limited) == (True, True)
    free = entry_for(tool(pay), sandbox=None, human=None, log=log)
    assert (free.slots, free.plan.limited) == (None, False)


def test_a_driver_is_believed_only_when_it_says_so() -> None:
    class Claims:
        name = "claims"
        hands_over_unchanged = "yes"

        async def run(self, fn: Any, args: list[Any], *, signal: Any = None) -> None: ...

    assert entry_for(tool(pay), sandbox=local(unsafe=True), human=None, log=log).is_trusted
    assert not entry_for(tool(pay), sandbox=Claims(), human=None, log=log).is_trusted


def test_a_call_begins_with_nothing_known() -> None:
    call = LiveCall(
        name="pay",
        entry=None,
        origin=ORIGIN,
        call_id="c",
        parent=None,
        signal=None,
        watch=None,
        encode=False,
        own_task=False,
        began=5.0,
        since=5.0,
    )
    assert (call.since, call.value, call.result, call.refusal, call.cause, call.cancelled) == (5.0, *[None] * 5)
