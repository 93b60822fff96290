"""Must not type-check: every line marked `error`, and no other.

`type: ignore` keeps the check of the whole repository quiet; `test_typing.py` switches it off.
"""

from __future__ import annotations

from pydantic import BaseModel

from ringfence.contract.context import ToolContext
from ringfence.contract.tool import Tool, tool
from ringfence.contract.toolset import Toolset


class Lookup(BaseModel):
    order_id: int


class Other(BaseModel):
    text: str


def takes_other(arguments: Other) -> str:
    return arguments.text


@tool
def find(order_id: int) -> int:
    """Find."""
    return order_id


@tool(approval="Human")  # type: ignore  # error
def wrong_approval(order_id: int) -> int:
    """Find."""
    return order_id


@tool(retries="1")  # type: ignore  # error
def wrong_retries(order_id: int) -> int:
    """Find."""
    return order_id


@tool(effect="delete")  # type: ignore  # error
def wrong_effect(order_id: int) -> int:
    """Find."""
    return order_id


@tool(requires_approval=True)  # type: ignore  # error
def wrong_option(order_id: int) -> int:
    """Find."""
    return order_id


find.execute(order_id="1")  # type: ignore  # error
Tool("find", "Find.", Lookup, takes_other)  # type: ignore  # error
Tool("find", "Find.", Lookup, lambda arguments: arguments.missing)  # type: ignore  # error
Tool("find", "Find.", "Lookup", takes_other)  # type: ignore  # error
Toolset([find.execute])  # type: ignore  # error


def misuse(ctx: ToolContext) -> None:
    ctx.attempt = 2  # type: ignore  # error
