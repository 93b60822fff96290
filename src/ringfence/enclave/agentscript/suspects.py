"""Whether a script may hold something that no level allows, told in a fraction of the time that the rules take.

Every run pays for what is looked at before it, and most scripts await their calls. This looks only at the places where a
script names a tool or its own asynchronous functions, and says yes too often rather than too seldom; the rules then say
what it is. Works on the parser's own nodes. Pure, standard library only; `script` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ringfence.enclave.agentscript.vocabulary import CONSUMERS
from ringfence.enclave.check.known import Known

if TYPE_CHECKING:
    from tree_sitter import Node

    from ringfence.enclave.agentscript.syntax import Script

_NEVER: Final = re.compile(rb"\b(?:import|export)\b|\bwith\s*\(")
_ASYNC: Final = re.compile(rb"\basync\s+function\s+([\w$]+)|([\w$]+)\s*=\s*async\b")
_WORD: Final = re.compile(rb"[\w$]")
_MOST: Final = 2_000
"""Places that are looked at one by one."""
_FINE: Final = frozenset(
    "await_expression array return_statement arrow_function pair expression_statement yield_expression".split()
)
"""Where a promise may stand. A statement of its own is a warning at most."""
_NAMED: Final = frozenset("function_declaration function_expression formal_parameters arguments pair".split())
"""Where a function's own name may stand."""


def suspicious(script: Script, known: Known) -> bool:
    """Whether the rules have to look."""
    data = script.data
    if _NEVER.search(data):
        return True
    names = [b"callTool", *(name.encode() for name in known.namespaces)]
    if b"async" in data:
        names += {own or other for own, other in _ASYNC.findall(data)}
    root = script.root
    for seen, (start, end) in enumerate(place for name in names for place in _occurrences(data, name)):
        node = root.descendant_for_byte_range(start, end)
        if seen >= _MOST or (node is not None and _is_odd(script, node)):
            return True
    return False


def _occurrences(data: bytes, name: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(name)
    while at >= 0:
        end = at + len(name)
        before = data[max(0, at - 3) : at]
        is_member = before.endswith(b".") and before != b"..."
        if not is_member and not _WORD.match(before[-1:]) and not _WORD.match(data, end):
            yield at, end
        at = data.find(name, end)


def _is_odd(script: Script, node: Node) -> bool:
    if node.type != "identifier":  # in text, a comment, or a key
        return node.type.startswith("shorthand")
    parent = node.parent
    if parent is None:
        return True
    if parent.type == "member_expression" and parent.child_by_field_name("object") == node:
        node, parent = parent, parent.parent
    if parent is None or parent.type != "call_expression" or parent.child_by_field_name("function") != node:
        return not (
            parent is not None
            and (parent.type in _NAMED or (parent.type == "variable_declarator" and _is_name(parent, node)))
        )
    return _is_odd_call(script, parent)


def _is_name(declarator: Node, node: Node) -> bool:
    return declarator.child_by_field_name("name") == node


def _is_odd_call(script: Script, call: Node) -> bool:
    around = call.parent
    while around is not None and around.type == "parenthesized_expression":
        around = around.parent
    if around is None:
        return True
    if around.type == "arguments" and (outer := around.parent) is not None and outer.type == "call_expression":
        function = outer.child_by_field_name("function")
        return function is None or script.text(function) in CONSUMERS
    return around.type not in _FINE
