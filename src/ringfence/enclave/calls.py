"""One call of a run, from its frame to its record, and what is heard of it meanwhile.

Knows a run's clock, which approvals hold, and how the call is written down; neither frames nor tools nor what becomes
of the run. `session` makes one for each call, and hands it to whoever serves the call as its watch.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from ringfence.enclave import results
from ringfence.enclave.deadline import Deadline
from ringfence.enclave.ledger import Entry
from ringfence.enclave.received import Arguments
from ringfence.enclave.results import CallRecord
from ringfence.errors import Status
from ringfence.ports import Effect, Position


class Flagged(msgspec.Struct, frozen=True, kw_only=True):
    """A call that screening noticed and let pass."""

    call_id: str
    name: str
    line: int
    patterns: tuple[str, ...]


class Call(msgspec.Struct, kw_only=True, eq=False):
    """One call. A struct, as making a dataclass of so many fields takes four times as long."""

    entry: Entry
    call_id: str
    position: Position
    deadline: Deadline
    """Of the run: it stands still while somebody decides."""
    received: float
    """Monotonic seconds."""
    args: Arguments | None = None
    """Until the call starts."""
    ask: str | None = None
    """Why somebody has to approve it, whatever its tool says."""
    flags: tuple[str, ...] = ()
    task: asyncio.Task[None] | None = None
    served: bool = False
    """Its task has taken its first step, so that cancelling it lets it unwind."""
    began: bool = False
    """The tool may have had an effect."""
    withdrawn: bool = False
    """Taken back before its tool began, and answered."""
    deciding: bool = False
    status: Status = "failed"
    code: str | None = None
    taken: float = 0.0
    """Seconds from frame to end."""
    cause: BaseException | None = None

    def end(self, status: Status, code: str | None) -> None:
        """Note how it ended; the public record is made when the run has."""
        self.status, self.code, self.taken = status, code, time.monotonic() - self.received
        self.args = None

    def interrupt(self, effect: Effect | None) -> None:
        """Note that it was cut off: nothing happened where its tool had not begun."""
        self.end(results.in_doubt(effect) if self.began else "refused", "interrupted")

    def record(self) -> CallRecord:
        """How it ended, for the host."""
        return CallRecord(
            call_id=self.call_id,
            name=self.entry.name,
            status=self.status,
            code=self.code,
            line=self.position.line,
            duration=self.taken,
            flags=self.flags,
            cause=self.cause,
        )

    def flagged(self) -> Flagged:
        """What the host hears when screening lets it pass."""
        return Flagged(call_id=self.call_id, name=self.entry.name, line=self.position.line, patterns=self.flags)

    # as a watch

    def approval_began(self) -> None:
        if not self.deciding:
            self.deciding = True
            self.deadline.hold()

    def approval_ended(self) -> None:
        if self.deciding:
            self.deciding = False
            self.deadline.release()

    def tool_began(self) -> None:
        self.began = True
