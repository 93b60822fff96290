"""A value as it leaves a script, and how large the host lets it be.

Runs inside the jail, standard library only. The host checks the same (`values`); here it is found out earlier, and what
is only wished for can be left out instead of refused. Knows JSON text and tags. `guest_values` makes what is measured.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"')

Path = list[str | int]


class Encoded:
    """A value as it leaves the script."""

    __slots__ = ("paths", "size", "tags", "text")

    def __init__(self, text: str, size: int, tags: str = "", paths: dict[str, list[Path]] | None = None) -> None:
        self.text = text
        """JSON."""
        self.size = size
        """Bytes of it, and of the tags."""
        self.tags = tags
        """Which of its texts stand for dates and the like, as JSON; `""` for none."""
        self.paths = paths
        """The same: kind to paths."""

    def member(self, name: str) -> str:
        """The tags as a member of a frame, after a comma; nothing where there are none."""
        return f',"{name}":{self.tags}' if self.tags else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large one value may be."""

    size: int
    """Bytes of JSON, tags included."""
    nodes: int
    """Values inside, itself included."""
    depth: int
    """Containers inside containers."""
    members: int | None
    """Of one object."""

    def excess(self, made: Encoded) -> str | None:
        """By what it is too large at a glance: `5000 bytes of JSON, more than 4096`. None: by nothing."""
        if made.size > self.size:
            return f"{made.size} bytes of JSON, more than {self.size}"
        if made.tags and structure(made.tags, self.nodes) > self.nodes:
            return "too many dates, decimals, ids and bytes; send some of them as text"
        return None

    def admits(self, made: Encoded) -> bool:
        """Whether the host would take it, by every limit."""
        if self.excess(made) is not None:
            return False
        most = sys.maxsize if self.members is None else self.members
        text = made.text
        if structure(text, self.nodes) > self.nodes:
            return False
        if text.count("[") + text.count("{") <= self.depth and text.count(":") <= most:
            return True
        return self._is_shallow(json.loads(text), most)

    def _is_shallow(self, value: Any, most: int) -> bool:
        level: list[Any] = [value]
        for _ in range(self.depth):
            objects: list[dict[str, Any]] = [item for item in level if isinstance(item, dict)]
            if any(len(item) > most for item in objects):
                return False
            lists: list[list[Any]] = [item for item in level if isinstance(item, list)]
            children: list[Any] = [*chain(*lists, *(item.values() for item in objects))]
            level = [child for child in children if isinstance(child, (dict, list))]
        return not level


def structure(text: str, most: int) -> int:
    """How many values JSON text holds at most; exactly that where it looks like more than `most`."""
    found = text.count(",") + text.count("[") + text.count("{") + 1
    return found if found <= most else structure(_STRING.sub("", text), sys.maxsize)
