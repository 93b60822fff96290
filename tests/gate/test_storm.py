"""Calls within calls, timeouts, swallowed cancellations, impatient hosts, all at once: nothing is lost or left behind."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from typing import Any

import pytest

import ringfence as rf
from ringfence.gate import attempt as attempt_module
from tests.gate.kit import run

pytestmark = pytest.mark.slow


class Storm:
    """Tools that behave badly at random, and hosts that cancel at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.door = rf.Boundary(
            tools=[
                rf.tool(timeout=0.02, retries=1)(self.leaf),
                rf.tool(retries=1)(self.middle),
                rf.tool(timeout=0.02)(self.blocking),
            ],
            sandbox=rf.local(unsafe=True),
        )
        self.heard = Counter[str]()
        self.door.on(["tool.called", "tool.completed", "tool.failed"], lambda event: self.heard.update([event.type]))

    async def leaf(self, number: int) -> int:
        """Wait, swallow, fail, or return."""
        for _ in range(self.random.randint(0, 3)):
            try:
                await asyncio.sleep(self.random.choice([0, 0.001, 0.005, 0.03]))
            except asyncio.CancelledError:
                if self.random.random() < 0.5:
                    raise
                if self.random.random() < 0.3:
                    raise ValueError from None
                await asyncio.sleep(self.random.choice([0, 0.002, 0.02]))
        if self.random.random() < 0.2:
            raise ConnectionError
        return number

    async def middle(self, number: int) -> int:
        """Call the leaf: with a deadline, three times at once, or plainly."""
        chance = self.random.random()
        if chance < 0.3:
            async with asyncio.timeout(self.random.choice([0.001, 0.01])):
                return (await self.door.call("leaf", {"number": number})).attempts
        if chance < 0.6:
            return len(await asyncio.gather(*(self.door.call("leaf", {"number": at}) for at in range(3))))
        return (await self.door.call("leaf", {"number": number})).unwrap()

    def blocking(self, number: int) -> int:
        """Block a thread."""
        time.sleep(self.random.choice([0, 0.001, 0.03]))
        return number

    async def host(self, number: int) -> Any:
        task = asyncio.current_task()
        assert task is not None
        try:
            outcome = await self.door.call(self.random.choice(["leaf", "middle", "blocking"]), {"number": number})
        except asyncio.CancelledError:
            assert task.cancelling() == 1  # only a host that was cancelled hears of it
            raise
        assert task.cancelling() == 0
        return outcome

    async def rage(self, rounds: int, hosts: int) -> None:
        for _ in range(rounds):
            tasks = [asyncio.create_task(self.host(number)) for number in range(hosts)]
            for task in tasks:
                if self.random.random() < 0.3:
                    asyncio.get_running_loop().call_later(self.random.random() * 0.03, task.cancel)
            await asyncio.wait(tasks)
            assert [task.exception() for task in tasks if not task.cancelled() and task.exception()] == []


@pytest.mark.parametrize("seed", range(3))
def test_every_attempt_has_an_end_and_nothing_is_left_behind(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_module, "STOPPED_GRACE", 0.005)
    monkeypatch.setattr(attempt_module, "CANCELLED_GRACE", 0.01)

    async def body() -> None:
        storm = Storm(seed)
        await storm.rage(rounds=8, hosts=40)
        while (now := storm.door.statistics()).gate.running or now.gate.abandoned:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        assert storm.heard["tool.called"] == storm.heard["tool.completed"] + storm.heard["tool.failed"]
        await storm.door.aclose()

    run(body, seconds=30.0)
