"""What stands around the scripts of the shared cases: handlers, governed tools, namespaces and globals, by name.

A case file names its scene and adds options of plain data. The same objects serve every run, so that enclaves stay
warm; `Hand` remembers what one run did, and a test begins by clearing it.
"""

from __future__ import annotations

import asyncio
import decimal
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any, Final
from uuid import UUID

import ringfence as rf
from tests.enclave import desk
from tests.enclave.observed import plain

VALUES: Final[dict[str, Any]] = {
    "null": None,
    "true": True,
    "whole": 42,
    "largest_exact": 2**53 - 1,
    "big": 2**63 + 1,
    "negative_big": -(10**30),
    "fraction": 0.1,
    "text": "é\U0001f600\u2028\0\u05d3",
    "list": [1, [2, {"a": None}]],
    "tuple": (1, 2),
    "set": {3},
    "object": {"b": 1, "a": {"c": []}},
    "odd_keys": {"__proto__": 1, "constructor": 2, "": 3, "a b": 4, "then": 5, "toString": 6, "10": 7},
    "datetime": datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),
    "offset": datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=-5))),
    "naive": datetime(2026, 1, 2, 3, 4, 5),
    "date": date(2026, 1, 2),
    "time": time(3, 4, 5),
    "decimal": decimal.Decimal("1.10"),
    "uuid": UUID(int=5),
    "bytes": b"\x00\xffhi",
    "duration": timedelta(minutes=90),
}
"""Results of the tool `value`."""
BAD: Final[dict[str, Any]] = {
    "nan": float("nan"),
    "infinity": {"a": [float("inf")]},
    "function": len,
    "object": object(),
    "surrogate": "\ud800",
    "keys": {"a": {(1, 2): 3}},
    "large": "x" * 5_300_000,
    "many": [0] * 1_000_001,
}
"""Results of the tool `bad`, none of them data."""


class Coded(Exception):
    """An exception with a code of its own."""

    code = "E42"


class Hand:
    """A handler with tools that prove something, and what they saw."""

    def __init__(self) -> None:
        self.enclave: rf.Enclave | None = None
        self.seen: list[Any] = []
        self.begun: dict[str, int] = {}
        self.ended: list[int] = []
        self.changed = asyncio.Event()

    def reset(self, enclave: rf.Enclave) -> None:
        """Forget the last run; `enclave` is the one that runs now."""
        self.__init__()
        self.enclave = enclave

    async def handle(self, name: str, args: dict[str, Any]) -> Any:
        self.seen.append([name, {key: [type(value).__name__, plain(value)] for key, value in args.items()}])
        tool: Callable[..., Any] | None = getattr(self, "do_" + name.replace(":", "_").replace(".", "_"), None)
        if tool is None:
            raise rf.ToolError(f"Unknown tool: {name}")
        return await tool(args)

    async def do_echo(self, args: dict[str, Any]) -> Any:
        return args

    async def do_add(self, args: dict[str, Any]) -> Any:
        return args["a"] + args["b"]

    async def do_value(self, args: dict[str, Any]) -> Any:
        return VALUES[args["kind"]]

    async def do_bad(self, args: dict[str, Any]) -> Any:
        return BAD[args["kind"]]

    async def do_fail(self, args: dict[str, Any]) -> Any:
        raise rf.ToolError(args.get("text", "no"), code=args.get("code"))

    async def do_break(self, args: dict[str, Any]) -> Any:
        raise {"value": ValueError("broken"), "key": KeyError("k"), "coded": Coded("coded"), "silent": ValueError()}[
            args["kind"]
        ]

    async def do_never(self, args: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    async def do_abort(self, args: dict[str, Any]) -> Any:
        assert self.enclave is not None
        self.enclave.abort()
        await asyncio.Event().wait()

    async def do_meet(self, args: dict[str, Any]) -> Any:
        """Answers when as many calls as `of` are here at once."""
        self.begun["meet"] = self.begun.get("meet", 0) + 1
        self.changed.set()
        while self.begun["meet"] < args["of"]:
            self.changed.clear()
            await self.changed.wait()
        return args["n"]

    async def do_backwards(self, args: dict[str, Any]) -> Any:
        """Of `of` calls that are numbered from 0, the last answers first."""
        while len(self.ended) < args["of"] - 1 - args["n"]:
            self.changed.clear()
            await self.changed.wait()
        self.ended.append(args["n"])
        self.changed.set()
        return args["n"]

    async def do_page(self, args: dict[str, Any]) -> Any:
        first = args.get("cursor") or 0
        return {"items": list(range(first, min(first + 3, 8))), "next": first + 3 if first + 3 < 8 else None}

    async def do_mail_list(self, args: dict[str, Any]) -> Any:
        return [{"id": 7, "from": "ada"}, {"id": 8, "from": "bob"}]

    async def do_mail_send(self, args: dict[str, Any]) -> Any:
        return {"sent": args.get("to")}

    async def do_users_get(self, args: dict[str, Any]) -> Any:
        return {"id": args["id"], "name": "Alice"}


HAND: Final = Hand()


# governed tools


async def _decide(request: rf.ApprovalRequest) -> bool:
    return request.arguments.get("cents") != 666


async def _undecided(_: rf.ApprovalRequest) -> bool:
    await asyncio.Event().wait()
    return True


@rf.tool(effect="read")
async def look(n: int = 0) -> int:
    """Look."""
    return n


@rf.tool(effect="write")
async def store(n: int, note: str = "") -> dict[str, Any]:
    """Keep a number."""
    return {"n": n, "note": note}


@rf.tool(effect="write", approval="human")
async def refund(order_id: int, cents: int = 100) -> list[int]:
    """Give money back."""
    return [order_id, cents]


@rf.tool(effect="read", timeout=0.05)
async def hasty() -> None:
    """Must be quick, and is not."""
    await asyncio.Event().wait()


@rf.tool(effect="write", timeout=0.05)
async def hasty_write() -> None:
    """The same with an effect."""
    await asyncio.Event().wait()


@rf.tool(effect="read")
async def typed() -> list[int]:
    """Numbers, it says."""
    return "text"  # type: ignore[return-value]


@rf.tool(effect="read")
async def secretive() -> None:
    """Fails with an exception of the host's own."""
    raise ValueError("password hunter2")


@rf.tool(effect="read")
async def refusing(text: str, code: str | None = None) -> None:
    """Says no."""
    raise rf.ToolError(text, code=code)


@rf.tool(effect="read")
async def forever() -> None:
    """Never answers."""
    await asyncio.Event().wait()


@rf.tool(effect="write")
async def forever_write() -> None:
    """Never answers, with an effect."""
    await asyncio.Event().wait()


@rf.tool(effect="write")
async def schedule(when: datetime, amount: decimal.Decimal) -> dict[str, Any]:
    """Takes what JSON lacks."""
    return {"when": when.isoformat(), "amount": str(amount), "back": when}


SHOP: Final = (
    look,
    store,
    refund,
    hasty,
    hasty_write,
    typed,
    secretive,
    refusing,
    forever,
    forever_write,
    schedule,
)


# globals


def _format_date(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="seconds")


async def _slow(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


def _fail(text: str = "broken") -> None:
    raise ValueError(text)


async def _fail_later(text: str = "broken") -> None:
    raise rf.ToolError(text, code="LATER")


class _Counter:
    """An object with a method."""

    def __init__(self) -> None:
        self.unit = "pieces"

    def double(self, value: int) -> int:
        return 2 * value


GLOBALS: Final[dict[str, Any]] = {
    "context": {"user": "user-123", "tags": ["a", "b"], "nested": {"deep": [1, {"x": 2}]}, "big": 2**60 + 1},
    "limit": 3,
    "since": datetime(2026, 1, 2, tzinfo=UTC),
    "formatDate": _format_date,
    "slow": _slow,
    "fail": _fail,
    "failLater": _fail_later,
    "counter": _Counter(),
    "api": {"v1": {"echo": lambda value: value}, "name": "api"},  # type: ignore[reportUnknownLambdaType]
    "give": lambda kind: VALUES[kind],  # type: ignore[reportUnknownLambdaType]
    "lose": lambda: object(),
    "kindOf": lambda value: type(value).__name__,  # type: ignore[reportUnknownLambdaType]
}

_QUIET: Final[dict[str, Any]] = {"enabled": False}
_BOUNDARIES: Final[dict[str, rf.Boundary]] = {}


def _boundary(name: str) -> rf.Boundary:
    """Made at first use, once for all runs."""
    if name not in _BOUNDARIES:
        local = rf.local(unsafe=True)
        _BOUNDARIES[name] = {
            "desk": lambda: rf.Boundary(desk.TOOLS, sandbox=local),
            "shop": lambda: rf.Boundary(SHOP, sandbox=local, approve=_decide),
            "undecided": lambda: rf.Boundary(SHOP, sandbox=local, approve=_undecided, approval_timeout=0.05),
        }[name]()
    return _BOUNDARIES[name]


SCENES: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "hand": lambda: {"tool_handler": HAND.handle, "screening": _QUIET},
    "screened": lambda: {"tool_handler": HAND.handle},
    "nothing": lambda: {"tool_handler": None},
    "office": lambda: {"tool_handler": desk.handle, "screening": _QUIET},
    "desk": lambda: {"tools": _boundary("desk")},
    "shop": lambda: {"tools": _boundary("shop")},
    "undecided": lambda: {"tools": _boundary("undecided")},
    "globals": lambda: {
        "tool_handler": HAND.handle,
        "screening": _QUIET,
        "globals": GLOBALS,
        "allow_functions_in_globals": True,
    },
    "data": lambda: {
        "tool_handler": HAND.handle,
        "screening": _QUIET,
        "globals": {"context": GLOBALS["context"], "limit": 3, "since": GLOBALS["since"]},
    },
    "namespaces": lambda: {
        "tool_handler": HAND.handle,
        "screening": _QUIET,
        "tool_namespaces": {"mail": ["list", "send"], "users": {"get": "users:get"}, "t": {"echo": "echo", "fail": "fail"}},
    },
}  # fmt: skip
"""Name of a scene to the enclave's options."""
