"""What every call of a gate shares: clock, chance, threads, and the attempts that wait for something.

A record without behaviour. `gate.runner` makes one per gate; `gate.perform`, `gate.waits` and `gate.asking` use it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ringfence.gate.attempt import Attempts
from ringfence.gate.entries import LiveCall
from ringfence.limits import ValueBudget
from ringfence.threads import DaemonThreads

BUDGET: Final = ValueBudget()
"""How large the arguments of one call may be."""


class Means:
    """What every call of a gate shares."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
        approval_timeout: float | None,
        progress: Callable[[LiveCall, float, str], None],
    ) -> None:
        self.clock = clock
        self.chance = chance
        """A random number, at least 0 and below 1."""
        self.progress = progress
        self.approval_timeout = approval_timeout
        self.attempts = Attempts()
        self.threads = DaemonThreads("ringfence-handler")
        self.closing = False
        """No attempt and no fallback is started any more."""
