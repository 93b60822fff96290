"""Whether arguments ask for everything at once.

Judged are the parsed arguments, never their text: `{"limit": 10, "id": 12345}` asks for ten (enclave catalogue, I7).
Walks without recursion and no further than `MOST` values, since everybody else on the event loop waits for it.
`policy.sequences` calls it.
Pure.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, cast

from ringfence.policy.words import are_adjacent, words

MANY: Final = 1_000
"""A `limit` or page size from here on is one (I6: four digits)."""
EXCESSIVE: Final = 10_000
"""Over it the fields whose names mean other things too are one (K3, EXCESSIVE_LIMIT)."""
MOST: Final = 10_000
"""Members and items that are looked at, at most 40 ms of them; outer ones before inner ones, and objects inside objects
before lists: there stands what means something to a tool, while megabytes of rows are somebody's data."""
_PAGES: Final = frozenset({("page", "size"), ("pagesize",), ("per", "page")})
_COUNTS: Final = frozenset({("count",), ("max",), ("top",), ("size",), ("take",)})
_LIMITED: Final = frozenset(
    "default fetch item items max maximum no page query record records result results row rows".split()
)
"""Words that a `limit` of what is fetched may have beside it, unlike that of a credit, or of a time."""
_SYMBOLS: Final = frozenset("bullet char character delimiter mark op operation operator separator sign symbol".split())
"""Last words of keys under which `"*"` is just that."""
_LONGEST_KEY: Final = 128
"""Characters of a key that is looked at."""


def asks_for_all(arguments: Mapping[str, Any]) -> bool:
    """Whether anything in the arguments does away with a bound.

    A `"*"` as a value, list item or key, but for keys such as `operator`; a `limit` (of rows, results and the like) or
    page size of at least `MANY`; a `count`, `max`, `top`, `size` or `take` over `EXCESSIVE`, as a number or as text; a
    flag `no_limit` or `unlimited` that is set, or the value `"no_limit"`. Only `MOST` members and items are looked at.
    """
    objects: deque[Mapping[str, Any]] = deque([arguments])
    lists: deque[list[Any]] = deque()
    bounds: dict[str, float] = {}
    left = MOST
    while left > 0 and (objects or lists):
        if objects:
            members = objects.popleft()
            for key, value in islice(members.items(), left):
                if _is_wide(key, value, bounds):
                    return True
                kind = cast("type[object]", type(value))
                if kind is dict:
                    objects.append(value)
                elif kind is list:
                    lists.append(value)
            left -= 1 + len(members)
        else:
            items = lists.popleft()[:left]
            for item in items:
                kind = cast("type[object]", type(item))
                if kind is str:
                    if _says_all(item):
                        return True
                elif kind is dict:
                    objects.append(item)
                elif kind is list:
                    lists.append(item)
            left -= 1 + len(items)
    return False


def _says_all(text: str) -> bool:
    return len(text) <= len("no_limit") and (text == "*" or text.lower().replace("_", "").replace("-", "") == "nolimit")


def _is_wide(key: str, value: object, bounds: dict[str, float]) -> bool:
    """Whether a member is one. `bounds` remembers keys: a long list of rows has the same few again and again."""
    if key == "*":
        return True
    if type(value) is int or type(value) is float:
        number = value
    elif type(value) is str:
        if _says_all(value):
            return _SYMBOLS.isdisjoint(words(key[:_LONGEST_KEY])[-1:])
        number = _number(value)
    else:
        number = 1 if value is True else 0
    if number < MANY and number != 1:
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
    if ("limit" in found and _LIMITED.issuperset({*found} - {"limit"})) or found in _PAGES:
        return MANY
    return EXCESSIVE + 1 if found in _COUNTS else math.inf


def _number(text: str) -> int:
    """The number that a text is; a flag that is set is 1, and anything else is 0."""
    if text.isascii() and text.isdigit():
        return int(text[:20])  # more digits say nothing else
    return 1 if len(text) < 5 and text.lower() in ("true", "yes") else 0
