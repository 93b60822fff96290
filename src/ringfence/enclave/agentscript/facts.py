"""What a script's nodes mean, gathered once: which global, tool or constant an expression stands for.

A name means something only where the script sets it once; about any other nothing is claimed. Pure, standard library
only, nothing is evaluated. Every file of rules looks here.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Final

from ringfence.enclave.agentscript import folding
from ringfence.enclave.agentscript.scopes import resolve
from ringfence.enclave.agentscript.syntax import Script
from ringfence.enclave.agentscript.tree import FUNCTIONS, Binding, Node, Tree, inner, is_async, is_generator

_STEPS: Final = 8
"""How far an alias of an alias is followed."""
_SELF: Final = frozenset("globalThis window self global".split())
_OWN_THIS: Final = frozenset(FUNCTIONS - {"arrow_function"}) | {"field_definition", "class_static_block"}


class Facts:
    """The names of one script."""

    def __init__(self, script: Script) -> None:
        self.tree = Tree(script)
        self.top = resolve(self.tree)
        self.nodes = self.tree.nodes

    @cached_property
    def declared(self) -> frozenset[str]:
        """Every name that the script declares, wherever."""
        return frozenset(one.text for one in self.nodes if one.binding is not None and one.binding.node is one)

    def dotted(self, node: Node | None, steps: int = _STEPS) -> str | None:
        """What an expression stands for: `make` after `const { create: make } = Object` is `Object.create`.

        A global stands for itself. None where that cannot be told from the source.
        """
        if node is None or steps <= 0:
            return None
        node = inner(node)
        if node.kind in ("identifier", "shorthand_property_identifier"):
            return node.text if node.binding is None else self._bound(node.binding, steps)
        if node.kind == "member_expression" and "property" in node.parts:
            key: str | None = node.parts["property"].text
        elif node.kind == "subscript_expression":
            key = folding.text(node.parts.get("index"))
        elif node.kind == "sequence_expression" and node.children:
            return self.dotted(node.children[-1], steps - 1)
        else:
            return None
        base = self.dotted(node.parts.get("object"), steps - 1)
        if base is None or key is None:
            return None
        return key if base in _SELF else f"{base}.{key}"

    def _bound(self, binding: Binding, steps: int) -> str | None:
        if binding.constant is not None:
            return self.dotted(binding.constant, steps - 1)
        if binding.sets != 1 or binding.value is None:
            return None
        key = _taken(binding.node)
        base = self.dotted(binding.value, steps - 1) if key is not None else None
        return None if base is None else f"{base}.{key}"

    def value(self, node: Node) -> Node:
        """The expression that a name set once was set to; anything else as it is."""
        for _ in range(_STEPS):
            node = inner(node)
            if node.binding is None or (constant := node.binding.constant) is None:
                break
            node = constant
        return node

    def tool(self, call: Node, spaces: Collection[str]) -> str | None:
        """What a call of a tool calls: `callTool`, or a method of a namespace."""
        if call.kind != "call_expression":
            return None
        name = self.dotted(call.parts.get("function"))
        if name is None:
            return None
        space, dot, method = name.partition(".")
        return name if name == "callTool" or (dot and space in spaces and "." not in method) else None

    def own_async(self, call: Node) -> bool:
        """Whether a call makes a promise of one of the script's own functions."""
        if call.kind != "call_expression" or (function := call.parts.get("function")) is None:
            return False
        target = self.value(function)
        return target.kind in FUNCTIONS and is_async(target) and not is_generator(target)


def _taken(name: Node) -> str | None:
    """The key under which a plain pattern (`{ key }`, `{ key: name }`) takes a name out of a value."""
    parent = name.parent
    if name.kind == "shorthand_property_identifier_pattern":
        return name.text if parent is not None and _is_whole(parent) else None
    if parent is None or parent.kind != "pair_pattern" or parent.parent is None or not _is_whole(parent.parent):
        return None
    key = parent.parts.get("key")
    return key_text(key) if key is not None else None


def _is_whole(pattern: Node) -> bool:
    return (
        pattern.kind == "object_pattern" and pattern.parent is not None and pattern.parent.kind == "variable_declarator"
    )


def key_text(key: Node) -> str | None:
    """What a key in an object literal, a class or a pattern says."""
    if key.kind == "computed_property_name":
        return folding.text(key.children[0]) if key.children else None
    return folding.literal(key) if key.kind == "string" else key.text


def function_around(node: Node) -> Node | None:
    """The innermost function around a node; None at the script's own level."""
    return next((one for one in node.above() if one.kind in FUNCTIONS), None)


def has_own_this(node: Node) -> bool:
    """Whether `this` is here an object of the script's: inside a method, a function or a class."""
    below = node
    for one in node.above():
        if one.kind in _OWN_THIS and below is not one.parts.get("property"):
            return True
        below = one
    return False
