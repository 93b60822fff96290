"""A guest engine whose preparation never ends, for tests of the jail."""

from __future__ import annotations

import time


def prepare() -> None:
    time.sleep(3600)


def serve(fd: int) -> None:
    raise NotImplementedError
