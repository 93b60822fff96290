"""A guest engine for tests of the jail: takes programs on its channel, one JSON text a line, and says how each ended.

`prepare` and `serve` run inside the jail, started by its launcher, which finds this file by `roots`. Knows nothing of
ringfence.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import mmap
import os
import platform
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

COMPAT_CALL = bytes.fromhex("53 89f8 89f3 31c9 31d2 cd80 5b c3")
"""push rbx; mov eax, edi; mov ebx, esi; xor ecx, ecx; xor edx, edx; int 0x80; pop rbx; ret"""
CODE: dict[str, Any] = {}

MODULES = (
    "asyncio ctypes dataclasses encodings.idna errno fcntl hashlib io mmap random resource select signal socket struct "
    "subprocess threading time"
)


def prepare() -> None:
    for name in MODULES.split():
        importlib.import_module(name)
    if platform.machine() == "x86_64":
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(COMPAT_CALL)
        CODE["page"] = page
        CODE["int80"] = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)(
            ctypes.addressof(ctypes.c_char.from_buffer(page))
        )


def serve(fd: int) -> None:
    os.write(fd, b"ready\n")
    buffer: bytes = b""
    while True:
        data = os.read(fd, 65_536)
        if not data:
            return
        *lines, buffer = (buffer + data).split(b"\n")
        for line in lines:
            os.write(fd, json.dumps(run(json.loads(line))).encode() + b"\n")


def run(request: dict[str, Any]) -> dict[str, Any]:
    """`value` is what the program left in `out`; `errno` that of an OSError; `raised` any other exception's class."""
    scope: dict[str, Any] = {"given": request.get("given", {}), "syscall": syscall, "int80": CODE.get("int80")}
    try:
        exec(request["source"], scope)
    except OSError as error:
        return {"errno": error.errno}
    except BaseException as error:
        return {"raised": type(error).__name__}
    return {"value": scope.get("out")}


def syscall(number: int, *arguments: Any) -> int:
    """A raw call; integers and pointers.

    Raises:
        OSError: it was refused.
    """
    ctypes.set_errno(0)
    passed = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    result: int = LIBC.syscall(ctypes.c_long(number), *passed)
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result
