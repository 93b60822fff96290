"""Ctrl-C and SIGTERM: the first asks for a clean end, the second does not ask.

Knows nothing of what is ended. Called by `cli.run` around the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Generator
from types import FrameType

_SHOW_CURSOR = b"\x1b[?25h"


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Generator[None]:
    """Call `stop` in the running loop at the first SIGINT or SIGTERM; let the second one kill this process.

    Plain signal handlers, not the loop's: a tool that blocks the loop must not make Ctrl-C wait for it.
    """
    loop = asyncio.get_running_loop()
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            _die(number)
        asked = True
        loop.call_soon_threadsafe(stop)

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _die(number: int) -> None:
    """End as if the signal had never been handled: shells see the usual 128 + number. Jailed guests die with us."""
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)  # the live tree hides it
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
