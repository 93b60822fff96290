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
    "tool.recovered",
    "tool.rejected",
    "tool.progress",
    "tool.flagged",
    "approval.required",
    "approval.granted",
    "approval.denied",
    "approval.answered",
    "run.started",
    "run.finished",
]

EVENT_TYPES: Final[frozenset[str]] = frozenset(get_args(EventType))

SEED_TYPES: Final[frozenset[str]] = frozenset(
    {"tool.called", "tool.completed", "tool.failed", "approval.required", "approval.granted"}
)
"""Delivered to every subscriber; the other types only to subscribers that ask for them by name."""


META_TYPES: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "call_id": (str,),
        "run_id": (str,),
        "line": (int,),
        "attempt": (int,),
        "max_attempts": (int,),
        "duration": (float,),
        "fraction": (float,),
        "edited": (bool,),
        "status": (str,),
        "code": (str, type(None)),
        "reason": (str,),
        "pattern": (str,),
        "error": (str,),
    }
)
"""Every key that `Event.meta` may have, and the types of its values.

All texts are ours: ids, codes of `errors.CODES`, statuses, words of a closed list. `error` alone is not: it is the class
name of an exception, where that is an identifier. `code` is None for a run that succeeded.
"""

REASONS: Final[frozenset[str]] = frozenset(
    {
        "denied",
        "no_handler",
        "handler_failed",
        "not_a_bool",
        "changed",
        "disagreed",
        "invalid_edit",
        "invalid_response",
        "expired",
        "cancelled",
    }
)
"""Why an approval was denied: every word that `reason` may be."""

_OF_CALLS: Final = frozenset({"call_id", "run_id", "line"})

META: Final[Mapping[EventType, frozenset[str]]] = MappingProxyType(
    {
        "tool.called": _OF_CALLS | {"attempt", "max_attempts"},
        "tool.completed": _OF_CALLS | {"attempt", "max_attempts", "duration", "status"},
        "tool.failed": _OF_CALLS | {"attempt", "max_attempts", "duration", "code", "error", "status"},
        "tool.recovered": _OF_CALLS | {"attempt", "max_attempts", "duration", "code", "status"},
        "tool.rejected": _OF_CALLS | {"attempt", "max_attempts", "duration", "code", "status"},
        "tool.progress": _OF_CALLS | {"fraction"},
        "tool.flagged": _OF_CALLS | {"pattern"},
        "approval.required": _OF_CALLS,
        "approval.granted": _OF_CALLS | {"duration", "edited"},
        "approval.denied": _OF_CALLS | {"duration", "code", "reason"},
        "approval.answered": _OF_CALLS | {"duration", "status"},
        "run.started": frozenset({"run_id"}),
        "run.finished": frozenset({"run_id", "duration", "status", "code"}),
    }
)
"""The keys that may occur in the `meta` of each type. A closed list: what is not here cannot leak."""


class Event(msgspec.Struct, frozen=True):
    """One thing that happened."""

    type: EventType
    tool: str | None
    """Name of the tool; None for `run.*`, and when no tool has the name that was asked for."""
    session_id: str
    meta: Mapping[str, Any] = MappingProxyType({})
    """Read-only; `META` says which keys there may be. Durations are seconds."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON values, for a log: `type`, `tool`, `session_id`, `meta`."""
        return {"type": self.type, "tool": self.tool, "session_id": self.session_id, "meta": dict(self.meta)}

    def __reduce__(self) -> tuple[Any, ...]:
        """A read-only mapping cannot be copied or pickled, so its contents are."""
        return _revived, tuple(self.as_dict().values())


def _revived(kind: EventType, tool: str | None, session_id: str, meta: dict[str, Any]) -> Event:
    return Event(kind, tool, session_id, MappingProxyType(meta))
