"""What a tool is told about the call it serves, besides its arguments.

A value object: it does not know the gate, the clock or the sandbox. The gate makes one per attempt; a tool receives
it by declaring a parameter of this type, which never shows in the published schema. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ringfence.ports import Signal


def _drop_log(message: str) -> None:
    """Nobody listens."""


def _drop_progress(fraction: float, message: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The call, as the tool sees it. Every field is read-only."""

    session_id: str
    principal: str | None
    """On whose behalf; None when the host named nobody. A session id is not an identity."""
    call_id: str
    attempt: int
    """1 for the first time the tool is started for this call."""
    max_attempts: int
    idempotency_key: str
    """The same for every attempt of one call: hand it to services that refuse to do a thing twice."""
    deadline: float | None
    """When this attempt is stopped, in seconds of the host's monotonic clock; None when nothing stops it."""
    signal: Signal
    """Asks the tool to stop; always there."""
    on_log: Callable[[str], None] = field(default=_drop_log, repr=False, compare=False)
    """Where `log` delivers. By default texts are dropped."""
    on_progress: Callable[[float, str], None] = field(default=_drop_progress, repr=False, compare=False)
    """Where `progress` delivers. By default reports are dropped."""

    def log(self, message: str) -> None:
        """Say something to the host's operators; the model does not see it."""
        self.on_log(message)

    def progress(self, fraction: float, message: str = "") -> None:
        """Report how much of the work is done, from 0.0 to 1.0: a `tool.progress` event; the text goes where `log` goes."""
        self.on_progress(fraction, message)
