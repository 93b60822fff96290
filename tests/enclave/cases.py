"""The format of case files: a script, a line `---`, and what must come of it, one `key: JSON` per line.

Line numbers of the file are line numbers of the script, so an expected `line` can be read off the margin. Used by
the language's cases and by the attacks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One file."""

    name: str
    script: str
    expected: dict[str, Any]

    def take(self, key: str, default: Any = None) -> Any:
        """Remove a key that is not an expectation (inputs, options) and return it."""
        return self.expected.pop(key, default)


def load(folder: Path) -> list[Case]:
    """Every case file of a folder, by name."""
    return [parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.case"))]


def parse(name: str, text: str) -> Case:
    """One case.

    Raises:
        ValueError: no separator, an expectation that is not `key: JSON`, or none at all.
    """
    script, separator, below = text.rpartition("\n---\n")
    if not separator:
        raise ValueError(f"{name}: no line ---")
    expected: dict[str, Any] = {}
    for line in below.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key in expected:
            raise ValueError(f"{name}: {line!r} is not a new 'key: JSON'")
        expected[key] = json.loads(value)
    if not expected:
        raise ValueError(f"{name}: nothing is expected")
    return Case(name=name, script=script + "\n", expected=expected)
