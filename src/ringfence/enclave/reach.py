"""Where a script reaches tools, as far as its source tells: the report behind `check`, for a reviewer or an approver.

It errs on the side of too much: a tool that is handed on as a value is a place with unknown arguments, a namespace
that is handed on a place with an unknown tool. Advice, not the wall: the gate judges every call. Pure, standard
library only; nothing is evaluated. Knows the names through which a script reaches tools, nothing about the tools.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ringfence.enclave.check.facts import Facts, Visit
from ringfence.enclave.check.subject import Known

MAX_SITES: Final = 200
MAX_ARGUMENTS: Final = 2_000
"""Characters of JSON that the constants of one place may have; larger ones count as dynamic."""
_LONGEST_NAME: Final = 200
_MOST_NAMES: Final = 50
_FOLLOWED: Final = frozenset("functools.partial getattr hasattr print repr str type isinstance callable dir".split())
"""Functions that call nothing of what they are given; what the first two return is looked at by itself."""
ANY: Final = "*"
"""Stands for arguments whose names are made at run time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One place that calls a tool, or hands one on. Lines and columns are 1-based."""

    tool: str | None
    """None where the name is made at run time."""
    line: int
    column: int
    loops: int
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that are constants in the source."""
    dynamic: tuple[str, ...] = ()
    """Names of the others; `*` where even the names are made at run time."""


def reach(tree: ast.Module, known: Known) -> list[Reached]:
    """Places in source order, the first `MAX_SITES` of them."""
    found = list(_Reach(Facts(tree), known).sites())
    return sorted(found, key=lambda one: (one.line, one.column))[:MAX_SITES]


@dataclass(frozen=True, slots=True)
class _Target:
    """What an expression reaches."""

    tool: str | None
    by_name: bool = False
    """Whether it is `call_tool`, whose first argument is the tool's name."""
    given: tuple[ast.expr, ...] = ()
    """Arguments that a partial has bound already."""
    named: tuple[ast.keyword, ...] = ()


class _Reach:
    """One script's places."""

    def __init__(self, facts: Facts, known: Known) -> None:
        self._facts = facts
        self._spaces = known.namespaces

    def sites(self) -> Iterator[Reached]:
        for visit in self._facts.visits:
            node, loops = visit.node, visit.place.loops
            if isinstance(node, ast.Call):
                if (target := self._target(node.func)) is not None:
                    yield self._called(node, target, loops)
                elif self._is_indirect(node):
                    yield _site(node, None, loops, {}, (ANY,))
            if isinstance(node, (ast.Call, ast.Name, ast.Attribute)):
                yield from self._handed_on(node, visit)

    def _target(self, node: ast.expr) -> _Target | None:
        """The tool that calling this expression would call."""
        node = self._facts.value(node)
        match node:
            case ast.Name(id="call_tool") if not self._facts.bound["call_tool"]:
                return _Target(None, by_name=True)
            case ast.Attribute(value=value, attr=attr):
                tool = self._method(value, attr)
                return None if tool is None else _Target(tool)
            case ast.Call(func=func, args=[inner, *given], keywords=keywords):
                name = self._facts.dotted(func)
                if name == "functools.partial" and (target := self._target(inner)) is not None:
                    return _Target(target.tool, target.by_name, (*target.given, *given), (*target.named, *keywords))
                if name == "getattr" and given and (attr := self._facts.text(given[0])) is not None:
                    tool = self._method(inner, attr)
                    return None if tool is None else _Target(tool)
                return None
            case _:
                return None

    def _method(self, value: ast.expr, attr: str) -> str | None:
        """Tool of a namespace's method. A name that the script also binds itself counts if the method exists."""
        value = self._facts.value(value)
        if not isinstance(value, ast.Name) or value.id not in self._spaces:
            return None
        methods = self._spaces[value.id]
        if attr in methods:
            return methods[attr]
        return None if self._facts.bound[value.id] else f"{value.id}.{attr}"

    def _is_indirect(self, node: ast.Call) -> bool:
        """`getattr(mail, name)`: some tool of a namespace."""
        if self._facts.dotted(node.func) != "getattr" or len(node.args) < 2:
            return False
        target = self._facts.value(node.args[0])
        dynamic = self._facts.text(node.args[1]) is None
        return dynamic and isinstance(target, ast.Name) and target.id in self._spaces

    def _handed_on(self, node: ast.Call | ast.Name | ast.Attribute, visit: Visit) -> Iterator[Reached]:
        """A tool or a namespace that is used as a value, in a place from which it cannot be followed."""
        parent = visit.parent
        if isinstance(parent, ast.Call) and parent.func is node:
            return
        if not isinstance(node, ast.Call) and not isinstance(node.ctx, ast.Load):
            return
        target = self._target(node)
        if target is None and (isinstance(parent, ast.Attribute) or not self._is_namespace(node)):
            return
        if not self._is_followed(node, parent):
            yield _site(node, target and target.tool, visit.place.loops, {}, (ANY,))

    def _is_namespace(self, node: ast.expr) -> bool:
        node = self._facts.value(node)
        return isinstance(node, ast.Name) and node.id in self._spaces and not self._facts.bound[node.id]

    def _is_followed(self, node: ast.expr, parent: ast.AST | None) -> bool:
        """Whether the value goes into a name that is bound once, or into a partial or getattr, which are values too."""
        match parent:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return self._facts.bound[name] == 1
            case ast.NamedExpr(target=ast.Name(id=name)):
                return self._facts.bound[name] == 1
            case ast.Call(args=[first, *_]) if first is node:
                return self._facts.dotted(parent.func) in _FOLLOWED
            case ast.Expr():
                return True
            case _:
                return False

    def _called(self, node: ast.Call, target: _Target, loops: int) -> Reached:
        args, keywords = [*target.given, *node.args], [*target.named, *node.keywords]
        tool = target.tool
        if target.by_name:
            named = next((one.value for one in keywords if one.arg == "name"), None)
            tool = self._facts.text(args[0]) if args else self._facts.text(named)
            args = args[1:]
        arguments, dynamic = self._arguments(args, keywords, by_name=target.by_name)
        return _site(node, tool, loops, arguments, dynamic)

    def _arguments(
        self, args: list[ast.expr], keywords: list[ast.keyword], *, by_name: bool
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        pairs: list[tuple[str, ast.expr | None]] = []
        for one in args[:1]:
            pairs += self._members(one)
        for keyword in keywords:
            if keyword.arg == "throw_on_error" or (by_name and keyword.arg == "name"):
                continue
            if by_name and keyword.arg == "args":
                pairs += self._members(keyword.value)
            else:
                pairs.append((keyword.arg or ANY, keyword.value))
        return _sorted_out(pairs)

    def _members(self, node: ast.expr) -> list[tuple[str, ast.expr | None]]:
        """Names and values of a dict that is written out, or of `dict(a=1)`; anything else is unknown."""
        match node:
            case ast.Dict(keys=keys, values=values):
                names = [None if key is None else self._facts.text(key) for key in keys]
                return [(ANY if name is None else name, value) for name, value in zip(names, values, strict=False)]
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                return [(keyword.arg or ANY, keyword.value) for keyword in keywords]
            case _:
                return [(ANY, None)]


def _sorted_out(pairs: list[tuple[str, ast.expr | None]]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Constants, and the names of the rest."""
    constants: dict[str, Any] = {}
    dynamic: list[str] = []
    room = MAX_ARGUMENTS
    for name, value in pairs:
        text = None if value is None or name == ANY else _json(value)
        if text is None or len(text) + len(name) > room:
            constants.pop(name, None)
            dynamic.append(name[:_LONGEST_NAME])
        else:
            room -= len(text) + len(name)
            constants[name] = json.loads(text)
    return constants, tuple(dict.fromkeys(dynamic))[:_MOST_NAMES]


def _json(node: ast.expr) -> str | None:
    """JSON text of a constant expression."""
    try:
        value = ast.literal_eval(node)
        text = json.dumps(value, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        return None
    return text


def _site(node: ast.expr, tool: str | None, loops: int, arguments: dict[str, Any], dynamic: tuple[str, ...]) -> Reached:
    name = None if tool is None or len(tool) > _LONGEST_NAME else tool
    return Reached(
        tool=name,
        line=node.lineno,
        column=node.col_offset + 1,
        loops=loops,
        arguments=arguments,
        dynamic=dynamic,
    )
