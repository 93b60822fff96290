"""An event is what the seed says, and cannot be changed by whoever hears it."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, cast

import pytest

from ringfence.events import EVENT_TYPES, SEED_TYPES, Event


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
