"""Events folded into what is shown of a call (`cli.calls`)."""

from __future__ import annotations

from typing import Any

from ringfence.cli.calls import Call, after, from_record
from ringfence.enclave.results import CallRecord
from ringfence.events import Event, EventType


def fold(*steps: tuple[EventType, dict[str, Any]]) -> list[Call | None]:
    call: Call | None = None
    seen: list[Call | None] = []
    for kind, meta in steps:
        call = after(call, Event(kind, "refund", "s", {"call_id": "r.1", "line": 4, **meta}), {"list"})
        seen.append(call)
    return seen


def phases(*steps: tuple[EventType, dict[str, Any]]) -> list[str | None]:
    return [call and call.phase for call in fold(*steps)]


def test_an_approved_call_goes_from_waiting_to_ok() -> None:
    steps = fold(
        ("approval.required", {}),
        ("approval.granted", {}),
        ("tool.called", {"attempt": 1}),
        ("tool.completed", {"attempt": 1, "duration": 0.25}),
    )
    assert [call and call.phase for call in steps] == ["waits for approval", "approved", "start", "ok"]
    assert steps[-1] == Call(call_id="r.1", tool="refund", line=4, phase="ok", attempt=1, duration=0.25)


def test_every_way_to_end_badly_has_its_word() -> None:
    assert phases(("tool.called", {}), ("tool.failed", {"code": "tool_raised"})) == ["start", "failed"]
    assert phases(("tool.called", {}), ("tool.failed", {"code": "outcome_unknown"})) == ["start", "unknown"]
    assert phases(("tool.called", {}), ("tool.failed", {"code": "tool_timeout"})) == ["start", "unknown"]
    assert phases(("tool.called", {}), ("tool.failed", {"code": "interrupted"})) == ["start", "unknown"]
    assert phases(("tool.called", {}), ("tool.failed", {"code": "bad_result"})) == ["start", "unknown"]
    assert phases(("tool.rejected", {"code": "invalid_input"})) == ["refused"]


def test_a_read_that_was_cut_off_has_only_failed() -> None:
    event = Event("tool.failed", "list", "s", {"call_id": "r.1", "code": "tool_timeout"})
    call = after(None, event, {"list"})
    assert call is not None
    assert call.phase == "failed"


def test_a_name_that_telemetry_would_not_repeat_is_shown_as_unknown() -> None:
    call = after(None, Event("tool.rejected", None, "s", {"call_id": "r.1", "code": "unknown_tool"}), ())
    assert call is not None
    assert (call.tool, call.phase) == ("(no such tool)", "refused")


def test_a_record_of_the_result_is_a_finished_call() -> None:
    record = CallRecord(call_id="r.1", name="mail", status="unknown", code="interrupted", line=4, duration=0.5)
    assert from_record(record) == Call(
        call_id="r.1", tool="mail", line=4, phase="unknown", code="interrupted", duration=0.5
    )


def test_events_that_concern_no_call_show_nothing() -> None:
    assert after(None, Event("run.started", None, "s", {"run_id": "r"}), ()) is None
    assert after(None, Event("tool.called", "t", "s", {}), ()) is None
    assert after(None, Event("approval.denied", "t", "s", {"call_id": "r.1"}), ()) is None


def test_a_finished_call_says_place_duration_code_attempt_and_reason() -> None:
    call = Call(call_id="r.1", tool="t", line=4, phase="failed", attempt=2, code="tool_timeout", duration=2.0)
    assert (call.place, call.took) == ("line 4", "2.0 s")
    assert call.outcome("approved by you") == "tool_timeout  attempt 2  (approved by you)"


def test_a_call_in_flight_says_its_place_only() -> None:
    call = Call(call_id="r.1", tool="t", line=4, phase="start", duration=0.1)
    assert (call.place, call.took, call.outcome("approved by you")) == ("line 4", "", "")
    assert Call(call_id="r.1", tool="t", line=None, phase="start").place == ""
