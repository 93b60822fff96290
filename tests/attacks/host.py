"""What the attacked host offers: tools that answer, fail and hang, functions and data under `globals`, a namespace.

Everything here holds something that no script may reach: the functions close over the treasure, the object has a
private attribute, the errors carry attributes and causes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import ringfence as rf
from tests.enclave.kit import Stage, echo, never

TREASURE: Final = {"gold": "treasure-of-the-host"}
"""In the closure of every function that scripts may call."""
MOST_AT_ONCE: Final = 10
"""Calls in flight that an enclave allows by default."""


class Shop:
    """An object under `globals`: one method is public, the rest is the host's."""

    def __init__(self) -> None:
        self._treasure = TREASURE

    def price(self, name: str) -> float:
        return len(name) + 0.5 * len(self._treasure)


def tag(text: str) -> str:
    """Function number 0."""
    return f"<{text}>" if TREASURE else ""


async def join(parts: list[str]) -> str:
    return "-".join(parts) if TREASURE else ""


GLOBALS: Final[dict[str, Any]] = {
    "tag": tag,
    "join": join,
    "shop": Shop(),
    "conf": {"environ": {"HOME": "/nowhere"}, "rows": [1, 2, 3]},
}
NAMESPACES: Final = {"mail": ["list", "send"]}


@dataclass(slots=True)
class Gauge:
    """A tool that knows how often it runs at once."""

    now: int = 0
    most: int = 0
    ids: list[int] = field(default_factory=list[int])

    async def __call__(self, _: Any) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.02)
        finally:
            self.now -= 1
        return self.most


class Rude(rf.ToolError):
    """A tool's error with more on it than its text."""

    secret = TREASURE

    @property
    def detail(self) -> str:
        raise AssertionError("an attribute of a tool's error was read")


async def boom(_: Any) -> Any:
    raise rf.ToolError("boom")


async def slow(_: Any) -> Any:
    await asyncio.sleep(0.05)
    return "late"


async def rude(args: Any) -> Any:
    """Fail as badly as a tool can."""
    first = Rude("x" * 10_000 if args["kind"] == "huge" else "rude")
    if args["kind"] == "group":
        first.__cause__ = ExceptionGroup("g", [ValueError(TREASURE), KeyError(TREASURE)])
    if args["kind"] == "cyclic":
        second = ValueError(TREASURE)
        first.__cause__, second.__cause__ = second, first
    raise first


def _deep() -> Any:
    value: Any = 1
    for _ in range(100):
        value = [value]
    return value


def _cycle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


BOMBS: Final[dict[str, Callable[[], Any]]] = {
    "large": lambda: "x" * 6_000_000,
    "deep": _deep,
    "wide": lambda: {f"k{n}": n for n in range(100_000)},
    "function": lambda: tag,
    "class": lambda: Shop,
    "cycle": _cycle,
    "nan": lambda: float("nan"),
    "surrogate": lambda: "\ud800",
    "keys": lambda: {1: "one"},
    "generator": lambda: (n for n in range(3)),
    "file": lambda: sys.stdin,
    "object": object,
}


async def bomb(args: Any) -> Any:
    """Answer with what may not cross, or is too much."""
    return BOMBS[args["kind"]]()


def furnish(stage: Stage) -> Gauge:
    """Put the tools into a stage; returns the one that measures."""
    gauge = Gauge()
    stage.reset()
    stage.tools.update(echo=echo, never=never, boom=boom, slow=slow, rude=rude, gauge=gauge, bomb=bomb)
    for name in ("mail.list", "mail.send", "secret.read", "http.request", "users.get", "users.delete", "rows.load"):
        stage.tools[name] = echo
    stage.tools["bulk:update"] = echo
    return gauge
