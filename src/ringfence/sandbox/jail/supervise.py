"""The host's side of a jail: one warm zygote, and the children it forks.

`Zygote.start` waits until the jail is closed, or says which step refused. From then on everything but waiting for an
end is synchronous: forks and kills are messages that are queued, never waited for. A zygote that does not answer a
kill is killed itself, and takes its children along. Knows no frames and no scripts; the enclave's pool drives it.
Belongs to the event loop that it was started on, except `close_nowait`, which works from anywhere and at any time.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ringfence.errors import SandboxFault
from ringfence.sandbox.jail import wire
from ringfence.sandbox.jail.plan import JailPlan
from ringfence.sandbox.jail.spawn_unsafe import Launched, runs_here, spawn

KILL_PATIENCE: Final = 2.0
"""Seconds that a zygote has to report the end of a child it was told to kill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child ended."""

    code: int | None = None
    """Exit code; None when a signal ended it, or when its zygote died first."""
    signal: int | None = None
    """Signal number; None when it exited, or when its zygote died first."""
    cpu: float = 0.0
    """Seconds of processor time."""
    maxrss: int = 0
    """Bytes resident at most, pages shared with the zygote included."""
    step: str | None = None
    """The jail step that failed, with the reason: the guest did not run."""

    @property
    def lost(self) -> bool:
        """The zygote died first; all that is known is that this child died with it."""
        return self.code is None and self.signal is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZygoteStatistics:
    """Counts of one zygote."""

    forked: int
    """Children asked for."""
    living: int
    """Children that have not been reported as ended."""
    killed: int
    """Kills asked for."""


class Child:
    """One forked process: closing itself in, waiting, or running a guest."""

    def __init__(self, id_: int, sock: socket.socket, kill: Callable[[Child], None]) -> None:
        self._kill = kill
        self._ended = asyncio.Event()
        self._killed = False
        self.id = id_
        self.sock = sock
        """The host's end of the channel, non-blocking. Whoever takes the child closes it."""
        self.pid: int | None = None
        """Process id once the zygote has told it. Only to look at: never signal it, the number may be reused."""
        self.exit: Exit | None = None

    def kill(self) -> None:
        """End it now; returns at once. Does nothing when it has ended."""
        if self.exit is None and not self._killed:
            self._killed = True
            self._kill(self)

    async def wait_exited(self, timeout: float) -> Exit | None:
        """How it ended; None when it still lives after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._ended.wait()
        except TimeoutError:
            return None
        return self.exit

    def close(self) -> None:
        """Kill it and close the channel."""
        self.kill()
        self.sock.close()

    def end(self, exit_: Exit) -> None:
        """Its zygote says how it ended."""
        self.exit = exit_
        with contextlib.suppress(RuntimeError):  # whoever waited did so in a loop that is closed
            self._ended.set()


class Zygote:
    """A warm, jailed process that forks one child per run. Made by `start`."""

    def __init__(self, launched: Launched, loop: asyncio.AbstractEventLoop) -> None:
        self._launched = launched
        self._control = launched.control
        self._loop = loop
        self._ready: asyncio.Future[None] = loop.create_future()
        self._outgoing: deque[tuple[bytes, socket.socket | None]] = deque()
        self._children: dict[int, Child] = {}
        self._ids = itertools.count(1)
        self._forked = 0
        self._killed = 0
        # the loop must not keep an abandoned zygote alive
        self._weak: weakref.ref[Zygote] = weakref.ref(self)
        weakref.finalize(self, launched.close, loop)
        loop.add_reader(self._control, self._readable, self._weak)

    @classmethod
    async def start(
        cls,
        plan: JailPlan,
        engine: str,
        *,
        roots: tuple[str, ...] = (),
        supplies: Mapping[str, Any] | None = None,
        ready_timeout: float = 30.0,
    ) -> Zygote:
        """Launch, jail and warm up.

        Args:
            plan: what to enforce.
            engine: `module:prepare,serve`. `prepare(**supplies)` runs once, before the walls close, and imports all
                that a guest may use; `serve(fd)` runs in each child, inside the closed jail, with the channel.
            roots: directories to import the engine from, besides the standard library and ringfence.
            supplies: what `prepare` is told, as JSON.
            ready_timeout: seconds. 0.3 are usual, and 1.5 with pandas.

        Raises:
            SandboxFault: `sandbox_unavailable`, naming the step that failed; what the launcher said about it is in
                the exception's notes.
        """
        zygote = cls(spawn(), asyncio.get_running_loop())
        try:
            zygote._send(wire.Start(plan=plan.to_json(), engine=engine, roots=roots, supplies=dict(supplies or {})))
            async with asyncio.timeout(ready_timeout):
                await zygote._ready
        except TimeoutError:
            fault = zygote._unavailable(f"the jail was not ready within {ready_timeout:g} s")
            zygote.close_nowait()
            raise fault from None
        except BaseException:
            zygote.close_nowait()
            raise
        return zygote

    @property
    def pid(self) -> int:
        """Its process id, to look at."""
        return self._launched.process.pid

    @property
    def alive(self) -> bool:
        """Whether it can fork."""
        return not self._launched.closed

    def statistics(self) -> ZygoteStatistics:
        return ZygoteStatistics(forked=self._forked, living=len(self._children), killed=self._killed)

    def fork(self) -> Child:
        """A new child, which closes itself in ahead of need. Returns at once.

        Raises:
            SandboxFault: `sandbox_crashed` when this zygote is gone, `sandbox_unavailable` when the host has no
                descriptors left.
        """
        if not self.alive:
            raise SandboxFault("the jail's zygote has ended", code="sandbox_crashed")
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError as error:
            raise SandboxFault(f"no channel for a guest ({error.strerror})", code="sandbox_unavailable") from error
        ours.setblocking(False)
        child = Child(next(self._ids), ours, self._kill)
        self._children[child.id] = child
        self._forked += 1
        self._send(wire.Fork(id=child.id), theirs)
        return child

    def close_nowait(self) -> None:
        """End everything within a bound, and leave no process and no descriptor. Callable twice, from a finalizer,
        from another thread, and after the loop has ended. Blocks for a few milliseconds."""
        self._launched.close(self._loop)
        if self._loop.is_running() and not runs_here(self._loop):
            with contextlib.suppress(RuntimeError):  # closed in between
                self._loop.call_soon_threadsafe(self._lose_children)
                return
        self._lose_children()

    async def aclose(self) -> None:
        """The same without blocking the loop."""
        try:
            await self._launched.wait_gone(self._loop)
        finally:
            self.close_nowait()

    def _kill(self, child: Child) -> None:
        self._killed += 1
        self._send(wire.Kill(id=child.id))
        self._loop.call_later(KILL_PATIENCE, self._last_rung, self._weak, child.id)

    def _send(self, message: wire.Message, descriptor: socket.socket | None = None) -> None:
        self._outgoing.append((wire.encode(message), descriptor))
        self._flush()

    def _flush(self) -> None:
        while self._outgoing:
            packet, descriptor = self._outgoing[0]
            try:
                if descriptor is None:
                    self._control.send(packet)
                else:
                    socket.send_fds(self._control, [packet], [descriptor.fileno()])
            except BlockingIOError:
                self._loop.add_writer(self._control, self._writable, self._weak)
                return
            except OSError:  # it is gone, or cannot be told anything; its end is what the reader hears of next
                self._launched.process.kill()
                self._drop_outgoing()
                return
            self._outgoing.popleft()
            if descriptor is not None:
                descriptor.close()
        self._loop.remove_writer(self._control)

    def _drop_outgoing(self) -> None:
        for _, descriptor in self._outgoing:
            if descriptor is not None:
                descriptor.close()
        self._outgoing.clear()

    def _receive(self) -> None:
        while self.alive:
            try:
                packet = self._control.recv(wire.LARGEST)
                message = wire.decode(packet) if packet else None
            except BlockingIOError:
                return
            except (OSError, wire.WireError):
                message = None
            if message is None:
                self._lost()
            else:
                self._handle(message)

    def _handle(self, message: wire.Message) -> None:
        match message:
            case wire.Ready():
                self._launched.became_ready()
                if not self._ready.done():
                    self._ready.set_result(None)
            case wire.Refused(step=step, why=why):
                self._refuse(f"the jail refused at step {step!r} ({why})")
            case wire.Forked(id=id_, pid=pid):
                if id_ in self._children:
                    self._children[id_].pid = pid
            case wire.Ended(id=id_):
                if id_ in self._children:
                    self._children.pop(id_).end(
                        Exit(
                            code=message.code,
                            signal=message.signal,
                            cpu=message.cpu,
                            maxrss=message.maxrss,
                            step=message.step,
                        )
                    )
            case _:
                self._lost()

    def _lost(self) -> None:
        """The zygote is gone, or talks nonsense and goes now."""
        self._refuse("the jail's launcher ended before it was ready")
        self.close_nowait()

    def _refuse(self, why: str) -> None:
        if not self._ready.done():
            self._ready.set_exception(self._unavailable(why))

    def _unavailable(self, why: str) -> SandboxFault:
        fault = SandboxFault(why, code="sandbox_unavailable", hint="run `ringfence doctor` to see what is missing here")
        if said := self._launched.diagnostics():
            fault.add_note(said)
        return fault

    def _lose_children(self) -> None:
        self._drop_outgoing()
        while self._children:
            _, child = self._children.popitem()
            child.end(Exit())

    # What the loop calls. Static, because a bound method would hold on to the zygote.

    @staticmethod
    def _readable(reference: weakref.ref[Zygote]) -> None:
        if (zygote := reference()) is not None:
            zygote._receive()

    @staticmethod
    def _writable(reference: weakref.ref[Zygote]) -> None:
        if (zygote := reference()) is not None:
            zygote._flush()

    @staticmethod
    def _last_rung(reference: weakref.ref[Zygote], id_: int) -> None:
        zygote = reference()
        if zygote is not None and id_ in zygote._children:
            zygote._launched.process.kill()
            zygote.close_nowait()
