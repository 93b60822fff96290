"""Whether arguments ask for everything at once.

Judged are the parsed arguments, never their text: `{"limit": 10, "id": 12345}` asks for ten (enclave catalogue, I7).
Walks without recursion and no further than `MOST` values, since everybody else on the event loop waits for it.
`policy.sequences` calls it.
Pure.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, cast

from ringfence.policy.words import are_adjacent, words

MANY: Final = 1_000
"""A `limit` or page size from here on is one (I6: four digits)."""
EXCESSIVE: Final = 10_000
"""Over it the fields whose names mean other things too are one (K3, EXCESSIVE_LIMIT)."""
MOST: Final = 10_000
"""Members and items that are looked at, at most 40 ms of them, outer ones before inner ones: a bound that means something to a
tool stands far outside, and whatever lies deep in megabytes of rows is somebody's data."""
_PAGES: Final = frozenset({("page", "size"), ("pagesize",), ("per", "page")})
_COUNTS: Final = frozenset({("count",), ("max",), ("top",), ("size",), ("take",)})
_CONTAINERS: Final = frozenset({dict, list})
"""What JSON values hold others in."""
_LONGEST_KEY: Final = 128
"""Characters of a key that is looked at."""


def asks_for_all(arguments: Mapping[str, Any]) -> bool:
    """Whether anything in the arguments does away with a bound.

    A `"*"` as a value, list item or key; a `limit` or page size of at least `MANY`; a `count`, `max`, `top`, `size` or
    `take` over `EXCESSIVE`, as a number or as text; a flag `no_limit` or `unlimited` that is set, or the value
    `"no_limit"`. Only the outermost `MOST` members and items are looked at.
    """
    waiting: deque[Any] = deque([arguments])
    bounds: dict[str, float] = {}
    left = MOST
    while waiting and left > 0:
        item = waiting.popleft()
        inside: Iterable[Any] = cast("list[Any]", item)
        if isinstance(item, Mapping):
            members = cast("Mapping[str, Any]", item)
            if any(_is_wide(key, value, bounds) for key, value in islice(members.items(), left)):
                return True
            inside = members.values()
        for value in islice(inside, left):  # most are numbers and long texts
            kind = cast("type[object]", type(value))
            if kind is str:
                if len(value) <= len("no_limit") and _says_all(value):
                    return True
            elif kind in _CONTAINERS:
                waiting.append(value)
        left -= max(len(cast("list[Any]", item)), 1)
    return False


def _says_all(text: str) -> bool:
    return text == "*" or text.lower().replace("_", "").replace("-", "") == "nolimit"


def _is_wide(key: str, value: object, bounds: dict[str, float]) -> bool:
    """Whether a member is one. `bounds` remembers keys: a long list of rows has the same few again and again."""
    if key == "*":
        return True
    number = _number(value)
    if number is None or (number < MANY and number != 1):
        return False
    least = bounds.get(key)
    if least is None:
        least = bounds[key] = _least(key)
    return number >= least


def _least(key: str) -> float:
    """From which number on a member of this name does away with a bound."""
    found = words(key[:_LONGEST_KEY])
    if are_adjacent(found, "no", "limit") or "nolimit" in found or "unlimited" in found:
        return 1
    if "limit" in found or found in _PAGES:
        return MANY
    return EXCESSIVE + 1 if found in _COUNTS else math.inf


def _number(value: object) -> float | int | None:
    """A number, also as text, of any length; a flag that is set is 1."""
    if type(value) is int or type(value) is float:
        return value
    if value is True:
        return 1
    if type(value) is str:
        if value.isascii() and value.isdigit():
            return int(value[:20])  # more digits say nothing else
        return 1 if len(value) < 5 and value.lower() in ("true", "yes") else None
    return None
