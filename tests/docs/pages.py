"""Pages into blocks. Knows the directives below and nothing of what blocks do.

A fenced block is preceded by at most one HTML comment `<!-- key: value; key -->`:

    file: NAME   the block is written to NAME in the page's folder of programs; `python` blocks then also run,
                 unless `only` is there
    only         do not run it
    stdin: TEXT  what a `console` block types in
    exit: CODE   how the commands of a `console` block end, when not with 0

A `python` block without `file` is a program of its own. The ```text block right after a block of either kind is what
it prints. A `console` block holds `$ command` lines, each followed by its output; `...` stands for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PAGES: tuple[Path, ...] = (
    *(ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("examples/*/README.md")),
)

_BLOCK = re.compile(
    r"^(?:<!--[ ]*(?P<directive>[^\n]*?)[ ]*-->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```[ ]*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    """1-based line of its first line of content."""
    language: str
    body: str
    options: dict[str, str] = field(default_factory=dict[str, str])
    shown: str | None = None
    """The output printed right below it."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(_BLOCK.finditer(text))
    for at, match in enumerate(found):
        following = found[at + 1] if at + 1 < len(found) else None
        shown = None
        if following and following["language"] == "text" and not text[match.end() : following.start()].strip():
            shown = following["body"]
        yield Block(
            page=page,
            line=text.count("\n", 0, match.start("body")) + 1,
            language=match["language"],
            body=match["body"],
            options=dict(_options(match["directive"] or "")),
            shown=shown,
        )


def commands(body: str) -> Iterator[tuple[str, str]]:
    """`$ command` lines of a console block with the output below each; a trailing backslash continues a line."""
    command: str | None = None
    output: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, "".join(output)
            command, output = line[2:], []
        elif command is not None and command.endswith("\\"):
            command = command[:-1] + line.strip()
        else:
            output.append(line + "\n")
    if command is not None:
        yield command, "".join(output)


def matches(shown: str, printed: str) -> bool:
    """`...` in what is shown stands for any text; trailing blanks do not count."""
    pattern = re.escape(_tidy(shown)).replace(re.escape("..."), ".*?")
    return re.fullmatch(pattern, _tidy(printed), re.DOTALL) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _options(directive: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, (part.strip() for part in directive.split(";"))):
        key, _, value = part.partition(":")
        yield key.strip(), value.strip()
