"""The guest's end of the channel: queued frames out, frames in. Standard library only, blocking, one descriptor.

Runs inside the jail. Frames are four bytes of length and JSON text (`enclave.protocol` is the host's side). When the
host is gone the guest ends.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any, Final, NoReturn

CHUNK: Final = 1 << 18
PRINT_FLUSH_BYTES: Final = 4096
PRINT_FLUSH_SECONDS: Final = 0.1

dumps: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), check_circular=True).encode


class Channel:
    """Frames over one descriptor. `on_frame` hears every frame that arrives during `read`."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.on_frame: Callable[[dict[str, Any]], None] = _unexpected
        self.outstanding = 0
        self._out: list[bytes] = []
        self._in = bytearray()
        self._text: list[str] = []
        self._text_size = 0
        self._text_since = 0.0

    def expects(self) -> bool:
        return self.outstanding > 0

    # out

    def queue(self, payload: str) -> None:
        """Send with the next flush."""
        data = payload.encode()
        self._out.append(len(data).to_bytes(4, "big"))
        self._out.append(data)

    def print(self, text: str) -> None:
        """Collect printed text; sent when it is 4 KiB or 100 ms old, before a call, and at the end."""
        if not self._text:
            self._text_since = time.monotonic()
        self._text.append(text)
        self._text_size += len(text)
        if self._text_size >= PRINT_FLUSH_BYTES:
            self.flush_text()
            self.flush()

    def flush_text(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._text_size = 0
            for at in range(0, len(text), CHUNK):
                piece = text[at : at + CHUNK].encode("utf-8", "replace").decode()
                self.queue(dumps({"t": "print", "text": piece}))

    def flush(self) -> None:
        if self._text and time.monotonic() - self._text_since > PRINT_FLUSH_SECONDS:
            self.flush_text()
        if self._out:
            view = memoryview(b"".join(self._out))
            self._out.clear()
            while view:
                view = view[os.write(self.fd, view) :]

    def end(self, payload: str) -> NoReturn:
        """Send everything and leave."""
        self.flush_text()
        self.queue(payload)
        self.flush()
        os._exit(0)

    # in

    def read(self) -> None:
        """Wait for bytes, and hand on the frames that are complete."""
        data = os.read(self.fd, CHUNK)
        if not data:
            os._exit(0)
        buffer = self._in
        buffer += data
        at = 0
        while len(buffer) - at >= 4:
            size = int.from_bytes(buffer[at : at + 4], "big")
            if len(buffer) - at - 4 < size:
                break
            at += 4 + size
            self.on_frame(json.loads(bytes(buffer[at - size : at])))
        if at:
            del buffer[:at]


def _unexpected(_: dict[str, Any]) -> None:
    raise RuntimeError("a frame before the run began")
