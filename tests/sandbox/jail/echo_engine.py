"""A guest engine for tests of the jail: each line on the channel is a Python expression or program, each answer JSON.

`prepare` and `serve` run inside the jail, started by its launcher; this module is imported there by `roots`.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import sys
from typing import Any


def prepare() -> None:
    importlib.import_module("asyncio")
    importlib.import_module("ctypes")
    importlib.import_module("dataclasses")


def serve(fd: int) -> None:
    os.write(fd, b"ready\n")
    buffer = b""
    while data := os.read(fd, 65_536):
        buffer += data
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            os.write(fd, json.dumps(_run(json.loads(line))).encode() + b"\n")


def _run(source: str) -> Any:
    """`{"value": ...}` of the name `out` that the program sets, or the errno of the OSError that it raised."""
    scope: dict[str, Any] = {"os": os, "sys": sys, "select": select}
    try:
        exec(source, scope)
    except OSError as error:
        return {"errno": error.errno}
    except BaseException as error:
        return {"raised": type(error).__name__, "text": str(error)}
    return {"value": scope.get("out")}
