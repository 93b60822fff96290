"""How many calls start within one second.

A sliding window over calls that were let through, of tools and of functions in `globals` together (enclave catalogue,
I2). Knows times only. `policy.screen` owns one per run. Pure.
"""

from __future__ import annotations

from collections import deque
from typing import Final

WINDOW: Final = 1.0
"""Seconds."""


class Rate:
    """The last calls of one run; holds no more than `most` times."""

    __slots__ = ("_times", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        """Calls in any second."""
        self._times: deque[float] = deque(maxlen=most)

    def is_exceeded(self, now: float) -> bool:
        """Whether one more call would be too many. `now` is monotonic seconds."""
        return len(self._times) == self.most and now - self._times[0] < WINDOW

    def note(self, now: float) -> None:
        """A call is let through."""
        self._times.append(now)
