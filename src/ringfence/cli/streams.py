"""Who may write to standard output: results, and nothing else.

Tools and modules of the user run in this process and may print. While a command works, descriptor 1 leads to
standard error, and only `Results` still reaches the real standard output. Knows nothing of what is written.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from typing import Final

from rich.console import Console

UNWRAPPED: Final = 1_000
"""Columns of a pipe or a file: no line is broken there."""


class Results:
    """The real standard output."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.is_terminal = os.isatty(fd)

    @contextlib.contextmanager
    def page(self) -> Generator[Console]:
        """Collect what is printed for people, and write it in the end, without blanks at the ends of lines."""
        width = None if self.is_terminal else UNWRAPPED
        console = Console(force_terminal=self.is_terminal, width=width, highlight=False, markup=False, emoji=False)
        with console.capture() as captured:
            yield console
        self.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def write(self, text: str) -> None:
        """Write all of `text` now. A reader that has gone away (`| head`) is not an error."""
        encoding = sys.stdout.encoding or "utf-8"
        data = text.encode(encoding, errors="backslashreplace")
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._fd, data) :]


@contextlib.contextmanager
def results_only() -> Generator[Results]:
    """Keep standard output for `Results`; everything else that is written to it goes to standard error."""
    sys.stdout.flush()
    real = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield Results(real)
    finally:
        sys.stderr.flush()
        os.dup2(real, 1)
        os.close(real)


class MessageConsole(Console):
    """Standard error for people. A reader that has gone away silences it; it never ends the program."""

    def __init__(self) -> None:
        super().__init__(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=False)

    def on_broken_pipe(self) -> None:
        self.quiet = True
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 2)
        os.close(devnull)


def open_missing_streams() -> None:
    """Give the process the standard streams that its parent closed, so that no other file gets their numbers."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or os.fdopen(0, "r")
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
