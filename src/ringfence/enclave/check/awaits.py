"""Calls of tools, and of a script's own coroutines, that nobody awaits, seen in a script before it runs.

Findings carry the line and the smallest fix, so that a model repairs the script before any tool has run. Advice, not
the wall: the kernel and the gate hold whatever this misses. Pure, standard library only: it runs in the jailed guest.
Every run pays for it, so it looks at each node's class once and at few nodes more closely. Knows the names through
which a script reaches tools, nothing about the tools.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeGuard

from ringfence.enclave.check.facts import bindings, is_dunder
from ringfence.enclave.check.findings import Found, ordered
from ringfence.enclave.check.tree import below, blocks

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BINDERS: Final = frozenset(
    {
        ast.Name,
        ast.arg,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.alias,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    }
)


def unawaited(tree: ast.Module, namespaces: Collection[str]) -> list[Found]:
    """Findings in source order. `namespaces`: names whose methods are tools (`tools`, `mail`)."""
    nodes = below([tree])
    used = {node.id for node in nodes if type(node) is ast.Name and type(node.ctx) is ast.Load}
    own = {node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef) and _makes_coroutine(node)}
    reachable = used & {"call_tool", *namespaces}
    own &= used
    if not reachable and not own:
        return []
    bound = _bound_names(nodes)
    reachable = {name for name in reachable if not bound[name]}
    own = {name for name in own if bound[name] == 1}
    printers = frozenset(name for name in _PRINTERS if not bound[name])
    finder = _Unawaited(own | (reachable & {"call_tool"}), reachable - {"call_tool"}, own, printers)
    return ordered(set(finder.visit(tree, nodes)))


def _makes_coroutine(node: ast.AsyncFunctionDef) -> bool:
    """Whether calling it gives a coroutine: no decorator has a say, and it is not a generator."""
    if node.decorator_list:
        return False
    stack: list[ast.AST] = list(node.body)
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.Yield):
            return False
        if not isinstance(inner, (*_SCOPES, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(inner))
    return True


def _bound_names(nodes: Iterable[Any]) -> Counter[str]:
    """How often the script binds each name anywhere: about a name that it changes nothing is claimed."""
    binders = (node for node in nodes if type(node) in _BINDERS)
    return Counter(
        name
        for node in binders
        if type(node) is not ast.Name or type(node.ctx) is not ast.Load
        for name in bindings(node)
    )


_PRINTERS: Final = frozenset({"print", "len", "str", "list", "sorted", "sum", "dict"})


def _tested(node: ast.expr) -> list[ast.expr]:
    """What a truth test asks, each part of `and` and `or` for itself."""
    return [part for one in node.values for part in _tested(one)] if isinstance(node, ast.BoolOp) else [node]


def _passed_over(node: Any) -> list[ast.expr]:
    """Operands of which the value is lost: a call before the last `and`. What comes out of `x and a()` or `a() or x`
    may be awaited around it."""
    return node.values[:-1] if isinstance(node.op, ast.And) else []


_NEEDS: Final[Mapping[type[ast.AST], Callable[[Any], list[ast.expr]]]] = {
    ast.Expr: lambda node: [node.value],
    ast.FormattedValue: lambda node: [node.value],
    ast.Starred: lambda node: [node.value],
    ast.Subscript: lambda node: [node.value],
    ast.Attribute: lambda node: [node.value],
    ast.For: lambda node: [node.iter],
    ast.comprehension: lambda node: [*([] if node.is_async else [node.iter]), *node.ifs],
    ast.YieldFrom: lambda node: [node.value],
    ast.If: lambda node: _tested(node.test),
    ast.While: lambda node: _tested(node.test),
    ast.IfExp: lambda node: _tested(node.test),
    ast.Assert: lambda node: _tested(node.test),
    ast.UnaryOp: lambda node: _tested(node.operand),
    ast.BinOp: lambda node: [node.left, node.right],
    ast.Compare: lambda node: [node.left, *node.comparators],
    ast.BoolOp: _passed_over,
}
"""Class of node to those of its parts of which only the result makes sense. A comparison is one, whatever it says of
the coroutine: nobody else has that."""


class _Unawaited:
    """Finds calls in places where only their result makes sense, or where it is dropped."""

    def __init__(self, callers: set[str], spaces: set[str], own: set[str], printers: frozenset[str]) -> None:
        self._callers = callers
        self._printers = printers
        self._spaces = spaces
        self._own = own

    def visit(self, tree: ast.Module, nodes: Iterable[ast.AST]) -> Iterator[Found]:
        yield from self._last_value(tree.body)
        for node in nodes:
            needs = self._printed if type(node) is ast.Call else _NEEDS.get(type(node))
            if needs is not None:
                for child in needs(node):
                    if type(child) is ast.Call and self._is_call(child):
                        yield self._found(child, _place(node))

    def _printed(self, node: Any) -> list[ast.expr]:
        return node.args if isinstance(node.func, ast.Name) and node.func.id in self._printers else []

    def _last_value(self, body: list[ast.stmt]) -> Iterator[Found]:
        for node in _own_statements(body):
            if isinstance(node, ast.Return) and node.value is not None and self._is_call(node.value):
                yield self._found(node.value, "returned")

    def _is_call(self, node: ast.expr) -> TypeGuard[ast.Call]:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self._callers
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                return name in self._spaces and not is_dunder(method)
            case _:
                return False

    def _found(self, call: ast.Call, place: str) -> Found:
        text = ast.unparse(call)
        short = text if len(text) <= 60 else text[: text.index("(")] + "(…)"
        fix = f"await {short}" if place in ("returned", "dropped") else f"(await {short})"
        what = "it" if isinstance(call.func, ast.Name) and call.func.id in self._own else "the tool"
        return Found(
            code="UNAWAITED_CALL",
            line=call.lineno,
            column=call.col_offset + 1,
            message=f"{text.partition('(')[0]}(…) is {place} without await, so {what} would never run",
            fix=f"write: {fix}",
        )


def _own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of the script's own level, those inside `if`, `for`, `try` and `with` included."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            yield node
            for block in blocks(node):
                stack.extend(block)


def _place(node: ast.AST) -> str:
    match node:
        case ast.Expr():
            return "dropped"
        case ast.Subscript() | ast.Attribute():
            return "taken apart"
        case _:
            return "used"
