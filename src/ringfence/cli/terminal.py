"""Lines that a person types, without blocking the event loop. Knows nothing of what they answer.

The terminal stays in its ordinary line mode: the kernel echoes and edits, Ctrl-C stays a signal, and a line arrives
whole. Used by `cli.prompt`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from typing import Protocol


class Terminal(Protocol):
    """Where answers come from. Implementations: `Tty`, and the tests' script of answers."""

    def forget_typed(self) -> None:
        """Drop what was typed before the question was shown: it cannot be an answer to it."""
        ...

    async def read_line(self) -> str | None:
        """One line without its end; None when there is no more (Ctrl-D, hang-up)."""
        ...


class Tty:
    """A terminal by its descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def forget_typed(self) -> None:
        termios.tcflush(self._fd, termios.TCIFLUSH)

    async def read_line(self) -> str | None:
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            loop.remove_reader(self._fd)
            readable.set_result(None)

        loop.add_reader(self._fd, wake)
        try:
            await readable  # no deadline here: it is the gate that bounds how long a person may think
        finally:
            loop.remove_reader(self._fd)
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # the terminal has gone
            return None
        if not data.endswith(b"\n"):  # Ctrl-D in the middle of a line: nobody pressed Enter
            return None
        return data[:-1].decode(errors="replace")


def controlling_terminal() -> Tty | None:
    """The terminal to ask on: only when standard input and standard error both are one."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return Tty(sys.stdin.fileno())
    return None
