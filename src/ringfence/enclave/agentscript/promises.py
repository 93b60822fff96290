"""Calls of tools, and of a script's own asynchronous functions, that nobody awaits, seen before the script runs.

In JavaScript such a call begins all the same: its promise is a value that has none of the result's members, and what is
open at the script's end is cancelled. Findings carry the smallest fix. Pure, standard library only.
"""

from __future__ import annotations

from typing import Final

from ringfence.enclave.agentscript import vocabulary
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.tree import FUNCTIONS, Node, is_async, outer

_PASSED_ON: Final = frozenset({"||", "??", "instanceof", "in", ","})
"""Operators out of which the promise may come as it is, or that may be meant."""
_TESTS: Final = frozenset("if_statement while_statement do_statement for_statement ternary_expression".split())
_SPREADS: Final = frozenset("spread_element template_substitution switch_statement".split())
_SETS: Final = frozenset({"||=", "??=", "&&="})
_PATTERNS: Final = frozenset({"object_pattern", "array_pattern"})
_DROPPING: Final = frozenset({"forEach", "map"})
_LONGEST: Final = 60


KINDS: Final = frozenset({"call_expression"})


def look(subject: Subject, node: Node) -> None:
    """Report what is wrong with the promise of one call."""
    if _makes_promise(subject, node):
        if is_data(subject, node):
            subject.add("UNAWAITED_CALL", node, _called(node), f"write: (await {_short(node)})")
        elif _is_dropped(node):
            subject.add("FLOATING_CALL", node, _called(node), f"write: await {_short(node)}")
        else:
            _named(subject, node)
    elif _drops_callbacks(subject, node) and _is_dropped(node):
        fix = "write for (const item of items) { await … }, or await Promise.all(items.map(…))"
        if subject.level == "STRICT":
            fix = "write for (const item of items) { await … }, or await parallel(items, …)"
        subject.add("FLOATING_CALL", node, f"the calls in {_called(node)}", fix)


def _makes_promise(subject: Subject, node: Node) -> bool:
    return subject.facts.tool(node, subject.known.namespaces) is not None or subject.facts.own_async(node)


def _named(subject: Subject, node: Node) -> None:
    """A promise that is kept under a name: places where that name is read as the result."""
    parent = outer(node).parent
    name = parent.parts.get("name") if parent is not None and parent.kind == "variable_declarator" else None
    binding = name.binding if name is not None else None
    if name is None or binding is None or binding.constant is None or binding.node is not name:
        return
    for read in binding.reads:
        if read.kind == "identifier" and is_data(subject, read):
            fix = f"write await where it is set: {name.text} = await {_short(node)}"
            subject.add("UNAWAITED_CALL", read, f"{_called(node)}, kept in {name.text},", fix)


def is_data(subject: Subject, node: Node) -> bool:
    """Whether only the result makes sense in this place, and not its promise."""
    node = outer(node)
    parent = node.parent
    if parent is None:
        return False
    kind = parent.kind
    if kind in ("member_expression", "subscript_expression"):
        member = parent.parts.get("property")
        return parent.parts.get("object") is node and (member is None or member.text not in vocabulary.CONVENIENT)
    if kind == "binary_expression":
        if parent.operator == "&&":
            return parent.parts.get("left") is node
        return parent.operator not in _PASSED_ON
    if kind in _TESTS:
        return parent.parts.get("condition") is node
    if kind == "unary_expression":
        return parent.operator != "void"
    if kind == "augmented_assignment_expression":
        return parent.operator not in _SETS
    if kind in ("variable_declarator", "assignment_expression"):
        pattern = parent.parts.get("name") or parent.parts.get("left")
        return pattern is not None and pattern.kind in _PATTERNS and pattern is not node
    if kind == "for_in_statement":
        return parent.parts.get("right") is node
    return kind in _SPREADS or (kind == "arguments" and _is_consumed(subject, parent))


def _is_consumed(subject: Subject, given: Node) -> bool:
    call = given.parent
    if call is None:
        return False
    if call.kind == "new_expression":
        return subject.dotted(call.parts.get("constructor")) in ("Set", "Map", "Date")
    return subject.dotted(call.parts.get("function")) in vocabulary.CONSUMERS


def _is_dropped(node: Node) -> bool:
    """Whether it stands as a statement of its own, with `.then(…)` or without. The last one of a script is its value."""
    statement = outer(node).parent
    while statement is not None and _continues(statement):
        statement = statement.parent
    if statement is None or statement.kind != "expression_statement":
        return False
    block = statement.parent
    if block is None or block.kind != "program":
        return True
    return next((one for one in reversed(block.children) if one.kind != "empty_statement"), None) is not statement


def _continues(node: Node) -> bool:
    """`.then(…)` and its like after a promise."""
    if node.kind == "member_expression":
        return "property" in node.parts and node.parts["property"].text in vocabulary.CONVENIENT
    return node.kind == "call_expression" and node.children[0].kind == "member_expression"


def _drops_callbacks(subject: Subject, node: Node) -> bool:
    """Whether it calls a function for each item, the promises of which nobody gets."""
    function = node.parts.get("function")
    if function is None or function.kind != "member_expression" or "property" not in function.parts:
        return False
    given = node.parts.get("arguments")
    if function.parts["property"].text not in _DROPPING or given is None or not given.children:
        return False
    callback = subject.facts.value(given.children[0])
    if callback.kind not in FUNCTIONS:
        return False
    body = callback.parts.get("body")
    return is_async(callback) or (body is not None and _makes_promise(subject, body))


def _called(node: Node) -> str:
    function = node.parts.get("function")
    return f"{_cut(function.text) if function is not None else ''}(…)"


def _short(node: Node) -> str:
    text = " ".join(node.text.split())
    return text if len(text) <= _LONGEST else _called(node)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
