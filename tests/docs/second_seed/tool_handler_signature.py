# Second seed, "Tool Handler Signature": a name and the arguments; options of the call stay in the sandbox.
from __future__ import annotations

import asyncio

import ringfence as rf


async def handle(*received: object) -> None:
    print(received)


handler: rf.ToolHandler = handle


async def main() -> None:
    async with rf.Enclave(tool_handler=handler) as enclave:
        await enclave.run('await call_tool("users:list", {"page": 2}, throw_on_error=False)')


asyncio.run(main())

# prints:
# ('users:list', {'page': 2})
