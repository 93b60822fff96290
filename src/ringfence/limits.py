"""Numbers that bound things, and how users write them. Pure values; who enforces each is said beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from ringfence.errors import ConfigError

KIB: Final = 1024
MIB: Final = 1024 * 1024
MOST_SECONDS: Final = 10.0**9
"""Thirty years: beyond it event loops overflow."""

SecurityLevel = Literal["STRICT", "SECURE", "STANDARD", "PERMISSIVE"]

LONGEST_NUMBER: Final = 30
"""Characters of a size's number; no machine has more bytes."""

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(B|KB|KIB|MB|MIB|GB|GIB)?", re.ASCII | re.IGNORECASE)
_UNITS: Final = {"B": 1, "KB": KIB, "KIB": KIB, "MB": MIB, "MIB": MIB, "GB": 1024 * MIB, "GIB": 1024 * MIB}


def shown(value: object) -> str:
    """A wrong value for a message; its type, where it cannot be shown."""
    try:
        return f"{value!r:.80}"
    except Exception as error:  # noqa: BLE001 - somebody's own `__repr__`, or an integer with too many digits
        return f"an {type(value).__name__} of that size" if type(error) is ValueError else f"a {type(value).__name__}"


def read_mapping(given: Mapping[Any, Any], field: str) -> dict[Any, Any]:
    """A copy of somebody's mapping.

    Raises:
        ConfigError: it cannot be read; the message names `field`.
    """
    try:
        return dict(given)
    except Exception as error:
        raise ConfigError(f"{field} cannot be read: it raised {type(error).__name__}") from error


def parse_size(value: object, field: str, *, least: int = 1) -> int:
    """Bytes from an int or a text such as `"256MB"` (powers of 1024).

    Raises:
        ConfigError: not a size, or smaller than `least`; the message names `field`.
    """
    size: int | None = None
    if type(value) is int:
        size = value
    elif type(value) is str and (match := _SIZE.fullmatch(value.strip())):
        size = int(Fraction(match[1]) * _UNITS[(match[2] or "B").upper()]) if len(match[1]) < LONGEST_NUMBER else None
    if size is None:
        raise ConfigError(f"{field} must be a number of bytes or a text like '256MB', not {shown(value)}")
    if size < least:
        raise ConfigError(f"{field} must be at least {least} bytes, not {size}")
    return size


def parse_seconds(value: object, field: str) -> float:
    """A finite time above zero, in seconds.

    Raises:
        ConfigError: anything else (booleans, NaN, infinities, text, zero); the message names `field`.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < MOST_SECONDS:
        return float(value)
    raise ConfigError(f"{field} must be a finite number of seconds above zero, not {shown(value)}")


def parse_count(value: object, field: str, *, least: int = 0) -> int:
    """A whole number of at least `least`.

    Raises:
        ConfigError: anything else (booleans, floats, text); the message names `field`.
    """
    if type(value) is not int or value < least:
        raise ConfigError(f"{field} must be a whole number of at least {least}, not {shown(value)}")
    return value


def parse_text(value: object, field: str) -> str:
    """Text that is not empty.

    Raises:
        ConfigError: anything else; the message names `field`.
    """
    if type(value) is not str or not value:
        raise ConfigError(f"{field} must be text that is not empty, not {type(value).__name__}")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBudget:
    """How large one value on the wire may be. Checked before parsing (bytes, nodes) and after (depth, members)."""

    size: int = 5 * MIB
    """Bytes of its JSON text."""
    depth: int = 64
    """Containers inside containers."""
    nodes: int = 1_000_000
    """Scalars, list items and object members together."""
    members: int | None = None
    """Members of one object; lists count as nodes only. None: no limit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What one script may use. The host enforces all but `memory` and `cpu`, which are the kernel's, and
    `max_iterations`, which is the guest's own advice."""

    timeout: float
    """Wall-clock seconds without the time that calls waited for approval."""
    max_tool_calls: int
    max_global_calls: int
    """Calls of functions in `globals`."""
    max_iterations: int | None
    """Turns of one loop; a run has 100 times as many in all. None: loops are not counted."""
    max_concurrent_calls: int = 10
    """Calls in flight; further ones wait their turn."""
    memory: int = 256 * MIB
    """Bytes of address space on top of what the waiting child has."""
    output: int = 1 * MIB
    """Bytes of printed text."""
    value: ValueBudget = ValueBudget()
    """One argument object, one tool result, the script's result."""
    source: int = 1 * MIB
    """Bytes of source text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelDefaults:
    """Defaults of one security level (enclave catalogue 1.G, converted to seconds and bytes)."""

    timeout: float
    max_tool_calls: int
    max_iterations: int
    depth: int
    """`ValueBudget.depth`: containers inside containers, in arguments and results."""
    members: int
    """`ValueBudget.members` of one object."""
    output: int
    allow_functions_in_globals: bool
    traces: bool
    """Whether the error of a run holds the traceback of the script's own frames."""


LEVELS: Final[dict[str, LevelDefaults]] = {
    "STRICT": LevelDefaults(
        timeout=5.0,
        max_tool_calls=10,
        max_iterations=1_000,
        depth=5,
        members=50,
        output=64 * KIB,
        allow_functions_in_globals=False,
        traces=False,
    ),
    "SECURE": LevelDefaults(
        timeout=15.0,
        max_tool_calls=50,
        max_iterations=5_000,
        depth=10,
        members=100,
        output=256 * KIB,
        allow_functions_in_globals=False,
        traces=False,
    ),
    "STANDARD": LevelDefaults(
        timeout=30.0,
        max_tool_calls=100,
        max_iterations=10_000,
        depth=20,
        members=500,
        output=1 * MIB,
        allow_functions_in_globals=False,
        traces=True,
    ),
    "PERMISSIVE": LevelDefaults(
        timeout=60.0,
        max_tool_calls=1_000,
        max_iterations=100_000,
        depth=50,
        members=1_000,
        output=10 * MIB,
        allow_functions_in_globals=True,
        traces=True,
    ),
}
TOTAL_ITERATIONS: Final = 100
"""A run may take so many times `max_iterations` turns in all its loops together."""
GLOBAL_CALLS_PER_TOOL_CALL: Final = 10
"""`max_global_function_calls` where it is not given, for each tool call allowed (second seed, "Custom Globals")."""
