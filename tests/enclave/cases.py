"""The format of case files: a script, a line `---`, and what must come of it, one `key: JSON` per line.

Line numbers of the file are line numbers of the script, so an expected `line` can be read off the margin. Used by
the languages' cases and by the attacks. A shared case holds one script for each language instead, each below a line
`--- language`, and one set of expectations below `--- expected`; its lines count from there.
"""

from __future__ import annotations

import json
import re
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
    return Case(name=name, script=script + "\n", expected=_expectations(name, below))


def _expectations(name: str, text: str) -> dict[str, Any]:
    expected: dict[str, Any] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key in expected:
            raise ValueError(f"{name}: {line!r} is not a new 'key: JSON'")
        expected[key] = json.loads(value)
    if not expected:
        raise ValueError(f"{name}: nothing is expected")
    return expected


LANGUAGES = ("python", "javascript")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCase:
    """One file: the same script in every language."""

    name: str
    about: str
    """The file's first lines."""
    scripts: dict[str, str]
    """By language."""
    expected: dict[str, Any]


def load_shared(folder: Path) -> list[SharedCase]:
    """Every shared case of a folder, by name."""
    return [parse_shared(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.case"))]


def parse_shared(name: str, text: str) -> SharedCase:
    """One shared case.

    Raises:
        ValueError: not a text and the sections that there are, in their order, or an expectation that is none.
    """
    parts = re.split(r"^--- (.+)\n", text, flags=re.MULTILINE)
    about, headings, bodies = parts[0].strip(), parts[1::2], parts[2::2]
    if headings != [*LANGUAGES, "expected"] or not about:
        raise ValueError(f"{name}: a text and the sections {LANGUAGES} and 'expected' belong here, not {headings}")
    *scripts, below = bodies
    return SharedCase(
        name=name,
        about=about,
        scripts=dict(zip(LANGUAGES, scripts, strict=True)),
        expected=_expectations(name, below),
    )
