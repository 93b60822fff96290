"""Drivers that users write, checked with strict rules: two members are enough, more are welcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import ringfence as rf


class Minimal:
    name = "minimal"

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        return await fn(*args)


class Promising:
    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, fn: Callable[..., Any], args: list[Any], *, signal: object = None) -> Awaitable[object]:
        return self._later(fn, args)

    async def _later(self, fn: Callable[..., Any], args: list[Any]) -> object:
        return fn(*args)


class Full:
    @property
    def name(self) -> str:
        return "full"

    @property
    def permissions(self) -> Mapping[str, bool]:
        return {"network": False}

    def guarantees(self) -> Mapping[str, str]:
        return {"network": "namespace"}

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        return await fn(*args)

    async def aclose(self) -> None:
        return


@rf.tool(sandbox=Minimal())
def one() -> int:
    """Give one."""
    return 1


@rf.tool(sandbox=Full())
def two() -> int:
    """Give two."""
    return 2


def three() -> int:
    return 3


drivers: list[rf.Driver] = [Minimal(), Promising("far"), Full(), rf.local(unsafe=True)]
third = rf.Tool.from_function(three, description="Give three.", sandbox=Promising("far"))
boundaries = [rf.Boundary([one, two, third], sandbox=driver) for driver in drivers]
