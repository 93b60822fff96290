"""State of one run, session or enclave that another must not see, and attacks that try to leave some behind."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.attacks.host import furnish
from tests.attacks.trials import LIMITS
from tests.enclave.kit import Stage, code

SPOIL: Final = {
    "names": "import builtins\nbuiltins.planted = planted = 'mine'\nglobals()['planted'] = 'mine'",
    "builtins": "import builtins\nfor name in ('len', 'print', 'sum', 'range', 'open', 'isinstance'):\n    setattr(builtins, name, None)",
    "modules": (
        "import json, re, datetime, math, sys\njson.dumps = json.loads = re.compile = math.sqrt = lambda *_, **__: 'poison'\n"
        "datetime.datetime.now = None\nsys.modules['planted'] = sys\nsys.path.append('/planted')"
    ),
    "types": "import gc\ngc.get_referents(str.__dict__)[0]['upper'] = lambda self: 'poison'",
    "interned": "import ctypes\nctypes.memset(id('planted') + 48, 65, 3)",
    "small integers": "import ctypes\nctypes.memset(id(7) + 24, 9, 1)",
    "randomness": "import random\nrandom.seed(1)\nrandom.random = lambda: 0.5",
    "time": "import time\ntime.time = lambda: 0\ntime.sleep = None",
    "environment": "import os\nos.environ['PLANTED'] = 'mine'\nos.umask(0) if False else None",
    "signals": "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])",
    "descriptors": "import os\nos.close(0)\nos.close(1)\nos.close(2)",
    "shared descriptor": "import os\nos.write(1, b'planted')\nos.lseek(0, 100, 0)",
    "loop": "import asyncio\nasyncio.get_running_loop().call_soon(print, 'late')\nasyncio.create_task(asyncio.sleep(60))",
    "hooks": "import sys, atexit, gc\nsys.excepthook = sys.displayhook = None\natexit.register(print)\ngc.callbacks.append(print)\nsys.settrace(print)",
    "errors": "ToolError.__str__ = lambda self: 'poison'\nToolError.planted = True",
    "globals": "object.__setattr__(conf, 'planted', 1) if False else None\nglobals()['conf'] = None\nglobals()['call_tool'] = None",
    "locale": "import locale, decimal\ndecimal.getcontext().prec = 3\ndecimal.setcontext(decimal.Context(prec=2))",
    "recursion": "import sys\nsys.setrecursionlimit(60)",
    "warnings": "import warnings, logging\nwarnings.simplefilter('error')\nlogging.disable(1000)",
    "limits": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))",
    "crash": "import ctypes\nctypes.string_at(8)",
    "memory": "x = 'x' * 10**10",
    "time out": "while True: pass",
}
LOOK: Final = """
import json, re, datetime, math, sys, random, time, os, decimal, signal, logging, builtins

answer = await call_tool("echo", {"n": 1})
first = random.random()
try:
    await call_tool("boom", {})
except ToolError as error:
    text = str(error)
return {
    "names": sorted(name for name in (*globals(), *vars(builtins), *sys.modules) if "planted" in name),
    "works": [len([1, 2]), sum(range(4)), json.loads(json.dumps({"a": 1})), bool(re.compile("a").match("a")), math.sqrt(4), "ab".upper()],
    "integers": [3 + 4, 7 * 1],
    "words": "planted"[:3],
    "time": time.time() > 10**9 and datetime.datetime.now().year > 2000,
    "chance": first != 0.5,
    "environment": dict(os.environ),
    "signal": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL and not signal.pthread_sigmask(signal.SIG_BLOCK, []),
    "decimal": str(decimal.Decimal(1) / 3),
    "limit": sys.getrecursionlimit() >= 1000,
    "logging": logging.root.manager.disable,
    "traced": [sys.gettrace() is None, sys.excepthook is sys.__excepthook__],
    "error": [text, hasattr(ToolError, "planted")],
    "given": [answer, conf.rows[0]],
}
"""


EVERYWHERE: Final = ("GlobalFunctionError", "ToolError", "call_tool", "inputs")


@pytest.mark.slow
@pytest.mark.parametrize("attack", SPOIL)
def test_nothing_of_one_run_is_found_in_the_next(attack: str, arena: Stage, canary: Canary) -> None:
    furnish(arena)
    enclave = arena.enclave(timeout=1.0, **LIMITS, validate=False)

    async def in_turn() -> list[rf.RunResult]:
        before = await enclave.run(LOOK)
        await enclave.run(SPOIL[attack])
        return [before, await enclave.run(LOOK), await enclave.run(LOOK)]

    before, *after = arena.run(in_turn())
    assert before.error is None
    assert before.value["names"] == []
    assert [(one.error, one.value) for one in after] == [(None, before.value)] * 2
    assert canary.state() == canary.intact()


@pytest.mark.slow
def test_two_enclaves_know_nothing_of_each_other(arena: Stage) -> None:
    furnish(arena)
    script = "return sorted(name for name in globals() if not name.startswith('__'))"
    one = arena.enclave(globals={"alpha": 1}, tool_namespaces={"first": ["list"]})
    other = arena.enclave(globals={"beta": 2}, tool_namespaces={"second": ["list"]}, validate=False)

    async def both() -> list[rf.RunResult]:
        runs = (one.run(script), other.run(script), one.run("return beta"), other.run("return first"))
        return list(await asyncio.gather(*runs))

    names, others, *missing = arena.run(both())
    assert [name for name in names.value if name not in EVERYWHERE] == ["alpha", "first"]
    assert [name for name in others.value if name not in EVERYWHERE] == ["beta", "second"]
    assert [(code(one), one.error.name if one.error else None) for one in missing] == [
        ("RUNTIME_ERROR", "NameError")
    ] * 2


@pytest.mark.slow
def test_runs_at_once_do_not_mix(arena: Stage) -> None:
    furnish(arena)
    enclave = arena.enclave(timeout=5.0, **LIMITS)
    script = """
    import random
    mine = inputs["who"]
    for turn in range(3):
        print(mine, turn)
        answer = await call_tool("echo", {"who": mine, "turn": turn})
        assert answer == {"who": mine, "turn": turn}, answer
    state.append(mine)
    return [mine, tag(mine)]
    """.replace("\n    ", "\n")

    async def crowd() -> list[rf.RunResult]:
        whos = [f"w{number}" for number in range(12)]
        kept: list[dict[str, Any]] = [{"state": [who]} for who in whos]
        return await asyncio.gather(
            *(enclave.run(script, {"who": who}, variables=one) for who, one in zip(whos, kept, strict=True))
        )

    results = arena.run(crowd())
    assert [result.error for result in results] == [None] * 12
    assert [result.value for result in results] == [[f"w{number}", f"<w{number}>"] for number in range(12)]
    assert [result.output for result in results] == [f"w{n} 0\nw{n} 1\nw{n} 2\n" for n in range(12)]
    assert [(result.variables or {})["state"] for result in results] == [[f"w{n}"] * 2 for n in range(12)]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["while True: pass", "await call_tool('never', {})", "import time; time.sleep(60)"])
def test_closing_an_enclave_ends_its_runs(attack: str, arena: Stage) -> None:
    furnish(arena)

    async def closed() -> rf.RunResult:
        enclave = rf.Enclave(tool_handler=arena.handle, timeout=30.0, validate=False)
        await enclave.warm()
        running = asyncio.create_task(enclave.run(attack))
        await asyncio.sleep(0)
        await enclave.aclose()
        return await running

    result = arena.run(closed())
    assert (result.status, code(result)) == ("interrupted", "ABORTED")


@pytest.mark.slow
def test_variables_cannot_be_a_way_from_one_session_to_another(arena: Stage) -> None:
    furnish(arena)
    enclave = arena.enclave(timeout=5.0, **LIMITS, validate=False)
    script = """
    class Late(str):
        def __repr__(self):
            raise SystemExit
    notes = {"text": Late("plain"), "__class__": "x"}
    call_tool_kept, sneaky = call_tool, lambda: 1
    _hidden = __builtins__
    """.replace("\n    ", "\n")
    kept: dict[str, Any] = {"notes": {}, "other": [1]}

    async def in_turn() -> list[rf.RunResult]:
        first = await enclave.run(script, variables=kept)
        return [first, await enclave.run("return [notes, other, 'sneaky' in globals()]", variables=kept)]

    first, second = arena.run(in_turn())
    assert first.error is None
    assert kept == {"notes": {"text": "plain", "__class__": "x"}, "other": [1]}
    assert type(kept["notes"]["text"]) is str
    assert second.value == [{"text": "plain", "__class__": "x"}, [1], False]
