"""Nothing of the host is reachable, whatever a script tries, with the check on and off (enclave catalogue 3 and 4.11)."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.enclave.kit import Stage, code
from tests.requirements import requirement

pytestmark = pytest.mark.slow

CHECKED: Final[dict[str, dict[str, Any]]] = {"check": {}, "off": {"validate": False}}


class Treasure:
    """An object of the host, with methods: the most that a script can be given."""

    def __init__(self) -> None:
        self.gold = 3
        self.taken = False

    def weigh(self, pieces: int) -> int:
        return pieces * self.gold


TREASURE: Final = Treasure()
OFFERED: Final[dict[str, Any]] = {
    "globals": {"context": {"user": "ada", "rows": [1, 2]}, "treasure": TREASURE, "size": len},
    "allow_functions_in_globals": True,
    "tool_namespaces": {"vault": ["open", "look"]},
    "timeout": 1.0,
    "memory_limit": "64MB",
}


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    (tmp_path / "secret.txt").write_text(Canary.SECRET)
    monkeypatch.setenv(Canary.VARIABLE, Canary.SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Canary(folder=tmp_path, server=server)


VECTORS: Final[Mapping[str, str]] = {
    "3.1 code": "exec(compile(\"open(inputs['secret']).read()\", 'x', 'exec'))",
    "3.2 host": "import os\nreturn [os.environ.get(inputs['variable']), open(inputs['secret']).read()]",
    "3.2 process": "import subprocess\nreturn subprocess.run(['cat', inputs['secret']], capture_output=True).stdout",
    "3.2 network": "import socket\nsocket.create_connection(('127.0.0.1', inputs['port']), timeout=1)",
    "3.3 classes": "return [c.__init__.__globals__['sys'].modules['os'].environ.get(inputs['variable']) for c in ().__class__.__base__.__subclasses__() if 'sys' in getattr(getattr(c, '__init__', 0), '__globals__', {})]",
    "3.4 names": "return getattr(__import__('o' + 's'), ''.join(['sys', 'tem']))('cat ' + inputs['secret'])",
    "3.5 reflection": "import gc\nreturn [str(x) for x in gc.get_objects() if '-'.join(('canary', '71c9', 'do')) in str(x)[:2_000]]",
    "3.6 gadgets": "return '{0.__class__.__init__.__globals__}'.format(call_tool)",
    "3.7 loops": "while True: pass",
    "3.8 memory": "return 'x' * 10 ** 11",
    "3.9 asynchronous": "import asyncio\nawait asyncio.gather(*(asyncio.sleep(100) for _ in range(10_000)))",
    "3.10 patterns": "import re\nreturn re.match('(a+)+$', 'a' * 50 + 'b')",
    "3.11 output": "while True: print('x' * 10_000)",
    "3.12 results": "import pickle\nclass Bomb:\n    def __reduce__(self): return (eval, ('1',))\nreturn Bomb()",
    "3.13 tools": "return await call_tool('vault.open\\n', {})",
    "3.13 budget": "for n in range(2_000):\n    await vault.look(n=n)",
    "3.14 requests": "import urllib.request\nreturn urllib.request.urlopen(f\"http://127.0.0.1:{inputs['port']}/\").read()",
    "3.15 text": "ｅｖａｌ(\"open(inputs['secret']).read()\")",
    "3.16 timing": "import time\nreturn open('/proc/uptime').read()",
    "3.18 tenants": "import glob\nreturn [open(f'/proc/{p}/environ').read() for p in (inputs['host'], 1)]",
    "3.19 processes": "import os\nos.kill(inputs['host'], 9)",
    "3.20 all": "import ctypes\nctypes.CDLL(None).system(b'touch ' + inputs['folder'].encode() + b'/x')\nreturn open(inputs['folder'] + '/x')",
}


@requirement("T116", "EW1", "EW3", "rec.12", "B140", "EW8")
@pytest.mark.parametrize("mode", CHECKED)
@pytest.mark.parametrize("vector", VECTORS)
def test_an_attack_changes_nothing_in_the_host_and_the_next_run_works(
    stage: Stage, canary: Canary, vector: str, mode: str
) -> None:
    seen: list[str] = []

    async def handle(name: str, args: Any) -> str:
        seen.append(name)
        return "a piece of gold"

    enclave = stage.enclave(**OFFERED, **CHECKED[mode])

    async def body() -> tuple[rf.RunResult, rf.RunResult]:
        inputs = {**canary.inputs(), "secret": str(canary.folder / "secret.txt")}
        attack = await enclave.run(VECTORS[vector], inputs, tool_handler=handle)
        return attack, await enclave.run("return [1 + 1, await vault.look()]", tool_handler=handle)

    attack, benign = stage.run(body())
    assert canary.SECRET not in repr(attack)
    assert canary.state() == canary.intact()
    assert (TREASURE.gold, TREASURE.taken, vars(TREASURE)) == (3, False, {"gold": 3, "taken": False})
    assert benign.value == [2, "a piece of gold"]
    assert "vault.open\n" not in seen


WALK: Final = dedent("""
    import types
    found, seen, stack = [], set(), [(NAMES, 0)]
    while stack:
        one, depth = stack.pop()
        if id(one) in seen or depth > 6 or len(seen) > 8_000:
            continue
        seen.add(id(one))
        if isinstance(one, types.ModuleType):
            origin = str(getattr(one, '__file__', '') or '')
            found.append(('module', one.__name__)) if 'behaviour' in one.__name__ or 'pydantic' in one.__name__ else None
        elif isinstance(one, types.FrameType) and 'behaviour' in one.f_code.co_filename:
            found.append(('frame', one.f_code.co_filename))
        elif isinstance(one, type) and (one.__module__.startswith(('tests', 'pydantic', 'msgspec', '_pytest')) or one.__name__ == 'Treasure'):
            found.append(('class', one.__qualname__))
        elif isinstance(one, str) and SECRET[::-1] in one:
            found.append(('secret', depth))
        if isinstance(one, dict):
            stack.extend((part, depth + 1) for pair in list(one.items()) for part in pair)
        elif isinstance(one, (list, tuple, set, frozenset)):
            stack.extend((part, depth + 1) for part in list(one))
        for name in ({*dir(one), *getattr(type(one), '__slots__', ()), '__class__', '__globals__', '__closure__', '__self__', '__func__', '__code__',
                      '__traceback__', '__context__', '__cause__', 'tb_frame', 'f_back', 'f_globals', 'f_builtins', 'gi_frame', 'cr_frame', 'obj'}):
            try:
                stack.append((getattr(one, name), depth + 1))
            except BaseException:
                pass
    return [len(seen) > 20, found]
""")

STARTS: Final[Mapping[str, str]] = {
    "a result": "NAMES = await vault.look()",
    "an error of a tool": "try:\n    await vault.open()\nexcept ToolError as error:\n    NAMES = [error, error.__traceback__]",
    "an error of a function": "try:\n    treasure.weigh(1, 2, 3)\nexcept Exception as error:\n    NAMES = [error, error.__traceback__]",
    "data": "NAMES = context",
    "an object": "NAMES = treasure",
    "a function": "NAMES = [size, treasure.weigh]",
    "a namespace": "NAMES = [vault, vault.look, call_tool, ToolError]",
    "a call": "NAMES = vault.look()",
    "modules": "import sys\nNAMES = [{name: None for name in sys.modules}, sys.path, sys.argv, sys.modules.get('__main__')]",
    "everything": "NAMES = dict(globals())",
}


@requirement("T117", "B131", "EW2", "rec.3")
@pytest.mark.parametrize("start", STARTS)
def test_whatever_a_script_is_given_it_can_walk_to_nothing_of_the_host(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    """Everything that can be reached in six steps is the script's own: no class, module, frame or secret of this test."""
    monkeypatch.setenv(Canary.VARIABLE, Canary.SECRET)

    async def handle(name: str, args: Any) -> Any:
        if name == "vault.open":
            raise PermissionError("closed")
        return {"rows": [{"id": 1}]}

    enclave = stage.enclave(**OFFERED | {"timeout": 15.0, "waiting": 0}, validate=False)
    script = f"SECRET = {Canary.SECRET[::-1]!r}\n{STARTS[start]}\n{WALK}"
    result = stage.run(enclave.run(script + "\n", tool_handler=handle))
    if start == "a call":  # the call that was walked over was never awaited, and that is said in the end
        assert result.error is not None
        assert "await" in result.error.message
    else:
        assert result.error is None, result.error
        assert result.value[1] == []


HOSTILE: Final = dedent("""
    ran = []
    class Hostile({base}):
        def __init__(self, *given): super().__init__(); ran.append('made')
        def __str__(self): print('RAN'); return 'x'
        __repr__ = __str__
        def __hash__(self): print('RAN'); return 1
        def __eq__(self, other): print('RAN'); return True
        def __iter__(self): print('RAN'); return iter(())
        def __len__(self): print('RAN'); return 0
        def __format__(self, spec): print('RAN'); return 'x'
        def __reduce__(self): print('RAN'); return (str, ())
        def __bool__(self): print('RAN'); return True
    return {value}
""")


@requirement("T118", "B124", "rec.3", "EW2")
@pytest.mark.parametrize("base", ["object", "dict", "list", "Exception"])
@pytest.mark.parametrize("value", ["Hostile()", "[1, {'x': Hostile()}]", "{'k': (Hostile(),)}", "Hostile"])
def test_a_value_with_hostile_methods_makes_the_host_run_none_of_them(stage: Stage, base: str, value: str) -> None:
    """A plain answer, or a refusal that names the place; of the host's classes only builtin ones are in it."""
    result = stage.script(HOSTILE.replace("{base}", base).replace("{value}", value), **OFFERED, validate=False)
    assert code(result) in (None, "RUNTIME_ERROR")
    stack: list[Any] = [result.value]
    while stack:
        one = stack.pop()
        assert type(one) in (type(None), str, int, float, bool, list, dict)
        stack.extend(one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())  # type: ignore[reportUnknownArgumentType]
    assert str(os.getpid()) not in result.output
