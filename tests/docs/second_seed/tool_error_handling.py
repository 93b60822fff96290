# Second seed, "Tool Error Handling": errors as answers that a script can branch on.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf


class Flaky(Exception):
    code = "FLAKY"


async def execute_tool_safely(name: str, args: dict[str, Any]) -> object:
    raise Flaky("the service is down")


async def handle(name: str, args: dict[str, Any]) -> object:
    try:
        return await execute_tool_safely(name, args)
    except Exception as error:
        # Return structured error that script can handle
        return {
            "error": True,
            "code": getattr(error, "code", None) or "TOOL_ERROR",
            "message": str(error),
        }


code = """
result = await call_tool("risky:operation", {})
if result.get("error"):
    return {"success": False, "reason": result["message"]}
return {"success": True, "data": result}
"""


async def main() -> None:
    async with rf.Enclave(tool_handler=handle) as enclave:
        result = await enclave.run(code)
        print(result.success, result.value)


asyncio.run(main())

# prints:
# True {'success': False, 'reason': 'the service is down'}
