"""Computed keys, looked at when they are used: what is inserted for it at STRICT and SECURE (enclave catalogue, L4).

`a[key]` becomes `a[k.key(key)]`; `k.key` turns the key into the text that is used, once, and ends the run where that is a
name which leads out of plain data. Keys that are written out are the static rules' business. Pure; runs in the jailed
guest. `rewrite` calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ringfence.enclave.agentscript.syntax import walk

if TYPE_CHECKING:
    from tree_sitter import Node

_WRITTEN: Final = frozenset({"number", "string"})


def guard(root: Node, hidden: str) -> list[tuple[int, int, str]]:
    """Edits that hand every computed key below a node to `k.key`."""
    edits: list[tuple[int, int, str]] = []
    for node, depth in walk(root):
        key = _key(node)
        if key is not None and key.type not in _WRITTEN:
            before, after = ("((", "))") if key.type == "sequence_expression" else ("(", ")")
            edits.append((key.start_byte, depth, f"{hidden}.key{before}"))
            edits.append((key.end_byte, -depth, after))
    return edits


def _key(node: Node) -> Node | None:
    if node.type == "subscript_expression":
        return node.child_by_field_name("index")
    if node.type == "computed_property_name" and node.named_children:
        return node.named_children[0]
    return None
