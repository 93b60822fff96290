"""Loops that count their turns: how a syntax tree is changed for it, and what the changed loops call.

A `for` and the parts of a comprehension read through `itertools.compress`, whose second iterator hands out the turns:
no Python code runs between two turns, nothing is read ahead, and only an item that is there uses up a turn. `while` and
`async for` take theirs in a statement before their body. A `for` statement, a `while` and an `async for` may take so
many turns each time they run; comprehensions, whose bodies are one expression, count in the total only, as callbacks of
array methods do in the original (enclave catalogue, H3). When there are no more turns a callback ends the guest; no
exception is raised, so a script can catch nothing. The names that are used are none that a script could write.

Advice, as the guest owns its process; the kernel's limit on processor time is the wall. Not counted: what runs inside
functions written in C (`sum(itertools.count())`), recursion, code that the script makes from text. Pure, standard
library only. `source` calls `instrument`, `python_unsafe` puts the names where scripts find builtins.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import chain, compress, islice, repeat
from typing import Any, Final, NoReturn, cast

from ringfence.enclave.check.tree import below, blocks
from ringfence.limits import TOTAL_ITERATIONS

HIDDEN: Final = "."
"""What every injected name begins with, which no name of a script can."""
_TURNS: Final = ".turns"
_FRESH: Final = ".fresh"
_NEXT: Final = ".next"
_ASYNC: Final = ".aturns"
_TOTAL: Final = ".total"

OnExcess = Callable[[str], NoReturn]
"""Ends the guest; is told what was exceeded. The nearest frame of the script around the call is the loop's."""


def instrument(body: list[ast.stmt], *, endless: bool) -> None:
    """Make the loops below the statements of a function's body count. Changes the tree.

    `endless`: also a `while True`, which says itself that something else ends it.
    """
    waits = False
    for node in below(body):
        if isinstance(node, (ast.For, ast.comprehension)):
            _wrap(node)
        elif isinstance(node, (ast.While, ast.AsyncFor)):
            waits = True
    if waits:
        _Blocks(endless=endless).walk(body)


def counting(limit: int, on_excess: OnExcess) -> dict[str, Any]:
    """The names that instrumented loops use: `limit` turns for each execution of a loop statement, 100 times as many in
    all, comprehensions included.
    """
    total = limit * TOTAL_ITERATIONS
    one = _Exhausted(on_excess, f"a loop took more than {limit} turns")
    both = _Exhausted(on_excess, f"all loops together took more than {total} turns")
    left = chain(repeat(True, total), both)

    def fresh() -> Iterator[bool]:
        return chain(islice(left, limit), one)

    def aturns(source: Any) -> _AsyncTurns:
        return _AsyncTurns(source, chain((True,), left))  # one request finds the end

    return {_TURNS: compress, _FRESH: fresh, _NEXT: next, _ASYNC: aturns, _TOTAL: left}


class _Exhausted:
    """Follows the last turn in a chain: asking it for one more ends the guest."""

    __slots__ = ("_on_excess", "_what")

    def __init__(self, on_excess: OnExcess, what: str) -> None:
        self._on_excess = on_excess
        self._what = what

    def __iter__(self) -> _Exhausted:
        return self

    def __next__(self) -> NoReturn:
        self._on_excess(self._what)


class _AsyncTurns:
    """An asynchronous iterator of a comprehension, which has no body in which a turn could be taken."""

    __slots__ = ("_source", "_turns")

    def __init__(self, source: Any, turns: Iterator[bool]) -> None:
        kind: Any = cast("Any", type(source))
        find: Any = getattr(kind, "__aiter__", None)
        if find is None:  # what Python says of it
            text = f"'async for' requires an object with __aiter__ method, got {kind.__name__}"
            raise TypeError(text)
        self._source: Any = find(source)
        self._turns = turns

    def __aiter__(self) -> _AsyncTurns:
        return self

    def __anext__(self) -> Any:
        next(self._turns)
        kind: Any = cast("Any", type(self._source))
        return kind.__anext__(self._source)


class _Blocks:
    """Gives each `while` and `async for` of a tree its turns, in a statement before it. Descends to statements only."""

    def __init__(self, *, endless: bool) -> None:
        self._endless = endless
        self._loops = 0

    def walk(self, body: list[ast.stmt]) -> None:
        stack: list[tuple[list[ast.stmt], bool]] = [(body, False)]
        while stack:
            block, in_class = stack.pop()
            for node in block:
                inside = isinstance(node, ast.ClassDef) or (in_class and not isinstance(node, _FUNCTIONS))
                stack.extend((inner, inside) for inner in blocks(node))
            self._fill(block, in_class=in_class)

    def _fill(self, block: list[ast.stmt], *, in_class: bool) -> None:
        at = 0
        while at < len(block):
            loop = block[at]
            at += 1
            if isinstance(loop, (ast.While, ast.AsyncFor)) and (self._endless or not _is_endless(loop)):
                if in_class:  # where a name would become an attribute: it counts in the total only
                    loop.body.insert(0, _take(_TOTAL, loop))
                    continue
                self._loops += 1
                own = f"{HIDDEN}{self._loops}"
                place = _place(loop)
                target = ast.Name(id=own, ctx=ast.Store(), **place)
                block.insert(at - 1, ast.Assign(targets=[target], value=_call(_FRESH, [], place), **place))
                at += 1
                loop.body.insert(0, _take(own, loop))


def _is_endless(loop: ast.While | ast.AsyncFor) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def _wrap(node: ast.For | ast.comprehension) -> None:
    source = node.iter
    place = _place(source)
    if isinstance(node, ast.For):
        node.iter = _call(_TURNS, [source, _call(_FRESH, [], place)], place)
    elif node.is_async:
        node.iter = _call(_ASYNC, [source], place)
    else:
        node.iter = _call(_TURNS, [source, ast.Name(id=_TOTAL, ctx=ast.Load(), **place)], place)


def _take(turns: str, loop: ast.stmt) -> ast.stmt:
    """`next(turns)` at the line of the loop."""
    place = _place(loop)
    return ast.Expr(value=_call(_NEXT, [ast.Name(id=turns, ctx=ast.Load(), **place)], place), **place)


def _call(name: str, args: list[ast.expr], place: dict[str, Any]) -> ast.expr:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load(), **place), args=args, keywords=[], **place)


def _place(node: ast.expr | ast.stmt) -> dict[str, Any]:
    """Where a node stands, as the arguments of another one at the same place."""
    line, column = node.lineno, node.col_offset
    end, end_column = node.end_lineno, node.end_col_offset
    assert end is not None
    assert end_column is not None  # the parser sets them
    return {"lineno": line, "col_offset": column, "end_lineno": end, "end_col_offset": end_column}
