"""What may be wrong with an event. Every event that any test emits is held against it; see `conftest`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, NoneType
from typing import Final, get_args

from ringfence.enclave.results import RunStatus
from ringfence.errors import CODES, Status
from ringfence.events import EVENT_TYPES, META, META_TYPES, REASONS, Event

_RUN_CODES: Final = {spec.run_code for spec in CODES.values()}
_WORDS: Final = {
    "tool": {"code": set(CODES), "status": set(get_args(Status))},
    "approval": {"code": set(CODES), "reason": REASONS, "status": set(get_args(Status))},
    "run": {"code": _RUN_CODES | {None}, "status": set(get_args(RunStatus))},
}


def faults(event: Event) -> list[str]:
    """Sentences; none for an event as it should be."""
    kind, family = event.type, event.type.partition(".")[0]
    if kind not in EVENT_TYPES:
        return [f"{kind}: there is no such type"]
    found: list[str] = []
    if type(event.tool) is not NoneType and (family == "run" or type(event.tool) is not str):
        found.append(f"{kind}: tool is a {type(event.tool).__name__}")
    if type(event.session_id) is not str:
        found.append(f"{kind}: session_id is a {type(event.session_id).__name__}")
    if not isinstance(event.meta, MappingProxyType):
        found.append(f"{kind}: meta can be changed")
    given: Mapping[str, object] = dict(event.meta)
    for key, value in given.items():
        if key not in META[kind]:
            found.append(f"{kind}: {key} may not occur")
        elif type(value) not in META_TYPES[key]:
            found.append(f"{kind}: {key} is a {type(value).__name__}")
        elif key in _WORDS[family] and value not in _WORDS[family][key]:
            found.append(f"{kind}: {key} is none of ours")
        elif key == "error" and not str(value).isidentifier():
            found.append(f"{kind}: {key} is no class name")
    return found
