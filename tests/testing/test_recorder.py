"""A recorder keeps every event of every type, in order, however the boundary is used."""

from __future__ import annotations

import asyncio

import pytest

import ringfence as rf
from ringfence.testing.approver import ScriptedApprover
from ringfence.testing.recorder import EventRecorder
from tests.testing.desk import Till, calls

PAID = ["approval.required", "approval.granted", "tool.called", "tool.completed"]


def test_events_of_all_types_are_kept_in_order() -> None:
    recorders: list[EventRecorder] = []
    outcomes = calls(
        Till(approval="human"),
        times=2,
        approve=ScriptedApprover([True, False]),
        hear=lambda boundary: recorders.append(EventRecorder(boundary)),
    )
    (recorder,) = recorders
    assert recorder.types[: len(PAID)] == PAID
    assert {"approval.denied", "tool.rejected"} < set(recorder.types[len(PAID) :])
    assert recorder.trace() == [(kind, "pay") for kind in recorder.types]
    assert [event.type for event in recorder.of(outcomes[0].call_id)] == PAID
    assert recorder.of(outcomes[0].call_id) + recorder.of(outcomes[1].call_id) == recorder.events
    assert recorder.of("another") == []


def test_after_its_block_it_hears_nothing_more_and_keeps_what_it_heard() -> None:
    till = Till()

    async def main() -> EventRecorder:
        boundary = rf.Boundary([till.tool], sandbox=rf.local(unsafe=True))  # not entered: `aclose` is enough
        with EventRecorder(boundary) as recorder:
            await boundary.call("pay", {"cents": 1})
        await boundary.call("pay", {"cents": 2})
        recorder.close()
        await boundary.aclose()
        return recorder

    assert asyncio.run(main()).types == ["tool.called", "tool.completed"]
    assert till.paid == [1, 2]


def test_the_list_is_a_copy() -> None:
    boundary = rf.Boundary([Till().tool], sandbox=rf.local(unsafe=True))
    recorder = EventRecorder(boundary)
    recorder.events.append(rf.Event("tool.called", "pay", "s"))
    assert recorder.events == []


def test_a_closed_boundary_says_nothing() -> None:
    boundary = rf.Boundary([Till().tool], sandbox=rf.local(unsafe=True))
    asyncio.run(boundary.aclose())
    with pytest.raises(rf.ConfigError) as caught:
        EventRecorder(boundary)
    assert caught.value.code == "not_running"


@pytest.mark.slow
def test_calls_of_a_script_are_heard_too() -> None:
    till = Till()

    async def main() -> tuple[rf.RunResult, EventRecorder]:
        async with rf.Boundary([till.tool], sandbox=rf.local(unsafe=True)) as boundary:
            recorder = EventRecorder(boundary)
            return await boundary.run_script("await tools.pay(cents=7)"), recorder

    result, recorder = asyncio.run(main())
    assert (result.value, till.paid) == (7, [7])
    assert [pair for pair in recorder.trace() if pair[1] == "pay"] == [
        ("tool.called", "pay"),
        ("tool.completed", "pay"),
    ]
