"""Which values would take too long to judge, although they are small.

Three things cost more than their size: schemas in circles through choices, patterns times text, and comparing long
whole numbers with each other. Knows schemas of draft 2020-12 and values, not who judges; `contract.check` asks before
jsonschema-rs does, `contract.schema` before pydantic does. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from ringfence.contract.effort import Effort
from ringfence.contract.keywords import Json, node_of, parts
from ringfence.contract.patterns import places
from ringfence.errors import Issue
from ringfence.limits import KIB

TOO_COMPLEX: Final = Issue(
    path="", message="nested too deeply, or too long, to be checked against this schema", code="too_complex"
)
_MOST_LOOKS: Final = 2 * 10**7
"""Places of a pattern at characters of text: half a second."""
_MOST_COMPARED: Final = 10**6
"""Comparisons of long numbers: half a second."""
_MOST_RETOLD: Final = 10**6
"""Steps of a validator that follows every choice again: a third of a second, when the last of them fails."""
_SMALL: Final = 16 * KIB
"""Bytes that cannot hold enough long numbers."""
_EXACT: Final = 2**53
_USUAL: Final = 10
"""Members that an object demands; more of them are missed at every step."""


class Bounds:
    """What a schema lets a value cost."""

    __slots__ = ("_effort", "_places", "_unique", "_wide")

    def __init__(self, schema: Json, *, unique: bool, retold: Effort | None = None) -> None:
        """Look for what may cost.

        Args:
            unique: Whether who judges compares the items of a list with each other.
            retold: What following circles takes, when who judges remembers nothing.
        """
        nodes = list(parts(schema))
        self._places = max((places(pattern) for node in nodes for pattern in patterns_of(node)), default=0)
        self._unique = unique and any(node.get("uniqueItems") is True for node in nodes)
        self._effort = retold if retold is not None and retold.retold > 1 else None
        self._wide = max(1, max(len(node.get("required", ())) for node in nodes) // _USUAL)

    @property
    def needed(self) -> bool:
        """Whether there is anything to ask."""
        return self._places > 0 or self._unique or self._effort is not None

    def exceeded(self, size: int, value: Callable[[], Any]) -> bool:
        """Whether a value would take too long.

        Args:
            size: Bytes of its JSON text.
            value: Answers with the value; asked only where that may matter.
        """
        if self._effort is not None:
            steps = self._effort.steps(levels_of(value()), telling=True)
            if steps * self._wide > _MOST_RETOLD:
                return True
        if size * self._places > _MOST_LOOKS and _text_in(value()) * self._places > _MOST_LOOKS:
            return True
        return self._unique and size > _SMALL and _compared(value())[1] > _MOST_COMPARED


def patterns_of(node: Json) -> list[str]:
    """The patterns of one schema, without those of the schemas inside it."""
    found = list(node_of(node.get("patternProperties")))
    return [*found, node["pattern"]] if isinstance(node.get("pattern"), str) else found


def levels_of(value: Any) -> list[int]:
    """How many values are at each level of nesting."""
    level, counts = [value], list[int]()
    while level:
        counts.append(len(level))
        level = [child for item in level for child in _children(item)]
    return counts


def _children(item: Any) -> Any:
    if type(item) is dict:
        return item.values()  # type: ignore[reportUnknownMemberType]
    return item if type(item) is list else ()  # type: ignore[reportUnknownVariableType]


def _text_in(value: Any) -> int:
    """Bytes of all texts and keys."""
    total, stack = 0, [value]
    while stack:
        item = stack.pop()
        if type(item) is str:
            total += len(item.encode(errors="replace"))
        elif type(item) is dict:
            stack.extend(cast("Json", item))
        stack.extend(_children(item))
    return total


def _compared(value: Any) -> tuple[bool, int]:
    """Whether a value holds a long number, and how many of those who do are compared with each other."""
    if type(value) is int:
        return not -_EXACT < value < _EXACT, 0
    inner = [_compared(child) for child in _children(value)]
    holders = sum(holds for holds, _ in inner)
    return holders > 0, sum(below for _, below in inner) + (holders**2 if type(value) is list else 0)
