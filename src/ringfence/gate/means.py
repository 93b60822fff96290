"""What every call of a gate shares: clock, chance, threads, and the attempts that wait for something.

A record without behaviour. `gate.runner` makes one per gate; `gate.perform`, `gate.waits` and `gate.asking` use it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ringfence.contract.tool import Tool
from ringfence.gate.attempt import Attempts
from ringfence.gate.entries import LiveCall
from ringfence.limits import ValueBudget
from ringfence.threads import DaemonThreads
from ringfence.values import ValueRefused

BUDGET: Final = ValueBudget()
"""How large the arguments of one call may be, and the JSON text of a result whose tool does not say."""


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


def too_long(tool: Tool[..., Any], encoded: bytes) -> ValueRefused:
    """Why a text that has more bytes than a result of the tool may have is refused."""
    limit = f"the {BUDGET.size} that are allowed without a max_result"
    if tool.max_result is not None:
        limit = f"the tool's max_result of {tool.max_result}"
    return ValueRefused("", f"its JSON text has {len(encoded)} bytes, more than {limit}", too_large=True)
