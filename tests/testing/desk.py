"""What the tests of scripted parts share: one tool that counts, and one call of it on a fake clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

import ringfence as rf


class Amount(BaseModel):
    """Arguments."""

    cents: int


class Till:
    """Where money goes."""

    def __init__(self, **options: Any) -> None:
        self.paid: list[int] = []
        self.tool = rf.Tool("pay", "Pay.", Amount, self.pay, **options)

    async def pay(self, args: Amount) -> int:
        self.paid.append(args.cents)
        return args.cents


def calls(
    till: Till, *, times: int = 1, hear: Callable[[rf.Boundary], object] | None = None, **options: Any
) -> list[rf.Outcome]:
    """Outcomes of calls with 1, 2, … cents, one after the other."""
    clock = rf.testing.FakeClock()

    async def main() -> list[rf.Outcome]:
        options.setdefault("sandbox", rf.local(unsafe=True))
        async with rf.Boundary([till.tool], clock=clock, **options) as boundary:
            if hear is not None:
                hear(boundary)
            return [await boundary.call("pay", {"cents": number + 1}) for number in range(times)]

    return clock.run(main())


def ends(outcomes: list[rf.Outcome]) -> list[tuple[str, str | None, int]]:
    """Status, code and attempts of each."""
    return [(one.status, one.error.code if one.error else None, one.attempts) for one in outcomes]
