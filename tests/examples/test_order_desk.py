"""The order desk: its data, its tools through the gate, its script, its demonstration (`examples/order_desk`)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from examples.order_desk import seed, tools

import ringfence as rf
from tests.cli.commands import PATIENCE, Person, environment

ROOT = Path(__file__).parent.parent.parent
DESK = ROOT / "examples" / "order_desk"
ALL = rf.Toolset(
    [
        tools.list_orders,
        tools.search_orders,
        tools.find_customer,
        tools.get_order,
        tools.refund_order,
        tools.send_mail,
    ]
)
DIGEST = "06790a4ca2cb89fcb07012a9c2d1496d25cdff113402f49436c45b364c3d1127"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh database, found by the tools."""
    path = tmp_path / "shop.db"
    seed.build(path)
    monkeypatch.setenv("ORDER_DESK_DB", str(path))
    return path


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def call(name: str, *, answer: bool = True, **arguments: Any) -> rf.Outcome:
    async def approve(request: rf.ApprovalRequest) -> bool:
        return answer

    async def body() -> rf.Outcome:
        async with rf.Boundary(ALL, sandbox=rf.local(unsafe=True), approve=approve) as boundary:
            return await boundary.call(name, arguments)

    return asyncio.run(body())


# data


def test_the_data_are_the_same_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    seed.build(path)
    dump = "\n".join(
        repr(row)
        for table in ("customers", "orders", "lines", "refunds", "outbox")
        for row in rows(path, f"SELECT * FROM {table} ORDER BY 1, 2")
    )
    assert hashlib.sha256(dump.encode()).hexdigest() == DIGEST


def test_a_database_is_never_overwritten(shop: Path) -> None:
    with pytest.raises(FileExistsError):
        seed.build(shop)


def test_the_data_have_the_cases_that_a_desk_deals_with(shop: Path) -> None:
    counts = dict(rows(shop, "SELECT status, count(*) FROM orders GROUP BY status"))
    assert (counts["damaged"], counts["late"], sum(counts.values())) == (4, 5, 200)
    assert rows(shop, "SELECT count(*) FROM customers") == [(40,)]
    assert rows(shop, "SELECT order_id FROM refunds") == [(1158,)]


# tools


@pytest.mark.usefixtures("shop")
def test_lists_are_filtered_and_paged() -> None:
    page = call("list_orders", since="2026-03-20", page=2, page_size=30).unwrap()
    assert (page.page, page.pages, page.total, len(page.orders)) == (2, 3, 72, 30)
    assert min(order.placed_at for order in page.orders) >= "2026-03-20"
    late = call("list_orders", status="late").unwrap()
    assert [order.order_id for order in late.orders] == [1019, 1064, 1102, 1149, 1190]


@pytest.mark.usefixtures("shop")
def test_orders_are_searched_by_note_product_and_article() -> None:
    assert [order.order_id for order in call("search_orders", text="PHOTO").unwrap()] == [1023]
    assert [order.order_id for order in call("search_orders", text="gift-01").unwrap()] == [1112]
    assert len(call("search_orders", text="kettle", limit=3).unwrap()) == 3


@pytest.mark.usefixtures("shop")
def test_customers_are_found_by_number_or_text() -> None:
    [one] = call("find_customer", customer_id=1).unwrap()
    assert [one] == call("find_customer", text=one.email.upper()).unwrap()
    nothing = call("find_customer")
    assert nothing.error is not None
    assert (nothing.error.code, nothing.error.message) == ("tool_raised", "give customer_id or text")


def test_a_refund_is_recorded_with_its_call_and_never_exceeds_what_was_paid(shop: Path) -> None:
    first = call("refund_order", order_id=1043, amount_cents=9000, reason="paid twice")
    assert first.unwrap() == tools.Refund(refund_id=2, order_id=1043, amount_cents=9000)
    second = call("refund_order", order_id=1043, amount_cents=9000, reason="paid twice")
    assert second.error is not None
    assert (second.status, second.error.data["code"]) == ("failed", "too_much")
    assert "840 cents that can still be refunded" in second.error.message
    assert call("get_order", order_id=1043).unwrap().refunded_cents == 9000
    assert rows(shop, "SELECT order_id, amount_cents, call_id FROM refunds WHERE refund_id > 1") == [
        (1043, 9000, first.call_id)
    ]


def test_a_refund_that_is_not_approved_leaves_nothing(shop: Path) -> None:
    refused = call("refund_order", answer=False, order_id=1043, amount_cents=9840, reason="paid twice")
    assert (refused.status, refused.error and refused.error.code) == ("refused", "approval_denied")
    assert rows(shop, "SELECT count(*) FROM refunds") == [(1,)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("refund_order", {"order_id": 1043, "amount_cents": 0, "reason": "paid twice"}),
        ("refund_order", {"order_id": "1043", "amount_cents": 1, "reason": "paid twice"}),
        ("list_orders", {"page": 0}),
        ("list_orders", {"status": "lost"}),
        ("send_mail", {"to": "a", "subject": "", "body": "b"}),
        ("get_order", {}),
    ],
)
def test_wrong_arguments_never_reach_a_tool(name: str, arguments: dict[str, Any]) -> None:
    outcome = call(name, **arguments)
    assert (outcome.status, outcome.error and outcome.error.code) == ("refused", "invalid_input")


def test_mail_goes_to_customers_only(shop: Path) -> None:
    [customer] = call("find_customer", customer_id=7).unwrap()
    assert call("send_mail", to=customer.email, subject="Hello", body="Text").status == "succeeded"
    stranger = call("send_mail", to="mallory@mail.example", subject="Hello", body="Text")
    assert stranger.error is not None
    assert stranger.error.data["code"] == "not_a_customer"
    assert rows(shop, "SELECT recipient FROM outbox") == [(customer.email,)]


def test_without_a_database_tools_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORDER_DESK_DB", raising=False)
    outcome = call("get_order", order_id=1001)
    assert outcome.error is not None
    assert "set ORDER_DESK_DB" in outcome.error.message


# script


@pytest.mark.slow
@pytest.mark.parametrize(("language", "script"), [("python", "script.py"), ("javascript", "script.js")])
def test_the_script_refunds_the_one_copy_and_reports_the_rest(language: str, script: str, shop: Path) -> None:
    asked: list[dict[str, Any]] = []

    async def approve(request: rf.ApprovalRequest) -> bool:
        asked.append(dict(request.arguments))
        return True

    enclave = rf.Enclave(tools=ALL, sandbox=rf.local(unsafe=True), approve=approve, language=language)
    result = enclave.run_sync((DESK / script).read_text())
    asyncio.run(enclave.aclose())
    assert result.error is None
    assert result.value == {
        "orders_read": 200,
        "pairs_that_look_alike": 3,
        "refunds": [{"order_id": 1043, "cents": 9840, "customer": "Vera Petrov"}],
        "damaged": [1023, 1087, 1131, 1176],
        "late": [1019, 1064, 1102, 1149, 1190],
        "with_a_photo": [1023],
    }
    assert asked == [{"order_id": 1043, "amount_cents": 9840, "reason": "Ordered and paid twice within ten minutes"}]
    assert rows(shop, "SELECT recipient FROM outbox") == [("vera.petrov@mail.example",)]


# demonstration


def demonstrate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.order_desk", *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=2 * PATIENCE,
        check=False,
        env=environment(TMPDIR=str(folder)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("javascript",)])
def test_without_a_terminal_the_demonstration_decides_by_file_and_cleans_up(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = demonstrate(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert "approvals.toml decides" in done.stdout
    assert "1043  │ 98.40 EUR" in done.stdout
    assert "outbox: to vera.petrov@mail.example" in done.stdout
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "proof"), [("y\n", "98.40 EUR"), ("n\n", "Nothing was refunded")])
def test_at_a_terminal_the_demonstration_asks_and_ends_well_either_way(answer: str, proof: str) -> None:
    with Person(cwd=ROOT, command=[sys.executable, "-m", "examples.order_desk"]) as somebody:
        somebody.expect("approval  refund_order")
        somebody.expect("9840")
        somebody.expect("Approve this call? y or n: ")
        somebody.type(answer)
        somebody.expect("What the database says now")
        somebody.expect(proof)
        assert somebody.finish() == 0
