"""A guest engine whose preparation never ends, for tests of the jail."""

from __future__ import annotations

import sys
import time


def prepare() -> None:
    print("preparing for ever", file=sys.stderr, flush=True)
    time.sleep(3600)


def serve(fd: int) -> None:
    raise NotImplementedError
