"""What governing a call costs, against only validating its arguments and calling the function.

A script's call and the baseline get the same JSON text; a host's call gets a dict. Ours has automatic approval, events
with one subscriber, no timeout and no declared result, unless a row says otherwise; the baseline is one pydantic
`TypeAdapter` and one `await`. `bench_peers` compares with other libraries.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any, Final

from opentelemetry.trace import TracerProvider
from pydantic import BaseModel, TypeAdapter

import ringfence as rf
from benchmarks import Row, repetitions
from ringfence.limits import ValueBudget
from ringfence.ports import Origin
from ringfence.values import canonical

_CALLS: Final = 500
"""In one block, between two looks at the clock."""
_BAR: Final = 20.0
"""Microseconds of a call without a timeout, a person, or a declared result."""
_BARE: Final = "validate and call"
_TEXT: Final = "governed call, JSON text"
_OBJECT: Final = "boundary.call, Python object"
_TRACED: Final = "boundary.call, span to an OpenTelemetry SDK"
_VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "boundary.call, declared result": {"output": int},
    "boundary.call, timeout": {"timeout": 1.0},
    "boundary.call, asynchronous approval": {"approval": "human"},
}
"""Options of the tool, by what the row is called."""

Call = Callable[[], Awaitable[object]]


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


async def approve(request: rf.ApprovalRequest) -> bool:
    """Decides as fast as a handler can."""
    return request.tool == "place_order"


def measure() -> Iterable[Row]:
    """Microseconds per call: medians of blocks taken alternately."""
    times = asyncio.run(_measured())
    for name in times:
        if name == _BARE:
            continue
        is_plain = name in (_TEXT, _OBJECT)
        yield Row(
            name=f"gate: {name}",
            ours=times[name],
            baseline=times[_BARE],
            baseline_name=_BARE,
            bar=_BAR if is_plain else None,
            bar_on="ours" if is_plain else "ratio",
        )


async def _measured() -> dict[str, float]:
    adapter, text, origin = TypeAdapter(Order), canonical(_ARGS, ValueBudget()), Origin(session_id="bench")
    async with AsyncExitStack() as stack:

        async def opened(tool: Mapping[str, Any], provider: TracerProvider | None = None) -> rf.Boundary:
            return await stack.enter_async_context(_boundary(tool, provider))

        plain = await opened({})
        boundaries = {_OBJECT: plain, **{name: await opened(options) for name, options in _VARIANTS.items()}}
        if (provider := _provider()) is not None:
            boundaries[_TRACED] = await opened({}, provider)
        return await _alternate(
            {
                _BARE: lambda: place_order(adapter.validate_json(text, strict=True)),
                _TEXT: lambda: plain.gate.call("place_order", text, origin=origin),
                **{name: partial(boundary.call, "place_order", _ARGS) for name, boundary in boundaries.items()},
            }
        )


def _provider() -> TracerProvider | None:
    """An SDK without exporters: what its spans cost here is all in the call. The other rows make no span."""
    if find_spec("opentelemetry.sdk") is None:
        print("benchmarks: opentelemetry-sdk is not installed here, its row is left out", file=sys.stderr)
        return None
    from opentelemetry.sdk import trace

    return trace.TracerProvider()


def _boundary(options: Mapping[str, Any], provider: TracerProvider | None) -> rf.Boundary:
    tool = rf.Tool("place_order", "Place an order.", Order, place_order, **options)
    boundary = rf.Boundary([tool], sandbox=rf.local(unsafe=True), approve=approve, tracer_provider=provider)
    seen: list[str] = []
    boundary.on(None, lambda event: note(seen, event))
    return boundary


def note(seen: list[str], event: rf.Event) -> None:
    """What a cheap subscriber does."""
    seen[:] = [event.type]


async def _alternate(calls: Mapping[str, Call]) -> dict[str, float]:
    blocks: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repetitions(40, 2)):
        for name, call in calls.items():
            begin = perf_counter()
            for _ in range(_CALLS):
                await call()
            blocks[name].append((perf_counter() - begin) / _CALLS * 1e6)
    return {name: median(taken) for name, taken in blocks.items()}
