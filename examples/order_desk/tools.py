"""What the order desk can do, as governed tools on the shop's SQLite database.

Ordinary synchronous functions: ringfence runs them in threads, and each call opens its own connection to the database
that `ORDER_DESK_DB` names. Amounts are whole cents. Nothing here knows of scripts or approvals: `approval="human"`
says that a person decides, the boundary sees to it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

import ringfence as rf

Status = Literal["paid", "shipped", "delivered", "late", "damaged"]
_COLUMNS = "order_id, customer_id, placed_at, status, total_cents"


class Customer(BaseModel):
    """A person who buys."""

    customer_id: int
    name: str
    email: str
    city: str


class OrderSummary(BaseModel):
    """One row of a list of orders."""

    order_id: int
    customer_id: int
    placed_at: str
    status: Status
    total_cents: int


class OrderPage(BaseModel):
    """One page of a list, and how many there are."""

    orders: list[OrderSummary]
    page: int
    pages: int
    total: int


class Line(BaseModel):
    """Goods in an order."""

    sku: str
    product: str
    quantity: int
    unit_cents: int


class Order(OrderSummary):
    """Everything about one order."""

    paid_cents: int
    refunded_cents: int
    note: str
    lines: list[Line]


class Refund(BaseModel):
    """Money that went back."""

    refund_id: int
    order_id: int
    amount_cents: int


class Mail(BaseModel):
    """A mail that waits in the outbox."""

    mail_id: int
    recipient: str


@contextmanager
def _database() -> Generator[sqlite3.Connection]:
    path = os.environ.get("ORDER_DESK_DB", "")
    if not os.path.isfile(path):
        raise rf.ToolError("the shop's database is not there; set ORDER_DESK_DB to the file that seed.py built")
    connection = sqlite3.connect(path, timeout=5.0)
    connection.row_factory = sqlite3.Row
    try:
        with connection:  # commits, or rolls back when the tool raises
            yield connection
    finally:
        connection.close()


@rf.tool(effect="read", timeout=5.0)
def list_orders(
    status: Status | None = None,
    since: date | None = None,
    page: Annotated[int, Field(ge=1)] = 1,
    page_size: Annotated[int, Field(ge=1, le=100)] = 50,
) -> OrderPage:
    """List orders, oldest first, one page at a time.

    Args:
        status: only orders in this state.
        since: only orders placed on or after this day.
        page: number of the page, from 1.
        page_size: orders per page.
    """
    condition = "(:status IS NULL OR status = :status) AND (:since IS NULL OR placed_at >= :since)"
    filters = {"status": status, "since": since.isoformat() if since else None}
    with _database() as database:
        total: int = database.execute(f"SELECT count(*) FROM orders WHERE {condition}", filters).fetchone()[0]
        rows = database.execute(
            f"SELECT {_COLUMNS} FROM orders WHERE {condition} ORDER BY order_id LIMIT :size OFFSET :skipped",
            {**filters, "size": page_size, "skipped": (page - 1) * page_size},
        ).fetchall()
    orders = [OrderSummary.model_validate(dict(row)) for row in rows]
    return OrderPage(orders=orders, page=page, pages=-(-total // page_size), total=total)


@rf.tool(effect="read", timeout=5.0)
def search_orders(
    text: Annotated[str, Field(min_length=2)], limit: Annotated[int, Field(ge=1, le=50)] = 20
) -> list[OrderSummary]:
    """Search orders by product, article number or the desk's note; the newest come first.

    Args:
        text: part of a product's name, of its article number, or of the note; case does not matter.
        limit: the most orders to return.
    """
    with _database() as database:
        rows = database.execute(
            f"SELECT {_COLUMNS} FROM orders WHERE instr(lower(note), lower(:text)) OR order_id IN"
            " (SELECT order_id FROM lines WHERE instr(lower(product), lower(:text)) OR instr(lower(sku), lower(:text)))"
            " ORDER BY order_id DESC LIMIT :limit",
            {"text": text, "limit": limit},
        ).fetchall()
    return [OrderSummary.model_validate(dict(row)) for row in rows]


@rf.tool(effect="read", timeout=5.0)
def find_customer(
    customer_id: int | None = None, text: Annotated[str, Field(min_length=2)] | None = None
) -> list[Customer]:
    """Find customers by number, or by a part of name, address or city.

    Args:
        customer_id: exactly this customer.
        text: part of the name, the mail address or the city; case does not matter.
    """
    if customer_id is None and text is None:
        raise rf.ToolError("give customer_id or text")
    with _database() as database:
        rows = database.execute(
            "SELECT * FROM customers WHERE (:number IS NULL OR customer_id = :number)"
            " AND (:text IS NULL OR instr(lower(name || ' ' || email || ' ' || city), lower(:text)))"
            " ORDER BY customer_id",
            {"number": customer_id, "text": text},
        ).fetchall()
    return [Customer.model_validate(dict(row)) for row in rows]


@rf.tool(effect="read", timeout=5.0)
def get_order(order_id: int) -> Order:
    """Everything about one order: its lines, what was paid, what already went back.

    Args:
        order_id: number of the order.
    """
    with _database() as database:
        return _order(database, order_id)


def _order(database: sqlite3.Connection, order_id: int) -> Order:
    row = database.execute(
        "SELECT *, (SELECT coalesce(sum(amount_cents), 0) FROM refunds WHERE refunds.order_id = orders.order_id)"
        " AS refunded_cents FROM orders WHERE order_id = ?",
        (order_id,),
    ).fetchone()
    if row is None:
        raise rf.ToolError(f"there is no order {order_id}", code="no_such_order")
    lines = database.execute(
        "SELECT sku, product, quantity, unit_cents FROM lines WHERE order_id = ? ORDER BY sku", (order_id,)
    ).fetchall()
    return Order.model_validate({**dict(row), "lines": [dict(line) for line in lines]})


@rf.tool(effect="write", approval="human", timeout=5.0)
def refund_order(
    order_id: int,
    amount_cents: Annotated[int, Field(ge=1)],
    reason: Annotated[str, Field(min_length=3, max_length=200)],
    ctx: rf.ToolContext,
) -> Refund:
    """Pay money back to the customer. A person has to approve it.

    Args:
        order_id: number of the order.
        amount_cents: how much, in cents; at most what was paid and has not gone back yet.
        reason: why, for the books.
    """
    with _database() as database:
        database.execute("BEGIN IMMEDIATE")  # nobody else refunds between the check and the record
        order = _order(database, order_id)
        left = order.paid_cents - order.refunded_cents
        if amount_cents > left:
            raise rf.ToolError(
                f"{amount_cents} cents is more than the {left} cents that can still be refunded on order {order_id}",
                code="too_much",
            )
        refund_id = database.execute(
            "INSERT INTO refunds (order_id, amount_cents, reason, call_id) VALUES (?, ?, ?, ?)",
            (order_id, amount_cents, reason, ctx.call_id),
        ).lastrowid
    return Refund(refund_id=refund_id or 0, order_id=order_id, amount_cents=amount_cents)


@rf.tool(effect="write", timeout=5.0)
def send_mail(
    to: str,
    subject: Annotated[str, Field(min_length=1, max_length=120)],
    body: Annotated[str, Field(min_length=1, max_length=4000)],
) -> Mail:
    """Put a mail to a customer into the outbox.

    Args:
        to: mail address of a customer of the shop; no other address is written to.
        subject: one line.
        body: plain text.
    """
    with _database() as database:
        if database.execute("SELECT 1 FROM customers WHERE email = ?", (to,)).fetchone() is None:
            raise rf.ToolError("this address belongs to no customer", code="not_a_customer")
        mail_id = database.execute(
            "INSERT INTO outbox (recipient, subject, body) VALUES (?, ?, ?)", (to, subject, body)
        ).lastrowid
    return Mail(mail_id=mail_id or 0, recipient=to)
