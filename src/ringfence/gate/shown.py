"""Validated arguments as an approver sees them: everything that the tool gets, as JSON values.

Fields are read one by one. A model's own serialisation is never used: it leaves out what was excluded, stars what is
secret, and writes whatever its author wants, while the tool gets the fields. An approver is the privileged tier, so
secrets are shown. Knows values only; called by `gate.perform`. Pure.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Final, cast

from pydantic import BaseModel, RootModel

from ringfence.contract.hints import Arguments
from ringfence.limits import ValueBudget
from ringfence.values import ValueRefused

_NODES: Final = ValueBudget().nodes
_DEPTH: Final = 100
"""More than what arguments may have as JSON, since types add levels; few enough for Python's stack."""
_SCALARS: Final = (str, int, float)
_EXACT: Final = frozenset({type(None), bool, int, str})
_PLAIN_TEXT: Final = frozenset(
    {"builtins", "datetime", "decimal", "fractions", "ipaddress", "pathlib", "pydantic", "pydantic_core", "re", "uuid"}
)
"""Packages whose objects say all that they hold when they are turned into text."""


def shown(arguments: object) -> dict[str, Any]:
    """JSON values of all arguments: defaults, excluded and private fields, and secrets included.

    Raises:
        ValueRefused: nested deeper, or more values, than one call's arguments may be.
    """
    view = _View().of(arguments, 0)
    return cast("dict[str, Any]", view) if isinstance(view, dict) else {"arguments": view}


class _View:
    """One walk, and how much of it is done."""

    def __init__(self) -> None:
        self._nodes = 1

    def _take(self, nodes: int) -> None:
        """That many more."""
        self._nodes += nodes
        if self._nodes > _NODES:
            raise ValueRefused("", f"more than {_NODES} values", too_large=True)

    def of(self, value: Any, depth: int) -> Any:
        if depth > _DEPTH:
            raise ValueRefused("", f"nested deeper than {_DEPTH} levels, or cyclic", too_large=True)
        kind = _kind(value)
        if kind in _EXACT:
            return value
        if kind is float:
            return _scalar(value)
        if (
            kind is list
        ):  # what is exactly one of these needs no further question: 3.5 in place of 7.5 us for five fields
            return self._items(value, depth + 1)
        if kind is dict:
            return self._pairs(value.items(), depth + 1)
        if kind is Arguments:
            return self._pairs(vars(value).items(), depth + 1)  # type: ignore[reportUnknownArgumentType,reportUnknownMemberType]
        if isinstance(value, Enum):
            return self.of(value.value, depth + 1)
        if isinstance(value, _SCALARS):
            return _scalar(value)
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8", "backslashreplace")
        return self._compound(value, depth + 1)

    def _compound(self, value: Any, depth: int) -> Any:
        kind = _kind(value)
        if RootModel in kind.__mro__:  # which is quicker than a model's own `isinstance`
            return self.of(value.root, depth)
        if BaseModel in kind.__mro__:
            return self._pairs(_named(kind.__pydantic_fields__, _model_items(value)), depth)
        if callable(reveal := getattr(kind, "get_secret_value", None)):
            return self.of(reveal(value), depth)
        if dataclasses.is_dataclass(value):
            fields = getattr(type(value), "__pydantic_fields__", {})
            return self._pairs(_named(fields, _dataclass_items(value)), depth)
        if isinstance(value, Mapping):
            return self._pairs(cast("Mapping[Any, Any]", value).items(), depth)
        if isinstance(value, list | tuple):
            return self._items(cast("Iterable[Any]", value), depth)
        if isinstance(value, AbstractSet):  # two equal ones look the same
            return sorted(self._items(cast("Iterable[Any]", value), depth), key=repr)
        if (text := _text(value)) is not None:
            return text
        if hasattr(value, "__len__") and hasattr(value, "__iter__"):
            return self._items(value, depth)
        attributes = _attributes(value)
        return self._pairs(attributes, depth) if attributes else str(value)

    def _items(self, items: Iterable[Any], depth: int) -> list[Any]:
        known = list(items)
        self._take(len(known))
        return [item if type(item) in _EXACT else self.of(item, depth) for item in known]

    def _pairs(self, items: Iterable[tuple[Any, Any]], depth: int) -> Any:
        """An object; a list of pairs where two keys would look the same, so that none hides the other."""
        known = list(items)
        self._take(2 * len(known))
        pairs = [
            (
                key if type(key) is str else self.of(key, depth),
                item if type(item) in _EXACT else self.of(item, depth),
            )
            for key, item in known
        ]
        view = {key if isinstance(key, str) else repr(key): item for key, item in pairs}
        return view if len(view) == len(pairs) else [[key, item] for key, item in pairs]


def _kind(value: object) -> type[Any]:
    return type(value)


def _scalar(value: str | float) -> str | int | float:
    """The value without its subclass, whose methods may say something else."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    return float.__float__(value) if math.isfinite(value) else float.__repr__(value)


def _text(value: Any) -> str | None:
    """Text as the packages that we know write it, whatever a subclass says; None for other objects."""
    for kind in type(value).__mro__[:-1]:
        if kind.__module__.split(".")[0] in _PLAIN_TEXT:
            is_time = issubclass(kind, (datetime.date, datetime.time))
            return getattr(kind, "isoformat" if is_time else "__str__")(value)
    return None


def _named(fields: Mapping[str, Any], items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Items under the names that the published schema gives them."""
    return [(_public(fields.get(name), name), item) for name, item in items]


def _public(field: Any, name: str) -> str:
    if field is None or (field.validation_alias is None and field.alias is None):
        return name
    for alias in (getattr(field, "validation_alias", None), getattr(field, "alias", None)):
        if type(alias) is str:
            return alias
    return name


def _model_items(model: BaseModel) -> Iterable[tuple[str, Any]]:
    yield from vars(model).items()
    yield from (model.__pydantic_extra__ or {}).items()
    yield from (model.__pydantic_private__ or {}).items()


def _dataclass_items(record: Any) -> Iterable[tuple[str, Any]]:
    names = dict.fromkeys(field.name for field in dataclasses.fields(record))
    names.update(dict.fromkeys(getattr(record, "__dict__", ())))
    return [(name, getattr(record, name)) for name in names if hasattr(record, name)]


def _attributes(value: Any) -> list[tuple[str, Any]]:
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    names = dict.fromkeys([*slots, *getattr(value, "__dict__", ())])
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _slots(kind: type) -> tuple[str, ...]:
    given = vars(kind).get("__slots__", ())
    names = (given,) if isinstance(given, str) else tuple(given)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
