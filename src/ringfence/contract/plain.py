"""Whether a value of no declared type may be dumped: a closed table of kinds, walked without recursion.

Plain JSON values; besides them dates and times, Decimal, UUID, bytes, sets, tuples, deques, enum members, dataclasses,
and pydantic models (which serialise themselves and are not looked into). Everything else is refused by its class name:
unknown means no, since pydantic would quietly drain a generator or a file, and turn any dictionary key into text.

Knows values only. `contract.output` calls it once per undeclared result, so that whole levels are judged by the set
of their types; paths are worked out only for a value that is refused. Pure.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import types
import typing
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from itertools import chain, islice
from typing import Any, Final, Literal, NamedTuple, cast, get_args, get_origin

from pydantic import BaseModel

from ringfence.contract.issues import join_path
from ringfence.contract.restorable import RESTORABLE
from ringfence.limits import ValueBudget
from ringfence.values import ValueRefused

_BUDGET: Final = ValueBudget()
_SCALARS: Final[frozenset[type]] = frozenset({type(None), bool, int, str, float})
_TEXT: Final[frozenset[type]] = frozenset({str})
_LEAVES: Final = (
    str, int, float, Decimal, uuid.UUID, bytes, bytearray,
    datetime.date, datetime.time, datetime.timedelta, type(None),
)  # fmt: skip
_LISTS: Final = (list, tuple, set, frozenset, deque)

_Group = Literal["leaf", "list", "dict", "enum", "record", "model", "unknown"]
_Level = tuple[list[Any], set[type[Any]]]


class Contents(NamedTuple):
    """What is inside a value, as far as somebody has to look at it again."""

    models: bool
    """Pydantic models, which serialise themselves."""
    restorable: bool
    """Values that a script gets back as what they were; models may hold some too."""


_NOTHING_SPECIAL: Final = Contents(models=False, restorable=False)


def check_plain(value: object) -> Contents:
    """Refuse what the table does not hold; answer what it holds besides JSON's own values.

    Raises:
        ValueRefused: with the path of the first offender, or over the budget for one value.
    """
    if type(value) in _SCALARS or _is_flat_record(value):
        return _NOTHING_SPECIAL  # the commonest results, at a tenth of the cost
    models = restorable = False
    for level, kinds in _levels(value, into_models=False):
        for kind in kinds - _SCALARS:
            models = models or issubclass(kind, BaseModel)
            restorable = restorable or issubclass(kind, RESTORABLE)
            if _is_refused(kind, _of_kind(level, kinds, kind)):
                raise _refusal(value)
    return Contents(models=models, restorable=models or restorable)


def _is_flat_record(value: object) -> bool:
    if type(value) is not dict:
        return False
    record = cast("dict[Any, Any]", value)
    return set(map(type, record)) <= _TEXT and set(map(type, record.values())) <= _SCALARS


def may_lose_numbers(value: object) -> bool:
    """Whether a number that is not finite, or something that may hide one, is in the value or in its models."""
    for level, kinds in _levels(value, into_models=True):
        for kind in kinds - _SCALARS:
            if _group(kind) == "unknown" or (issubclass(kind, BaseModel) and kind.model_config.get("extra") == "allow"):
                return True
        if _has_odd_float(level, kinds):
            return True
    return False


def check_finite(value: object) -> None:
    """Refuse NaN and infinities in plain containers.

    Raises:
        ValueRefused: with the path of the first offender.
    """
    for level, kinds in _levels(value, into_models=False):
        if _has_odd_float(level, kinds):
            raise _refusal(value, numbers_only=True)


def is_plain(hint: object) -> bool:
    """Whether a type says no more than "JSON values somewhere inside": then `check_plain` judges its values too."""
    return _is_vague(hint) and _is_builtin(hint)


def _levels(value: object, *, into_models: bool) -> Iterator[_Level]:
    """The value, its children, their children, each with the set of types; bounded in depth and number."""
    level: list[Any] = [value]
    nodes = 1
    for _ in range(_BUDGET.depth + 1):
        kinds: set[type[Any]] = set(map(type, level))
        yield level, kinds
        inner = kinds - _SCALARS if into_models else {kind for kind in kinds - _SCALARS if _group(kind) != "model"}
        if not inner:
            return
        children = chain.from_iterable(_children(_of_kind(level, kinds, kind), kind) for kind in inner)
        level = list(islice(chain.from_iterable(children), _BUDGET.nodes - nodes + 1))
        nodes += len(level)
        if nodes > _BUDGET.nodes:
            raise ValueRefused("", f"more than {_BUDGET.nodes} values", too_large=True)
    raise ValueRefused("", f"nested deeper than {_BUDGET.depth} levels, or cyclic", too_large=True)


def _of_kind(level: list[Any], kinds: set[type[Any]], kind: type[Any]) -> list[Any]:
    return level if len(kinds) == 1 else [item for item in level if type(item) is kind]


def _kind(item: object) -> type[Any]:
    return type(item)


def _group(kind: type[Any]) -> _Group:
    if issubclass(kind, Enum):
        return "enum"
    if issubclass(kind, _LEAVES):
        return "leaf"
    if issubclass(kind, dict):
        return "dict"
    if issubclass(kind, _LISTS):
        return "list"
    if issubclass(kind, BaseModel):
        return "model"
    return "record" if dataclasses.is_dataclass(kind) else "unknown"


def _children(items: list[Any], kind: type[Any]) -> Iterable[Iterable[Any]]:
    """For every item, all of one kind, what it holds."""
    match _group(kind):
        case "dict":
            return map(_VALUES, items)
        case "enum":
            return [[item.value for item in items]]
        case "record":
            names = [field.name for field in dataclasses.fields(kind)]
            return ([getattr(item, name) for name in names] for item in items)
        case "model":
            return map(_VALUES, map(vars, items))
        case "list":
            return items
        case "leaf" | "unknown":
            return ()


def _is_refused(kind: type[Any], items: list[Any]) -> bool:
    match _group(kind):
        case "unknown":
            return True
        case "dict":
            shapes: set[tuple[object, ...]] = set(map(_KEYS, items))  # rows of a table share one
            return not all(issubclass(key, str) for key in set(map(_kind, chain.from_iterable(shapes))))
        case "leaf" if issubclass(kind, Decimal):
            return not all(item.is_finite() for item in items)
        case _:
            return False


def _has_odd_float(level: list[Any], kinds: set[type[Any]]) -> bool:
    floats = [kind for kind in kinds if issubclass(kind, float)]
    return any(not all(map(math.isfinite, _of_kind(level, kinds, kind))) for kind in floats)


def _refusal(value: object, *, numbers_only: bool = False) -> ValueRefused:
    """The first objection, with its path. Goes down level by level, as the walk did that found one."""
    queue: deque[tuple[str, Any]] = deque([("", value)])
    while (reason := _objection(queue[0][1], numbers_only)) is None:
        queue.extend(_named_children(*queue.popleft()))
    return ValueRefused(queue[0][0], reason)


def _objection(item: Any, numbers_only: bool) -> str | None:
    if isinstance(item, (float, Decimal)):
        return None if math.isfinite(item) else "not a finite number"
    if numbers_only:
        return None
    kind = _kind(item)
    match _group(kind):
        case "unknown":
            return f"a {kind.__name__} is not a JSON value"
        case "dict":
            odd = next((key for key in item if not isinstance(key, str)), "")
            return None if isinstance(odd, str) else f"an object key is a {type(odd).__name__}, not text"
        case _:
            return None


def _named_children(path: str, item: Any) -> Iterator[tuple[str, Any]]:
    match _group(_kind(item)):
        case "dict":
            for key, child in item.items():
                yield join_path(path, str(key)), child
        case "list":
            for at, child in enumerate(item):
                yield join_path(path, at), child
        case "enum":
            yield path, item.value
        case "record":
            for field in dataclasses.fields(item):
                yield join_path(path, field.name), getattr(item, field.name)
        case "model" | "leaf" | "unknown":
            pass


_KEYS: Final[Callable[[Any], tuple[object, ...]]] = tuple
_VALUES: Final = cast("Callable[[Any], Iterable[Any]]", dict.values)  # type: ignore[reportUnknownMemberType]

_VAGUE: Final[tuple[Any, ...]] = (Any, object, dict, list, tuple, set, frozenset, Mapping, Sequence)
_EXACT: Final[tuple[Any, ...]] = (None, type(None), bool, int, float, str)
_CONTAINERS: Final[tuple[Any, ...]] = (list, tuple, set, frozenset, Sequence)
_UNIONS: Final[tuple[Any, ...]] = (typing.Union, types.UnionType)


def _is_vague(hint: object) -> bool:
    """Whether `Any`, or a container of unknown contents, occurs in the type."""
    return hint in _VAGUE or any(_is_vague(argument) for argument in get_args(hint))


def _is_builtin(hint: object) -> bool:
    """Whether the type is made of JSON's own kinds, with text as the only kind of key."""
    if hint in _VAGUE or hint in _EXACT:
        return True
    arguments = [argument for argument in get_args(hint) if argument is not Ellipsis]
    origin = get_origin(hint)
    if origin in (dict, Mapping):
        return arguments[0] in (str, Any) and _is_builtin(arguments[1])
    return (origin in _CONTAINERS or origin in _UNIONS) and all(_is_builtin(argument) for argument in arguments)
