"""What a governed call costs beside one tool call of other libraries, with the same function and the same schema.

The function has five parameters and declares no result, since nobody else checks one. Ours has automatic approval and
one subscriber to events. All take turns in blocks on one event loop. `benchmarks.peers.adapters` says what each does;
`make bench` installs them into an environment of their own.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any, Final

import ringfence as rf
from benchmarks import Row, repetitions
from benchmarks.peers import ARGS, Call, Calls, Function, Peer, prove
from benchmarks.peers.adapters import NAME, PEERS, be_quiet
from ringfence.limits import ValueBudget
from ringfence.ports import Origin
from ringfence.values import canonical

_CALLS: Final = 100
"""In one block, between two looks at the clock."""
_WARM: Final = 10
"""Calls before each block that are not counted, since the one before filled the processor's caches."""
_BLOCKS: Final = 60
_TIMEOUT: Final = 1.0
_FORMS: Final = {"text": "gate.call, JSON text", "object": "boundary.call, Python object"}
_INSTALL: Final = "make .venv/.peers"

OURS: Final = "ringfence"
Key = tuple[str, str, bool]
"""Who, `text` or `object`, with a timeout."""


def measure() -> Iterable[Row]:
    """Microseconds per call: medians of blocks taken alternately."""
    be_quiet()
    present, missing = split(PEERS)
    for peer in missing:
        print(f"benchmarks: {peer.name} is not installed here, its rows are left out; run: {_INSTALL}", file=sys.stderr)
    return rows(asyncio.run(_measured(present)), present) if present else []


def split(peers: Iterable[Peer]) -> tuple[list[Peer], list[Peer]]:
    """Those that can be imported, and those that cannot."""
    present: list[Peer] = []
    missing: list[Peer] = []
    for peer in peers:
        (missing if find_spec(peer.module) is None else present).append(peer)
    return present, missing


def rows(times: Mapping[Key, float], peers: Sequence[Peer]) -> list[Row]:
    """Each of our calls against each peer; only comparable peers are judged."""
    return [
        Row(
            name=f"peers: {label}{', timeout' if timed else ''}",
            ours=times[OURS, form, timed],
            baseline=times[peer.name, form, timed],
            baseline_name=peer.name,
            bar=1.0 if peer.is_comparable else None,
        )
        for timed in (False, True)
        for form, label in _FORMS.items()
        for peer in peers
        if (peer.name, form, timed) in times
    ]


async def _measured(peers: Sequence[Peer]) -> dict[Key, float]:
    logging.disable()  # some tell the log of the wrong arguments that they are given
    for peer in (US, *peers):
        await prove(peer)
    logging.disable(logging.NOTSET)
    calls: dict[Key, Call] = {}
    async with AsyncExitStack() as stack:
        for peer in (US, *peers):
            for timeout in (None, _TIMEOUT) if peer.has_timeout else (None,):
                opened = await stack.enter_async_context(peer.open(place_order, ARGS, timeout))
                calls[peer.name, "text", timeout is not None] = opened.text
                calls[peer.name, "object", timeout is not None] = opened.object
        return await _alternate(calls)


async def _alternate(calls: Mapping[Key, Call]) -> dict[Key, float]:
    blocks: dict[Key, list[float]] = {key: [] for key in calls}
    gc.collect()
    gc.freeze()  # the peers' modules are a large heap, which no collection shall walk during somebody's block
    try:
        for _ in range(repetitions(_BLOCKS, 2)):
            for key, call in calls.items():
                gc.collect()  # what the one before left behind is not for this one to clear
                for _ in range(_WARM):
                    await call()
                begin = perf_counter()
                for _ in range(_CALLS):
                    await call()
                blocks[key].append((perf_counter() - begin) / _CALLS * 1e6)
    finally:
        gc.unfreeze()
    return {key: median(taken) for key, taken in blocks.items()}


async def place_order(order_id: int, customer: str, amount: float, express: bool, tags: list[str]):
    """Place an order."""
    return order_id


@asynccontextmanager
async def _ours(function: Function, args: dict[str, Any], timeout: float | None) -> AsyncGenerator[Calls]:
    tool = rf.Tool.from_function(function, timeout=timeout)
    text, origin = canonical(args, ValueBudget()), Origin(session_id="bench")
    async with rf.Boundary([tool], sandbox=rf.local(unsafe=True)) as boundary:
        seen: list[str] = []

        def note(event: rf.Event) -> None:
            seen[:] = [event.type]

        boundary.on(None, note)
        yield Calls(
            text=lambda: boundary.gate.call(NAME, text, origin=origin), object=lambda: boundary.call(NAME, args)
        )


US: Final = Peer(name=OURS, module="ringfence", open=_ours, is_comparable=True)
