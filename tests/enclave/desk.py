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

PEOPLE: list[dict[str, Any]] = [
    {
        "id": n,
        "name": name,
        "email": f"{name.lower()}@example.com",
        "department": ["eng", "sales", "ops"][n % 3],
        "salary": 40_000 + 1_700 * ((n * 7) % 11),
        "active": n % 5 != 0,
        "joined": f"20{15 + n % 9:02}-{1 + (n * 5) % 12:02}-{1 + (n * 11) % 28:02}",
        "manager_id": None if n == 1 else n // 2,
    }
    for n, name in enumerate(
        "Ines Jonas Katja Liam Mara Nils Olga Piet Quinn Rosa Sven Tara Umar Vera Wim Xenia Yann Zoe".split(), 1
    )
]
PRODUCTS: list[dict[str, Any]] = [
    {"sku": "pen", "name": "Blue pen", "category": "office", "price": 1.2, "rating": 4.1, "tags": ["blue", "writing"]},
    {"sku": "ink", "name": "Ink bottle", "category": "office", "price": 8.5, "rating": 3.7, "tags": ["writing"]},
    {"sku": "desk", "name": "Oak desk", "category": "furniture", "price": 249.0, "rating": 4.8, "tags": ["wood", "heavy"]},
    {"sku": "lamp", "name": "Desk lamp", "category": "light", "price": 45.5, "rating": 4.4, "tags": []},
    {"sku": "chair", "name": "Office chair", "category": "furniture", "price": 129.99, "rating": 3.9, "tags": ["wheels"]},
    {"sku": "bulb", "name": "Bulb E27", "category": "light", "price": 3.25, "rating": None, "tags": ["spare"]},
]  # fmt: skip
STOCK: dict[str, int] = {"pen": 320, "ink": 12, "desk": 0, "lamp": 7, "bulb": 55}
TICKETS: list[dict[str, Any]] = [
    {"id": "T-1", "title": "Login fails", "state": "open", "priority": "high", "assignee": "ines", "labels": ["bug", "auth"], "created": "2026-03-01T09:15:00+00:00", "estimate": 3},
    {"id": "T-2", "title": "Add dark mode", "state": "open", "priority": "low", "assignee": None, "labels": ["feature"], "created": "2026-03-02T14:00:00+01:00", "estimate": None},
    {"id": "T-3", "title": "Crash on export", "state": "closed", "priority": "urgent", "assignee": "jonas", "labels": ["bug"], "created": "2026-02-20T08:30:00+00:00", "estimate": 5},
    {"id": "T-4", "title": "Typo in footer", "state": "open", "priority": "low", "assignee": "ines", "labels": [], "created": "2026-03-08T23:45:00-05:00", "estimate": 1},
    {"id": "T-5", "title": "Slow search", "state": "blocked", "priority": "high", "assignee": "katja", "labels": ["perf", "bug"], "created": "2026-02-28T12:00:00+00:00", "estimate": 8},
]  # fmt: skip
TRANSACTIONS: list[dict[str, Any]] = [
    {"id": "a1", "date": "2026-01-03", "amount": "-12.50", "currency": "EUR", "memo": "Coffee Corner"},
    {"id": "a2", "date": "2026-01-15", "amount": "2400.00", "currency": "EUR", "memo": "Salary ACME"},
    {"id": "a3", "date": "2026-01-15", "amount": "-850.00", "currency": "EUR", "memo": "Rent"},
    {"id": "a4", "date": "2026-02-02", "amount": "-19.99", "currency": "USD", "memo": "Cloud storage"},
    {"id": "a5", "date": "2026-02-15", "amount": "2400.00", "currency": "EUR", "memo": "Salary ACME"},
    {"id": "a6", "date": "2026-02-15", "amount": "-850.00", "currency": "EUR", "memo": "Rent"},
    {"id": "a7", "date": "2026-02-20", "amount": "-33.33", "currency": "EUR", "memo": "Coffee Corner"},
    {"id": "a7", "date": "2026-02-20", "amount": "-33.33", "currency": "EUR", "memo": "Coffee Corner"},
]
RATES: dict[str, float] = {"EUR": 1.0, "USD": 1.08, "GBP": 0.85, "JPY": 161.5}
WEATHER: dict[str, tuple[float, str]] = {
    "Berlin": (7.5, "rain"),
    "Cairo": (29.0, "clear"),
    "Oslo": (-3.25, "snow"),
    "Lima": (22.0, "clouds"),
}
EVENTS: list[dict[str, Any]] = [
    {"title": "Standup", "start": "2026-03-09T09:00:00+01:00", "end": "2026-03-09T09:15:00+01:00", "guests": ["ines", "jonas"]},
    {"title": "Review", "start": "2026-03-09T09:10:00+01:00", "end": "2026-03-09T10:00:00+01:00", "guests": ["ines"]},
    {"title": "Lunch", "start": "2026-03-09T12:00:00+01:00", "end": "2026-03-09T13:00:00+01:00", "guests": []},
    {"title": "Call NY", "start": "2026-03-09T10:00:00-04:00", "end": "2026-03-09T11:30:00-04:00", "guests": ["jonas", "katja"]},
]  # fmt: skip
TREE: dict[str, dict[str, Any]] = {
    "root": {"id": "root", "name": "/", "size": 0, "children": ["src", "docs", "readme"]},
    "src": {"id": "src", "name": "src", "size": 0, "children": ["main", "util"]},
    "docs": {"id": "docs", "name": "docs", "size": 0, "children": []},
    "readme": {"id": "readme", "name": "README.md", "size": 812, "children": []},
    "main": {"id": "main", "name": "main.py", "size": 2048, "children": []},
    "util": {"id": "util", "name": "util.py", "size": 1024, "children": []},
}

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


@rf.tool(effect="read")
async def list_users(limit: int = 5, cursor: str | None = None) -> dict[str, Any]:
    """People, a page at a time; `next_cursor` is null on the last page."""
    first = int(cursor or "0")
    more = first + limit < len(PEOPLE)
    return {"items": PEOPLE[first : first + limit], "next_cursor": str(first + limit) if more else None}


@rf.tool(effect="read")
async def get_user(user_id: int) -> dict[str, Any] | None:
    """One person, or null."""
    return next((person for person in PEOPLE if person["id"] == user_id), None)


@rf.tool(effect="read")
async def search_products(
    query: str = "", category: str | None = None, max_price: float | None = None
) -> list[dict[str, Any]]:
    """Products whose name holds the query."""
    return [
        one
        for one in PRODUCTS
        if query.lower() in one["name"].lower()
        and category in (None, one["category"])
        and (max_price is None or one["price"] <= max_price)
    ]


@rf.tool(effect="read")
async def get_stock(sku: str) -> dict[str, Any]:
    """How many there are."""
    if sku not in STOCK:
        raise rf.ToolError(f"unknown sku: {sku}", code="NOT_FOUND")
    return {"sku": sku, "quantity": STOCK[sku]}


@rf.tool(effect="read")
async def list_tickets(state: str | None = None) -> list[dict[str, Any]]:
    """Tickets, all or of one state."""
    return [ticket for ticket in TICKETS if state in (None, ticket["state"])]


@rf.tool(effect="write")
async def update_ticket(
    ticket_id: str, state: str | None = None, assignee: str | None = None, labels: list[str] | None = None
) -> dict[str, Any]:
    """Change a ticket; the answer is what it became."""
    for ticket in TICKETS:
        if ticket["id"] == ticket_id:
            changes = {"state": state, "assignee": assignee, "labels": labels}
            return ticket | {key: value for key, value in changes.items() if value is not None}
    raise rf.ToolError(f"ticket {ticket_id} not found", code="NOT_FOUND")


@rf.tool(effect="write")
async def create_ticket(title: str, priority: str = "normal", labels: list[str] | None = None) -> dict[str, Any]:
    """A new ticket."""
    if not title.strip():
        raise rf.ToolError("title must not be empty", code="INVALID")
    return {"id": f"T-{100 + len(title)}", "title": title, "priority": priority, "labels": labels or []}


@rf.tool(effect="read")
async def list_transactions(month: str | None = None) -> list[dict[str, Any]]:
    """What happened on the account; amounts are decimal text."""
    return [one for one in TRANSACTIONS if month is None or one["date"].startswith(month)]


@rf.tool(effect="read")
async def get_rates(base: str = "EUR") -> dict[str, Any]:
    """Units of each currency for one of the base."""
    return {"base": base, "rates": {name: round(rate / RATES[base], 4) for name, rate in RATES.items()}}


@rf.tool(effect="read")
async def get_weather(city: str) -> dict[str, Any]:
    """Weather of a city."""
    if city not in WEATHER:
        raise rf.ToolError(f"no weather for {city}", code="UNKNOWN_CITY")
    degrees, sky = WEATHER[city]
    return {"city": city, "temp_c": degrees, "conditions": sky}


@rf.tool(effect="read")
async def list_events(day: str) -> list[dict[str, Any]]:
    """A day's appointments."""
    return [event for event in EVENTS if event["start"].startswith(day)]


@rf.tool(effect="read")
async def get_node(node_id: str) -> dict[str, Any]:
    """A node of a tree of files."""
    return TREE[node_id]


@rf.tool(effect="read")
async def health(service: str) -> dict[str, Any]:
    """State of a service; some do not answer."""
    match service:
        case "db":
            raise rf.ToolError("connection refused", code="UNAVAILABLE")
        case "cache":
            raise rf.ToolError("timed out after 2 s", code="TIMEOUT")
        case _:
            return {"service": service, "status": "ok", "latency_ms": 10 * len(service)}


TOOLS = [
    list_orders,
    get_order,
    get_customer,
    send_mail,
    list_page,
    fetch_text,
    readings,
    flaky,
    delete,
    list_users,
    get_user,
    search_products,
    get_stock,
    list_tickets,
    update_ticket,
    create_ticket,
    list_transactions,
    get_rates,
    get_weather,
    list_events,
    get_node,
    health,
]


async def handle(name: str, args: dict[str, Any]) -> Any:
    """The same office as one plain handler, under names with a colon."""
    match name:
        case "users:list":
            first, limit = args.get("offset", 0), args.get("limit", 5)
            return {"items": PEOPLE[first : first + limit], "total": len(PEOPLE)}
        case "users:get":
            for person in PEOPLE:
                if person["id"] == args["id"]:
                    return person
            raise rf.ToolError(f"User {args['id']} not found")
        case "tickets:list":
            return {"tickets": TICKETS}
        case "products:search":
            return [one for one in PRODUCTS if args["query"].lower() in one["name"].lower()]
        case "math:add":
            return args["a"] + args["b"]
        case "echo":
            return {**args}
        case _:
            raise rf.ToolError(f"Unknown tool: {name}")
