"""What the parts of the enclave cost beside a plain tool call: a namespace, a function in globals, a check, many runs.

All on one event loop, through an enclave with a tool handler; each is taken in turn with its baseline, inside one
running script where that is possible.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from statistics import median
from typing import Any, Final

import ringfence as rf
from benchmarks import Row, repetitions

_BLOCK: Final = 50
"""Calls between two looks at the clock."""
_RUNS: Final = 200

_KINDS: Final = """
import time
async def block(call):
    begin = time.perf_counter()
    for i in range(inputs["block"]):
        await call(i)
    return (time.perf_counter() - begin) / inputs["block"]
async def by_name(i):
    return await call_tool("desk:echo", {"number": i})
async def by_namespace(i):
    return await desk.echo({"number": i})
async def by_keyword(i):
    return await desk.echo(number=i)
async def by_global(i):
    return twice(i)
kinds = [by_name, by_namespace, by_keyword, by_global]
taken = [[] for _ in kinds]
for _ in range(inputs["blocks"]):
    for kind, times in zip(kinds, taken):
        times.append(await block(kind))
return taken
"""
_ORDINARY: Final = """
import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

@dataclass
class Customer:
    name: str
    orders: list[dict] = field(default_factory=list)

    @property
    def total(self) -> float:
        return sum(order["total"] for order in self.orders)

async def page(cursor):
    for attempt in range(3):
        try:
            return await desk.orders(cursor=cursor)
        except ToolError as error:
            if error.code != "busy" or attempt == 2:
                raise
            await asyncio.sleep(0.1 * 2**attempt)

async def main():
    customers = defaultdict(lambda: Customer(name=""))
    cursor = None
    while True:
        found = await page(cursor)
        for order in found["items"]:
            customers[order["customer"]].orders.append(order)
        cursor = found.get("next")
        if cursor is None:
            break
    best = sorted(customers.items(), key=lambda item: -item[1].total)[:3]
    return [{"customer": key, "total": round(customer.total, 2)} for key, customer in best]

asyncio.run(main())
"""
_ONE_CALL: Final = 'return await desk.echo({"number": inputs["number"]})'


def measure() -> Iterable[Row]:
    """All rows; microseconds for one call, milliseconds for the rest."""
    return asyncio.run(_measure())


async def _handle(name: str, args: Any) -> Any:
    return args["number"]


def twice(number: int) -> int:
    return 2 * number


async def _measure() -> list[Row]:
    enclave = rf.Enclave(
        tool_handler=_handle,
        tool_namespaces={"desk": {"echo": "desk:echo", "orders": "desk:orders"}},
        globals={"twice": twice},
        security_level="PERMISSIVE",
        max_tool_calls=1_000_000,
        screening={"enabled": False},
    )
    async with enclave:
        await enclave.warm()
        return [*await _calls(enclave), await _check(enclave), await _many(enclave)]


async def _calls(enclave: rf.Enclave) -> list[Row]:
    result = await enclave.run(_KINDS, {"blocks": repetitions(40, 2), "block": _BLOCK})
    assert result.error is None, result.error
    by_name, by_namespace, by_keyword, by_global = (median(times) * 1e6 for times in result.value)
    names = (
        ("enclave: call through a namespace", by_namespace, 1.15),
        ("enclave: the same with keywords", by_keyword, 1.15),
        ("enclave: call of a function in globals", by_global, None),
    )
    return [
        Row(name=name, ours=ours, baseline=by_name, baseline_name="call_tool", bar=bar) for name, ours, bar in names
    ]


async def _check(enclave: rf.Enclave) -> Row:
    """A check needs a child as a run does: the run of an empty script is its baseline."""
    checks: list[float] = []
    runs: list[float] = []
    for _ in range(repetitions(30, 2)):
        for taken, body in ((checks, enclave.check(_ORDINARY)), (runs, enclave.run("None"))):
            await asyncio.sleep(0.03)  # for the next waiting child
            begin = time.perf_counter()
            await body
            taken.append(time.perf_counter() - begin)
    return Row(
        name="enclave: check of 40 lines",
        ours=median(checks) * 1e3,
        baseline=median(runs) * 1e3,
        baseline_name="empty run",
        unit="ms",
    )


async def _many(enclave: rf.Enclave) -> Row:
    """Each with a process of its own, one call each; against as many runs one after another."""

    async def one(number: int) -> None:
        result = await enclave.run(_ONE_CALL, {"number": number})
        assert result.value == number, result.error

    together: list[float] = []
    in_turn: list[float] = []
    runs = repetitions(_RUNS, 20)
    for _ in range(repetitions(3, 1)):
        begin = time.perf_counter()
        await asyncio.gather(*(one(number) for number in range(runs)))
        together.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        for number in range(runs):
            await one(number)
        in_turn.append(time.perf_counter() - begin)
    return Row(
        name=f"enclave: {runs} runs at once",
        ours=median(together) * 1e3,
        baseline=median(in_turn) * 1e3,
        baseline_name="in turn",
        unit="ms",
        bar=1.0,
    )
