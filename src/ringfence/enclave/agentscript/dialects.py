"""What a source is that is no JavaScript: TypeScript, Python, or JavaScript inside a marked block.

Guesses from the text around the first place that does not parse, for the fix that a model is told. Pure, standard
library only. `script` asks it when there is no tree.
"""

from __future__ import annotations

import re
from typing import Final

_TYPES: Final = r"(?:string|number|boolean|any|unknown|void|object|never|bigint|[A-Z]\w*)(?:<[^;{}()]*>)?(?:\[\])*"
_TYPESCRIPT: Final = re.compile(
    rf"""
    ^\s*(?:export\s+|declare\s+)*(?:interface|enum|namespace)\s+[\w$.]+.*\{{
    |^\s*(?:export\s+|declare\s+)*type\s+\w+(?:<[^=]*>)?\s*=
    |\b(?:const|let|var)\s+[\w$]+\s*!?:\s*[\w$'"\{{\[(]
    |\b(?:const|let|var)\s+[\{{\[][^=;]*[\}}\]]\s*:\s*[\w$'"\{{\[(]
    |[(,]\s*[\w$]+\s*\?\s*:\s*[\w$]
    |[(,]\s*[\w$]+\s*:\s*{_TYPES}\s*[,)=|]
    |\)\s*:\s*[\w$<>\[\]|\s.]+(?:=>|\{{)
    |\bas\s+(?:const\b|{_TYPES})
    |\bsatisfies\s+\w
    |[\w$\])]!(?:\.|\[|;|\))
    |\b(?:public|private|protected|readonly)\s+[\w$]+
    |\b[\w$]+<[\w$\[\]|<>,\s'"]+>\(
    """,
    re.VERBOSE | re.MULTILINE,
)
_PYTHON: Final = re.compile(
    r"""
    ^\s*(?:async\s+)?def\s+\w+\s*\(.*\)\s*(?:->.*)?:\s*(?:\#.*)?$
    |^\s*(?:if|elif|for|while|with|try|except|else|class)\b[^{}]*:\s*(?:\#.*)?$
    |^\s*from\s+[\w.]+\s+import\b
    |^\s*import\s+[\w.]+(?:\s+as\s+\w+)?\s*$
    |^\s*\#\s
    |(?:^|[=(,\s])[fr]["']
    |\b(?:lambda\s+\w+|not\s+in|is\s+not|is\s+None)\b
    |\bfor\s+\w+\s+in\s+[^;{}]+[\])]
    """,
    re.VERBOSE | re.MULTILINE,
)
MARKED: Final = ("a mark of a code block", "send the code alone, without ``` lines")
_MOST: Final = 1_000
"""Characters of a line that are looked at."""

_GUESSES: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = (
    (
        _PYTHON,
        "this reads as Python, and scripts are JavaScript here",
        "write JavaScript: const x = await callTool('name', { … })",
    ),
    (
        _TYPESCRIPT,
        "this reads as TypeScript, and scripts are plain JavaScript",
        "plain JavaScript: remove the type annotations",
    ),
)


def is_marked(source: str) -> bool:
    """Whether the source is a code block as in Markdown."""
    return source.lstrip().startswith(("```", "~~~"))


def guess(source: str, line: int) -> tuple[str, str] | None:
    """Message and fix for a source that does not parse at `line`, 1-based; None where it looks like JavaScript."""
    lines = source.splitlines()
    near = [text[:_MOST] for text in lines[max(0, line - 2) : line + 1]]
    for pattern, message, fix in _GUESSES:
        if any(pattern.search(text) for text in near):
            return message, fix
    return None
