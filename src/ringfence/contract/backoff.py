"""How long to wait between two attempts of one call.

Numbers only: the random share is an argument, and nobody waits here. Users write a `Backoff` beside a tool's
`retries`; the gate asks it for each pause. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringfence.errors import ConfigError
from ringfence.limits import MOST_SECONDS, parse_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Pauses that grow: `first`, `first * factor`, and so on, none longer than `longest`.

    Raises:
        ConfigError: a time that is not a finite number of seconds above zero, a factor below 1, or a jitter outside
            0 to 1.
    """

    first: float = 0.1
    """Seconds before the second attempt."""
    factor: float = 2.0
    """Each pause is this many times the one before."""
    longest: float = 30.0
    """Seconds that no pause exceeds."""
    jitter: float = 0.5
    """Share of each pause that is left to chance, so that callers who failed together do not return together: with
    0.5 a pause of 2 s becomes one between 1 s and 2 s."""

    def __post_init__(self) -> None:
        parse_seconds(self.first, "backoff: first")
        parse_seconds(self.longest, "backoff: longest")
        _check_between(self.factor, 1.0, MOST_SECONDS, "backoff: factor")
        _check_between(self.jitter, 0.0, 1.0, "backoff: jitter")

    def pause(self, attempt: int, chance: float) -> float:
        """Seconds to wait after attempt number `attempt` (1-based) has failed.

        Args:
            chance: a random number, at least 0 and below 1.
        """
        try:
            full = min(self.first * self.factor ** (attempt - 1), self.longest)
        except OverflowError:
            full = self.longest
        return full * (1.0 - self.jitter * chance)


def _check_between(value: object, least: float, most: float, field: str) -> None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most:
        return
    raise ConfigError(f"{field} must be a number from {least:g} to {most:g}, not {value!r:.60}")
