"""What governing a call costs, against only validating its arguments and calling the function.

A script's call and the baseline get the same JSON text; a host's call gets a dict. Ours has automatic approval, events with one subscriber, and no timeout; the
baseline is one pydantic `TypeAdapter` and one `await`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from statistics import median
from time import perf_counter
from typing import Final

from pydantic import BaseModel, TypeAdapter

import ringfence as rf
from benchmarks import Row, repetitions
from ringfence.limits import ValueBudget
from ringfence.ports import Origin
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
    boundary = rf.Boundary(
        [rf.Tool("place_order", "Place an order.", Order, place_order)], sandbox=rf.local(unsafe=True)
    )
    seen: list[str] = []
    boundary.on(None, lambda event: note(seen, event))
    adapter = TypeAdapter(Order)
    origin = Origin(session_id="bench")
    text = canonical(_ARGS, ValueBudget())

    async def from_script() -> object:
        return await boundary.gate.call("place_order", text, origin=origin)

    async def from_host() -> object:
        return await boundary.call("place_order", _ARGS)

    async def bare() -> object:
        return await place_order(adapter.validate_json(text, strict=True))

    text_call, host_call, baseline = asyncio.run(_alternate(from_script, from_host, bare))
    what = "validate and call"
    yield Row(name="gate: governed call, JSON text", ours=text_call, baseline=baseline, baseline_name=what)
    yield Row(name="gate: boundary.call, Python object", ours=host_call, baseline=baseline, baseline_name=what)


def note(seen: list[str], event: rf.Event) -> None:
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
