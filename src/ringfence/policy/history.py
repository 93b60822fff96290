"""What a run has done so far, as custom detectors see it.

Every call that was let through, for as long as the longest window of any detector (enclave catalogue, I3: the seed
forgot after two seconds). Holds names, times and names of arguments, never their values. `policy.screen` owns one per
run, and only where somebody looks at it. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from ringfence.ports import Effect

WINDOW: Final = 30.0
"""Seconds that a call is remembered."""
MOST: Final = 10_000
"""Calls that are remembered; more within `WINDOW` push the oldest out."""
MOST_KEYS: Final = 64
"""Names of arguments that are remembered of one call, so that a run cannot fill the host's memory with them."""
LONGEST_KEY: Final = 128
"""Characters of each that are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One call that was let through."""

    name: str
    timestamp: float
    """Monotonic seconds."""
    arg_keys: tuple[str, ...]
    """Names of its arguments, at most `MOST_KEYS` of them, each cut at `LONGEST_KEY` characters."""
    effect: Effect | None
    """As its tool declares it; None where nothing is declared."""
    tags: tuple[str, ...]
    """Its tool's."""


class History:
    """The calls of one run within `WINDOW`."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: deque[Past] = deque(maxlen=MOST)

    def seen(self, now: float) -> tuple[Past, ...]:
        """Calls within the window, oldest first. `now` is monotonic seconds."""
        while self._calls and now - self._calls[0].timestamp >= WINDOW:
            self._calls.popleft()
        return tuple(self._calls)

    def note(self, call: Past) -> None:
        """A call is let through."""
        self._calls.append(call)


def keys_of(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """What is remembered of arguments."""
    return tuple(key[:LONGEST_KEY] for key in islice(arguments, MOST_KEYS))
