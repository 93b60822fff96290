"""Other libraries' ways to make one tool call, each behind the same small interface.

A peer is used as its documentation says, warm, at the level of one call: whatever it prepares once per agent, server
or model step happens outside the measured time, and so does the making of its call objects, to its advantage.
`adapters` says for each what a call does and does not do. Nothing here is imported by the library.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final

Function = Callable[..., Awaitable[Any]]
"""An asynchronous function of the five parameters of `ARGS`."""
Call = Callable[[], Awaitable[Any]]
"""One tool call with arguments that were given before."""

ARGS: Final[dict[str, Any]] = {
    "order_id": 7,
    "customer": "Ada",
    "amount": 12.5,
    "express": False,
    "tags": ["new", "gift"],
}
WRONG: Final[dict[str, Any]] = {**ARGS, "order_id": "seven"}
"""What every peer must refuse, also those that would take the text "7" for a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The same call with its arguments as JSON text and as a Python object."""

    text: Call
    object: Call
    """The same function as `text` where the peer takes one form only."""


Open = Callable[[Function, dict[str, Any], float | None], AbstractAsyncContextManager[Calls]]
"""From a function, its arguments and a timeout in seconds to calls of it, while the context is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another library."""

    name: str
    """Its distribution, without extras."""
    module: str
    """What an import needs."""
    open: Open
    is_comparable: bool
    """A call does work of the same kind as ours; only then is the comparison judged."""
    has_timeout: bool = True
    """It can bound one call of one tool."""


class UnfairPeer(AssertionError):
    """An adapter does not do what the comparison assumes."""


async def prove(peer: Peer) -> None:
    """Make sure that a peer really runs the function with these arguments, and refuses wrong ones.

    Raises:
        UnfairPeer: it does not, so that a figure of it would mean nothing.
    """
    seen: list[dict[str, Any]] = []

    async def place_order(order_id: int, customer: str, amount: float, express: bool, tags: list[str]):
        """Place an order."""
        seen.append({"order_id": order_id, "customer": customer, "amount": amount, "express": express, "tags": tags})
        return order_id

    for form in ("text", "object"):
        async with peer.open(place_order, ARGS, None) as calls:
            await getattr(calls, form)()
        if seen != [ARGS]:
            raise UnfairPeer(f"{peer.name}: a call with {form} ran the function with {seen}, not once with {ARGS}")
        seen.clear()
        async with peer.open(place_order, WRONG, None) as calls:
            await _refused(getattr(calls, form))
        if seen:
            raise UnfairPeer(f"{peer.name}: a call with {form} ran the function with wrong arguments, {seen}")


async def _refused(call: Call) -> None:
    """Some answer with an error, some raise one; whether the function ran is what counts."""
    try:
        await call()
    except Exception:
        return
