"""Scripts as models write them become coroutine functions with the user's line numbers."""

from __future__ import annotations

import ast
import asyncio
from types import CodeType
from typing import Any

import pytest

from ringfence.enclave.source import ENTRY, FILENAME, Rejected, compile_script, parse


def compiler(module: ast.Module, flags: int) -> CodeType:
    return compile(module, FILENAME, "exec", flags=flags, dont_inherit=True)


def run(source: str) -> Any:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile_script(parse(source), compiler), space)
    return asyncio.run(space.pop(ENTRY)())


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("", None),
        ("# nothing", None),
        ("1 + 1", 2),
        ("x = 2\nreturn x", 2),
        ("x = 2\nx", 2),
        ("x = 2", None),
        ("'text'", "text"),
        ("if True:\n    return 3\n4", 3),
        ("async def f():\n    return 5\nawait f()", 5),
        ("async def f():\n    return 5\nif __name__ == '__main__':\n    await f()", 5),
        ("n = 0\ndef up():\n    global n\n    n += 1\nup()\nup()\nn", 2),
        ("x: int = 3\ny: str\nx", 3),
        ("if 1:\n    try:\n        x: int = 3\n    finally:\n        y: str\nx", 3),
        ("match 1:\n    case _:\n        x: int = 4\nx", 4),
        ("class A:\n    z: int = 1\nA.z", 1),
        ("class A:\n    pass\nA.__qualname__", "A"),
        ("from __future__ import annotations\ndef f(x: Missing): return 1\nf(0)", 1),
        ("import json as j\nj.dumps([1])", "[1]"),
        ("text = '''a\n  b'''\ntext", "a\n  b"),
        ("total = 0\nfor i in range(3):\n    total += i\ntotal", 3),
        ("if (n := 3) > 2:\n    m = n\nm", 3),
        ("[n := i for i in range(3)]\nn", 2),
        ("x = 1\ndel x\n'x' in globals()", False),
        (
            "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    kind = type(error).__name__\nkind",
            "ZeroDivisionError",
        ),
        ("match [1, 2]:\n    case [a, b]:\n        pass\na + b", 3),
        ("def f():\n    return lambda: g()\ndef g():\n    return 7\nf()()", 7),
        ("async def a():\n    yield 1\n[x async for x in a()]", [1]),
        ("return [i async for i in __import__('contextlib').aclosing.__mro__] if 0 else 1", 1),
    ],
)
def test_a_script_means_what_its_author_expects(source: str, value: Any) -> None:
    assert run(source) == value


@pytest.mark.parametrize(
    ("source", "code", "line", "fix"),
    [
        ("x = (1,\ny = 2", "SYNTAX", 1, "close the bracket"),
        ("x = 1\nif x:\nprint(x)", "SYNTAX", 3, "indent the next line, or write `pass`"),
        ("def f():\n    await g()", "SYNTAX", 2, "make the function `async def`, and await its calls"),
        ("x = 'abc", "SYNTAX", 1, "close the quotation mark"),
        ("x = 1\nyield x", "YIELD", 2, "put it into a function, or use return"),
        ("x = 1\nyield x\nreturn x", "YIELD", 3, "put it into a function, or use return"),
        ("def f():\n    from os import *", "SYNTAX", 2, "name what you need: from … import …"),
        ("a\nb\0", "SYNTAX", 2, "remove it"),
        ("x = 1\ny = '\ud835'", "SYNTAX", 2, "remove it"),
        ("if x = 1: pass", "SYNTAX", 1, "use `==` to compare"),
        ("```python\nx = 1\n```", "SYNTAX", 1, "send the code alone, without ``` lines"),
        ("if x:\n    y = 1\nelse if z:\n    y = 2", "SYNTAX", 3, "write elif"),
        ("const x = 5;", "SYNTAX", 1, "this is Python: write name = value"),
        ("f = x => x + 1", "SYNTAX", 1, "this is Python: write def, or lambda"),
        ("print 'hello'", "SYNTAX", 1, "write print(...)"),
        ("i = 0\ni++", "SYNTAX", 2, "write += 1 or -= 1"),
        ("if a && b: pass", "SYNTAX", 1, "write and, or"),
        ("x = " + "(" * 300 + ")" * 300, "SYNTAX", 1, "split long expressions into steps"),
        ("nonlocal x", "SYNTAX", 1, "correct the syntax on this line"),
        ("break", "SYNTAX", 1, "correct the syntax on this line"),
    ],
)
def test_what_cannot_run_names_the_line_and_the_fix(source: str, code: str, line: int, fix: str) -> None:
    with pytest.raises(Rejected) as caught:
        compile_script(parse(source), compiler)
    assert (caught.value.code, caught.value.line, caught.value.fix) == (code, line, fix)


@pytest.mark.parametrize("source", ["x = " + "+".join(["1"] * 100_000), "if 0: pass\n" + "elif 0: pass\n" * 2_000])
def test_a_source_too_deep_for_what_follows_the_parser_is_rejected(source: str) -> None:
    with pytest.raises(Rejected) as caught:
        compile_script(parse(source), compiler)
    assert caught.value.code == "TOO_DEEP"


def test_line_numbers_are_the_users() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("x = 1\n\n\ndef f():\n    return x / 0\n\nf()")
    lines = [entry.lineno + 1 for entry in caught.traceback if str(entry.path).endswith(FILENAME)]
    assert lines == [7, 5]


def test_a_script_that_is_indented_as_a_whole_is_read_as_if_it_were_not() -> None:
    source = "\n    import math\n\n    for n in [4]:\n        x = math.sqrt(n)\n    x\n    "
    tree = parse(source)
    assert ast.unparse(tree) == "import math\nfor n in [4]:\n    x = math.sqrt(n)\nx"
    assert [(node.lineno, node.col_offset) for node in tree.body] == [(2, 4), (4, 4), (6, 4)]
    inner = tree.body[1]
    assert isinstance(inner, ast.For)
    assert (inner.body[0].lineno, inner.body[0].col_offset) == (5, 8)


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("    x = 1\n  y = 2", 1, 1),  # not as a whole
        ("    x = 1\n      y = 2", 2, 5),
        ("    x = (\n    ", 1, 9),
        ("x = 1\n    y = 2", 2, 1),
    ],
)
def test_what_is_wrong_in_an_indented_script_keeps_its_place(source: str, line: int, column: int) -> None:
    with pytest.raises(Rejected) as caught:
        parse(source)
    assert caught.value.code == "SYNTAX"
    assert caught.value.line == line
    assert caught.value.column >= column


def test_text_inside_an_indented_script_loses_the_same_margin() -> None:
    tree = parse("    x = '''a\n      b\n    c'''")
    assert ast.unparse(tree) == "x = 'a\\n  b\\nc'"
