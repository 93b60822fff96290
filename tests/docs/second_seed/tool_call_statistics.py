# Second seed, "Tool Call Statistics": how many calls, and how long.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf

code = """
for n in range(3):
    await call_tool("count", {"n": n})
"""


async def handle(name: str, args: dict[str, Any]) -> object:
    await asyncio.sleep(0.01)
    return args["n"]


async def main() -> None:
    async with rf.Enclave(tool_handler=handle) as enclave:
        result = await enclave.run(code)
        print("Tool calls made:", result.stats.tool_call_count)
        print("Execution time:", result.stats.duration)
        for call in result.calls:
            print(call.name, call.status, "at line", call.line)


asyncio.run(main())

# prints:
# Tool calls made: 3
# Execution time: 0.0...
# count succeeded at line 3
# count succeeded at line 3
# count succeeded at line 3
