"""The guest's end of the channel: queued frames out, frames in. Standard library only, blocking, one descriptor.

Runs inside the jail. Frames are four bytes of length and JSON text (`enclave.protocol` is the host's side). When the
host is gone the guest ends.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable
from typing import Any, Final, NoReturn

READ_BYTES: Final = 1 << 16
PRINT_BYTES: Final = 1 << 18
"""Characters of text in one print frame at most."""
MOST_QUEUED: Final = 24
PRINT_FLUSH_BYTES: Final = 4096
PRINT_FLUSH_SECONDS: Final = 0.1

_decoder: Any = json.JSONDecoder()
# without the checks for encodings and trailing space that json.loads makes
_scan: Final[Callable[[str, int], tuple[dict[str, Any], int]]] = _decoder.scan_once
dumps: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=True).encode


class Channel:
    """Frames over one descriptor. `on_frame` hears every frame that arrives during `read`."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.on_frame: Callable[[dict[str, Any]], None] = _unexpected
        self.outstanding = 0
        self._out: list[bytes] = []
        self._in = bytearray()
        self._chunk = memoryview(bytearray(READ_BYTES))  # allocated once: a fresh 64 KiB per call costs two mmaps
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)
        self._text: list[str] = []
        self._text_size = 0
        self._text_since = 0.0

    def expects(self) -> bool:
        return self.outstanding > 0

    # out

    def queue(self, payload: str) -> None:
        """Send with the next flush, which comes at once when many frames wait: the host begins while a gather goes on."""
        data = payload.encode()
        self._out.append(len(data).to_bytes(4, "big") + data)
        if len(self._out) >= MOST_QUEUED:
            self.flush()

    def print(self, text: str) -> None:
        """Collect printed text; sent when it is 4 KiB or 100 ms old, before a call or a sleep, and at the end."""
        if not self._text:
            self._text_since = time.monotonic()
        self._text.append(text)
        self._text_size += len(text)
        if self._text_size >= PRINT_FLUSH_BYTES or time.monotonic() - self._text_since > PRINT_FLUSH_SECONDS:
            self.flush_text()
            self.flush()

    def flush_text(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._text_size = 0
            for at in range(0, len(text), PRINT_BYTES):
                piece = text[at : at + PRINT_BYTES].encode("utf-8", "replace").decode()
                self.queue(dumps({"t": "print", "text": piece}))

    def flush(self) -> None:
        if self._text and time.monotonic() - self._text_since > PRINT_FLUSH_SECONDS:
            self.flush_text()
        if self._out:
            data = self._out[0] if len(self._out) == 1 else b"".join(self._out)
            self._out.clear()
            sent = os.write(self.fd, data)
            while sent < len(data):
                sent += os.write(self.fd, memoryview(data)[sent:])

    def end(self, payload: str) -> NoReturn:
        """Send everything and leave."""
        self.flush_text()
        self.queue(payload)
        self.flush()
        os._exit(0)

    # in

    def has_input(self, patience: float) -> bool:
        """Whether something can be read within `patience` seconds."""
        return bool(self._poll.poll(patience * 1000))

    def rehearse(self, payload: str) -> None:
        """Touch what sending and receiving needs, without sending."""
        self.queue(payload)
        self._in += self._out.pop()
        _scan(self._in[4:].decode(), 0)
        self._in.clear()
        self._chunk[:] = bytes(READ_BYTES)

    def read(self) -> None:
        """Wait for bytes, and hand on the frames that are complete."""
        size = os.readv(self.fd, (self._chunk,))
        if not size:
            os._exit(0)
        buffer = self._in
        buffer += self._chunk[:size]
        at = 0
        while len(buffer) - at >= 4:
            size = int.from_bytes(buffer[at : at + 4], "big")
            if len(buffer) - at - 4 < size:
                break
            at += 4 + size
            self.hear(buffer[at - size : at])
        if at:
            del buffer[:at]

    def hear(self, payload: bytes | bytearray) -> None:
        """One complete frame."""
        frame, _ = _scan(payload.decode(), 0)
        self.on_frame(frame)


def _unexpected(_: dict[str, Any]) -> None:
    raise RuntimeError("a frame before the run began")
