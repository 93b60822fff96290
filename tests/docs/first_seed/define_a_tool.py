# First seed, "Tools & Security": a tool with a time limit, one retry, and the signal handed on.
from __future__ import annotations

import asyncio

from pydantic import BaseModel, Field

import ringfence as rf


class Lookup(BaseModel):
    order_id: int = Field(alias="orderId")


class Order(BaseModel):
    id: int
    customer: str


class Orders:
    """A service that can be told to stop."""

    async def get(self, order_id: int, *, signal: rf.Signal) -> Order:
        signal.raise_if_aborted()
        return Order(id=order_id, customer="ada")


orders = Orders()


async def execute(lookup: Lookup, context: rf.ToolContext) -> Order:
    return await orders.get(lookup.order_id, signal=context.signal)


lookup_order = rf.Tool(
    name="lookup_order",
    description="Look up an order by numeric ID",
    input=Lookup,
    timeout=5.0,
    retries=1,
    approval="auto",
    execute=execute,
)


async def main() -> None:
    async with rf.Boundary(tools=[lookup_order], sandbox=rf.local(unsafe=True)) as boundary:
        outcome = await boundary.call("lookup_order", {"orderId": 7})
        print(outcome.status, outcome.value)

    for change in ({"name": "lookupOrder"}, {"description": "  "}, {"retries": -1}, {"timeout": float("inf")}):
        try:
            lookup_order.replace(**change)
        except rf.ConfigError as error:
            print(error.code, "by", *change)


asyncio.run(main())

# prints:
# succeeded id=7 customer='ada'
# bad_name by name
# bad_config by description
# bad_config by retries
# bad_config by timeout
