"""Consoles that remember what was written, for the tests of this folder."""

from __future__ import annotations

from io import StringIO

from rich.console import Console


def recorded(*, terminal: bool = False, width: int = 80, height: int = 24) -> tuple[Console, StringIO]:
    """A console as `cli.streams.MessageConsole` makes it, on a buffer."""
    text = StringIO()
    console = Console(
        file=text,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        width=width,
        height=height,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    return console, text
