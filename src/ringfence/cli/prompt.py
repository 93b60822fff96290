"""Asks a person about one call: shows all of it, takes `y` or `n` for an answer, and infers nothing from anything else.

The tool's name, its description, the arguments and the script are the work of others: every character of them is
shown, none is obeyed. Knows the terminal only as something that yields lines. Called by `cli.run` through `Approver`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ringfence.cli.decisions import Verdict
from ringfence.cli.display import Pausable
from ringfence.cli.terminal import Terminal
from ringfence.cli.text import json_text, safe
from ringfence.ports import ApprovalRequest, Effect

VALUE_WIDTH: Final = 56
"""Characters of JSON on one line of the table: with an argument's name beside it, it fits 80 columns."""

LONG_VALUE: Final = 1_000
"""Characters from which a value is shown above the shorter ones: it must not push them out of sight of the question."""

_EFFECTS: Final[dict[Effect | None, str]] = {
    "read": "only reads",
    "write": "changes something outside",
    None: "undeclared, so it may change something outside",
}


class Prompt:
    """One question at a time, however many calls wait."""

    def __init__(self, console: Console, terminal: Terminal, display: Pausable, source: str) -> None:
        self._console = console
        self._terminal = terminal
        self._display = display
        self._lines = source.splitlines()
        self._turn = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> Verdict:
        async with self._turn:
            with self._display.paused():
                self._console.print(question(request, self._lines))
                try:
                    return await self._answer()
                except asyncio.CancelledError:
                    self._console.print(Text("(withdrawn)", style="dim"))
                    raise

    async def _answer(self) -> Verdict:
        while True:
            self._terminal.forget_typed()
            self._console.print(Text("Approve this call? y or n: ", style="bold"), end="")
            self._console.file.flush()
            line = await self._terminal.read_line()
            if line is None:
                self._console.print()
                return Verdict(approved=False, reason="no answer: the terminal was closed")
            match line.strip():
                case "y":
                    return Verdict(approved=True, reason="approved by you")
                case "n":
                    return Verdict(approved=False, reason="denied by you")
                case _:
                    self._console.print(Text("Only y (run it) or n (refuse it) is an answer.", style="yellow"))


def question(request: ApprovalRequest, source: Sequence[str]) -> Panel:
    """Everything that an approver has to know, with nothing left out."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    if request.line is not None:
        facts.add_row("script", _script_line(request.line, source))
    facts.add_row("effect", _EFFECTS[request.effect])
    parts: list[RenderableType] = [
        Text(safe(request.description, keep="\n")),
        Text(),
        facts,
        Text(),
        _arguments(request),
    ]
    title = Text.assemble(("approval  ", "yellow"), (safe(request.tool), "bold"))
    return Panel(Group(*parts), title=title, title_align="left", border_style="yellow", box=box.ROUNDED, padding=(0, 1))


def _script_line(line: int, source: Sequence[str]) -> Text:
    text = source[line - 1].strip() if 0 < line <= len(source) else ""
    return Text.assemble((f"line {line}  ", "default"), (safe(text), "cyan"))


def _arguments(request: ApprovalRequest) -> RenderableType:
    if not request.arguments:
        return Text("no arguments", style="italic")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, pad_edge=False)
    table.add_column("argument", overflow="fold", ratio=None)
    table.add_column("value", overflow="fold")
    shown = [(name, json_text(value, width=VALUE_WIDTH)) for name, value in request.arguments.items()]
    for name, text in sorted(shown, key=lambda pair: len(pair[1]) < LONG_VALUE):
        table.add_row(Text(safe(name), style="bold"), Text(text))
    return table
