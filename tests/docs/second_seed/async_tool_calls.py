# Second seed, "Async Tool Calls": a handler that asks a server. Run it with the address of one.
from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from typing import Any

import ringfence as rf


def fetch(url: str) -> object:
    with urllib.request.urlopen(url, timeout=5) as response:
        return json.load(response)


async def handle(name: str, args: dict[str, Any]) -> object:
    if name == "api:fetch":
        return await asyncio.to_thread(fetch, args["url"])
    raise LookupError(f"Unknown tool: {name}")


async def main() -> None:
    async with rf.Enclave(tool_handler=handle) as enclave:
        result = await enclave.run(
            """
import asyncio

async def city(name):
    answer = await call_tool("api:fetch", {"url": inputs["server"] + "/" + name})
    return answer["path"]

return await asyncio.gather(city("oslo"), city("bergen"))
""",
            {"server": sys.argv[1]},
        )
        print(result.value)


asyncio.run(main())

# prints:
# ['/oslo', '/bergen']
