"""Which tool names may be called at all: those that every adapter can carry, and that the host's patterns let through.

Patterns come from the host's author and are trusted; what they are held against is at most 256 characters, so that
their cost is bounded too. Knows names only. `policy.screen` asks it before everything else. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from ringfence.errors import ConfigError, ErrorInfo
from ringfence.limits import shown

MAX_NAME: Final = 256
"""Characters of a tool name (enclave catalogue, D4j)."""
MOST_BLOCKED: Final = 1_000
_CARRIED: Final = re.compile(r"[A-Za-z][A-Za-z0-9:._-]*", re.ASCII)

Pattern = str | re.Pattern[str]


def is_carried(name: str) -> bool:
    """Whether every adapter can carry the name: a letter, then letters, digits and `: . _ -`, at most 256."""
    return len(name) <= MAX_NAME and _CARRIED.fullmatch(name) is not None


def not_carried() -> ErrorInfo:
    """Why a name that is not carried is refused; it is not repeated, since it may hold anything."""
    return ErrorInfo(
        code="name_refused",
        message=f"a tool name is a letter followed by letters, digits and : . _ -, at most {MAX_NAME} characters",
        hint="use the exact name of a tool",
        data={"pattern": "names"},
    )


class NameRules:
    """The host's patterns, ready to be held against names."""

    __slots__ = ("_allowed", "_blocked", "_prefix")

    def __init__(self, allowed: Pattern | None, blocked: Sequence[Pattern]) -> None:
        """Compile.

        Args:
            allowed: has to match the whole name; one that begins with `^` says itself where it begins, and matches a
                name that goes on after it. Case counts, unless the pattern says otherwise.
            blocked: refuse a name in which they are found, in upper or lower case.

        Raises:
            ConfigError: a pattern that is none.
        """
        self._allowed = None if allowed is None else compiled(allowed, "allowed_operation_pattern")
        self._prefix = self._allowed is not None and self._allowed.pattern.startswith("^")
        self._blocked = tuple(
            compiled(pattern, f"blocked_operation_patterns[{at}]", re.IGNORECASE) for at, pattern in enumerate(blocked)
        )

    def __bool__(self) -> bool:
        return self._allowed is not None or bool(self._blocked)

    def refusal(self, name: str) -> ErrorInfo | None:
        """Why a name that is carried may not be called; a block is stronger than an allowance."""
        if any(pattern.search(name) is not None for pattern in self._blocked):
            return _refused(name, "is blocked here")
        if self._allowed is None:
            return None
        found = self._allowed.match(name) if self._prefix else self._allowed.fullmatch(name)
        return _refused(name, "is not among the names that are allowed here") if found is None else None


def compiled(pattern: object, field: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """A regular expression with further flags.

    Raises:
        ConfigError: not a pattern; the message names `field`.
    """
    if isinstance(pattern, re.Pattern):
        given = cast("re.Pattern[Any]", pattern)
        if type(given.pattern) is not str:
            raise ConfigError(f"{field} must be a pattern of text, not of bytes")
        return re.compile(given.pattern, given.flags | flags)
    if type(pattern) is not str or not pattern:
        raise ConfigError(f"{field} must be a regular expression, not {shown(pattern)}")
    try:
        return re.compile(pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"{field} is not a regular expression: {error}") from None


def _refused(name: str, why: str) -> ErrorInfo:
    return ErrorInfo(
        code="name_refused",
        message=f"Operation not allowed: {name} {why}",
        hint="use another tool; the host decides which names may be called",
        data={"pattern": "names"},
    )
