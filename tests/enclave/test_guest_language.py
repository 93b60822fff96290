"""What a script may write: whole CPython, asyncio, and every module it is promised, after the jail has closed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.enclave.kit import Stage, answering, code, echo

# the shape of a script


@pytest.mark.parametrize(
    ("source", "value"),
    [
        pytest.param("", None, id="nothing"),
        pytest.param("# only a comment", None, id="comment"),
        pytest.param('"""A docstring."""', "A docstring.", id="docstring"),
        pytest.param("1 + 1", 2, id="expression"),
        pytest.param("x = 1", None, id="statement"),
        pytest.param("return 5", 5, id="return"),
        pytest.param("return", None, id="bare return"),
        pytest.param("if True:\n    return 1\nreturn 2", 1, id="return in a branch"),
        pytest.param("for i in range(9):\n    if i == 4:\n        return i", 4, id="return in a loop"),
        pytest.param("with_ = 3\nwith_", 3, id="name like a keyword"),
        pytest.param("[await call_tool('echo', {'n': n}) for n in (1, 2)]", [{"n": 1}, {"n": 2}], id="await in a list"),
        pytest.param(
            "{n: (await call_tool('echo', {'n': n}))['n'] for n in (1, 2)}.items()", [[1, 1], [2, 2]], id="await in a dict"
        ),
        pytest.param("f\"{(await call_tool('echo', {'n': 1}))['n']:>3}\"", "  1", id="await in an f-string"),
        pytest.param("(await call_tool('echo', {'n': 2}))['n'] ** 2", 4, id="await in arithmetic"),
        pytest.param("x = 0\nwhile (x := x + 1) < 5: pass\nx", 5, id="walrus"),
        pytest.param("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return str(e)", "division by zero", id="except"),
        pytest.param("if __name__ == '__main__':\n    'main'", "main", id="guard"),
        pytest.param("if '__main__' == __name__:\n    'main'", "main", id="guard the other way round"),
        pytest.param("if __name__ == '__main__':\n    'main'\nelse:\n    'other'", None, id="guard with else is a statement"),
        pytest.param("def f():\n    global g\n    g = 7\nf()\ng", 7, id="global"),
        pytest.param("x = 1\ndef f():\n    return x\nx = 2\nf()", 2, id="functions see later values"),
        pytest.param("x = 1\nglobal_x = globals()['x']\nglobal_x", 1, id="globals()"),
        pytest.param("del inputs\n'inputs' in globals()", False, id="del"),
        pytest.param("x: int = 3\nx", 3, id="annotation"),
        pytest.param("a, *b = 1, 2, 3\n[a, b]", [1, [2, 3]], id="unpacking"),
        pytest.param("exec('y = 4')\ny", 4, id="exec"),
        pytest.param("eval('6 * 7')", 42, id="eval"),
        pytest.param("lambda_ = lambda n: n + 1\nlambda_(1)", 2, id="lambda"),
        pytest.param("print('x')", None, id="print has no value"),
        pytest.param("assert True, 'fine'\n1", 1, id="assert"),
        pytest.param("X = int\nX('3')", 3, id="alias"),
        pytest.param("\ufeff1", 1, id="byte order mark"),
        pytest.param("x = 'é'\r\nx\r\n", "é", id="carriage returns"),
        pytest.param("# -*- coding: utf-8 -*-\n'ü'", "ü", id="coding line"),
        pytest.param("ｘ = 1\nx", 1, id="identifiers are normalised"),
        pytest.param("__name__", "__main__", id="__name__"),
        pytest.param("__doc__", None, id="__doc__"),
    ],
)  # fmt: skip
def test_a_script_has_the_value_that_its_shape_promises(stage: Stage, source: str, value: object) -> None:
    stage.tools["echo"] = echo
    result = stage.script(source)
    assert (code(result), result.value) == (None, value)


@pytest.mark.parametrize(
    ("source", "line", "fix"),
    [
        pytest.param("x = (", 1, "close the bracket", id="open bracket"),
        pytest.param("x = 'a", 1, "close the quotation mark", id="open quote"),
        pytest.param("if 1\n    pass", 1, "end the line with a colon", id="colon"),
        pytest.param("def f():\nx = 1", 2, "indent the next line, or write `pass`", id="indent"),
        pytest.param("x = 1\n  y = 2", 2, "remove the indentation", id="unexpected indent"),
        pytest.param("1 = x", 1, "use `==` to compare", id="assignment"),
        pytest.param(
            "def f():\n    await call_tool('a', {})", 2, "make the function `async def`, and await its calls", id="await in def"
        ),
        pytest.param("def f():\n    from math import *", 2, "name what you need: from … import …", id="star import"),
        pytest.param("x = 1\nyield x", 2, "put it into a function, or use return", id="yield"),
        pytest.param("yield from []", 1, "put it into a function, or use return", id="yield from"),
        pytest.param("x = 1\n\x00", 2, "remove it", id="NUL"),
        pytest.param("(" * 300 + ")" * 300, 1, "split long expressions into steps", id="nesting"),
        pytest.param("nonlocal x", 1, "correct the syntax on this line", id="nonlocal"),
        pytest.param("class A:\n    return 1", 2, "correct the syntax on this line", id="return in a class"),
    ],
)  # fmt: skip
def test_a_source_that_cannot_run_is_refused_with_line_and_fix(stage: Stage, source: str, line: int, fix: str) -> None:
    result = stage.script(source)
    assert result.error is not None
    assert (result.error.code, result.error.data["code"]) == ("VALIDATION_ERROR", "script_rejected")
    assert (result.error.line, result.error.hint) == (line, fix)
    assert [found["line"] for found in result.error.data["findings"]] == [line]
    assert (result.calls, result.stats.tool_call_count, result.output) == ((), 0, "")
    assert "__script__" not in result.error.message


# asyncio

ASYNC = [
    pytest.param("await asyncio.gather(one(), two())", [1, 2], id="gather"),
    pytest.param("await asyncio.gather()", [], id="gather of nothing"),
    pytest.param("await asyncio.wait_for(one(), 1)", 1, id="wait_for"),
    pytest.param("async with asyncio.timeout(1):\n    x = await two()\nx", 2, id="timeout"),
    pytest.param(
        "try:\n    async with asyncio.timeout(0.001):\n        await asyncio.sleep(9)\nexcept TimeoutError:\n    return 'late'",
        "late",
        id="timeout that strikes",
    ),
    pytest.param("await asyncio.create_task(one())", 1, id="create_task"),
    pytest.param("await asyncio.ensure_future(one())", 1, id="ensure_future"),
    pytest.param("asyncio.run(one())", 1, id="run"),
    pytest.param("asyncio.run(two(), debug=True)", 2, id="run with debug"),
    pytest.param("asyncio.get_event_loop().run_until_complete(one())", 1, id="run_until_complete"),
    pytest.param("asyncio.get_running_loop().is_running()", True, id="get_running_loop"),
    pytest.param("asyncio.get_running_loop() is asyncio.new_event_loop()", True, id="one loop"),
    pytest.param("done, pending = await asyncio.wait([asyncio.create_task(one())])\n[len(done), len(pending)]", [1, 0], id="wait"),
    pytest.param("[await c for c in asyncio.as_completed([one(), one()])]", [1, 1], id="as_completed"),
    pytest.param("await asyncio.shield(one())", 1, id="shield"),
    pytest.param("await asyncio.to_thread(sum, [1, 2])", 3, id="to_thread"),
    pytest.param("await asyncio.sleep(0.001, 'slept')", "slept", id="sleep"),
    pytest.param("await asyncio.sleep(0)", None, id="sleep(0)"),
    pytest.param("async with asyncio.Lock():\n    x = 1\nx", 1, id="lock"),
    pytest.param("async with asyncio.Condition() as c:\n    x = 1\nx", 1, id="condition"),
    pytest.param("b = asyncio.Barrier(1)\nawait b.wait()", 0, id="barrier"),
    pytest.param("q = asyncio.PriorityQueue()\nq.put_nowait((2, 'b'))\nq.put_nowait((1, 'a'))\nawait q.get()", [1, "a"], id="priority queue"),
    pytest.param("async with asyncio.TaskGroup() as g:\n    t = g.create_task(two())\nt.result()", 2, id="task group"),
    pytest.param("[x async for x in numbers()]", [0, 1, 2], id="async generator"),
    pytest.param("await anext(numbers())", 0, id="anext"),
    pytest.param("async for x in numbers():\n    if x == 1: break\nx", 1, id="async for with break"),
    pytest.param("g = numbers()\nawait g.asend(None)\nawait g.aclose()\n'closed'", "closed", id="aclose"),
    pytest.param("t = asyncio.create_task(one(), name='mine')\nawait t\nt.get_name()", "mine", id="task names"),
    pytest.param("t = asyncio.create_task(asyncio.sleep(9))\nt.cancel()\ntry:\n    await t\nexcept asyncio.CancelledError:\n    return t.cancelled()", True, id="cancel"),
    pytest.param("f = asyncio.get_running_loop().create_future()\nf.set_result(4)\nawait f", 4, id="future"),
    pytest.param("seen = []\nasyncio.get_running_loop().call_soon(seen.append, 1)\nasyncio.get_running_loop().call_later(0.001, seen.append, 2)\nawait asyncio.sleep(0.01)\nseen", [1, 2], id="callbacks"),
    pytest.param("import contextvars\nv = contextvars.ContextVar('v', default=0)\nasync def f():\n    v.set(5)\n    return v.get()\n[await asyncio.create_task(f()), v.get()]", [5, 0], id="context variables"),
    pytest.param("asyncio.run(asyncio.wait_for(one(), 1)) + asyncio.run(two())", 3, id="run twice"),
    pytest.param("async def outer():\n    return asyncio.run(inner())\nasync def inner():\n    return asyncio.run(one())\nasyncio.run(outer())", 1, id="run three deep"),
    pytest.param("async def fail():\n    raise KeyError('k')\ntry:\n    asyncio.run(fail())\nexcept KeyError as e:\n    return str(e)", "'k'", id="run that raises"),
    pytest.param("asyncio.current_task() is not None", True, id="current_task"),
    pytest.param("asyncio.iscoroutinefunction(one)", True, id="iscoroutinefunction"),
]  # fmt: skip
PRELUDE = """\
import asyncio
async def one(): return 1
async def two():
    await asyncio.sleep(0)
    return 2
async def numbers():
    for n in range(3):
        await asyncio.sleep(0)
        yield n
"""


@pytest.mark.parametrize(("source", "value"), ASYNC)
def test_asyncio_works_as_in_any_program(stage: Stage, source: str, value: object) -> None:
    result = stage.script(PRELUDE + source)
    assert (code(result), result.value, result.error) == (None, value, None)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        pytest.param("await asyncio.Event().wait()", 2, id="event"),
        pytest.param("await asyncio.get_running_loop().create_future()", 2, id="future"),
        pytest.param("await asyncio.Queue().get()", 2, id="queue"),
        pytest.param("lock = asyncio.Lock()\nawait lock.acquire()\nawait lock.acquire()", 4, id="lock"),
        pytest.param("await asyncio.gather(*(asyncio.Event().wait() for _ in range(3)))", 2, id="gather"),
        pytest.param("async def wait():\n    await asyncio.Event().wait()\nasyncio.run(wait())", 3, id="nested run"),
    ],
)
def test_waiting_for_what_never_happens_ends_at_once(stage: Stage, source: str, line: int) -> None:
    result = stage.script("import asyncio\n" + source, timeout=5.0)
    assert result.error is not None
    assert (result.error.code, result.error.name, result.error.line) == ("RUNTIME_ERROR", "Deadlock", line)
    assert result.stats.duration < 1.0


# what a script finds


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("from datetime import datetime\ndatetime(2026, 1, 2).strftime('%A %j')", "Friday 002"),
        (
            "from datetime import datetime\ndatetime.fromisoformat('2026-01-02T03:04:05+02:00').utcoffset()",
            timedelta(hours=2),
        ),
        ("from datetime import datetime, timezone\ndatetime.now(timezone.utc).tzinfo is timezone.utc", True),
        ("from datetime import datetime\nisinstance(datetime.now(), datetime)", True),
        ("from datetime import date, datetime\nissubclass(datetime, date)", True),
        ("import datetime\nisinstance(datetime.datetime.min, datetime.datetime)", True),
        ("from datetime import datetime\n(datetime(2026, 1, 2) - datetime(2026, 1, 1)).days", 1),
        ("from datetime import datetime\nrepr(datetime(2026, 1, 2))", "datetime.datetime(2026, 1, 2, 0, 0)"),
        (
            "from datetime import datetime\ntype(datetime(2026, 1, 2) + (datetime.max - datetime.max)).__name__",
            "datetime",
        ),
        (
            "from datetime import datetime\nimport copy\ncopy.deepcopy(datetime(2026, 1, 2)) == datetime(2026, 1, 2)",
            True,
        ),
        ("import time\ntime.strftime('%Y', time.gmtime(0))", "1970"),
        ("import json, datetime\njson.dumps({'d': datetime.date(2026, 1, 2)}, default=str)", '{"d": "2026-01-02"}'),
        ("'ß'.encode('utf-16').decode('utf-16') + 'x'.encode('cp1252').decode('idna')", "ßx"),
        ("'{:,.2f} {:>5} {!r}'.format(1234.5, 'a', 'b')", "1,234.50     a 'b'"),
        ("'%05.1f|%x' % (3.14159, 255)", "003.1|ff"),
        ("sorted(['b', 'A', 'c'], key=str.casefold)", ["A", "b", "c"]),
        ("import re\nre.findall(r'(?i)\\bé\\w+', 'École étude')", ["École", "étude"]),
        ("from collections import ChainMap\ndict(ChainMap({'a': 1}, {'b': 2}))", {"b": 2, "a": 1}),
        ("import logging, io\nlogging.warning('careful')", None),
        ("x = 1\n'x' in locals() and 'x' in vars() and 'x' in dir()", True),
        ("def f():\n    a = 1\n    return [locals(), vars(), dir()]\nf()", [{"a": 1}, {"a": 1}, ["a"]]),
        ("def f():\n    exec('a = 1', names)\nnames = {}\nf()\nnames['a']", 1),
        ("class A:\n    b = 1\n    c = list(locals())\n'b' in A.c", True),
        ("import sys\nsys._getframe().f_code.co_name", "<module>"),
    ],
)
def test_the_library_behaves_as_it_should(stage: Stage, source: str, value: object) -> None:
    result = stage.script(source)
    assert (result.error, result.value) == (None, value)


@pytest.mark.parametrize(
    "module",
    ["multiprocessing", "numpy", "pandas", "requests", "sqlite3", "pickle", "tkinter", "ringfence.boundary",
     "ringfence.gate.runner", "pydantic", "msgspec"],
)  # fmt: skip
def test_other_modules_are_absent_and_the_message_says_what_there_is(stage: Stage, module: str) -> None:
    result = stage.script(f"x = 1\nimport {module}")
    assert result.error is not None
    assert (result.error.code, result.error.name, result.error.line) == ("RUNTIME_ERROR", "ModuleNotFoundError", 2)
    assert result.error.message.startswith(f"No module named '{module.partition('.')[0]}")
    assert "json" in result.error.message
    assert result.error.hint == "use one of the modules named, or call a tool"


# clock, chance, identity


def test_the_scripts_clock_is_the_hosts(stage: Stage) -> None:
    result = stage.script("import time, datetime\n[time.time(), datetime.datetime.now(datetime.UTC).isoformat()]")
    now = datetime.now(UTC)
    assert abs(result.value[0] - now.timestamp()) < 5
    assert abs(datetime.fromisoformat(result.value[1]) - now) < timedelta(seconds=5)


def test_two_runs_have_different_chance_and_one_run_one_seed(stage: Stage) -> None:
    source = (
        "import random, uuid, secrets, os\n[random.random(), str(uuid.uuid4()), secrets.token_hex(8), os.urandom(4)]"
    )
    first, second = stage.script(source).value, stage.script(source).value
    assert all(a != b for a, b in zip(first, second, strict=True))


def test_sets_of_text_have_one_order_in_every_run(stage: Stage) -> None:
    source = "list({'alpha', 'beta', 'gamma', 'delta'})"
    assert len({tuple(stage.script(source).value) for _ in range(5)}) == 1


def test_nothing_of_one_run_reaches_the_next(stage: Stage) -> None:
    spoil = "import json, builtins, sys\njson.mine = builtins.mine = sys.mine = 1\nlen = mine = None\nint"
    look = "import json, builtins, sys\n[hasattr(json, 'mine'), hasattr(builtins, 'mine'), hasattr(sys, 'mine'), len('ab')]"
    stage.script(spoil)
    assert stage.script(look).value == [False, False, False, 2]


def test_a_script_finds_its_names_and_nothing_of_the_machine(stage: Stage) -> None:
    result = stage.script(
        "import os, sys\n"
        "[sorted(name for name in globals() if name not in ('os', 'sys')), dict(os.environ), sys.argv, sys.path, sys.executable]"
    )
    names = ["GlobalFunctionError", "ToolError", "__builtins__", "__doc__", "__name__", "call_tool", "inputs"]
    assert (result.error, result.value) == (None, [names, {}, [""], [], ""])


# inputs


DATA: list[object] = [
    None, True, 0, -1, 2**80, 1.5, -0.0, 1e308, "", "é\u0000\U0001f600\u2028", [], [[[]]], {}, {"": {"a b": [None]}}
]  # fmt: skip


@pytest.mark.parametrize("value", DATA)
def test_inputs_arrive_as_they_were_and_leave_as_they_came(stage: Stage, value: object) -> None:
    result = stage.script("inputs['x']", {"x": value})
    assert (result.value, type(result.value)) == (value, type(value))


def test_a_run_without_inputs_has_an_empty_object(stage: Stage) -> None:
    assert stage.script("inputs").value == {}


# output


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("print('a', 'b', sep='-', end='|')", "a-b|"),
        ("import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('out')", "out\nerr\nout\n"),
        ("print()", "\n"),
        ("print('é\u2028\U0001f600')", "é\u2028\U0001f600\n"),
        ("print('a\\x00b\\x1b[31m')", "a\x00b\x1b[31m\n"),
        ("print('\\ud800')", "?\n"),
        ("print({'a': [1]}, None, 1.0)", "{'a': [1]} None 1.0\n"),
        ("from pprint import pprint\npprint({'a': 1})", "{'a': 1}\n"),
        ("import logging\nlogging.warning('careful')", "WARNING:root:careful\n"),
        ("import traceback\ntraceback.print_exception(ValueError('x'))", "ValueError: x\n"),
        ("import sys\nsys.stdout.writelines(['a', 'b'])\nsys.stdout.flush()", "ab"),
        ("import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    print('kept')\nprint(out.getvalue() * 2)", "kept\nkept\n\n"),
        ("print('x' * 300_000)", "x" * 300_000 + "\n"),
    ],
)  # fmt: skip
def test_what_is_printed_is_in_the_output(stage: Stage, source: str, text: str) -> None:
    result = stage.script(source)
    assert (result.error, result.output, result.stats.output_bytes) == (None, text, len(text.encode()))


def test_output_before_a_failure_is_kept(stage: Stage) -> None:
    stage.tools["echo"] = echo
    result = stage.script("print('one')\nawait call_tool('echo', {})\nprint('two')\n1 / 0")
    assert (code(result), result.output) == ("RUNTIME_ERROR", "one\ntwo\n")


# failures


@pytest.mark.parametrize(
    ("source", "name", "message", "line"),
    [
        ("\n\nraise ValueError('bad')", "ValueError", "bad", 3),
        ("raise ValueError", "ValueError", "ValueError", 1),
        ("x = {}\nx['k']", "KeyError", "KeyError: 'k'", 2),
        ("def f():\n    return 1 / 0\n\n\nf()", "ZeroDivisionError", "division by zero", 2),
        ("nope", "NameError", "name 'nope' is not defined", 1),
        ("'a'.nope", "AttributeError", "'str' object has no attribute 'nope'", 1),
        ("[1][5]", "IndexError", "list index out of range", 1),
        ("len(5)", "TypeError", "object of type 'int' has no len()", 1),
        ("def f():\n    f()\nf()", "RecursionError", "maximum recursion depth exceeded", 2),
        ("import json\njson.loads('{')", "JSONDecodeError", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)", 2),
        ("eval('1 +')", "SyntaxError", "invalid syntax (<string>, line 1)", 1),
        ("import sys\nsys.exit(3)", "SystemExit", "the script left with the exit code 3", 2),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("raise SystemExit('x')", "SystemExit", "x", 1),
        ("raise ExceptionGroup('two', [ValueError('a'), KeyError('b')])", "ValueError", "a", 1),
        ("raise BaseException('b')", "BaseException", "b", 1),
        ("assert 1 == 2, 'unequal'", "AssertionError", "unequal", 1),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('outer') from e", "ValueError", "outer", 4),
        ("breakpoint()", "RuntimeError", "scripts have no debugger", 1),
        ("x = int('z')", "ValueError", "invalid literal for int() with base 10: 'z'", 1),
        ("from math import nope", "ImportError", None, 1),
        ("class A:\n    def __init__(self):\n        self.x.y\nA()", "AttributeError", "'A' object has no attribute 'x'", 3),
        ("list(map(lambda n: 1 // n, [1, 0]))", "ZeroDivisionError", "integer division or modulo by zero", 1),
        ("await 5", "TypeError", "object int can't be used in 'await' expression", 1),
    ],
)  # fmt: skip
def test_an_exception_is_reported_with_name_text_and_line(
    stage: Stage, source: str, name: str, message: str | None, line: int
) -> None:
    result = stage.script(source)
    assert result.error is not None
    assert (result.error.code, result.error.data["code"]) == ("RUNTIME_ERROR", "script_raised")
    assert (result.error.name, result.error.line) == (name, line)
    assert result.error.message.startswith(message or "cannot import name 'nope'")
    assert (result.success, result.status, result.value) == (False, "failed", None)


def test_the_traceback_shows_the_scripts_lines_only(stage: Stage) -> None:
    stage.tools["f"] = answering([3])
    result = stage.script(
        "import asyncio\n\n\nasync def load():\n    rows = await call_tool('f', {})\n    return sorted(rows, key=lambda row: row / 0)\n\n\nasyncio.run(load())\n"
    )
    assert result.error is not None
    shown = [line for line in result.error.data["traceback"].splitlines(keepends=True) if set(line) - set(" ~^\n")]
    assert "".join(shown) == (
        "Traceback (most recent call last):\n"
        '  File "script.py", line 9, in <module>\n'
        "    asyncio.run(load())\n"
        '  File "script.py", line 6, in load\n'
        "    return sorted(rows, key=lambda row: row / 0)\n"
        '  File "script.py", line 6, in <lambda>\n'
        "    return sorted(rows, key=lambda row: row / 0)\n"
        "ZeroDivisionError: division by zero"
    )


def test_a_long_traceback_is_cut_in_the_middle_and_a_long_message_at_its_end(stage: Stage) -> None:
    result = stage.script("def f(n):\n    if n == 0:\n        raise ValueError('m' * 10_000)\n    f(n - 1)\nf(300)")
    assert result.error is not None
    assert len(result.error.message) <= 4096
    assert len(result.error.data["traceback"]) <= 4096


@pytest.mark.parametrize(
    ("keys", "texts"),
    [
        ("1, -2, 10**20", ["1", "-2", "100000000000000000000"]),
        ("2.5, True, None", ["2.5", "true", "null"]),
        ("datetime.date(2026, 1, 2), datetime.time(3), decimal.Decimal('1.50')", ["2026-01-02", "03:00:00", "1.50"]),
        ("uuid.UUID(int=1), Colour.RED, Level.LOW", ["00000000-0000-0000-0000-000000000001", "red", "1"]),
    ],
)
def test_the_keys_of_a_result_become_text(stage: Stage, keys: str, texts: list[str]) -> None:
    result = stage.script(
        "import datetime, decimal, enum, uuid\nColour = enum.Enum('Colour', {'RED': 'red'})\n"
        "Level = enum.IntEnum('Level', 'LOW')\n"
        f"shared = {{key: [] for key in ({keys},)}}\nreturn [shared, (shared,), {{'a': {{0: shared}}}}]"
    )
    rows: dict[str, list[Any]] = {text: [] for text in texts}
    assert result.value == [rows, [rows], {"a": {"0": rows}}]


@pytest.mark.parametrize(
    "value",
    ["lambda: 1", "int", "open", "(n for n in [1])", "object()", "iter([])", "asyncio.Event()", "re.compile('a')", "inputs.get",
     "float('inf')", "{(1, 2): 3}", "{1: 2, '1': 3}", "{float('nan'): 1}", "{b'x': 1}", "{1: a_cycle}", "[float('nan')]", "'\\ud800'", "{'\\udc80': 1}", "sys", "ToolError",
     "call_tool", "1j", "Ellipsis", "memoryview(b'x')", "decimal.Decimal('NaN')", "a_cycle"],
)  # fmt: skip
def test_what_is_not_data_does_not_leave(stage: Stage, value: str) -> None:
    result = stage.script(
        "import asyncio, decimal, re, sys\na_cycle = []\na_cycle.append({'x': a_cycle})\n"
        f"return {{'rows': [1, {value}]}}"
    )
    assert result.error is not None
    assert (result.error.code, result.error.name) == ("RUNTIME_ERROR", "ResultError")
    assert re.match(r"the result('s rows(\[1\])?.*)?: ", result.error.message)
    assert result.value is None


@pytest.mark.parametrize("value", ["deep", "{'a': deep}", "{1: deep}", "[{None: deep}]"])
def test_what_is_too_deep_does_not_leave_whatever_its_keys(stage: Stage, value: str) -> None:
    result = stage.script(f"deep = []\nfor _ in range(5000): deep = [deep]\nreturn {value}")
    assert result.error is not None
    assert (result.error.code, result.error.name) == ("SERIALIZATION_LIMIT_EXCEEDED", None)


def test_shared_structure_is_copied(stage: Stage) -> None:
    assert stage.script("row = {'a': 1}\n[row, row]").value == [{"a": 1}, {"a": 1}]
