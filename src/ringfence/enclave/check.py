"""What can be seen in a script before it runs: calls that nobody awaits.

Findings carry the line and the smallest fix, so that a model repairs the script before any tool has run. Advice, not
the wall: the kernel and the gate hold whatever this misses. Pure, standard library only: it runs in the jailed guest.
Knows the names through which a script reaches tools, nothing about the tools.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

MAX_FINDINGS: Final = 20

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One finding; `line` and `column` are 1-based."""

    code: str
    line: int
    column: int
    message: str
    fix: str


def check(tree: ast.Module, namespaces: Collection[str]) -> list[Found]:
    """Findings in source order. `namespaces`: names whose methods are tools (`tools`, `mail`)."""
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    reachable = used & {"call_tool", *namespaces}
    if not reachable:
        return []
    reachable -= _bound_names(nodes)
    finder = _Unawaited(reachable & {"call_tool"}, reachable - {"call_tool"})
    return sorted(finder.visit(tree, nodes), key=lambda found: (found.line, found.column))[:MAX_FINDINGS]


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the script binds itself anywhere: about those nothing is claimed."""
    bound: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=alias):
                bound.add(alias or name.partition(".")[0])
            case _:
                pass
    return bound


class _Unawaited:
    """Finds tool calls in places where only their result makes sense, or where it is dropped."""

    def __init__(self, callers: set[str], spaces: set[str]) -> None:
        self._callers = callers
        self._spaces = spaces

    def visit(self, tree: ast.Module, nodes: Iterable[ast.AST]) -> Iterator[Found]:
        yield from self._last_value(tree.body)
        for node in nodes:
            for child in self._needs_result(node):
                if self._is_tool_call(child):
                    yield self._found(child, _place(node))

    def _last_value(self, body: list[ast.stmt]) -> Iterator[Found]:
        for node in _own_statements(body):
            if isinstance(node, ast.Return) and node.value is not None and self._is_tool_call(node.value):
                yield self._found(node.value, "returned")

    def _needs_result(self, node: ast.AST) -> list[ast.expr]:
        match node:
            case ast.Expr(value=child) | ast.FormattedValue(value=child) | ast.Starred(value=child):
                return [child]
            case ast.Subscript(value=child) | ast.Attribute(value=child):
                return [child]
            case ast.For(iter=child) | ast.comprehension(iter=child, is_async=0) | ast.YieldFrom(value=child):
                return [child]
            case ast.If(test=child) | ast.While(test=child) | ast.IfExp(test=child) | ast.UnaryOp(operand=child):
                return [child]
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.Compare(left=left, comparators=others):
                return [left, *others]
            case ast.BoolOp(values=values):
                return values
            case ast.Call(
                func=ast.Name(id="print" | "len" | "str" | "list" | "sorted" | "sum" | "dict"), args=arguments
            ):
                return arguments
            case _:
                return []

    def _is_tool_call(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self._callers
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                return name in self._spaces
            case _:
                return False

    def _found(self, call: ast.expr, place: str) -> Found:
        text = ast.unparse(call)
        short = text if len(text) <= 60 else text[: text.index("(")] + "(…)"
        fix = f"await {short}" if place in ("returned", "dropped") else f"(await {short})"
        return Found(
            code="UNAWAITED_CALL",
            line=call.lineno,
            column=call.col_offset + 1,
            message=f"{text.partition('(')[0]}(…) is {place} without await, so the tool would never run",
            fix=f"write: {fix}",
        )


def _own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of the script's own level, those inside `if`, `for`, `try` and `with` included."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (*_SCOPES, ast.ClassDef)):
            continue
        if isinstance(node, ast.stmt):
            yield node
        stack.extend(
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case))
        )


def _place(node: ast.AST) -> str:
    match node:
        case ast.Expr():
            return "dropped"
        case ast.Subscript() | ast.Attribute():
            return "taken apart"
        case _:
            return "used"
