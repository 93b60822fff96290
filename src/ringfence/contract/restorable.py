"""Which texts of a dumped result stand for dates, decimals, ids and bytes, so that a script gets those again.

The JSON text stays what it is; what is found are paths, by kind, beside it (the tags of `enclave.protocol`). A text is
tagged where the dumped value holds a value of the kind at that place and the text is a form of just that value, so
that a serialiser of the user's own which writes something else is believed. Knows values, not contracts:
`contract.output` says which dumps are worth a look, and `enclave.callers` takes it. Pure, except that attributes of the
user's types are read.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, cast

import msgspec
from pydantic import BaseModel, RootModel

from ringfence.enclave.table import READERS

Kind = Literal["datetime", "date", "time", "timedelta", "decimal", "uuid", "bytes"]
Paths = dict[Kind, list[list[str | int]]]
"""From the root: keys and positions."""

_KINDS: Final[Mapping[type, Kind]] = {
    datetime: "datetime",  # before date, which it is too
    date: "date",
    time: "time",
    timedelta: "timedelta",
    Decimal: "decimal",
    uuid.UUID: "uuid",
    bytes: "bytes",
    bytearray: "bytes",
}
_exact: Final[Callable[[type[Any]], Kind | None]] = _KINDS.get
RESTORABLE: Final = tuple(_KINDS)
_CONTAINERS: Final = frozenset({dict, list})
FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date-time": "datetime.datetime",
        "date": "datetime.date",
        "time": "datetime.time",
        "duration": "datetime.timedelta",
        "uuid": "uuid.UUID",
        "decimal": "decimal.Decimal",
        "base64url": "bytes",
    }
)
"""Formats of texts in published results that scripts get back as values, and the classes of these. Bytes in a model
are text there (pydantic's `binary`), unless its configuration says otherwise."""
MARK: Final = "x-python"
"""Keyword of the class that a script gets in place of a text, in a result's schema as stubs read it."""
_LISTS: Final = (list, tuple, set, frozenset, deque)


class Restorable(bytes):
    """JSON text of a value that may hold something to restore, which nobody has looked for yet."""

    source: Any
    """What was dumped. It may be the tool's own object, so look soon."""

    @classmethod
    def of(cls, data: bytes, source: object) -> Restorable:
        """The text with the value behind it."""
        made = cls(data)
        made.source = source
        return made


def tags_of(data: bytes) -> Paths | None:
    """Paths of the texts to restore, by kind; None when there are none. Looks only into a `Restorable`."""
    if type(data) is not Restorable:
        return None
    found: Paths = {}
    # iterative, since what was dumped may be as deep as a result may be
    waiting: list[tuple[Any, Any, list[str | int]]] = [([data.source], [msgspec.json.decode(data)], [])]
    while waiting:
        value, shown, path = waiting.pop()
        for step, child, text in _pairs(value, shown):
            if type(text) is str:
                kind = _exact(cast("type[Any]", type(child))) or _kind(child)
                if kind is not None and _is_form(kind, child, text):
                    found.setdefault(kind, []).append([*path, step])
            elif type(text) in _CONTAINERS:
                waiting.append((child, text, [*path, step]))
    return {kind: [path[1:] for path in paths] for kind, paths in found.items()} or None


def _kind(value: object) -> Kind | None:
    if isinstance(value, Enum):
        value = value.value
    return next((kind for base, kind in _KINDS.items() if isinstance(value, base)), None)


def _is_form(kind: Kind, value: Any, text: str) -> bool:
    """Whether the text is read back as this value."""
    if isinstance(value, Enum):
        value = value.value
    try:
        read = READERS[kind](text)
        if kind == "datetime":  # by its parts, since one in an hour that comes twice equals none of another zone
            offsets = read.utcoffset(), value.utcoffset()
            return offsets[0] == offsets[1] and bool(read.replace(tzinfo=None) == value.replace(tzinfo=None))
        return bool(read == value)
    except Exception:  # noqa: BLE001 - another form, or a subclass of the user's own that cannot be compared
        return False


_PLAIN: Final = frozenset({type(None), bool, int, float, str})


def _pairs(value: Any, shown: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Parts of a value that are not JSON's own scalars, beside the parts of its JSON form, with what names them."""
    if type(value) is dict and type(shown) is dict:  # as most are
        texts = cast("dict[Any, Any]", shown)
        for key, child in _items(cast("dict[Any, Any]", value), texts):
            if type(child) not in _PLAIN:
                yield key, child, texts.get(key)
        return
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, RootModel):
        value = cast("RootModel[Any]", value).root
    if type(shown) is dict:
        texts = cast("dict[str, Any]", shown)
        for key, child in _members(value, texts):
            if type(child) not in _PLAIN:
                yield key, child, texts.get(key)
    elif isinstance(value, _LISTS) and len(value) == len(shown):  # type: ignore[reportUnknownArgumentType]
        for at, (child, text) in enumerate(zip(cast("Iterable[Any]", value), shown, strict=True)):
            if type(child) not in _PLAIN:
                yield at, child, text


def _items(value: dict[Any, Any], shown: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Members of a mapping under their keys as text. What is no text became some in a way of its own (a date, an
    enumeration, a number); the order tells which."""
    in_order = len(value) == len(shown)
    for (key, child), name in zip(value.items(), shown if in_order else value, strict=True):
        if type(key) is str:
            yield key, child
        elif in_order:
            yield name, child


def _members(value: Any, shown: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Members of whatever becomes an object, under the keys that they have there."""
    if isinstance(value, dict):
        yield from _items(cast("dict[Any, Any]", value), shown)
    elif isinstance(value, BaseModel):
        kind = type(value)
        for name, field in kind.model_fields.items():
            yield field.serialization_alias or field.alias or name, getattr(value, name, None)
        for name, computed in kind.model_computed_fields.items():
            yield computed.alias or name, _computed(value, name)
        yield from (value.model_extra or {}).items()
    elif dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            yield one.name, getattr(value, one.name, None)


def _computed(value: BaseModel, name: str) -> Any:
    """A computed field once more: None when it has changed its mind, and then its text stays a text."""
    try:
        return getattr(value, name)
    except Exception:  # noqa: BLE001 - the user's code, which has already given what is sent
        return None
