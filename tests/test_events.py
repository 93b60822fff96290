"""An event is what the seed says, and cannot be changed by whoever hears it."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import MutableMapping
from types import MappingProxyType
from typing import Any, cast

import pytest

from ringfence.events import EVENT_TYPES, META, META_TYPES, SEED_TYPES, Event
from tests.telemetry import faults


def test_the_seeds_types_are_a_part_of_all_types() -> None:
    assert SEED_TYPES < EVENT_TYPES
    assert {name.partition(".")[0] for name in EVENT_TYPES} == {"tool", "approval", "run"}


def test_an_event_is_type_tool_and_session_and_the_rest_is_meta() -> None:
    event = Event("tool.called", "echo", "s")
    assert (event.type, event.tool, event.session_id, dict(event.meta)) == ("tool.called", "echo", "s", {})


def test_an_event_cannot_be_changed() -> None:
    event = Event("run.started", None, "s")
    with pytest.raises(AttributeError):
        cast("Any", event).tool = "other"
    with pytest.raises(TypeError):
        cast("MutableMapping[str, Any]", event.meta)["code"] = "forged"


def test_every_type_has_its_keys_and_every_key_its_type() -> None:
    assert set(META) == EVENT_TYPES
    assert {key for keys in META.values() for key in keys} == set(META_TYPES)


@pytest.mark.parametrize(
    ("kind", "tool", "meta", "said"),
    [
        ("tool.called", "pay", {"attempt": 1}, []),
        ("run.finished", None, {"run_id": "r", "code": None}, []),
        ("tool.called", "pay", {"attempt": True}, ["tool.called: attempt is a bool"]),
        ("tool.called", "pay", {"duration": 1.0}, ["tool.called: duration may not occur"]),
        ("tool.called", "pay", {"arguments": "x"}, ["tool.called: arguments may not occur"]),
        ("tool.failed", "pay", {"code": "EPAY"}, ["tool.failed: code is none of ours"]),
        ("tool.failed", "pay", {"error": "no: it failed"}, ["tool.failed: error is no class name"]),
        ("tool.failed", "pay", {"status": "sad"}, ["tool.failed: status is none of ours"]),
        ("approval.denied", "pay", {"reason": "not today"}, ["approval.denied: reason is none of ours"]),
        ("tool.shouted", "pay", {}, ["tool.shouted: there is no such type"]),
        ("run.started", "pay", {}, ["run.started: tool is a str"]),
    ],
)
def test_the_table_tells_what_an_event_may_not_be(kind: Any, tool: Any, meta: Any, said: list[str]) -> None:
    assert faults(Event(kind, tool, "s", MappingProxyType(meta))) == said


def test_an_event_whose_meta_could_be_changed_is_told() -> None:
    assert faults(Event("tool.called", "pay", "s", {"attempt": 1})) == ["tool.called: meta can be changed"]


def test_an_event_can_be_written_as_json_copied_and_sent_between_processes() -> None:
    event = Event("tool.called", "pay", "s", MappingProxyType({"attempt": 1}))
    assert json.loads(json.dumps(event.as_dict())) == {
        "type": "tool.called",
        "tool": "pay",
        "session_id": "s",
        "meta": {"attempt": 1},
    }
    for again in (copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
        assert again == event
        assert type(again.meta) is MappingProxyType
