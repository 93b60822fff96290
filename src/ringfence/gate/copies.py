"""Private copies of validated arguments: for an attempt that may not be the last, and for whoever judges a call.

What a tool or an approver does to its copy changes nothing for anybody else. Knows values only; called by
`gate.perform` and `gate.asking`. Pure, as far as the copied types are.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from pydantic import BaseModel

from ringfence.contract.hints import Arguments

_FIXED: Final = frozenset({type(None), bool, int, float, str, bytes})
_DEPTH: Final = 16
"""Containers inside containers that are copied here; the rest, and what contains itself, is left to `copy`."""


class _Foreign(Exception):
    """A value of some other type."""


def private(value: Any) -> Any:
    """A copy that shares nothing that can change, and is equal to what `copy.deepcopy` makes: in a quarter of the time
    (1.8 of 7.9 us) for a decorated function's arguments, in half of it for a model, where all they hold is JSON's.

    Raises:
        BaseException: whatever a type of the user's raises when it is copied.
    """
    try:
        if type(value) is Arguments:
            return Arguments(_plain(value.__dict__, _DEPTH))
        return _model(value) if BaseModel in type(value).__mro__ else _plain(value, _DEPTH)
    except _Foreign:
        return copy.deepcopy(value)


def _model(value: BaseModel) -> BaseModel:
    kind = type(value)
    if kind.__deepcopy__ is not BaseModel.__deepcopy__ or kind.__copy__ is not BaseModel.__copy__:
        raise _Foreign
    if value.__pydantic_extra__ or value.__pydantic_private__:
        raise _Foreign
    fields = _plain(value.__dict__, _DEPTH)
    made = value.__copy__()  # with a dictionary of its own
    vars(made).update(fields)
    return made


def _plain(value: Any, depth: int) -> Any:
    kind: type[Any] = type(value)  # type: ignore[reportUnknownVariableType]
    if kind in _FIXED:
        return value
    if depth == 0:
        raise _Foreign
    if kind is dict:
        return {
            key if type(key) in _FIXED else _plain(key, 0): item if type(item) in _FIXED else _plain(item, depth - 1)
            for key, item in value.items()
        }
    if kind is list:
        return [item if type(item) in _FIXED else _plain(item, depth - 1) for item in value]
    raise _Foreign
