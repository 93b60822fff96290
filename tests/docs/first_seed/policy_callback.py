# First seed, "Policy callback": small payments of trusted sessions, and no others.
from __future__ import annotations

import asyncio

from pydantic import BaseModel

import ringfence as rf


class Payment(BaseModel):
    amount: float


def approval(input: Payment, context: rf.ApprovalInfo) -> bool:  # noqa: A002
    return context.session_id.startswith("trusted:") and input.amount < 100


async def execute(payment: Payment) -> str:
    return f"paid {payment.amount:g}"


pay = rf.Tool("pay", "Pay an invoice.", Payment, execute, approval=approval, retries=3)


async def main() -> None:
    async with rf.Boundary(tools=[pay], sandbox=rf.local(unsafe=True)) as boundary:
        boundary.on(None, lambda event: print("  ", event.type))
        for session_id, amount in (("trusted:1", 99), ("trusted:1", 100), ("visitor", 5), ("trusted:1", "99")):
            outcome = await boundary.call("pay", {"amount": amount}, session_id=session_id)
            print(session_id, amount, outcome.status, outcome.value or (outcome.error and outcome.error.code))


asyncio.run(main())

# prints:
#    approval.required
#    approval.granted
#    tool.called
#    tool.completed
# trusted:1 99 succeeded paid 99
#    approval.required
# trusted:1 100 refused approval_denied
#    approval.required
# visitor 5 refused approval_denied
# trusted:1 99 refused invalid_input
