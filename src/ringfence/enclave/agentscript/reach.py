"""Where a JavaScript script reaches tools, as far as its source tells; mirrors `enclave.reach`.

It errs on the side of too much: a tool that is handed on as a value is a place with unknown arguments, a namespace that is
handed on a place with an unknown tool. Advice, not the wall: the gate judges every call. Pure, standard library only;
nothing is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from ringfence.enclave.agentscript import folding
from ringfence.enclave.agentscript.facts import Facts, key_text
from ringfence.enclave.agentscript.tree import FUNCTIONS, LOOPS, Node, arguments, inner, number, outer
from ringfence.enclave.check.known import Known
from ringfence.enclave.reach import ANY, MAX_ARGUMENTS, MAX_SITES, Reached

_LONGEST_NAME: Final = 200
_MOST_NAMES: Final = 50
_DEEPEST: Final = 20
_REPEATING: Final = frozenset(
    """every filter find findIndex findLast findLastIndex flatMap forEach map reduce reduceRight some sort toSorted
    from parallel""".split()
)
"""Methods and functions that call what they are given for each item."""
_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier"})
_LOOKED_AT: Final = frozenset({"member_expression", "subscript_expression", "call_expression", *_NAMES})
_LITERALS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}


class _NotConstant(Exception):
    """The value is made at run time."""


def reach(facts: Facts, known: Known) -> list[Reached]:
    """Places in source order, the first `MAX_SITES` of them."""
    found: list[Reached] = []
    for node in facts.nodes:
        if node.kind in _LOOKED_AT:
            found += _sites(node, facts, known)
    return sorted(found, key=lambda one: (one.line, one.column))[:MAX_SITES]


def _sites(node: Node, facts: Facts, known: Known) -> Iterator[Reached]:
    if node.kind == "call_expression":
        function = node.parts.get("function")
        if function is not None and (target := _target(function, facts, known)) is not None:
            yield _called(node, target)
        return
    if not _is_handed_on(node):
        return
    target = _target(node, facts, known)
    if target is not None:
        yield _site(node, target.partition(":")[2] or None, {}, (ANY,))
    elif facts.dotted(node) in known.namespaces and node.kind in _NAMES:
        yield _site(node, None, {}, (ANY,))


def _target(function: Node, facts: Facts, known: Known) -> str | None:
    """`tool:` and its name, `tool:` alone where that is made at run time, or `callTool`; None for anything else."""
    function = inner(function)
    name = facts.dotted(function)
    if name == "callTool":
        return name
    if name is None:
        is_member = function.kind == "subscript_expression"
        return "tool:" if is_member and facts.dotted(function.parts.get("object")) in known.namespaces else None
    space, dot, method = name.partition(".")
    if not dot or space not in known.namespaces:
        return None
    return f"tool:{known.namespaces[space].get(method, name)}"


def _is_handed_on(node: Node) -> bool:
    """Whether an expression is used as a value in a place from which it is not followed."""
    node = outer(node)
    parent = node.parent
    if parent is None or parent.parts.get("function") is node or parent.kind == "expression_statement":
        return False
    if parent.kind in ("member_expression", "subscript_expression") and parent.parts.get("object") is node:
        return False
    if parent.kind == "variable_declarator":
        return parent.parts.get("value") is node and _is_set_again(parent)
    return parent.kind not in ("assignment_pattern", "formal_parameters", "object_pattern", "unary_expression")


def _is_set_again(declarator: Node) -> bool:
    name = declarator.parts.get("name")
    if name is None or name.kind != "identifier":
        return False  # taken apart: each name is followed by itself
    return name.binding is not None and name.binding.constant is None


def _called(call: Node, target: str) -> Reached:
    given = arguments(call)
    kind, _, tool = target.partition(":")
    if kind == "callTool":
        tool = (folding.text(given[0]) if given else None) or ""
        given = given[1:]
    constants, dynamic = _arguments(given[0]) if given else ({}, ())
    return _site(call, tool or None, constants, dynamic)


def _arguments(node: Node) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Constants of an object that is written out, and the names of the rest."""
    node = inner(node)
    if node.kind != "object":
        return {}, (ANY,)
    constants: dict[str, Any] = {}
    dynamic: list[str] = []
    room = MAX_ARGUMENTS
    for member in node.children:
        name, value = _member(member)
        text = None if name == ANY or value is None else _json(value)
        if text is None or len(text) + len(name) > room:
            constants.pop(name, None)
            dynamic.append(name[:_LONGEST_NAME])
        else:
            room -= len(text) + len(name)
            constants[name] = json.loads(text)
    return constants, tuple(dict.fromkeys(dynamic))[:_MOST_NAMES]


def _member(member: Node) -> tuple[str, Node | None]:
    if member.kind == "pair" and "key" in member.parts:
        return key_text(member.parts["key"]) or ANY, member.parts.get("value")
    if member.kind == "shorthand_property_identifier":
        return member.text, member
    if member.kind == "method_definition" and "name" in member.parts:
        return key_text(member.parts["name"]) or ANY, None
    return ANY, None


def _json(node: Node) -> str | None:
    """JSON text of a constant expression."""
    try:
        text = json.dumps(_constant(node, 0), allow_nan=False)
        text.encode()
    except (_NotConstant, ValueError):
        return None
    return text


def _constant(node: Node, depth: int) -> Any:
    node = inner(node)
    if depth > _DEEPEST:
        raise _NotConstant
    if node.kind in _LITERALS:
        return _LITERALS[node.kind]
    if node.kind == "array":
        return [_constant(item, depth + 1) for item in node.children]
    if node.kind == "object":
        return {name: _constant(value, depth + 1) for name, value in map(_written, node.children)}
    sign = -1 if node.kind == "unary_expression" and node.operator == "-" else 1
    if sign < 0 and node.children:
        node = inner(node.children[-1])
    if node.kind == "number" and not node.text.endswith("n") and (value := number(node)) is not None:
        return sign * value
    text = folding.text(node) if sign > 0 and node.kind in ("string", "template_string") else None
    if text is None:
        raise _NotConstant
    return text


def _written(member: Node) -> tuple[str, Node]:
    name, value = _member(member)
    if name == ANY or value is None or member.kind != "pair":
        raise _NotConstant
    return name, value


def _site(node: Node, tool: str | None, constants: dict[str, Any], dynamic: tuple[str, ...]) -> Reached:
    return Reached(
        tool=None if tool is None or len(tool) > _LONGEST_NAME else tool,
        line=node.lineno,
        column=node.col_offset + 1,
        loops=_loops(node),
        arguments=constants,
        dynamic=dynamic,
    )


def _loops(node: Node) -> int:
    """Loops around a place; a function that is handed to `map` and the like is one."""
    found = 0
    before = node
    for around in node.above():
        if around.kind in LOOPS and (before is around.parts.get("body") or around.kind != "for_in_statement"):
            found += 1
        elif before.kind in FUNCTIONS and around.kind == "arguments" and around.parent is not None:
            function = around.parent.parts.get("function")
            found += function is not None and _last_name(function) in _REPEATING
        before = around
    return found


def _last_name(function: Node) -> str:
    function = inner(function)
    return function.parts["property"].text if "property" in function.parts else function.text[:_LONGEST_NAME]
