# Second seed, "Tool Call Limits": a script that runs away is ended, also when it catches the refusal.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf


async def handle(name: str, args: dict[str, Any]) -> object:
    return args["n"]


async def main() -> None:
    async with rf.Enclave(
        max_tool_calls=50,  # Maximum tool calls per execution
        tool_handler=handle,
    ) as enclave:
        result = await enclave.run("""
total = 0
for n in range(1_000):
    try:
        total += await call_tool("count:up", {"n": n})
        total -= await call_tool("count:down", {"n": n})
    except Exception:
        break
return total
""")
        assert result.error is not None
        print(result.success, result.error.code)
        print(sum(call.status == "succeeded" for call in result.calls))


asyncio.run(main())

# prints:
# False MAX_TOOL_CALLS
# 50
