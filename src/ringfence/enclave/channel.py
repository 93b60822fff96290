"""One guest's channel on the host's side: bytes in, typed frames out, everything hostile stopped here.

Reads and writes the host's end of the socketpair itself, with the loop's readers and writers: a transport would cost a
turn of the loop to make, and could not be given up when its loop is gone. Knows the protocol and the child process,
not what calls mean: a `session.ScriptSession` is its owner during a run. `pool` makes and ends channels.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
from pathlib import Path
from typing import Final, Protocol

from ringfence.enclave import protocol
from ringfence.limits import KIB
from ringfence.sandbox.jail.supervise import Child, Exit


def describe_exit(gone: Exit) -> str:
    """How a guest's process ended, for people."""
    if gone.step is not None:
        return f"its jail could not be closed ({gone.step})"
    if gone.signal is not None:
        return f"signal {_signal_name(gone.signal)}"
    if gone.code is not None:
        return f"exit code {gone.code}"
    return "its zygote died first"


def _signal_name(number: int) -> str:
    """Its name, or its number where it has none: real-time signals other than the first and the last."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


class Owner(Protocol):
    """Who hears a channel."""

    def on_frame(self, frame: protocol.GuestFrame) -> None: ...
    def on_violation(self, reason: str) -> None: ...
    def on_fault(self, error: Exception) -> None:
        """The owner itself failed while it heard something; the channel is closed."""
        ...

    def on_closed(self) -> None: ...
    def on_writable(self) -> None: ...


MOST_UNSENT: Final = 256 * KIB
"""Bytes of answers that wait for the child before no further call starts."""
READ_BYTES: Final = 64 * KIB
"""Read at once into one buffer; a fresh bytes object of the loop's usual 256 KiB per read costs two mmaps."""


class Resident:
    """How much memory a child of one zygote has before it gets a script; the same for all of them, so looked at once."""

    def __init__(self) -> None:
        self.bytes = 0

    def look(self, pid: int | None) -> None:
        """Ask the kernel about a child that waits, unless it is known."""
        if self.bytes or pid is None:
            return
        try:
            self.bytes = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
        except (OSError, IndexError, ValueError):  # it is gone; the next one will do
            return


class Channel:
    """Frames to and from one child. Belongs to the event loop that it was made on, except `abandon`."""

    def __init__(self, child: Child, frame_limit: int, resident: Resident | None = None) -> None:
        self._child = child
        self._resident = resident if resident is not None else Resident()
        self._loop = asyncio.get_running_loop()
        self._reader = protocol.FrameReader(frame_limit)
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._outgoing = bytearray()
        self._owner: Owner | None = None
        self._ready: asyncio.Future[bool] = self._loop.create_future()
        self._reading = True
        self.closed = False
        self._loop.add_reader(child.sock, self._readable)

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
    def exited(self) -> bool:
        """Whether the child is known to be gone."""
        return self._child.exit is not None

    @property
    def resident(self) -> int:
        """Bytes resident in a child that waits, as far as one was looked at; else 0."""
        return self._resident.bytes

    @property
    def was_ready(self) -> bool:
        """Whether the child ever closed its jail."""
        return self._ready.done() and self._ready.result()

    @property
    def writable(self) -> bool:
        """Whether the child keeps up with what it is sent."""
        return len(self._outgoing) <= MOST_UNSENT

    def attach(self, owner: Owner) -> None:
        """Give the channel to one run."""
        self._owner = owner

    def kill(self) -> None:
        """End the child now. Idempotent."""
        self._child.kill()

    async def wait_exited(self, timeout: float) -> Exit | None:
        """How the child ended; None when that is not known within `timeout` seconds."""
        return await self._child.wait_exited(timeout)

    # out

    def send(self, data: bytes) -> None:
        """Write a frame; what the child does not take now is kept. Dropped when the child is gone."""
        if self.closed:
            return
        if not self._outgoing:
            try:
                sent = self._child.sock.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:  # the reader is about to hear of it
                return
            if sent == len(data):
                return
            data = data[sent:]
            self._loop.add_writer(self._child.sock, self._flush)
        self._outgoing += data

    def _flush(self) -> None:
        was_writable = self.writable
        try:
            del self._outgoing[: self._child.sock.send(self._outgoing[:MOST_UNSENT])]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()
        if not self._outgoing:
            self._loop.remove_writer(self._child.sock)
        if self._owner is not None and self.writable and not was_writable:
            try:
                self._owner.on_writable()
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody above hears it, and a run would hang
                self.kill()
                self._close(error)

    # in

    def pause(self) -> None:
        """Stop reading, so that a guest that talks faster than it is served has to wait."""
        if self._reading and not self.closed:
            self._reading = False
            self._loop.remove_reader(self._child.sock)

    def resume(self) -> None:
        """Read again after `pause`."""
        if not self._reading and not self.closed:
            self._reading = True
            self._loop.add_reader(self._child.sock, self._readable)

    def _readable(self) -> None:
        try:
            size = self._child.sock.recv_into(self._buffer)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # it died with unread answers
            size = 0
        if size:
            self._take(self._buffer[:size])
        else:
            self._close(None)

    def _take(self, data: memoryview) -> None:
        try:
            for payload in self._reader.feed(data):
                self._deliver(protocol.decode(payload))
                if self.closed:
                    return
        except Exception as error:  # noqa: BLE001 - the guest's fault or the host's own, for the owner to tell apart
            self.kill()
            self._close(error)

    def _deliver(self, frame: protocol.GuestFrame) -> None:
        if isinstance(frame, protocol.Ready) and not self._ready.done():
            self._ready.set_result(True)
            self._resident.look(self._child.pid)
        elif self._owner is not None and self._ready.done():
            self._owner.on_frame(frame)
        else:
            raise protocol.WireViolation("a frame before the run began")

    # the end

    def _close(self, why: Exception | None) -> None:
        """Give the socket up, and tell the owner why."""
        if self.closed:
            return
        owner = self._owner
        self._give_up()
        if owner is None:
            return
        match why:
            case None:
                owner.on_closed()
            case protocol.WireViolation():
                owner.on_violation(str(why))
            case _:
                owner.on_fault(why)

    def _give_up(self) -> None:
        self.closed = True
        self._owner = None
        if not self._ready.done():
            self._ready.set_result(False)
        self._outgoing.clear()
        self._loop.remove_reader(self._child.sock)
        self._loop.remove_writer(self._child.sock)
        self._child.sock.close()

    def detach(self) -> None:
        """Stop listening for good. Idempotent."""
        if not self.closed:
            self._give_up()

    def forget(self) -> None:
        """In a fork of the host: close its copy of the socket, and leave the loop alone, which shares the kernel's list
        of watched descriptors with the host's."""
        self.closed = True
        self._owner = None
        self._child.sock.close()

    def abandon(self) -> None:
        """The same from anywhere: from another thread, and when the loop is gone. The child dies with its zygote."""
        if self._loop.is_closed():
            self.closed = True
            self._child.sock.close()
        elif asyncio._get_running_loop() is self._loop:
            self.detach()
        else:
            with contextlib.suppress(RuntimeError):  # closed in between
                self._loop.call_soon_threadsafe(self.detach)
