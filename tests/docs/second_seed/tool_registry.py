# Second seed, "Integrating with a Tool Registry": look up, validate, execute; or let ringfence be the registry.
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

import ringfence as rf


class UserQuery(BaseModel):
    id: int


@dataclass
class Entry:
    input_schema: type[BaseModel]
    execute: Callable[[Any], Awaitable[object]]


async def get_user(query: UserQuery) -> object:
    return {"id": query.id, "name": "Alice"}


registry = {"users:get": Entry(UserQuery, get_user)}


async def handle(tool_name: str, args: dict[str, Any]) -> object:
    # Look up tool in registry
    tool = registry.get(tool_name)
    if tool is None:
        raise LookupError(f"Unknown tool: {tool_name}")

    # Validate input schema
    validated_args = tool.input_schema.model_validate(args)

    # Execute with your pipeline (auth, logging, etc.)
    return await tool.execute(validated_args)


@rf.tool(effect="read")
async def users_get(user_id: int) -> dict[str, object]:
    """The same as a governed tool: the gate looks up and validates."""
    return {"id": user_id, "name": "Alice"}


async def main() -> None:
    async with rf.Enclave(timeout=10.0, tool_handler=handle) as enclave:
        for script in (
            'await call_tool("users:get", {"id": 1})',
            'await call_tool("users:drop", {})',
            'await call_tool("users:get", {"id": "first"})',
        ):
            result = await enclave.run(script)
            print(result.value if result.error is None else (result.error.name, result.error.message.splitlines()[0]))

    governed = rf.Enclave(
        tools=[users_get], sandbox=rf.local(unsafe=True), tool_namespaces={"users": {"get": "users_get"}}
    )
    async with governed:
        result = await governed.run("await users.get(user_id=1)")
        print(result.value)


asyncio.run(main())

# prints:
# {'id': 1, 'name': 'Alice'}
# ('LookupError', 'Unknown tool: users:drop')
# ('ValidationError', '1 validation error for UserQuery')
# {'id': 1, 'name': 'Alice'}
