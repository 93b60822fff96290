"""Loops count their turns exactly, and mean what they meant before."""

from __future__ import annotations

import ast
import asyncio
import builtins
import sys
import traceback
from types import CodeType
from typing import Any, NoReturn

import pytest

from ringfence.enclave.engines.guest_watch import script_line
from ringfence.enclave.guards import HIDDEN, counting
from ringfence.enclave.source import ENTRY, FILENAME, Counted, compile_script, parse
from ringfence.limits import TOTAL_ITERATIONS

LIMIT = 10


class Ended(BaseException):
    """Stands for the end of the guest."""


def end(what: str) -> NoReturn:
    raise Ended(what)


def compiler(module: ast.Module, flags: int) -> CodeType:
    return compile(module, FILENAME, "exec", flags=flags, dont_inherit=True)


def run(source: str, limit: int | None = LIMIT, counted: Counted = "all") -> Any:
    names = {} if limit is None else counting(limit, end)
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": {**vars(builtins), **names}}
    exec(compile_script(parse(source), compiler, counted="none" if limit is None else counted), space)
    result = asyncio.run(space.pop(ENTRY)())
    assert not [name for name in space if name.startswith(HIDDEN)]
    return result


LOOPS = {
    "for": "n = 0\nfor i in range({turns}):\n    n += 1\nn",
    "for over a generator": "def g():\n    yield from range({turns})\nn = 0\nfor i in g():\n    n += 1\nn",
    "while": "n = 0\nwhile n < {turns}:\n    n += 1\nn",
    "while with break": "n = 0\nwhile True:\n    n += 1\n    if n == {turns}:\n        break\nn",
    "while in a function": "def f():\n    n = 0\n    while n < {turns}:\n        n += 1\n    return n\nf()",
    "loop in a class": "class A:\n    n = 0\n    for i in range({turns}):\n        n += 1\nA.n",
    "async for": (
        "async def g():\n    for part in (range(8), range(8, {turns})):\n        for i in part:\n            yield i\n"
        "n = 0\nasync for i in g():\n    n += 1\nn"
    ),
}
COMPREHENSIONS = {
    "list": "len([i for i in range({turns})])",
    "set": "len({{i for i in range({turns})}})",
    "dict": "len({{i: i for i in range({turns})}})",
    "generator expression": "sum(1 for i in range({turns}))",
    "second loop of a comprehension": "len([j for i in [1] for j in range({turns})])",
    "async comprehension": (
        "class A:\n    n = 0\n    def __aiter__(self): return self\n    async def __anext__(self):\n"
        "        if self.n == {turns}: raise StopAsyncIteration\n        self.n += 1\n        return self.n\n"
        "len([i async for i in A()])"
    ),
    "callback of a builtin": "len(list(map(lambda x: [y for y in range({turns})], [1]))[0])",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_loop_of_exactly_the_limit_passes_and_one_turn_more_ends_the_guest(loop: str) -> None:
    assert run(loop.format(turns=LIMIT)) == LIMIT
    with pytest.raises(Ended, match=f"a loop took more than {LIMIT} turns"):
        run(loop.format(turns=LIMIT + 1))


@pytest.mark.parametrize("loop", COMPREHENSIONS.values(), ids=COMPREHENSIONS)
def test_a_comprehension_counts_in_the_total_only(loop: str) -> None:
    most = LIMIT * TOTAL_ITERATIONS
    assert run(loop.format(turns=most - 1)) == most - 1  # one is for the outer loop of some
    with pytest.raises(Ended, match=f"all loops together took more than {most} turns"):
        run(loop.format(turns=most + 1))


def test_what_says_itself_that_it_is_endless_may_be_left_to_the_clock() -> None:
    paged = "n = 0\nwhile True:\n    n += 1\n    if n == 5_000:\n        break\nn"
    assert run(paged, counted="bounded") == 5_000
    assert run(paged.replace("True", "1"), counted="bounded") == 5_000
    with pytest.raises(Ended, match=f"a loop took more than {LIMIT} turns"):
        run("while True:\n    n = 0\n    while n < 11:\n        n += 1", counted="bounded")
    with pytest.raises(Ended, match=f"a loop took more than {LIMIT} turns"):
        run(paged)


def test_each_execution_of_a_loop_has_its_own_turns() -> None:
    nested = "n = 0\nfor i in range(10):\n    j = 0\n    while j < 10:\n        j += 1\n        n += 1\nn"
    assert run(nested) == 100
    assert run("def f(d):\n    return d and sum(f(d - 1) for _ in range(2)) or 1\nf(3)") == 8


def nested(turns: int) -> str:
    """A script whose loops take so many turns together, none of them more than ten."""
    whole, rest = divmod(turns, 10)
    return "\n".join(["for i in range(10): pass"] * whole + [f"for i in range({rest}): pass"] + ["1"])


def test_all_loops_together_have_a_hundred_times_as_many() -> None:
    most = LIMIT * TOTAL_ITERATIONS
    assert run(nested(most)) == 1
    with pytest.raises(Ended, match=f"all loops together took more than {most} turns"):
        run(nested(most + 1))


def test_a_while_in_a_class_body_counts_in_the_total() -> None:
    most = LIMIT * TOTAL_ITERATIONS
    assert run("class A:\n    n = 0\n    while n < 20:\n        n += 1\nA.n, [x for x in vars(A) if x[0] == '.']") == (
        20,
        [],
    )
    with pytest.raises(Ended, match="all loops together"):
        run(f"class A:\n    n = 0\n    while n <= {most}:\n        n += 1\nA.n")


def test_nothing_of_the_script_can_catch_the_end() -> None:
    """The callback never returns; in the guest it leaves the process."""
    with pytest.raises(Ended):
        run("try:\n    for i in range(99): pass\nexcept Exception:\n    pass\n1")


MEANINGS = [
    "log = []\nfor i in range(3):\n    if i == 1: continue\n    log.append(i)\nelse:\n    log.append('else')\nlog",
    "log = []\nfor i in range(3):\n    if i == 1: break\nelse:\n    log.append('else')\nlog",
    "n = 3\nlog = []\nwhile n:\n    n -= 1\n    if n == 1: continue\n    log.append(n)\nelse:\n    log.append('else')\nlog",
    "n = 3\nwhile n:\n    n -= 1\n    if n == 1: break\nelse:\n    n = 'else'\nn",
    "items = [1, 2]\nfor x in items:\n    if x < 6: items.append(x + 2)\nitems",
    "d = {1: 1}\ntry:\n    for k in d: d[k + 1] = 1\nexcept RuntimeError as e:\n    r = str(e)\nr",
    "it = iter(range(6))\n[(x, next(it)) for x in it]",
    "calls = []\ndef f():\n    calls.append(1)\n    return [1, 2, 3]\nfor x in f(): pass\ncalls",
    "g = (1 // x for x in [1, 0])\nnext(g)",
    "log = []\ng = (log.append(x) for x in [1, 2])\nbefore = list(log)\nlist(g)\n[before, log]",
    "x = 5\n[x for x in range(3)]\nx",
    "def f():\n    xs = [1, 2]\n    return [y for x in xs for y in range(x)]\nf()",
    "class A:\n    xs = [1, 2]\n    ys = [x for x in xs]\nA.ys",
    "log = []\ndef g():\n    try:\n        yield 1\n        yield 2\n    finally:\n        log.append('closed')\n"
    "for x in g(): break\nlog",
    "log = []\ndef g():\n    while True:\n        got = yield len(log)\n        log.append(got)\n"
    "it = g()\nnext(it)\n[it.send('a'), it.send('b'), log]",
    "a = [(1, 2), (3, 4)]\nout = []\nfor x, *y in a: out.append((x, y))\nout",
    "d = {}\nfor d['k'] in [1, 2]: pass\nd",
    "def f():\n    while True:\n        return sorted(n for n in dir() if n)\nf()",
    "for i in []:\n    pass\n'i' in globals()",
    "async def g():\n    for i in range(3): yield i\nout = []\nasync for i in g():\n    if i == 1: continue\n    out.append(i)\n"
    "else:\n    out.append('else')\nout",
    "async def g():\n    for i in range(3): yield i\n{i: j async for i in g() if i for j in [i]}",
    "async def g():\n    for i in range(3): yield i\nx = (i async for i in g())\n[i async for i in x]",
    "def fib(n):\n    return n if n < 2 else sum(fib(n - k) for k in (1, 2))\nfib(8)",
    "async def w(n):\n    t = 0\n    while n:\n        n -= 1\n        t += n\n    return t\nimport asyncio\n"
    "await asyncio.gather(w(3), w(4))",
    "import operator\nrows = [{'k': 'b'}, {'k': 'a'}]\n[r['k'] for r in sorted(rows, key=operator.itemgetter('k'))]",
]


@pytest.mark.parametrize("source", MEANINGS)
def test_a_counted_script_means_what_it_means_uncounted(source: str) -> None:
    def shown(limit: int | None) -> Any:
        value = run(source, limit)
        return [name for name in value if not name.startswith(HIDDEN)] if "dir()" in source else value

    assert shown(1000) == shown(None)


@pytest.mark.parametrize(
    "source",
    [
        "for i in 5: pass",
        "[i for i in 5]",
        "x = (i for i in 5)",
        "x = {}\nasync for i in x: pass",
        "x = {}\n[i async for i in x]",
        "for a, b in [1]: pass",
        "class I:\n    def __iter__(self): return 1\nfor i in I(): pass",
        "def g():\n    yield 1\n    raise ValueError('in g')\nfor i in g():\n    pass",
        "class I:\n    def __iter__(self): raise KeyError('k')\n\n[i for i in I()]",
    ],
)
def test_errors_have_the_same_class_text_and_lines(source: str) -> None:
    assert failure(source, 1000) == failure(source, None)


def failure(source: str, limit: int | None) -> tuple[str, str, list[tuple[str, int | None]]]:
    with pytest.raises(Exception) as caught:
        run(source, limit)
    frames = [
        (frame.name, frame.lineno)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if frame.filename == FILENAME
    ]
    return type(caught.value).__name__, str(caught.value), frames


ENDLESS = """
class Endless:
    def __aiter__(self):
        return self
    async def __anext__(self):
        return 1
"""


def test_the_loop_is_in_the_nearest_frame_of_the_script_around_the_callback() -> None:
    lines: list[int | None] = []

    def note(what: str) -> NoReturn:
        lines.append(script_line(sys._getframe()))  # pyright: ignore[reportPrivateUsage]
        raise Ended(what)

    for source in (
        "x = 1\nfor i in range(99):\n    x = i",
        "x = 1\nwhile True:\n    x += 1",
        "x = 1\n[i for i in range(9999)]",
        f"{ENDLESS}\n[i async for i in Endless()]",
    ):
        names = counting(LIMIT, note)
        space: dict[str, Any] = {"__builtins__": {**vars(builtins), **names}}
        exec(compile_script(parse(source), compiler, counted="all"), space)
        with pytest.raises(Ended):
            asyncio.run(space[ENTRY]())
    assert lines == [2, 2, 2, ENDLESS.count("\n") + 2]


def test_a_tree_that_is_deep_is_walked_without_recursion() -> None:
    assert run("x = " + "+".join(["1"] * 900) + "\nx") == 900
