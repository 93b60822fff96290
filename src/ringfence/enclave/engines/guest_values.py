"""From a script's values to JSON text, with the place of the first value that is not data.

Runs inside the jail, standard library only. The fast path is the C encoder; only its hook and the keys of objects
need Python. Knows nothing of calls or frames.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import math
import types
import uuid
from collections import abc
from collections.abc import Callable, Iterable
from typing import Any, Final

from ringfence.enclave.engines.guest_wire import dumps

MAX_STEPS: Final = 2_000_000
_CONTAINERS: Final = (dict, list, tuple)


class NotData(Exception):
    """A value that cannot leave the script. `path` is where, `""` for the whole value."""

    def __init__(self, path: str, reason: str, value: object = None) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason
        self.value = value


@dataclasses.dataclass(frozen=True, slots=True)
class Encoded:
    """A value as it leaves the script."""

    text: str
    """JSON."""
    tags: dict[str, list[list[str | int]]] | None
    """Which of its texts stand for dates and the like: kind to paths; None where there are none."""

    def member(self, name: str = "tags") -> str:
        """The tags as a member of a frame, after a comma; nothing where there are none."""
        return f',"{name}":{dumps(self.tags)}' if self.tags else ""


class _Sightings:
    """Whether the encoder met a value that is tagged: most values hold none, and are not walked again."""

    met = False


def encode(value: object, *, any_keys: bool = False) -> Encoded:
    """JSON text with its tags. Sets and tuples become lists, models and dataclasses objects, dates ISO text, Decimal and UUID text,
    bytes base64 text. `any_keys`: keys that are numbers, None, dates or ids become text, since `{row["id"]: total}` is
    what scripts return.

    Raises:
        NotData: NaN, infinity, a lone surrogate, a cycle, keys that are not text, functions, classes, generators,
            coroutines, files, and objects of other classes.
    """
    if not _plain_keys(value):
        if not any_keys:
            raise _locate(value)
        value = _with_text_keys(value)
    _Sightings.met = False
    try:
        text = "".join(_encode(value, 0))
    except _Refused as refused:
        raise _locate(value, refused) from None
    except (ValueError, TypeError, RecursionError):
        raise _locate(value) from None
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _locate(value) from None
    return Encoded(text, _tags(value) if _Sightings.met else None)


def _tags(value: object) -> dict[str, list[list[str | int]]]:
    """Paths of everything that is restored on the other side, by kind."""
    found: dict[str, list[list[str | int]]] = {}
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        if (kind := _kind(item)) is not None:
            found.setdefault(kind, []).append(list(path))
        elif isinstance(item, dict):
            stack.extend((child, (*path, key)) for key, child in item.items())  # type: ignore[reportUnknownVariableType]
        elif isinstance(item, (list, tuple)):
            stack.extend((child, (*path, at)) for at, child in enumerate(item))  # type: ignore[reportUnknownVariableType]
        elif item is not None and not isinstance(item, (str, int, float)):
            stack.append((_convert(item), path))
    return found


def _kind(item: object) -> str | None:
    """Which kind of the value table it is, if JSON lacks it and the other side restores it."""
    match item:
        case datetime.datetime():
            return "datetime"
        case datetime.date():
            return "date"
        case datetime.time():
            return "time"
        case decimal.Decimal():
            return "decimal"
        case uuid.UUID():
            return "uuid"
        case bytes() | bytearray():
            return "bytes"
        case _:
            return None


def _with_text_keys(value: object) -> object:
    """Numbers, booleans and None become what `json.dumps` writes; dates, ids and the like, their text as values."""
    try:
        return _rekey(value, "", {})
    except RecursionError:
        raise NotData("", "contains itself, or is nested too deeply") from None


def _rekey(item: Any, path: str, made: dict[int, Any]) -> Any:
    """`made`: what was converted already, by identity, so that what is shared stays shared."""
    number = id(item)
    if not isinstance(item, _CONTAINERS):
        return item
    if number in made:
        return made[number]
    children: Any
    if isinstance(item, dict):
        children = {}
        for key, child in item.items():  # type: ignore[reportUnknownVariableType]
            text = _key_text(key, path)
            if text in children:
                raise NotData(path, f"two object keys become the text {text!r}; use keys that differ as text")
            children[text] = _rekey(child, f"{path}.{text}" if path else text, made)
    else:
        children = [_rekey(child, f"{path}[{at}]", made) for at, child in enumerate(item)]  # type: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    made[number] = children
    return children


def _key_text(key: Any, path: str) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, enum.Enum) and not isinstance(key, int):
        return _key_text(key.value, path)
    if key is None or isinstance(key, (int, float)):
        if (reason := _scalar_problem(key)) is not None:
            raise NotData(path, f"an object key is {reason}")
        return json.dumps(key)
    if isinstance(key, (datetime.date, datetime.time, decimal.Decimal, uuid.UUID, fractions.Fraction)):
        return str(_convert(key))
    raise NotData(path, f"an object key is of type {type(key).__name__}, not text; use str(key)")


class _Refused(Exception):
    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


def _convert(value: Any) -> Any:
    """The encoder's hook for what JSON does not have."""
    if isinstance(value, (set, frozenset, abc.KeysView, abc.ValuesView, range, collections.deque)):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    match value:
        case abc.ItemsView():
            return [list(pair) for pair in value]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case decimal.Decimal() if not value.is_finite():
            raise _Refused(value)
        case datetime.datetime() | datetime.date() | datetime.time():
            _Sightings.met = True
            return value.isoformat()
        case decimal.Decimal() | uuid.UUID():
            _Sightings.met = True
            return str(value)
        case fractions.Fraction():
            return str(value)
        case datetime.timedelta():
            return value.total_seconds()
        case bytes() | bytearray():
            _Sightings.met = True
            return base64.urlsafe_b64encode(value).decode()
        case enum.Enum():
            return value.value
        case types.MappingProxyType():
            return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        case _:
            raise _Refused(value)


_encoder: Any = json.encoder  # its C half is not in the type stubs
# the C encoder itself, made once: JSONEncoder makes one per call. No markers: a cycle ends as a RecursionError
_encode: Final[Callable[[object, int], Iterable[str]]] = _encoder.c_make_encoder(
    None, _convert, json.encoder.encode_basestring, None, ":", ",", False, False, False
)


def _plain_keys(value: object) -> bool:
    """Whether every object below has text keys; the C encoder would turn others into text silently."""
    if type(value) is dict and _is_flat(value):  # pyright: ignore[reportUnknownArgumentType]
        return True
    stack: list[Any] = [value]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        if id(item) in seen:  # shared, or a cycle, which the encoder refuses
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            if not all(isinstance(key, str) for key in item):  # type: ignore[reportUnknownVariableType]
                return False
            item = item.values()  # type: ignore[reportUnknownVariableType]
        elif not isinstance(item, (list, tuple)):
            continue
        stack.extend(child for child in item if isinstance(child, _CONTAINERS))  # type: ignore[reportUnknownVariableType]
    return True


def _is_flat(value: dict[Any, Any]) -> bool:
    for key, child in value.items():  # noqa: SIM110 - a generator costs twice as much, in every call
        if type(key) is not str or type(child) in _CONTAINERS:
            return False
    return True


def _locate(value: object, refused: _Refused | None = None) -> NotData:
    """Walk slowly to the first offender, for its path."""
    stack: list[tuple[Any, str, tuple[int, ...]]] = [(value, "", ())]
    children: list[tuple[Any, str, tuple[int, ...]]]
    steps = 0
    while stack and steps < MAX_STEPS:
        item, path, above = stack.pop()
        steps += 1
        if id(item) in above:
            return NotData(path, "contains itself")
        if (reason := _scalar_problem(item)) is not None:
            return NotData(path, reason, item)
        if len(above) > 500:
            return NotData(path[:200], "is nested too deeply")
        inner = (*above, id(item))
        if isinstance(item, dict):
            for key in item:  # type: ignore[reportUnknownVariableType]
                if not isinstance(key, str):
                    kind = type(key).__name__  # type: ignore[reportUnknownArgumentType]
                    return NotData(path, f"an object key is of type {kind}, not text; use str(key)")
                if (reason := _scalar_problem(key)) is not None:
                    return NotData(path, f"an object key is {reason}")
            children = [(child, f"{path}.{key}" if path else str(key), inner) for key, child in item.items()]  # type: ignore[reportUnknownVariableType]
        elif isinstance(item, (list, tuple)):
            children = [(child, f"{path}[{at}]", inner) for at, child in enumerate(item)]  # type: ignore[reportUnknownVariableType]
        elif item is None or isinstance(item, (str, int, float)):
            continue
        else:
            try:
                children = [(_convert(item), path, inner)]
            except _Refused:
                return NotData(path, f"a value of type {type(item).__name__} is not data", item)
        stack.extend(reversed(children))
    if refused is not None:
        return NotData("", f"a value of type {type(refused.value).__name__} is not data", refused.value)
    return NotData("", "is too large or too deep to leave the script")


def _scalar_problem(item: object) -> str | None:
    if isinstance(item, float) and not math.isfinite(item):
        return f"{item!r} is not a finite number"
    if isinstance(item, str):
        try:
            item.encode()
        except UnicodeEncodeError:
            return "text with a lone surrogate, which is not Unicode"
    return None
