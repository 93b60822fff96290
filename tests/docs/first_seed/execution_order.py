# First seed, "Execution order": the stages of one call, in turn.
from __future__ import annotations

import asyncio

from pydantic import BaseModel

import ringfence as rf


class Query(BaseModel):
    text: str

    def model_post_init(self, context: object) -> None:
        print("1 validate")


def approval(query: Query, info: rf.ApprovalInfo) -> bool:
    print("2 approve", info.tool)
    return True


async def execute(query: Query, context: rf.ToolContext) -> str:
    print("5 execute, attempt", context.attempt, "of", context.max_attempts)
    raise ConnectionError(query.text)


def on_error(error: Exception) -> str:
    print("8 on_error gets", type(error).__name__)
    return "nothing found"


search = rf.Tool(
    "search", "Search.", Query, execute, approval=approval, timeout=5.0, retries=1, on_error=on_error, effect="read"
)


async def main() -> None:
    async with rf.Boundary(tools=[search], sandbox=rf.local(unsafe=True)) as boundary:
        boundary.on(("tool.called", "tool.failed"), lambda event: print(event.type, event.meta["attempt"]))
        print((await boundary.call("search", {"text": "x"})).unwrap())
        print((await boundary.call("search", {"text": 7})).status)


asyncio.run(main())

# prints:
# 1 validate
# 2 approve search
# tool.called 1
# 5 execute, attempt 1 of 2
# tool.failed 1
# tool.called 2
# 5 execute, attempt 2 of 2
# tool.failed 2
# 8 on_error gets ConnectionError
# nothing found
# refused
