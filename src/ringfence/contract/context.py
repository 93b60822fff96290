"""What a tool is told about the call it serves, besides its arguments.

A value object, made anew for every attempt and therefore a msgspec struct. It does not know the gate, the clock or the
sandbox. A tool receives it by declaring a parameter of this type, which never shows in the published schema. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ringfence.ports import Signal


def _drop_log(message: str) -> None:
    """Nobody listens."""


def _drop_progress(fraction: float, message: str) -> None:
    """Nobody listens."""


class ToolContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
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
    on_log: Callable[[str], None] = _drop_log
    """Where `log` delivers. By default texts are dropped."""
    on_progress: Callable[[float, str], None] = _drop_progress
    """Where `progress` delivers. By default reports are dropped."""

    def _said(self) -> dict[str, Any]:
        """What it is; who listens is no part of it."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if not name.startswith("on_")}

    def __eq__(self, other: object) -> bool:
        return self._said() == other._said() if isinstance(other, ToolContext) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.call_id, self.attempt))

    def __repr__(self) -> str:
        return f"ToolContext({', '.join(f'{name}={value!r}' for name, value in self._said().items())})"

    def log(self, message: str) -> None:
        """Say something to the host's operators; the model does not see it."""
        self.on_log(message)

    def progress(self, fraction: float, message: str = "") -> None:
        """Report how much of the work is done, from 0.0 to 1.0: a `tool.progress` event; the text goes where `log` goes."""
        self.on_progress(fraction, message)
