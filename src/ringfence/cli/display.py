"""The calls of a run while they happen: a live tree on a terminal, one line per step anywhere else.

Both show to standard error and stand still while somebody is asked. Fed with events by `cli.run`; knows neither
boundary nor enclave.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Collection, Generator, Iterable, Mapping
from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ringfence.cli.calls import FINISHED, Call, Phase, after, from_record
from ringfence.cli.text import brief, counted, seconds
from ringfence.enclave.results import CallRecord
from ringfence.events import Event

REFRESH: Final = 0.1
"""Seconds between two pictures of the live tree: ten a second look alive and cost under 1 % of a core."""

_MARKS: Final[Mapping[Phase, tuple[str, str]]] = {
    "waits for approval": ("?", "bold yellow"),
    "approved": ("·", "cyan"),
    "start": ("·", "cyan"),
    "ok": ("✓", "green"),
    "failed": ("✗", "red"),
    "refused": ("✗", "yellow"),
    "unknown": ("!", "bold red"),
}


class Pausable(Protocol):
    """What writes to the terminal, and can be told not to."""

    def paused(self) -> contextlib.AbstractContextManager[None]:
        """Write nothing meanwhile; show afterwards what happened."""
        ...


class Display(Pausable, Protocol):
    """Shows a run."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def on_event(self, event: Event) -> None:
        """Note an event. Returns at once."""
        ...

    def complete(self, calls: Iterable[CallRecord]) -> None:
        """Show those calls of the finished run of which events told no end, or another one than the record."""
        ...

    def conclude(self, line: Text) -> None:
        """Close the display, which has been left, with one line."""
        ...


class Plain:
    """One line per step: `start`, `ok`, `failed`, `refused`, `unknown`, `waits for approval`."""

    def __init__(self, console: Console, reasons: Mapping[str, str], reads: Collection[str]) -> None:
        """
        Args:
            reasons: call id to why it was approved or denied; looked up when a call ends.
            reads: names of tools that are declared to change nothing.
        """
        self._console = console
        self._reasons = reasons
        self._reads = reads
        self._calls: dict[str, Call] = {}
        self._finished: dict[str, Phase] = {}
        self._held: list[str] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def on_event(self, event: Event) -> None:
        call = after(self._calls.get(str(event.meta.get("call_id"))), event, self._reads)
        if call is not None:
            self._show(call)

    def complete(self, calls: Iterable[CallRecord]) -> None:
        for record in calls:
            call = from_record(record)
            if self._finished.get(call.call_id) != call.phase:
                self._show(call)

    def conclude(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)

    def _show(self, call: Call) -> None:
        if call.phase in FINISHED:
            self._calls.pop(call.call_id, None)
            self._finished[call.call_id] = call.phase
        else:
            self._calls[call.call_id] = call
        if call.phase != "approved":
            parts = (
                call.phase,
                brief(call.tool, 64),
                call.place,
                call.took,
                call.outcome(self._reasons.get(call.call_id)),
            )
            self._write("  ".join(part for part in parts if part))

    def _write(self, line: str) -> None:
        if self._held is not None:
            self._held.append(line)
        else:
            self._console.print(Text(line), soft_wrap=True)

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for line in held:
                self._write(line)


class Tree:
    """Calls that have finished, in order, and below them those in flight, drawn again and again."""

    def __init__(
        self, console: Console, reasons: Mapping[str, str], reads: Collection[str], title: str, name_width: int
    ) -> None:
        """
        Args:
            reasons, reads: as for `Plain`.
            title: what runs.
            name_width: characters of the longest name.
        """
        self._console = console
        self._reasons = reasons
        self._reads = reads
        self._title = title
        self._name_width = min(name_width, 32)
        self._finished: dict[str, Phase] = {}
        self._flying: dict[str, tuple[Call, float]] = {}
        self._landed: list[Text] = []
        self._live: Live | None = None
        self._ticker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._console.print(Text(self._title, style="bold"))
        self._live = self._start()
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
        self._stop()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(REFRESH)
            self.draw()

    def _start(self) -> Live:
        live = Live(self._picture(), console=self._console, auto_refresh=False, transient=True)
        live.start()
        return live

    def _stop(self) -> None:
        self.draw()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def draw(self) -> None:
        """Bring the picture up to date, unless it has to stand still."""
        if self._live is None:
            return
        if self._landed:
            self._console.print(Group(*self._landed))
            self._landed.clear()
        self._live.update(self._picture(), refresh=True)

    def on_event(self, event: Event) -> None:
        previous, since = self._flying.get(str(event.meta.get("call_id")), (None, time.monotonic()))
        call = after(previous, event, self._reads)
        if call is None:
            return
        if call.phase in FINISHED:
            self._land(call)
        else:
            started = since if previous is not None and previous.phase == call.phase else time.monotonic()
            self._flying[call.call_id] = (call, started)

    def complete(self, calls: Iterable[CallRecord]) -> None:
        for record in calls:
            call = from_record(record)
            if self._finished.get(call.call_id) != call.phase:
                self._land(call)

    def conclude(self, line: Text) -> None:
        self._console.print(Text.assemble(("╰─ ", "dim"), line), soft_wrap=True)

    def _land(self, call: Call) -> None:
        self._flying.pop(call.call_id, None)
        self._finished[call.call_id] = call.phase
        self._landed.append(self._row(call))

    def _picture(self) -> Group:
        now = time.monotonic()
        most = max(self._console.height - 3, 1)
        rows = [self._row(call, now - since) for call, since in list(self._flying.values())[:most]]
        hidden = len(self._flying) - len(rows)
        if hidden > 0:
            rows.append(Text(f"├─ … and {counted(hidden, 'call')} more", style="dim"))
        return Group(*rows)

    def _row(self, call: Call, elapsed: float | None = None) -> Text:
        mark, style = _MARKS[call.phase]
        row = Text("├─ ", style="dim")
        row.append(f"{mark} ", style=f"not dim {style}")
        row.append(f"{brief(call.tool, self._name_width):<{self._name_width}}  {call.place:<8}", style="not dim")
        took = call.took if elapsed is None else seconds(elapsed) if elapsed > REFRESH else ""
        row.append(f"  {took:>7}  ", style="not dim")
        waits = call.phase if call.phase == "waits for approval" else ""
        row.append(waits or call.outcome(self._reasons.get(call.call_id)), style=f"not dim {style}")
        row.rstrip()
        if elapsed is not None:  # drawn over again and again, so it has to stay one line
            row.no_wrap, row.overflow = True, "ellipsis"
        return row

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        self._stop()
        try:
            yield
        finally:
            self._live = self._start()


def choose(
    console: Console, reasons: Mapping[str, str], reads: Collection[str], title: str, name_width: int
) -> Display:
    """A tree where it can be redrawn, else lines.

    rich takes FORCE_COLOR for a terminal; a log that wants colours still cannot be redrawn.
    """
    redraws = console.file.isatty() and not console.is_dumb_terminal and console.encoding.lower().startswith("utf")
    return Tree(console, reasons, reads, title, name_width) if redraws else Plain(console, reasons, reads)
