"""The one gate object of a run: which calls were made, which may start, and which error has ended it all.

Facts of frames go in, decisions come out; no frame, task, socket or clock is touched here. A call is counted when it
arrives and judged in its turn, in the same synchronous step in which it starts, so that concurrent calls cannot
overspend. Calls of tools and of functions in `globals` share the numbering, the queue and the screening, and each kind
has a budget of its own (enclave catalogue, D-10). `session` asks it and does what it says. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from ringfence.errors import CODES, ErrorInfo
from ringfence.limits import RunLimits
from ringfence.policy.screen import ALLOWED, Judgement, Screen

EXCESS_CALLS: Final = 1_000
"""Refused calls beyond a budget (one large gather) before a guest is ended for flooding."""

MOST_IN_FLIGHT: Final = 16
"""Times the bytes of one value that the arguments of running calls may hold together; a larger one runs alone. Texts
of the greatest size still run ten at a time, while ten values of many small objects would be a gigabyte."""

NO_ARGUMENTS: Final[Mapping[str, Any]] = MappingProxyType({})

Kind = Literal["tool", "function"]


class OutOfOrder(Exception):
    """The guest numbers its calls wrongly: it breaks the protocol."""


class Flood(Exception):
    """The guest makes far more calls than it may, and is not listened to any more."""


class Entry(msgspec.Struct, eq=False, kw_only=True):
    """One call as the ledger sees it. A struct, like what is decided of it: each takes a tenth of the time to make."""

    number: int
    """Counts up from 1 over both kinds."""
    kind: Kind
    name: str
    """The tool's, or the function's in `globals`."""
    function: int = 0
    """The function's number in `globals`."""
    size: int = 0
    """Bytes that its arguments hold."""
    over: bool = False
    """Beyond its kind's budget: refused in its turn, since calls before it start before the run fails."""
    arguments: Mapping[str, Any] = NO_ARGUMENTS
    """For screening; empty where there is none."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """The call starts now."""

    entry: Entry
    ask: str | None = None
    """Somebody has to approve it first, for this reason."""
    flags: tuple[str, ...] = ()
    """Ids of the patterns that screening saw."""
    cause: BaseException | None = None
    """What a detector raised."""


class Refuse(msgspec.Struct, frozen=True, kw_only=True):
    """The call is refused, and the run has failed with this."""

    entry: Entry
    error: ErrorInfo
    flags: tuple[str, ...] = ()
    cause: BaseException | None = None


class Ledger:
    """One run's calls."""

    def __init__(self, limits: RunLimits, screen: Screen | None = None) -> None:
        self._limits = limits
        self._screen = screen
        self._queue: deque[Entry] = deque()
        self._held = 0
        self._running = 0
        self._in_flight = 0
        self.made = 0
        """Calls of both kinds."""
        self.counts: dict[Kind, int] = {"tool": 0, "function": 0}
        """Calls that used up a budget, refused ones included."""
        self.verdict: ErrorInfo | None = None
        """The first terminal error. Whatever happens afterwards, the run has failed with it."""
        self.over = False
        """The guest has said its last word, or may say no more: nothing starts."""

    def arrive(self, entry: Entry) -> ErrorInfo | None:
        """Count a call. Says why it is refused at once: the run is over.

        Raises:
            OutOfOrder: its number is not the next one.
            Flood: its kind's budget is far exceeded.
        """
        if entry.number != self.made + 1:
            raise OutOfOrder("a call id out of order")
        self.made += 1
        self.counts[entry.kind] += 1
        budget = self._budget(entry.kind)
        if self.counts[entry.kind] > budget + EXCESS_CALLS:
            raise Flood("a flood of calls")
        entry.over = self.counts[entry.kind] > budget
        return self.afterwards() if self.verdict is not None or self.over else None

    def queue(self, entry: Entry) -> None:
        """Let a call wait for its turn."""
        self._queue.append(entry)
        self._held += entry.size

    def next(self, now: float, *, writable: bool) -> Start | Refuse | None:
        """What becomes of the call whose turn it is; None while none may start.

        Args:
            now: monotonic seconds.
            writable: the guest takes what it is sent.
        """
        if not self._queue or self.verdict is not None or self.over or not writable:
            return None
        if self._running >= self._limits.max_concurrent_calls:
            return None
        most = MOST_IN_FLIGHT * self._limits.value.size
        if self._running and self._in_flight + self._queue[0].size > most and not self._queue[0].over:
            return None
        entry = self._queue.popleft()
        self._held -= entry.size
        if entry.over:
            return Refuse(entry=entry, error=self.excess(entry.kind))
        if self._screen is None:
            return self._start(entry, ALLOWED)
        judged = self._screen.judge(entry, now) if entry.kind == "tool" else self._screen.judge_global(now)
        if judged.error is not None:
            return Refuse(entry=entry, error=judged.error, flags=judged.flags, cause=judged.cause)
        return self._start(entry, judged)

    def _start(self, entry: Entry, judged: Judgement) -> Start:
        self._running += 1
        self._in_flight += entry.size
        return Start(entry=entry, ask=judged.reason, flags=judged.flags, cause=judged.cause)

    def finished(self, entry: Entry) -> None:
        """A call that started has ended."""
        self._running -= 1
        self._in_flight -= entry.size

    def latch(self, error: ErrorInfo) -> None:
        """The run has failed, unless it had failed or ended before."""
        if self.verdict is None:
            self.verdict = error

    def drain(self) -> list[Entry]:
        """Calls that waited, and will not start any more."""
        waiting = list(self._queue)
        self._queue.clear()
        self._held = 0
        return waiting

    @property
    def full(self) -> bool:
        """So much waits that the guest should not be listened to."""
        return self._held > 2 * self._limits.value.size

    @property
    def roomy(self) -> bool:
        """So little waits that it may be again."""
        return self._held <= self._limits.value.size

    def afterwards(self) -> ErrorInfo:
        """The answer to calls made when the run has already failed, or ended."""
        verdict = self.verdict
        code = str(verdict.data["code"]) if verdict is not None and "code" in verdict.data else "aborted"
        assert code in CODES
        return ErrorInfo(code=code, message="the run has already failed; no further call starts")

    def _budget(self, kind: Kind) -> int:
        return self._limits.max_tool_calls if kind == "tool" else self._limits.max_global_calls

    def excess(self, kind: Kind) -> ErrorInfo:
        """Why a call beyond its budget is refused."""
        if kind == "tool":
            return ErrorInfo(
                code="limit_exceeded",
                message=f"the script made more than {self._limits.max_tool_calls} tool calls",
                hint="ask for more at once with fewer calls, or raise max_tool_calls",
            )
        return ErrorInfo(
            code="global_limit",
            message=f"the script called functions of its globals more than {self._limits.max_global_calls} times",
            hint="work it out in the script, or raise max_global_function_calls",
        )
