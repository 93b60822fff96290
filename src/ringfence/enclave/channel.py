"""One guest's channel on the host's side: bytes in, typed frames out, everything hostile stopped here.

An `asyncio.Protocol` over the host's end of the socketpair. Knows the protocol and the child process, not what calls
mean: a `session.ScriptSession` is its owner during a run. `pool` makes and ends channels.
"""

from __future__ import annotations

import asyncio
import signal
from typing import Final, Protocol

from ringfence.enclave import protocol
from ringfence.limits import KIB
from ringfence.sandbox.jail.supervise import Child, Exit


def describe_exit(gone: Exit) -> str:
    """How a guest's process ended, for people."""
    if gone.step is not None:
        return f"its jail could not be closed ({gone.step})"
    if gone.signal is not None:
        return f"signal {signal.Signals(gone.signal).name}"
    if gone.code is not None:
        return f"exit code {gone.code}"
    return "its zygote died first"


class Owner(Protocol):
    """Who hears a channel."""

    def on_frame(self, frame: protocol.GuestFrame) -> None: ...
    def on_violation(self, reason: str) -> None: ...
    def on_closed(self) -> None: ...
    def on_writable(self) -> None: ...


READ_BYTES: Final = 64 * KIB
"""Read at once into one buffer; a fresh bytes object of the loop's usual 256 KiB per read costs two mmaps."""


class Channel(asyncio.BufferedProtocol):
    """Frames to and from one child."""

    def __init__(self, child: Child, frame_limit: int) -> None:
        self._child = child
        self._reader = protocol.FrameReader(frame_limit)
        self._transport: asyncio.Transport | None = None
        self._owner: Owner | None = None
        self._ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._buffer = memoryview(bytearray(READ_BYTES))
        self.closed = False
        self.writable = True

    async def connect(self) -> None:
        """Attach to the child's socket."""
        await asyncio.get_running_loop().create_connection(lambda: self, sock=self._child.sock)

    async def wait_ready(self, timeout: float) -> bool:
        """Whether the child has closed its jail and waits for a script; False when it died instead."""
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.shield(self._ready)
        except TimeoutError:
            return False

    @property
    def pid(self) -> int | None:
        """The child's process id, once it is known. Only to look at."""
        return self._child.pid

    @property
    def was_ready(self) -> bool:
        """Whether the child ever closed its jail."""
        return self._ready.done() and self._ready.result()

    def attach(self, owner: Owner) -> None:
        """Give the channel to one run."""
        self._owner = owner

    def send(self, data: bytes) -> None:
        """Write a frame; dropped when the child is gone."""
        if self._transport is not None and not self.closed:
            self._transport.write(data)

    def pause(self) -> None:
        """Stop reading, so that a guest that talks faster than it is served has to wait."""
        if self._transport is not None and not self.closed:
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self.closed and not self._transport.is_reading():
            self._transport.resume_reading()

    def kill(self) -> None:
        """End the child now. Idempotent."""
        self._child.kill()

    async def wait_exited(self, timeout: float) -> Exit | None:
        """How the child ended; None when that is not known within `timeout` seconds."""
        return await self._child.wait_exited(timeout)

    def detach(self) -> None:
        """Stop listening for good."""
        self._owner = None
        if self._transport is not None:
            self._transport.abort()
        else:
            self._child.sock.close()

    def abandon(self) -> None:
        """Forget the channel when its event loop is gone; the child dies with its zygote."""
        self.closed = True
        self._owner = None
        self._child.sock.close()

    # asyncio.BufferedProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for payload in self._reader.feed(self._buffer[:nbytes]):
                self._deliver(protocol.decode(payload))
                if self.closed:
                    return
        except protocol.WireViolation as violation:
            self._violated(str(violation))

    def _deliver(self, frame: protocol.GuestFrame) -> None:
        if isinstance(frame, protocol.Ready) and not self._ready.done():
            self._ready.set_result(True)
        elif self._owner is not None and self._ready.done():
            self._owner.on_frame(frame)
        else:
            raise protocol.WireViolation("a frame before the run began")

    def _violated(self, reason: str) -> None:
        self.kill()
        self.closed = True
        if not self._ready.done():
            self._ready.set_result(False)
        if self._owner is not None:
            self._owner.on_violation(reason)
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.closed:
            return
        self.closed = True
        if not self._ready.done():
            self._ready.set_result(False)
        if self._owner is not None:
            self._owner.on_closed()

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        if self._owner is not None:
            self._owner.on_writable()
