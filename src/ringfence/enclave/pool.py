"""Jailed children, kept waiting ahead of need, for one event loop.

One zygote, started with the first run; every run takes a child that is already jailed and is replaced in the
background. Knows nothing of scripts. `facade` owns one pool per event loop; `session` uses the channels.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final

from ringfence.enclave.channel import Channel
from ringfence.errors import SandboxFault
from ringfence.sandbox.jail.plan import JailPlan
from ringfence.sandbox.jail.supervise import Zygote

READY_TIMEOUT: Final = 10.0
"""Seconds for a child to close its jail; measured 3 ms."""
REAP_TIMEOUT: Final = 2.0
"""Seconds for a killed child to be gone; measured 2 ms."""
REFILL_DELAY: Final = 0.01
"""Seconds before a used child is replaced, so that forking does not compete with the run that has just begun."""


class Pool:
    """Waiting children of one zygote. All methods belong to the event loop that made it."""

    def __init__(self, plan: JailPlan, engine: str, *, frame_limit: int, waiting: int) -> None:
        self._plan = plan
        self._engine = engine
        self._frame_limit = frame_limit
        self._target = waiting
        self._zygote: Zygote | None = None
        self._starting = asyncio.Lock()
        self._filling = asyncio.Lock()
        self._waiting: deque[Channel] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def acquire(self) -> Channel:
        """A child for one script; the caller gives it back with `release`.

        When none waits, a new one is handed out at once: it reads its script when it has closed its jail.

        Raises:
            SandboxFault: no child could be forked.
        """
        while self._waiting:
            channel = self._waiting.popleft()
            if not channel.closed:
                self._refill_later()
                return channel
            self.release(channel)
        channel = await self._spawn()
        self._refill_later()
        return channel

    def release(self, channel: Channel) -> None:
        """End a child, whatever it does, and wait for its death in the background."""
        channel.kill()
        channel.detach()
        self._background(self._reap(channel))

    async def _reap(self, channel: Channel) -> None:
        await channel.wait_exited(REAP_TIMEOUT)

    async def _spawn(self) -> Channel:
        zygote = await self._running_zygote()
        return Channel(zygote.fork(), self._frame_limit)

    async def _running_zygote(self) -> Zygote:
        async with self._starting:
            if self._closed:
                raise SandboxFault("the enclave is closed", code="sandbox_unavailable")
            if self._zygote is None or not self._zygote.alive:
                if self._zygote is not None:
                    await self._zygote.aclose()
                self._zygote = await Zygote.start(self._plan, self._engine)
            return self._zygote

    def _refill_later(self) -> None:
        asyncio.get_running_loop().call_later(REFILL_DELAY, self._refill)

    def _refill(self) -> None:
        if not self._closed and not self._filling.locked():
            self._background(self._fill())

    async def _fill(self) -> None:
        async with self._filling:
            with contextlib.suppress(SandboxFault):  # the next run meets the same fault, and reports it
                while not self._closed and len(self._waiting) < self._target:
                    channel = await self._spawn()
                    self._waiting.append(channel)
                    await channel.wait_ready(READY_TIMEOUT)

    async def warm(self) -> None:
        """Start the zygote and its waiting children now.

        Raises:
            SandboxFault: no child could be jailed.
        """
        await self._running_zygote()
        await self._fill()

    def waiting_pids(self) -> list[int]:
        """Process ids of the waiting children, to look at."""
        return [channel.pid for channel in self._waiting if channel.pid is not None]

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """End every child and the zygote; nothing is left when this returns."""
        self._closed = True
        while self._waiting:
            self.release(self._waiting.popleft())
        while self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=REAP_TIMEOUT)
        if self._zygote is not None:
            await self._zygote.aclose()
            self._zygote = None

    def close_nowait(self) -> None:
        """The same without an event loop: for finalizers, and for pools whose loop is gone."""
        self._closed = True
        if self._zygote is not None:
            self._zygote.close_nowait()
            self._zygote = None
        while self._waiting:
            self._waiting.popleft().abandon()
