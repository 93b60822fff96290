"""Must type-check under strict rules: what a user of tools writes."""

from __future__ import annotations

from typing import assert_type

from pydantic import BaseModel, TypeAdapter

from ringfence.contract.context import ToolContext
from ringfence.contract.tool import Tool, tool
from ringfence.contract.toolset import Toolset


class Lookup(BaseModel):
    order_id: int


class Order(BaseModel):
    id: int
    total: float


@tool
async def bare(order_id: int, ctx: ToolContext, deep: bool = False) -> Order:
    """Look up an order."""
    return Order(id=order_id, total=float(deep) + ctx.attempt)


@tool(name="find", timeout=2.0, retries=1, approval="human", effect="read", tags=("orders",))
def with_options(order_id: int) -> Order:
    """Look up an order."""
    return Order(id=order_id, total=0)


async def by_policy(arguments: Lookup, info: object) -> bool:
    del info
    return arguments.order_id > 0


@tool(approval=by_policy, on_error=lambda error: {"available": False}, idempotent=True, output=Order)
def with_callbacks(order_id: int) -> dict[str, int]:
    """Look up an order."""
    return {"id": order_id}


def takes_arguments(arguments: Lookup) -> Order:
    return Order(id=arguments.order_id, total=0)


async def takes_context(arguments: Lookup, ctx: ToolContext) -> Order:
    return Order(id=arguments.order_id, total=ctx.attempt)


assert_type(with_options.execute(order_id=1), Order)

plain = Tool("find_one", "Find.", Lookup, takes_arguments)
assert_type(plain, Tool[[Lookup], Order])

contextual = Tool("find_two", "Find.", Lookup, takes_context, timeout=1.0, approval="human")
adapted = Tool("find_three", "Find.", TypeAdapter(Lookup), takes_arguments)
inferred = Tool("find_four", "Find.", Lookup, lambda arguments: arguments.order_id)
assert_type(inferred, Tool[[Lookup], int])
inferred_with_context = Tool("find_five", "Find.", Lookup, lambda arguments, ctx: (arguments.order_id, ctx.attempt))
method = Tool.from_function(takes_arguments, description="Find.", effect="read")

tools = Toolset(
    [bare, with_options, with_callbacks, plain, contextual, adapted, inferred, inferred_with_context, method]
)
assert_type(tools["find"], Tool)
reduced: Toolset = tools.prefixed("orders").filtered(lambda one: one.effect == "read").with_approval("human")
nested = Toolset([reduced, bare])
names: list[str] = [one.name for one in nested]
renamed: Tool = bare.replace(name="other")
