"""How large, long and deep the text of a script may be at each security level. Pure data; `prescan` applies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ringfence.enclave.rules import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimits:
    """What the text may be before the parser sees it (enclave catalogue 1.M; strings and operators are bounded by
    these as well)."""

    size: int
    """Bytes of UTF-8."""
    line: int
    """Characters of one line."""
    lines: int
    nesting: int
    """Brackets inside brackets. Python's own parser stops at 200."""
    operators: int
    """Signs (`-`, `+`, `~`) in a row before one operand."""
    quoted_bidi: bool
    """Whether string literals may hold characters that change the direction of text, in closed pairs."""
    quoted_invisible: bool
    """Whether string literals and comments may hold characters that cannot be seen."""


TEXT: Final[dict[Level, TextLimits]] = {
    "STRICT": TextLimits(
        size=102_400, line=5_000, lines=2_000, nesting=30, operators=5, quoted_bidi=False, quoted_invisible=False
    ),
    "SECURE": TextLimits(
        size=512_000, line=10_000, lines=5_000, nesting=50, operators=10, quoted_bidi=False, quoted_invisible=True
    ),
    "STANDARD": TextLimits(
        size=1_048_576, line=100_000, lines=20_000, nesting=100, operators=20, quoted_bidi=True, quoted_invisible=True
    ),
    "PERMISSIVE": TextLimits(
        size=1_048_576,
        line=1_000_000,
        lines=100_000,
        nesting=150,
        operators=50,
        quoted_bidi=True,
        quoted_invisible=True,
    ),
}
