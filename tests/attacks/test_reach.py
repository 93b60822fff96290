"""What a script can reach by following attributes: a walk to depth 6 from everything that the host hands it (T117).

The guest is all of CPython, so a walk finds CPython. It must not find anything of the host: a class or module that only
the host loads, an open file, an environment, a name of the machine, its user or its folders, a secret. What stands for
the host's tools and functions shows no machinery at all.
"""

from __future__ import annotations

import base64
import getpass
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.attacks.canary import Canary
from tests.attacks.host import TREASURE, furnish
from tests.attacks.test_python_attacks import LIMITS
from tests.enclave.kit import Stage

WALK: Final = """
import asyncio, base64, collections, datetime, io, json, logging, os, random, re, sys, time, traceback, types, zoneinfo

try:
    await call_tool("boom", {})
except ToolError as error:
    failure = error
try:
    tag(1, 2, 3)
except Exception as error:
    other = error
result = await call_tool("echo", {"row": {"items": [1, "a", None, 2.5, {"deep": []}], "when": datetime.date(2026, 1, 1)}})
starts = {"result": result, "error": failure, "other": other, "data": conf, "object": shop, "function": tag,
          "namespace": mail, "method": mail.list, "call_tool": call_tool, "inputs": inputs, "modules": dict(sys.modules)}
forbidden = [base64.b64decode(text).decode() for text in inputs["forbidden"]]
quiet = {id(forbidden), *map(id, forbidden)}
HOST = tuple(inputs["hosts"])


def inside(one):
    if type(one) is dict:
        yield from ((str(key)[:40], value) for key, value in list(one.items())[:3000])
    elif type(one) in (list, tuple, set, frozenset):
        yield from ((str(at), value) for at, value in enumerate(list(one)[:500]))
    names = set()
    for get in (dir, lambda one: list(one.__dict__), lambda one: [name for kind in type(one).__mro__ for name in vars(kind)]):
        try:
            names.update(name for name in get(one) if type(name) is str)
        except Exception:
            continue
    for name in sorted(names):
        try:
            yield name, getattr(one, name)
        except Exception:
            continue


def is_open(one):
    try:
        return one.fileno() > 2
    except Exception:
        return False


def of_the_host(one):
    kind = type(one)
    if kind is str:
        return next(("text " + text[:5] for text in forbidden if text in one), None)
    if kind is types.ModuleType and one.__name__.startswith(HOST):
        return "module " + one.__name__
    if isinstance(one, type) and str(one.__module__).startswith(HOST):
        return "class " + one.__qualname__
    if kind is types.FunctionType and str(one.__module__).startswith(HOST):
        return "function " + one.__qualname__
    if kind.__name__ in ("FileIO", "BufferedReader", "BufferedWriter", "TextIOWrapper", "socket") and is_open(one):
        return "open " + kind.__name__
    if kind is type(os.environ) and len(one):
        return "environment"
    return None


reached, looked = [], {}
for start, root in starts.items():
    level, seen = [(start, root)], set(quiet)
    for depth in range(6):
        below = []
        for path, one in level:
            if isinstance(one, (str, bytes, int, float, type(None))):
                continue
            for name, child in inside(one):
                if id(child) not in seen:
                    seen.add(id(child))
                    what = of_the_host(child)
                    if what is not None:
                        reached.append(f"{path}.{name}: {what}")
                    below.append((f"{path}.{name}", child))
        level = below[:1500]
    looked[start] = len(seen)
return {"reached": reached[:40], "looked": looked}
"""

MACHINERY: Final = (
    "__class__ __dict__ __globals__ __closure__ __code__ __func__ __self__ __wrapped__ __init__ __subclasses__ __mro__ "
    "__bases__ __base__ __module__ __builtins__ __defaults__ __kwdefaults__ __annotations__ __reduce__ __reduce_ex__ "
    "__getattribute__ __getattr__ __subclasshook__ __init_subclass__ __new__ gi_frame cr_frame f_back"
).split()

SHOWN: Final = f"""
shown = []
for start, one in {{"namespace": mail, "method": mail.list, "call_tool": call_tool, "function": tag, "object": shop,
                    "method of an object": shop.price}}.items():
    for name in {MACHINERY!r}:
        try:
            if (name, getattr(one, name)) == ("__class__", object):
                continue
            shown.append(f"{{start}}.{{name}}")
        except AttributeError:
            continue
return shown
"""


def hidden() -> list[str]:
    """Texts of this machine that no walk may find."""
    secrets = [Canary.SECRET, TREASURE["gold"], sys.prefix, str(Path(__file__).parents[2]), str(Path.home()) + "/"]
    named = [socket.gethostname() * (len(socket.gethostname()) > 5), f"/home/{getpass.getuser()}"]
    return [base64.b64encode(text.encode()).decode() for text in secrets + named if len(text) > 5]


HOSTS: Final = [
    "ringfence.gate", "ringfence.contract", "ringfence.boundary", "ringfence.enclave.session", "ringfence.enclave.facade",
    "ringfence.sandbox.jail.supervise", "pydantic", "msgspec", "pytest", "_pytest", "tests", "opentelemetry",
]  # fmt: skip


@pytest.mark.slow
def test_no_walk_from_what_the_host_gives_reaches_the_host(arena: Stage, canary: Canary) -> None:
    furnish(arena)
    inputs: dict[str, Any] = {**canary.inputs(), "forbidden": hidden(), "hosts": HOSTS}
    options = {**LIMITS, "memory_limit": "512MB"}
    result = arena.script(WALK, inputs, **options, timeout=15.0, validate=False)
    assert result.error is None
    assert result.value["reached"] == []
    assert min(result.value["looked"][start] for start in ("result", "error", "inputs", "modules")) > 2_000
    assert canary.state() == canary.intact()


@pytest.mark.slow
def test_what_stands_for_the_hosts_tools_and_functions_shows_no_machinery(arena: Stage) -> None:
    furnish(arena)
    result = arena.script(SHOWN, **LIMITS, timeout=5.0, validate=False)
    assert (result.error, result.value) == (None, [])


@pytest.mark.slow
def test_the_kernel_shows_the_same_of_this_machine_to_nobody(arena: Stage) -> None:
    """What Python has forgotten, libc must not tell either."""
    source = """
    import ctypes
    libc = ctypes.CDLL(None)
    room = ctypes.create_string_buffer(4096)
    told = []
    for name, arguments in (("getcwd", (room, 4096)), ("gethostname", (room, 4096)), ("uname", (room,)), ("getlogin_r", (room, 4096)),
                            ("readlink", (b"/proc/self/exe", room, 4096)), ("getdomainname", (room, 4096))):
        room.raw = bytes(4096)
        getattr(libc, name)(*arguments)
        told.append(room.raw.strip(bytes(1)).decode(errors="replace"))
    return told
    """
    furnish(arena)
    result = arena.script(source.replace("\n    ", "\n"), **LIMITS, timeout=5.0)
    assert result.error is None
    text = json.dumps(result.value)
    assert socket.gethostname() not in text
    assert not any(place in text for place in (os.getcwd(), sys.prefix, "python"))
