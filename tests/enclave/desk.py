"""A small office as governed tools, for the case files: orders, customers, mail, documents, a service that is flaky."""

from __future__ import annotations

from collections import Counter
from typing import Any

import ringfence as rf

ORDERS: list[dict[str, Any]] = [
    {"id": 1, "customer": "ada", "status": "shipped", "placed": "2026-01-05", "items": [{"sku": "pen", "qty": 10, "cents": 120}]},
    {"id": 2, "customer": "bob", "status": "open", "placed": "2026-01-17", "items": [{"sku": "ink", "qty": 2, "cents": 850}, {"sku": "pen", "qty": 1, "cents": 120}]},
    {"id": 3, "customer": "ada", "status": "open", "placed": "2026-02-02", "items": [{"sku": "desk", "qty": 1, "cents": 24900}]},
    {"id": 4, "customer": "cleo", "status": "returned", "placed": "2026-02-11", "items": [{"sku": "lamp", "qty": 3, "cents": 4550}]},
    {"id": 5, "customer": "bob", "status": "shipped", "placed": "2026-02-28", "items": [{"sku": "ink", "qty": 4, "cents": 850}]},
    {"id": 6, "customer": "dov", "status": "open", "placed": "2026-03-09", "items": []},
]  # fmt: skip
CUSTOMERS: dict[str, dict[str, Any]] = {
    "ada": {"name": "Ada", "email": "ada@example.org", "country": "GB", "vip": True},
    "bob": {"name": "Bob", "email": "bob@example.org", "country": "US", "vip": False},
    "cleo": {"name": "Cléo", "email": "cleo@example.org", "country": "FR", "vip": False},
    "dov": {"name": "דב", "email": "dov@example.org", "country": "IL", "vip": True},
}
DOCUMENTS: dict[str, str] = {
    "log": "2026-03-01 10:00:01 INFO start\n2026-03-01 10:00:02 ERROR disk full on sda\n2026-03-01 10:00:09 WARN retry\n2026-03-01 10:01:00 ERROR disk full on sdb\n2026-03-01 10:02:30 INFO stop\n",
    "csv": 'sku,name,price\npen,"Pen, blue",1.20\nink,Ink,8.50\ndesk,"Desk ""Oak""",249.00\n',
    "json": '{"totals": {"eu": 1250.5, "us": 980.25}, "tags": ["a", "b"]}',
    "xml": "<shop><item sku='pen'><stock>12</stock></item><item sku='ink'><stock>0</stock></item></shop>",
    "html": "<html><body><h1>News</h1><a href='/a'>one</a><p>text <a href='/b?x=1&amp;y=2'>two</a></p></body></html>",
    "prose": "The quick brown fox jumps over the lazy dog. The dog sleeps; the fox does not. Is it over? It is.",
}  # fmt: skip
READINGS = [3.2, 4.8, 4.1, 3.9, 12.5, 4.4, 4.0]

_tries: Counter[tuple[str, str]] = Counter()


@rf.tool(effect="read")
async def list_orders(status: str | None = None) -> list[dict[str, Any]]:
    """Orders, all or of one status."""
    return [order for order in ORDERS if status in (None, order["status"])]


@rf.tool(effect="read")
async def get_order(order_id: int) -> dict[str, Any]:
    """One order."""
    for order in ORDERS:
        if order["id"] == order_id:
            return order
    raise rf.ToolError(f"no order {order_id}", code="NOT_FOUND")


@rf.tool(effect="read")
async def get_customer(name: str) -> dict[str, Any]:
    """One customer."""
    if name not in CUSTOMERS:
        raise rf.ToolError(f"no customer {name}")
    return CUSTOMERS[name]


@rf.tool(effect="write")
async def send_mail(to: str, subject: str, body: str = "") -> dict[str, Any]:
    """Send mail."""
    if "@" not in to:
        raise rf.ToolError(f"not an address: {to}")
    return {"sent": True, "to": to, "length": len(subject) + len(body)}


@rf.tool(effect="read")
async def list_page(page: int, size: int = 4) -> dict[str, Any]:
    """Numbers 1 to 10, a page at a time."""
    first = (page - 1) * size
    rows = list(range(1, 11))[first : first + size]
    return {"rows": rows, "next": page + 1 if first + size < 10 else None}


@rf.tool(effect="read")
async def fetch_text(name: str) -> str:
    """A document's text."""
    return DOCUMENTS[name]


@rf.tool(effect="read")
async def readings() -> list[float]:
    """A sensor's values."""
    return READINGS


@rf.tool(effect="read")
async def flaky(key: str, ctx: rf.ToolContext) -> str:
    """Works the third time."""
    _tries[ctx.session_id, key] += 1
    if _tries[ctx.session_id, key] < 3:
        raise rf.ToolError("try again later")
    return f"{key} after {_tries[ctx.session_id, key]}"


@rf.tool(effect="write", name="del")
async def delete(order_id: int) -> bool:
    """Delete an order."""
    return order_id < 4


TOOLS = [list_orders, get_order, get_customer, send_mail, list_page, fetch_text, readings, flaky, delete]
