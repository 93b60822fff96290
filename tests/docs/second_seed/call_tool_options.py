# Second seed, "callTool Options": a failure of the tool itself as data; what the enclave refuses is raised all the same.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf

SCRIPT = """
r = await call_tool("users:get", {"id": inputs["id"]}, throw_on_error=False)
if r["success"]:
    return r["data"]
return {"failed": r["error"]["message"], "error": r["error"]}
"""


async def handle(name: str, args: dict[str, Any]) -> object:
    if args["id"] != 1:
        raise rf.ToolError(f"no user {args['id']}", code="NOT_FOUND")
    return {"id": 1, "name": "Alice"}


async def main() -> None:
    async with rf.Enclave(tool_handler=handle, tool_namespaces={"users": {"get": "users:get"}}) as enclave:
        print((await enclave.run(SCRIPT, {"id": 1})).value)
        print((await enclave.run(SCRIPT, {"id": 2})).value)
        print((await enclave.run(SCRIPT.replace('call_tool("users:get", ', "users.get("), {"id": 1})).value)
        print((await enclave.run('await call_tool("users:get", ["no object"], throw_on_error=False)')).error)


asyncio.run(main())

# prints:
# {'id': 1, 'name': 'Alice'}
# {'failed': 'no user 2', 'error': {'name': 'ToolError', 'message': 'no user 2', 'code': 'NOT_FOUND', 'tool_name': 'users:get'}}
# {'id': 1, 'name': 'Alice'}
# TOOL_ERROR at line 1: Tool arguments must be an object, not list; pass a dict
