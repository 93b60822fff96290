# Second seed, "Basic Tool Handler": one function answers every call that a script makes.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf


async def handle(tool_name: str, args: dict[str, Any]) -> object:
    print("Tool called:", tool_name, args)
    match tool_name:
        case "users:list":
            return {"items": [{"id": 1, "name": "Alice"}]}
        case "users:get":
            return {"id": args["id"], "name": "Alice"}
        case _:
            raise LookupError(f"Unknown tool: {tool_name}")


async def main() -> None:
    async with rf.Enclave(timeout=10.0, tool_handler=handle) as enclave:
        result = await enclave.run("""
users = await call_tool("users:list", {})
return len(users["items"])
""")
        print(result.value)

        result = await enclave.run('await call_tool("users:drop", {})')
        print(result.error)


asyncio.run(main())

# prints:
# Tool called: users:list {}
# 1
# Tool called: users:drop {}
# TOOL_ERROR at line 1: Unknown tool: users:drop
