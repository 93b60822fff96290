"""What governing a call costs, against only validating its arguments and calling the function.

Both sides get the same JSON text. Ours has automatic approval, events with one subscriber, and no timeout; the
baseline is one pydantic `TypeAdapter` and one `await`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from statistics import median
from time import perf_counter
from typing import Final

from pydantic import BaseModel, TypeAdapter

from benchmarks import Row, repetitions
from ringfence.contract.tool import Tool
from ringfence.contract.toolset import Toolset
from ringfence.events import Event
from ringfence.gate.runner import Gate
from ringfence.limits import ValueBudget
from ringfence.ports import Origin
from ringfence.sandbox.local_unsafe import local
from ringfence.values import canonical

_CALLS: Final = 500
"""In one block, between two looks at the clock."""


class Order(BaseModel):
    """Five fields, as an ordinary tool has them."""

    order_id: int
    customer: str
    amount: float
    express: bool
    tags: list[str]


_ARGS: Final = {"order_id": 7, "customer": "Ada", "amount": 12.5, "express": False, "tags": ["new", "gift"]}


async def place_order(order: Order) -> int:
    """Does as little as a tool can."""
    return order.order_id


def measure() -> Iterable[Row]:
    """Microseconds per call: medians of blocks taken alternately."""
    gate = Gate(Toolset([Tool("place_order", "Place an order.", Order, place_order)]), sandbox=local(unsafe=True))
    seen: list[str] = []
    gate.hub.on(None, lambda event: note(seen, event))
    adapter = TypeAdapter(Order)
    origin = Origin(session_id="bench")
    text = canonical(_ARGS, ValueBudget())

    async def governed_bytes() -> object:
        return await gate.call("place_order", text, origin=origin)

    async def governed_object() -> object:
        return await gate.call("place_order", _ARGS, origin=origin)

    async def bare() -> object:
        return await place_order(adapter.validate_json(text, strict=True))

    from_bytes, from_object, baseline = asyncio.run(_alternate(governed_bytes, governed_object, bare))
    what = "validate and call"
    yield Row(name="gate: governed call, JSON text", ours=from_bytes, baseline=baseline, baseline_name=what)
    yield Row(name="gate: governed call, Python object", ours=from_object, baseline=baseline, baseline_name=what)


def note(seen: list[str], event: Event) -> None:
    """What a cheap subscriber does."""
    seen[:] = [event.type]


async def _alternate(*calls: Callable[[], Awaitable[object]]) -> list[float]:
    blocks: list[list[float]] = [[] for _ in calls]
    for _ in range(repetitions(40, 2)):
        for call, taken in zip(calls, blocks, strict=True):
            begin = perf_counter()
            for _ in range(_CALLS):
                await call()
            taken.append((perf_counter() - begin) / _CALLS * 1e6)
    return [median(taken) for taken in blocks]
