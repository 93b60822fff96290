"""What the host has that no guest may see or touch, and how to tell whether one did."""

from __future__ import annotations

import os
import select
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar


@dataclass(kw_only=True)
class Canary:
    """A secret file, a secret variable, a listening socket, and an object in memory."""

    VARIABLE: ClassVar = "RINGFENCE_CANARY"
    SECRET: ClassVar = "canary-71c9-do-not-sing"

    folder: Path
    server: socket.socket
    treasure: dict[str, Any] = field(default_factory=lambda: {"gold": [1, 2, 3]})

    def inputs(self) -> dict[str, Any]:
        """Everything an attacker could wish to know."""
        return {
            "secret": str(self.folder / "secret.txt"),
            "folder": str(self.folder),
            "variable": self.VARIABLE,
            "port": self.server.getsockname()[1],
            "host": os.getpid(),
        }

    def state(self) -> dict[str, Any]:
        """All that must be the same afterwards."""
        visited = bool(select.select([self.server], [], [], 0)[0])
        return {
            "files": {path.name: path.read_text() for path in self.folder.iterdir()},
            "variable": os.environ.get(self.VARIABLE),
            "treasure": self.treasure,
            "visited": visited,
        }

    def intact(self) -> dict[str, Any]:
        """`state` of a host that nobody touched."""
        return {
            "files": {"secret.txt": self.SECRET},
            "variable": self.SECRET,
            "treasure": {"gold": [1, 2, 3]},
            "visited": False,
        }
