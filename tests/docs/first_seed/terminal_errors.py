# First seed, "Handle terminal errors": a fallback in place of the last error, and classes to tell errors apart.
from __future__ import annotations

import asyncio
from typing import TypedDict

from pydantic import BaseModel

import ringfence as rf


class Lookup(BaseModel):
    order_id: int


class Unavailable(TypedDict):
    available: bool
    reason: str


def on_error(error: Exception) -> Unavailable:
    return {"available": False, "reason": "Lookup unavailable"}


async def execute(lookup: Lookup) -> str:
    raise ConnectionError(f"10.0.0.7 refused order {lookup.order_id}")


async def waits(lookup: Lookup) -> None:
    await asyncio.sleep(60)


def denies(lookup: Lookup, info: rf.ApprovalInfo) -> bool:
    return False


tools = [
    rf.Tool("lookup", "Look up.", Lookup, execute, retries=2, on_error=on_error),
    rf.Tool("strict", "Look up.", Lookup, execute),
    rf.Tool("guarded", "Look up.", Lookup, execute, approval=denies),
    rf.Tool("slow", "Look up.", Lookup, waits, timeout=0.02),
]


async def classify(boundary: rf.Boundary, name: str, args: dict[str, object]) -> str:
    try:
        outcome = await boundary.call(name, args)
        return str(outcome.unwrap())
    except rf.ToolValidationError as error:
        return f"validation: {[issue['path'] for issue in error.issues]}"
    except rf.ToolApprovalError as error:
        return f"approval: {error.code}"
    except rf.ToolTimeoutError as error:
        return f"timeout: {error.code}"
    except rf.ToolSandboxRequiredError as error:
        return f"sandbox: {error.code}"
    except rf.ToolFailure as error:
        return f"failure: {error.code}, because of {type(error.__cause__).__name__}"


async def main() -> None:
    async with rf.Boundary(tools=tools, sandbox=rf.local(unsafe=True)) as boundary:
        for name in ("lookup", "strict", "guarded", "slow"):
            print(await classify(boundary, name, {"order_id": 7}))
        print(await classify(boundary, "strict", {"order_id": "7"}))
    print(await classify(rf.Boundary(tools=tools), "strict", {"order_id": 7}))


asyncio.run(main())

# prints:
# {'available': False, 'reason': 'Lookup unavailable'}
# failure: tool_raised, because of ConnectionError
# approval: approval_denied
# timeout: tool_timeout
# validation: ['order_id']
# sandbox: sandbox_required
