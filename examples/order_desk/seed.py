"""Builds the shop's database: the same bytes of data on every machine and every day.

About 40 customers and 200 orders of March 2026 with their lines, among them a few that an order desk has to deal
with: parcels that came damaged or late, and orders that were placed twice. Knows SQLite and nothing of tools.
Used by the demo and the tests, and by hand: `python -m examples.order_desk.seed shop.db`.
"""

from __future__ import annotations

import random
import sqlite3
import sys
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

SCHEMA = """
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT NOT NULL
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, placed_at TEXT NOT NULL,
  status TEXT NOT NULL, total_cents INTEGER NOT NULL, paid_cents INTEGER NOT NULL, note TEXT NOT NULL
);
CREATE TABLE lines (
  order_id INTEGER NOT NULL REFERENCES orders, sku TEXT NOT NULL, product TEXT NOT NULL,
  quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL, PRIMARY KEY (order_id, sku)
);
CREATE TABLE refunds (
  refund_id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders, amount_cents INTEGER NOT NULL,
  reason TEXT NOT NULL, call_id TEXT NOT NULL
);
CREATE TABLE outbox (
  mail_id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL
);
"""

FIRST_NAMES = (
    "Ada Bruno Chidi Dana Elif Farah Goran Hanna Ines Jonas Kemal Lucia Mateo Nadia Oskar Priya Quentin Rosa Sven "
    "Tomas Ursula Vera Wanda Xenia Yusuf Zoe Amara Benoit Carla Dmitri"
).split()
LAST_NAMES = (
    "Almeida Bergman Castellano Dupont Eriksen Ferreira Grabowski Haddad Ivanova Jansen Keller Lindqvist Moreau "
    "Novak Okonkwo Petrov Quinn Rossi Schneider Toivonen Ueda Vasquez Whitfield Yilmaz Zanetti"
).split()
CITIES = ("Lisbon", "Hamburg", "Lyon", "Krakow", "Utrecht", "Turin", "Malmö", "Ghent", "Cork", "Graz")
PRODUCTS = (
    ("KET-17", "Gooseneck kettle", 6450),
    ("GRI-02", "Hand coffee grinder", 8900),
    ("FIL-100", "Paper filters, 100 pieces", 690),
    ("CUP-04", "Stoneware cups, set of four", 3800),
    ("SCA-01", "Kitchen scale, 0.1 g", 4250),
    ("BEA-500", "Espresso beans, 500 g", 1590),
    ("TEA-250", "Darjeeling first flush, 250 g", 2240),
    ("POT-08", "Cast iron teapot, 0.8 l", 7300),
    ("TRA-03", "Bamboo tray", 2950),
    ("CAR-06", "Glass carafe, 0.6 l", 3400),
)
OPENING = datetime(2026, 3, 2, 8, 0)
FIRST_ORDER = 1001
ORDERS = 200
CUSTOMERS = 40

DAMAGED = {1023: "Carafe arrived in pieces, customer sent a photo.", 1087: "Box soaked, filters unusable.",
           1131: "Two of four cups chipped.", 1176: "Teapot lid cracked."}  # fmt: skip
LATE = {1019: "Carrier lost track for nine days.", 1064: "Held at the depot, address incomplete.",
        1102: "Promised for the 21st, still on its way.", 1149: "Second delivery attempt failed.",
        1190: "Strike at the carrier."}  # fmt: skip
ORDERED_TWICE = {1043: 1042, 1158: 1157}
"""Order to the one it repeats, a minute later: the customer pressed the button twice, and paid twice."""
REFUNDED = {1158: "Ordered twice, customer called."}
"""Copies whose money has gone back already, by hand."""
LOOKS_ALIKE = {1112: 1111}
"""Same customer, same total, minutes apart, but other goods: not a duplicate, whatever a quick look says."""


def build(path: Path | str) -> None:
    """Create the database at `path`.

    Raises:
        FileExistsError: something is there; this never overwrites.
    """
    if Path(path).exists():
        raise FileExistsError(f"{path} exists; choose another path or remove it")
    draw = random.Random(20260302)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", _customers(draw))
        _add_orders(database, draw)


def _customers(draw: random.Random) -> list[tuple[int, str, str, str]]:
    names = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
    return [
        (number, name, f"{name.lower().replace(' ', '.')}@mail.example", draw.choice(CITIES))
        for number, name in enumerate(draw.sample(names, CUSTOMERS), start=1)
    ]


def _add_orders(database: sqlite3.Connection, draw: random.Random) -> None:
    placed = OPENING
    baskets: dict[int, tuple[int, list[tuple[str, str, int, int]]]] = {}
    for order_id in range(FIRST_ORDER, FIRST_ORDER + ORDERS):
        original = ORDERED_TWICE.get(order_id) or LOOKS_ALIKE.get(order_id)
        if original is None:
            placed += timedelta(minutes=draw.randint(20, 400))
            customer, lines = draw.randint(1, CUSTOMERS), _basket(draw)
        else:
            placed += timedelta(minutes=1 if order_id in ORDERED_TWICE else 4)
            customer, lines = baskets[original]
        if order_id in LOOKS_ALIKE:
            lines = [("GIFT-01", "Gift card", 1, sum(quantity * cents for _, _, quantity, cents in lines))]
        baskets[order_id] = customer, lines
        total = sum(quantity * cents for _, _, quantity, cents in lines)
        status, note = _state(order_id, draw)
        database.execute(
            "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)",
            (order_id, customer, placed.isoformat(sep=" "), status, total, total, note),
        )
        database.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?)", [(order_id, *line) for line in lines])
        if order_id in REFUNDED:
            database.execute(
                "INSERT INTO refunds (order_id, amount_cents, reason, call_id) VALUES (?, ?, ?, 'by hand')",
                (order_id, total, REFUNDED[order_id]),
            )


def _basket(draw: random.Random) -> list[tuple[str, str, int, int]]:
    return [
        (sku, product, draw.randint(1, 3), cents) for sku, product, cents in draw.sample(PRODUCTS, draw.randint(1, 4))
    ]


def _state(order_id: int, draw: random.Random) -> tuple[str, str]:
    if order_id in DAMAGED:
        return "damaged", DAMAGED[order_id]
    if order_id in LATE:
        return "late", LATE[order_id]
    if order_id in ORDERED_TWICE:
        return "paid", ""
    age = FIRST_ORDER + ORDERS - order_id
    return ("paid" if age < 15 else "shipped" if age < 45 else draw.choice(("delivered",) * 9 + ("shipped",))), ""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m examples.order_desk.seed DATABASE")
    try:
        build(sys.argv[1])
    except (FileExistsError, sqlite3.Error) as error:
        sys.exit(f"cannot build the database: {error}")
    print(f"{sys.argv[1]}: {CUSTOMERS} customers, {ORDERS} orders")
