"""Declarations that a model reads before it writes JavaScript."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

import ringfence as rf
from ringfence.enclave.stubs_typescript import describe_typescript, describe_typescript_handler
from tests.enclave.desk import TOOLS
from tests.enclave.kit import Stage


class Line(BaseModel):
    """One line of an order."""

    sku: str = Field(description="article number", pattern="[A-Z]+")
    count: int = Field(ge=1, le=99)
    price: Decimal
    notes: list[str | None] = []


class Order(BaseModel):
    id: int
    lines: list[Line]
    parent: Order | None = None
    state: Literal["open", "closed"] = "open"
    placed: datetime
    due: date | None = None
    tags: dict[str, bool] = {}


@rf.tool(effect="read")
async def get_order(order_id: int, fields: list[Literal["id", "lines"]] | None = None) -> Order:
    """One order.

    Args:
        order_id: its number
        fields: what to give
    """
    raise NotImplementedError


@rf.tool(effect="write", approval="human")
async def place(line: Line, at: datetime, raw: bytes = b"") -> bytes:
    """Place an order. */ Not the end of the comment."""
    raise NotImplementedError


@rf.tool
async def ping() -> None:
    """Nothing."""


WHOLE = """\
interface CallOptions { throwOnError?: boolean }
declare function callTool(name: string, args: object, options?: CallOptions): Promise<any>;
declare const inputs: Record<string, any>;

interface Order {
  id: number;
  lines: Line[];
  parent: Order | null;
  state: "open" | "closed"; // default "open"
  placed: Date | string; // text where it has no offset
  due: string | null; // ISO date
  tags: Record<string, boolean>; // default {}
}

/** One line of an order. */
interface Line {
  sku: string; // article number; matches [A-Z]+
  count: number; // >= 1; <= 99
  price: string; // decimal
  notes: (string | null)[]; // default []
}
"""


def described(*tools: Any) -> str:
    return describe_typescript(tools)


def test_types_are_written_once_and_in_full() -> None:
    text = described(get_order)
    assert WHOLE in text
    assert text.endswith(
        """\
declare const tools: {
  /** One order. */
  get_order(args: {
    order_id: number; // its number
    fields?: ("id" | "lines")[] | null; // what to give
  }, options?: CallOptions): Promise<Order>;
};
"""
    )


def test_the_header_shows_a_tool_that_exists() -> None:
    assert described(ping, get_order).splitlines()[:3] == [
        "// Tools for your script. Call them with `await`:",
        "//   await tools.get_order({ order_id: ... })",
        '//   await callTool("get_order", { order_id: ... }, { throwOnError: true })  // the same by name',
    ]


def test_arguments_that_cross_as_more_than_text_say_so() -> None:
    text = described(place)
    assert "    at: string | Date;" in text
    assert "    raw?: Uint8Array;" in text
    assert "Promise<Uint8Array>;" in text
    assert "   * Waits for approval." in text


def test_no_description_ends_its_comment() -> None:
    assert "Place an order. * / Not the end of the comment." in described(place)


def test_a_tool_without_arguments_needs_none() -> None:
    assert "  ping(args?: {}, options?: CallOptions): Promise<null>;" in described(ping)


def test_the_order_of_tools_does_not_matter() -> None:
    assert described(get_order, place, ping) == described(ping, place, get_order)


def test_without_tools_it_says_so() -> None:
    assert described().startswith("// There are no tools to call.\n")
    assert describe_typescript_handler().startswith("// Call a tool by its name")


def test_an_enclave_describes_itself_in_its_language(stage: Stage) -> None:
    options: dict[str, Any] = {"language": "javascript", "security_level": "STRICT", "timeout": 3}
    text = rf.Enclave(tool_handler=lambda name, args: None, tool_namespaces={"mail": ["list"]}, **options).describe()
    assert text.startswith(describe_typescript_handler())
    assert "//   await mail.list({...})  // the tool mail.list\n" in text
    assert "// Not allowed in this script: functions other than arrow functions" in text
    assert "#" not in text


@pytest.mark.parametrize("name", ["list_orders", "del"])
def test_every_tool_of_a_desk_is_there(name: str) -> None:
    assert f"\n  {name}(args" in describe_typescript(TOOLS)
