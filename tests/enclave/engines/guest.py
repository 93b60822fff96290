"""The guest's side of a channel in this process, with a scripted host at the other end."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from ringfence.enclave import protocol
from ringfence.enclave.engines.guest_bounds import Bounds
from ringfence.enclave.engines.guest_bridge import Bridge
from ringfence.enclave.engines.guest_loop import GuestLoop
from ringfence.enclave.engines.guest_wire import Channel
from ringfence.errors import ErrorInfo
from ringfence.limits import KIB

T = TypeVar("T")

BOUNDS = Bounds(size=64 * KIB, nodes=1_000, depth=8, members=20)


class _Loop(GuestLoop):
    """Ends with its test and not with its process."""

    def __del__(self) -> None:
        pass


class _Channel(Channel):
    """Has a host that answers what it was told to, as soon as it is asked."""

    def __init__(self, fd: int, host: socket.socket) -> None:
        super().__init__(fd)
        self._host = host
        self.answers: dict[int, bytes] = {}
        self.asked: set[int] = set()

    def queue(self, payload: str) -> None:
        super().queue(payload)
        number: int = json.loads(payload)["id"]
        self.asked.add(number)
        if number in self.answers:
            self._host.sendall(self.answers.pop(number))

    def say(self, number: int, answer: bytes) -> None:
        if number in self.asked:
            self._host.sendall(answer)
        else:
            self.answers[number] = answer


class Guest:
    """A bridge with its host. Call ids count up from 1."""

    def __init__(self) -> None:
        self._host, self._end = socket.socketpair()
        self._host.setblocking(False)
        self._channel = _Channel(self._end.fileno(), self._host)
        self.loop = _Loop(self._channel)
        self.bridge = Bridge(self._channel, self.loop)
        self.bridge.bounds = BOUNDS
        self._channel.on_frame = self.bridge.on_frame
        self._received = protocol.FrameReader(1 << 20)

    def answer(self, number: int, value: Any = None, tags: Any = None) -> None:
        """What the host says to a call, as soon as it is made."""
        self._channel.say(number, protocol.answer_frame(number, json.dumps(value).encode(), tags))

    def fail(
        self, number: int, error: ErrorInfo, tool: str = "echo", *, terminal: bool = False, returnable: bool = False
    ) -> None:
        """What the host says to a call that failed."""
        answer = protocol.error_frame(number, tool, error, terminal=terminal, returnable=returnable)
        self._channel.say(number, answer)

    def run(self, body: Coroutine[Any, Any, T]) -> T:
        """What a script does."""
        return self.loop.complete(body)

    def said(self) -> list[dict[str, Any]]:
        """Frames that the guest sent, as the host reads them, without their positions in the script."""
        self._channel.flush()
        found: list[dict[str, Any]] = []
        while True:
            try:
                data = self._host.recv(1 << 16)
            except BlockingIOError:
                return found
            for payload in self._received.feed(data):
                protocol.decode(payload)
                frame = json.loads(bytes(payload))
                found.append({key: value for key, value in frame.items() if key not in ("line", "site", "task", "seq")})

    def close(self) -> None:
        self._host.close()
        self._end.close()


@contextmanager
def guest() -> Generator[Guest]:
    """One for a test."""
    made = Guest()
    previous = asyncio._get_running_loop()  # pyright: ignore[reportPrivateUsage]
    try:
        yield made
    finally:
        asyncio._set_running_loop(previous)  # pyright: ignore[reportPrivateUsage]
        made.close()
