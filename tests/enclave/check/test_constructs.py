"""Statements: what STRICT leaves out, loops without end, what nothing reaches, what nobody knows."""

from __future__ import annotations

import ast

import pytest

from ringfence.enclave.check import vocabulary
from ringfence.enclave.check.script import rules
from tests.enclave.check.kit import KNOWN, codes

STRICT_SCRIPTS = [
    "import json, math, asyncio\nfrom datetime import datetime, timedelta\nrows = await tools.list(limit=3)\n"
    "totals = {}\nfor row in rows:\n    totals[row['name']] = totals.get(row['name'], 0) + row['total']\n"
    "async def one(name):\n    try:\n        return await mail.send(to=name)\n    except ToolError as error:\n"
    "        return {'error': str(error)}\nsent = await asyncio.gather(*[one(n) for n in sorted(totals)])\n"
    "f'{len(sent)} sent, {math.fsum(totals.values()):.2f}', json.dumps(totals, default=str)",
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    def total(self): return self.x\nP(1).total()",
    "class Failed(Exception):\n    pass\ntry:\n    raise Failed('x')\nexcept Failed as e:\n    print(e)",
    "from enum import Enum\nclass S(Enum):\n    A = 1\nmatch S.A:\n    case S.A: r = 1\n    case _: r = 2\nr",
    "import asyncio\nasync def main():\n    return 1\nasyncio.run(main())",
    "import functools\n@functools.lru_cache(maxsize=None)\ndef f(n): return n if n < 2 else f(n - 1)\nf(3)",
    "total = sum(x for x in range(10) if x % 2)\nassert total\ndel total",
]


@pytest.mark.parametrize("source", STRICT_SCRIPTS)
def test_ordinary_scripts_pass_strict(source: str) -> None:
    assert codes(source, "STRICT") == []


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("n = 3\nwhile n: n -= 1", "FORBIDDEN_LOOP"),
        ("def g():\n    yield 1", "FORBIDDEN_GENERATOR"),
        ("async def g():\n    yield 1", "FORBIDDEN_GENERATOR"),
        ("class A: pass", "FORBIDDEN_CLASS"),
        ("class A: pass\nclass B(A): pass", "FORBIDDEN_CLASS"),
        ("n = 0\ndef f():\n    global n", "FORBIDDEN_GLOBAL"),
        ("def d(f): return f\n@d\ndef g(): pass", "FORBIDDEN_DECORATOR"),
        ("class E(Exception):\n    def __eq__(self, o): return True", "HOOK_METHOD"),
        ("id(1)", "UNKNOWN_NAME"),
    ],
)
def test_strict_leaves_out_what_the_other_levels_have(source: str, code: str) -> None:
    assert code in codes(source, "STRICT")
    assert codes(source, "SECURE") == []


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "while 1:\n    x = 1",
        "while not False:\n    for i in []: break",
        "while 'x':\n    def f(): return 1",
        "while 1 == 1: print(1)",
        "import itertools\nfor i in itertools.count(): print(i)",
        "from itertools import cycle as c\n[x for x in c('ab')]",
        "import itertools\nlist(itertools.count())",
        "import itertools\nlist(map(pow, itertools.count(), itertools.repeat(2)))",
        "import itertools\nlist(zip(itertools.count(), itertools.repeat(2)))",
        "import itertools\nsum(x for x in itertools.count())",
        "import itertools\nit = itertools.repeat(1)\nfor x in it: pass",
        "import itertools\nfor i, x in enumerate(itertools.count()): pass",
    ],
)
def test_a_loop_without_end_is_found(source: str) -> None:
    assert codes(source) == ["INFINITE_LOOP"]
    assert codes(source, "STANDARD") == ["INFINITE_LOOP"]


@pytest.mark.parametrize(
    "source",
    [
        "while True: break",
        "while True:\n    if inputs: break",
        "def f():\n    while True: return 1",
        "def f():\n    while True: yield 1",
        "while True:\n    await tools.list()",
        "while True:\n    raise ValueError",
        "try:\n    while True:\n        print([].pop())\nexcept IndexError: pass",
        "it = iter([])\nwhile True: next(it)",
        "import sys\nwhile True: sys.exit()",
        "n = 1\nwhile n: n -= 1",
        "import itertools\nfor i in itertools.count():\n    if i > 3: break",
        "import itertools\ng = (x for x in itertools.count())\nprint(next(g))",
        "import itertools\nfor i in itertools.islice(itertools.count(), 3): pass",
        "import itertools\nlist(itertools.repeat(1, 3))",
        "import itertools\nlist(zip(itertools.count(), 'abc'))",
        "import itertools\nlist(map(pow, range(10), itertools.repeat(2)))",
        "list(map(str))",
        "list(zip())",
    ],
)
def test_a_loop_that_can_end_is_left_alone(source: str) -> None:
    assert codes(source, "STANDARD") == []


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    return 1\n    print(2)",
        "for i in []:\n    continue\n    print(i)",
        "raise ValueError\nprint(1)",
        "try:\n    pass\nfinally:\n    raise ValueError\n    print(1)",
    ],
)
def test_what_nothing_reaches_is_a_warning_everywhere(source: str) -> None:
    for level in ("STRICT", "SECURE", "STANDARD", "PERMISSIVE"):
        assert codes(source, level) == ["UNREACHABLE_CODE"]


def test_an_unreachable_yield_makes_a_generator_and_is_left_alone() -> None:
    assert codes("def empty():\n    return\n    yield") == []


@pytest.mark.parametrize(
    "source", ["class A(metaclass=M): pass\nclass M: pass", "class M(type): pass", "class A(**inputs): pass"]
)
def test_metaclasses_are_found(source: str) -> None:
    assert codes(source) == ["METACLASS"]
    assert codes("import abc\nclass A(metaclass=abc.ABCMeta): pass") == []


def test_new_syntax_is_off_at_the_tight_levels() -> None:
    source = "try:\n    pass\nexcept* ValueError:\n    pass"
    assert codes(source) == ["UNSUPPORTED_SYNTAX"]
    assert codes(source, "STANDARD") == []


def test_a_node_that_nobody_knows_is_a_finding_with_its_line() -> None:
    class Novel(ast.stmt):
        _fields = ()

    tree = ast.parse("x = 1")
    tree.body.append(Novel(lineno=2, col_offset=0, end_lineno=2, end_col_offset=1))
    found = {level: rules(tree, level, KNOWN) for level in ("SECURE", "PERMISSIVE")}
    assert [(one.code, one.line, one.severity) for one in found["SECURE"]] == [("UNSUPPORTED_SYNTAX", 2, "error")]
    assert [one.severity for one in found["PERMISSIVE"]] == ["warning"]


def test_every_node_that_this_python_has_is_known_or_unused() -> None:
    old = {
        "Num",
        "Str",
        "Bytes",
        "NameConstant",
        "Ellipsis",
        "AugLoad",
        "AugStore",
        "Param",
        "Suite",
        "Index",
        "ExtSlice",
    }
    top = {"Interactive", "Expression", "FunctionType", "TypeIgnore"}
    there = {kind.__name__ for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)}
    groups = {
        name for name in there if name.islower() and name not in {"alias", "arg", "arguments", "keyword", "withitem"}
    }
    newer = {"TemplateStr", "Interpolation"}
    assert there - old - top - groups - newer - {"AST"} <= vocabulary.KNOWN_NODES
