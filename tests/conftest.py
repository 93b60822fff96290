"""What every test shares: one profile for property tests, so that a slow machine is not a failure, and a look at events."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from ringfence.events import Event
from ringfence.gate.hub import EventHub
from tests.telemetry import faults

# no deadline: two noisy cores; no database: a failing example belongs into the test as an `@example`
settings.register_profile("ringfence", deadline=None, database=None, derandomize="CI" in os.environ)
settings.load_profile("ringfence")


@pytest.fixture(autouse=True)
def every_event_is_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test is about: no event that it leads to may hold what no event may hold."""
    wrong: list[str] = []
    emit = EventHub.emit

    def watched(hub: EventHub, event: Event) -> None:
        wrong.extend(faults(event))
        emit(hub, event)

    monkeypatch.setattr(EventHub, "emit", watched)
    yield
    assert not wrong
