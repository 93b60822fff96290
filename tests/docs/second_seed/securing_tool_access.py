# Second seed, "Securing Tool Access": a handler that knows which tools are allowed, and the same as an option.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf


async def execute(name: str, args: dict[str, Any]) -> object:
    return f"{name} done"


async def handle(name: str, args: dict[str, Any]) -> object:
    # Allowlist of permitted tools
    allowed_tools = ["users:list", "users:get", "data:read"]

    if name not in allowed_tools:
        raise PermissionError(f"Tool not allowed: {name}")

    return await execute(name, args)


async def main() -> None:
    async with rf.Enclave(tool_handler=handle) as enclave:
        print((await enclave.run('await call_tool("data:read", {})')).value)
        print((await enclave.run('await call_tool("data:drop", {})')).error)

    screening = rf.Screening(allowed_operation_pattern=r"users:(list|get)|data:read")
    async with rf.Enclave(tool_handler=execute, screening=screening) as enclave:
        print((await enclave.run('await call_tool("users:get", {})')).value)
        print((await enclave.run('await call_tool("data:drop", {}, throw_on_error=False)')).error)


asyncio.run(main())

# prints:
# data:read done
# TOOL_ERROR at line 1: Tool not allowed: data:drop
# users:get done
# SECURITY_VIOLATION at line 1: Operation not allowed: data:drop is not among the names that are allowed here
#   fix: ...
