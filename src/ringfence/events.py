"""What telemetry may see of a call: names, ids, times, codes. Never arguments, results, secrets or host paths.

Types and field names follow the first seed ("Events"): an event is exactly `type`, `tool`, `session_id`; everything
else is in `meta`. Delivery is `gate.hub`'s business; this module only says what an event is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import msgspec

EventType = Literal[
    "tool.called",
    "tool.completed",
    "tool.failed",
    "tool.rejected",
    "tool.progress",
    "approval.required",
    "approval.granted",
    "approval.denied",
    "run.started",
    "run.finished",
]

EVENT_TYPES: Final[frozenset[str]] = frozenset(get_args(EventType))

SEED_TYPES: Final[frozenset[str]] = frozenset(
    {"tool.called", "tool.completed", "tool.failed", "approval.required", "approval.granted"}
)
"""Delivered to every subscriber; the other types only to subscribers that ask for them by name."""


class Event(msgspec.Struct, frozen=True):
    """One thing that happened."""

    type: EventType
    tool: str | None
    """Name of the tool; None for `run.*`, and when no tool has the name that was asked for."""
    session_id: str
    meta: Mapping[str, Any] = MappingProxyType({})
    """`call_id`, `attempt`, `max_attempts`, `duration` (seconds), `code`, `run_id`, `line`: those that apply."""
