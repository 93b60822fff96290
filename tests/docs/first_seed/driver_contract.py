# First seed, "Driver contract" and "Register a sandbox": a driver of one's own, for all tools or for one.
from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import ringfence as rf


class ProductionSandbox:
    """Says what it is given and hands it on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.permissions: Mapping[str, object] = {"fs": False, "network": ["127.0.0.1:8080"], "shell": False}

    async def run(
        self,
        fn: Callable[..., Any],
        args: list[Any],
        *,
        signal: rf.Signal | None = None,
    ) -> Any:
        print(self.name, "runs with", len(args), "argument, signal", signal is not None)
        result = fn(*args)
        return await result if inspect.isawaitable(result) else result

    async def aclose(self) -> None:
        print(self.name, "closes")


production: rf.Driver = ProductionSandbox("production")
own: rf.Driver = ProductionSandbox("own")


@rf.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@rf.tool(sandbox=own)
def negate(a: int) -> int:
    """Change the sign of a number."""
    return -a


async def main() -> None:
    async with rf.Boundary(tools=[add, negate], sandbox=production) as boundary:
        print((await boundary.call("add", {"a": 1, "b": 2})).unwrap())
        print((await boundary.call("negate", {"a": 1})).unwrap())

    try:
        async with rf.Boundary(tools=[add, negate]):
            pass
    except rf.ToolSandboxRequiredError as error:
        print(error.code)


asyncio.run(main())

# prints:
# production runs with 1 argument, signal True
# 3
# own runs with 1 argument, signal True
# -1
# production closes
# own closes
# sandbox_required
