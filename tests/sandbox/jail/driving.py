"""Drives a real jail from a test: plans, zygotes with the echo engine, and children to send programs to.

Imports nothing but the standard library and the jail, so that it also runs where nothing else is installed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Unenforceable, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe
from ringfence.sandbox.jail.supervise import Child, Exit, Zygote

HERE = str(Path(__file__).parent)
ENGINE = "echo_engine:prepare,serve"
PATIENCE = 30.0
"""Seconds after which a test that waits is broken."""

T = TypeVar("T")


def run(body: Coroutine[Any, Any, T]) -> T:
    """Run an async test, bounded."""

    async def bounded() -> T:
        async with asyncio.timeout(60):
            return await body

    return asyncio.run(bounded())


def real_plan(limits: GuestLimits | None = None, **changes: Any) -> JailPlan:
    """A plan for this machine."""
    plan = plan_guest(probe(), limits or GuestLimits())
    assert not isinstance(plan, Unenforceable), plan
    return replace(plan, **changes)


@contextlib.asynccontextmanager
async def zygote(plan: JailPlan | None = None, engine: str = ENGINE) -> AsyncGenerator[Zygote]:
    """A warm zygote that is gone afterwards."""
    started = await Zygote.start(plan or real_plan(), engine, roots=(HERE,))
    try:
        yield started
    finally:
        await started.aclose()


class Guest:
    """One child and its channel."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self._buffer = b""

    async def line(self) -> str:
        """The next line it wrote; empty when it is gone."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PATIENCE):
            while b"\n" not in self._buffer:
                try:
                    data = await loop.sock_recv(self.child.sock, 65_536)
                except ConnectionResetError:
                    return ""
                if not data:
                    return ""
                self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()

    async def send(self, source: str, given: Mapping[str, Any] | None = None) -> None:
        request = json.dumps({"source": source, "given": dict(given or {})})
        await asyncio.get_running_loop().sock_sendall(self.child.sock, request.encode() + b"\n")

    async def ask(self, source: str, given: Mapping[str, Any] | None = None) -> Any:
        """How a program ended; None when the process ended instead of answering."""
        await self.send(source, given)
        line = await self.line()
        return json.loads(line) if line else None

    async def ended(self) -> Exit:
        gone = await self.child.wait_exited(PATIENCE)
        assert gone is not None, "the child lives on"
        return gone


@contextlib.asynccontextmanager
async def guest(parent: Zygote) -> AsyncGenerator[Guest]:
    """A child that is ready, and is gone afterwards."""
    child = parent.fork()
    try:
        ready = Guest(child)
        assert await ready.line() == "ready", await child.wait_exited(1)
        async with asyncio.timeout(PATIENCE):
            while child.pid is None:  # noqa: ASYNC110 - said on another socket, and no event is worth it
                await asyncio.sleep(0)
        yield ready
    finally:
        child.close()
        assert await child.wait_exited(PATIENCE) is not None


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] not in ("Z", "X")


async def wait_dead(pid: int) -> bool:
    """Whether it ends in time."""
    for _ in range(1000):
        if not alive(pid):
            return True
        await asyncio.sleep(PATIENCE / 1000)
    return False


def descriptors() -> list[str]:
    """What this process has open, as kinds and names, sorted."""
    found: list[str] = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return sorted(item.partition(":")[0] for item in found)


def has_children() -> bool:
    """Whether this process has any child, a dead one that nobody buried included."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True
