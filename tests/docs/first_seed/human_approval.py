# First seed, "Human approval": a service decides, and it alone sees the arguments.
from __future__ import annotations

import asyncio
import logging
import sys

import ringfence as rf


class ApprovalService:
    """Somebody is asked somewhere else."""

    async def decide(self, request: rf.ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        print("asked about", request.tool, dict(request.arguments))
        return request.arguments["cents"] <= 5_000


approval_service = ApprovalService()


async def approve(request: rf.ApprovalRequest) -> bool:
    return await approval_service.decide(request)


@rf.tool(approval="human")
async def refund(order_id: int, cents: int) -> str:
    """Pay money back."""
    return f"refunded {cents} of order {order_id}"


async def main() -> None:
    logging.basicConfig(stream=sys.stdout, format="%(levelname)s from %(name)s")
    local = rf.local(unsafe=True)
    async with rf.Boundary(tools=[refund], sandbox=local, approve=approve) as boundary:
        boundary.on(None, lambda event: print("event", event.type, event.tool, event.session_id))
        for cents in (1_500, 90_000):
            outcome = await boundary.call("refund", {"order_id": 7, "cents": cents}, session_id="s1")
            print(outcome.status, outcome.value)

    async with rf.Boundary(tools=[refund], sandbox=local) as nobody:
        outcome = await nobody.call("refund", {"order_id": 7, "cents": 1})
        print(outcome.status, outcome.error and outcome.error.code)


asyncio.run(main())

# prints:
# event approval.required refund s1
# asked about refund {'order_id': 7, 'cents': 1500}
# event approval.granted refund s1
# event tool.called refund s1
# event tool.completed refund s1
# succeeded refunded 1500 of order 7
# event approval.required refund s1
# asked about refund {'order_id': 7, 'cents': 90000}
# refused None
# WARNING from ringfence
# refused approval_denied
