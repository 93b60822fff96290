"""Jailed children, kept waiting ahead of need, for one event loop.

One zygote, started with the first run; every run takes a child that is already jailed and is replaced in the
background. Knows nothing of scripts. `facade` owns one pool per event loop; `session` uses the channels.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from ringfence.enclave.channel import Channel, Resident
from ringfence.enclave.supplies import Engine
from ringfence.errors import ConfigError, SandboxFault
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

    def __init__(self, plan: JailPlan, engine: Engine, *, frame_limit: int, waiting: int) -> None:
        self._plan = plan
        self._engine = engine
        self._resident = Resident()
        self._frame_limit = frame_limit
        self._target = waiting
        self._zygote: Zygote | None = None
        self._starting = asyncio.Lock()
        self._waiting: deque[Channel] = deque()
        self._dying: list[Channel] = []
        self._closed = False

    async def acquire(self) -> Channel:
        """A child for one script; the caller gives it back with `release`.

        When none waits, a new one is handed out at once: it reads its script when it has closed its jail.

        Raises:
            ConfigError: `not_running`, the enclave is closed.
            SandboxFault: no child could be forked.
        """
        while self._waiting:
            channel = self._waiting.popleft()
            if not channel.closed:
                self._refill_later()
                return channel
            self.release(channel)
        zygote = await self._running_zygote()
        channel = Channel(zygote.fork(), self._frame_limit, self._resident)
        self._refill_later()
        return channel

    def release(self, channel: Channel) -> None:
        """End a child, whatever it does. Its death is waited for when the pool closes."""
        channel.kill()
        channel.detach()
        self._dying = [other for other in self._dying if not other.exited]
        self._dying.append(channel)

    async def _running_zygote(self) -> Zygote:
        async with self._starting:
            if self._is_over():
                raise _closed()
            if self._zygote is None or not self._zygote.alive:
                if self._zygote is not None:
                    await self._zygote.aclose()
                zygote = await Zygote.start(self._plan, self._engine.entry, supplies=self._engine.supplies())
                if self._is_over():  # meanwhile, by somebody who could not see this one
                    zygote.close_nowait()
                    raise _closed()
                self._zygote = zygote
            return self._zygote

    def _is_over(self) -> bool:
        return self._closed

    def _refill_later(self) -> None:
        asyncio.get_running_loop().call_later(REFILL_DELAY, self._refill)

    def _refill(self) -> None:
        """Fork what is missing. Never starts a zygote: the next run does, and reports what it meets."""
        zygote = self._zygote
        while not self._closed and zygote is not None and zygote.alive and len(self._waiting) < self._target:
            try:
                self._waiting.append(Channel(zygote.fork(), self._frame_limit, self._resident))
            except SandboxFault:  # no descriptors left now; the next run tries again, and says so
                return

    async def warm(self) -> None:
        """Start the zygote and its waiting children now.

        Raises:
            ConfigError: `not_running`, the enclave is closed.
            SandboxFault: no child could be jailed.
        """
        await self._running_zygote()
        self._refill()
        for channel in tuple(self._waiting):
            await channel.wait_ready(READY_TIMEOUT)

    def waiting_pids(self) -> list[int]:
        """Process ids of the waiting children, to look at."""
        return [channel.pid for channel in self._waiting if channel.pid is not None]

    async def aclose(self) -> None:
        """End every child and the zygote; nothing is left when this returns, or is cancelled."""
        self._closed = True
        try:
            while self._waiting:
                self.release(self._waiting.popleft())
            if self._zygote is not None and self._zygote.alive:  # else its children are gone, and nobody will tell
                await asyncio.gather(*[channel.wait_exited(REAP_TIMEOUT) for channel in self._dying])
            if self._zygote is not None:
                await self._zygote.aclose()
        finally:
            self.close_nowait()

    def close_nowait(self) -> None:
        """The same without an event loop: for finalizers, and for pools whose loop is gone. Idempotent."""
        self._closed = True
        if self._zygote is not None:
            self._zygote.close_nowait()
            self._zygote = None
        while self._waiting:
            self._waiting.popleft().abandon()

    def forget(self) -> None:
        """In a fork of the host: free what this process has of children that are its parent's."""
        self._closed = True
        for channel in self._waiting:
            channel.forget()


def _closed() -> ConfigError:
    return ConfigError("the enclave is closed", code="not_running")
