# First seed, "Execution context": a session and a signal, which a tool looks at or waits for.
from __future__ import annotations

import asyncio

import ringfence as rf


@rf.tool(timeout=0.05, retries=2, effect="read")
async def watch(context: rf.ToolContext) -> str:
    """Wait for something that does not come."""
    print("session", context.session_id, "aborted", context.signal.aborted)
    try:
        await asyncio.sleep(60)
    finally:
        print("stopped, aborted", context.signal.aborted)
    return "never"


@rf.tool(effect="read")
async def count(context: rf.ToolContext) -> int:
    """Count until somebody says stop."""
    counted = 0
    while not context.signal.aborted:
        counted += 1
        await asyncio.sleep(0)
    return counted


async def main() -> None:
    async with rf.Boundary(tools=[watch, count], sandbox=rf.local(unsafe=True)) as boundary:
        outcome = await boundary.call("watch", session_id="s1")
        print(outcome.status, outcome.error and outcome.error.code, outcome.attempts)

        signal = rf.AbortSignal()
        counting = asyncio.create_task(boundary.call("count", signal=signal))
        await asyncio.sleep(0.01)
        signal.abort()
        print((await counting).unwrap() > 0)


asyncio.run(main())

# prints:
# session s1 aborted False
# stopped, aborted True
# failed tool_timeout 1
# True
