"""What is no driver; every marked line is an error, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ringfence as rf


class Nameless:
    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        return await fn(*args)


class Deaf:
    name = "deaf"

    async def run(self, fn: Callable[..., Any], args: list[Any]) -> Any:
        return await fn(*args)


class Immediate:
    name = "immediate"

    def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> int:
        return fn(*args)


def nothing() -> None: ...


rf.Boundary([], sandbox=Nameless())  # type: ignore[reportArgumentType]  # error
rf.Boundary([], sandbox=Deaf())  # type: ignore[reportArgumentType]  # error
rf.Boundary([], sandbox=Immediate())  # type: ignore[reportArgumentType]  # error
rf.Boundary([], sandbox=rf.local)  # type: ignore[reportArgumentType]  # error
rf.Tool.from_function(nothing, description="Nothing.", sandbox=Nameless())  # type: ignore[reportArgumentType]  # error
