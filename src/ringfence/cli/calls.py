"""Events of a run, folded into what a person wants to see of each call. Pure; `cli.display` shows the result.

Holds names, lines, durations and codes, as events do: never arguments or results.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal

from ringfence.cli.text import seconds
from ringfence.enclave.results import CallRecord
from ringfence.events import Event, EventType

Phase = Literal["waits for approval", "approved", "start", "ok", "failed", "refused", "unknown"]

_IN_DOUBT: Final = frozenset({"tool_timeout", "interrupted", "bad_result"})
"""Codes after which a tool that does not only read may have done its work."""

FINISHED: Final[frozenset[Phase]] = frozenset({"ok", "failed", "refused", "unknown"})

SHOWN: Final[tuple[EventType, ...]] = (
    "approval.required",
    "approval.granted",
    "tool.called",
    "tool.completed",
    "tool.failed",
    "tool.rejected",
)
"""Event types to subscribe to. `approval.denied` is not among them: the rejection that follows says the same. Neither are
`tool.recovered` and `approval.answered`: the record of the call says how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, as far as it has got."""

    call_id: str
    tool: str
    line: int | None
    """1-based line of the script."""
    phase: Phase
    attempt: int = 1
    code: str | None = None
    """Error code of a call that did not end well."""
    duration: float | None = None
    """Seconds, once it has finished."""

    def outcome(self, reason: str | None) -> str:
        """What is worth saying of a finished call besides its duration: code, attempt, why it was approved or not."""
        parts = [
            self.code,
            f"attempt {self.attempt}" if self.attempt > 1 else None,
            f"({reason})" if reason and self.phase in FINISHED else None,
        ]
        return "  ".join(part for part in parts if part)

    @property
    def place(self) -> str:
        return "" if self.line is None else f"line {self.line}"

    @property
    def took(self) -> str:
        return "" if self.duration is None or self.phase not in FINISHED else seconds(self.duration)


def after(previous: Call | None, event: Event, reads: Collection[str]) -> Call | None:
    """The call of `event` after it; None when the event concerns no call.

    Args:
        previous: the call before the event; None when it is new.
        reads: names of tools that are declared to change nothing.
    """
    call_id = event.meta.get("call_id")
    phase = _phase(event, reads)
    if phase is None or not isinstance(call_id, str):
        return None
    tool = event.tool if event.tool is not None else "(no such tool)"
    before = previous or Call(call_id=call_id, tool=tool, line=event.meta.get("line"), phase=phase)
    return replace(
        before,
        phase=phase,
        attempt=event.meta.get("attempt", before.attempt),
        code=event.meta.get("code") if phase in FINISHED else None,
        duration=event.meta.get("duration"),
    )


def from_record(record: CallRecord) -> Call:
    """A finished call as the run's result has it."""
    phase: Phase = "ok" if record.status == "succeeded" else record.status
    return Call(
        call_id=record.call_id,
        tool=record.name,
        line=record.line,
        phase=phase,
        code=record.code,
        duration=record.duration,
    )


def _phase(event: Event, reads: Collection[str]) -> Phase | None:
    match event.type:
        case "approval.required":
            return "waits for approval"
        case "approval.granted":
            return "approved"
        case "tool.called":
            return "start"
        case "tool.completed":
            return "ok"
        case "tool.failed":
            code = event.meta.get("code")
            lost = code == "outcome_unknown" or (code in _IN_DOUBT and event.tool not in reads)
            return "unknown" if lost else "failed"
        case "tool.rejected":
            return "refused"
        case (
            "approval.denied"
            | "approval.answered"
            | "tool.progress"
            | "tool.flagged"
            | "tool.recovered"
            | "run.started"
            | "run.finished"
        ):
            return None
