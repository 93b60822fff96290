"""What each name of a script stands for: JavaScript's scopes, so that a name declared in one function is unknown in others.

`let`, `const`, classes and functions belong to their block, `var` and parameters to their function. Sets `scope` and
`binding` of nodes. Pure, standard library only; nothing is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ringfence.enclave.agentscript.tree import FUNCTIONS, Binding, Node, Scope, Tree

_BLOCKS: Final = frozenset(
    """statement_block for_statement for_in_statement catch_clause switch_body class class_declaration
    class_static_block""".split()
)
_PATTERNS: Final = frozenset({"object_pattern", "array_pattern", "rest_pattern"})
_READ: Final = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_DECLARED: Final = frozenset({"function_declaration", "generator_function_declaration", "class_declaration"})
_NAMED: Final = frozenset({"function_expression", "generator_function", "class"})
_IMPORTS: Final = frozenset({"import_clause", "namespace_import", "import_specifier"})


def resolve(tree: Tree) -> Scope:
    """Give every node its scope and every name its binding; the script's own scope."""
    top = Scope(tree.root, None)
    scopes: dict[int, Scope] = {id(tree.root): top}
    tree.root.scope = top
    for node in tree.nodes[1:]:
        parent = node.parent
        assert parent is not None
        outside = scopes.get(id(parent)) or parent.scope
        assert outside is not None
        node.scope = outside
        if node.kind in FUNCTIONS or (node.kind in _BLOCKS and parent.kind not in FUNCTIONS):
            scopes[id(node)] = Scope(node, outside)
        _declare(node, outside, scopes.get(id(node)))
    for node in tree.nodes:
        _read(node)
        _write(node)
    return top


def _declare(node: Node, outside: Scope, inside: Scope | None) -> None:
    kind = node.kind
    if kind == "variable_declarator":
        _variable(node, outside)
    elif kind in _DECLARED:
        _bind_name(node, outside)
    elif kind == "for_in_statement" and inside is not None and (left := node.parts.get("left")) is not None:
        target = inside.function() if "var" in node.tokens else inside
        if not {"var", "let", "const"}.isdisjoint(node.tokens):
            for name in names_of(left):
                _bind(name, target).sets += 2  # each turn has another value
    elif kind in _IMPORTS:
        for name in node.children[-1:]:
            if name.kind == "identifier":
                _bind(name, outside).sets += 2
    if inside is None:
        return
    if kind in _NAMED:
        _bind_name(node, inside)
    elif kind == "catch_clause" and (parameter := node.parts.get("parameter")) is not None:
        for name in names_of(parameter):
            _bind(name, inside).sets += 2
    for parameter in parameters(node) if kind in FUNCTIONS else ():
        for name in names_of(parameter):
            _bind(name, inside).sets += 2


def _variable(node: Node, outside: Scope) -> None:
    name, value, parent = node.parts.get("name"), node.parts.get("value"), node.parent
    if name is None or parent is None:
        return
    target = outside.function() if parent.kind == "variable_declaration" else outside
    for one in names_of(name):
        binding = _bind(one, target)
        if value is not None:
            binding.sets += 1
            binding.value = value
            binding.is_whole = one is name


def _bind_name(node: Node, scope: Scope) -> None:
    """A function or a class by its own name."""
    if (name := node.parts.get("name")) is not None:
        binding = _bind(name, scope)
        binding.sets += 1
        binding.value = node


def _bind(name: Node, scope: Scope) -> Binding:
    binding = scope.names.get(name.text)
    if binding is None:
        binding = scope.names[name.text] = Binding(name.text, name, scope)
    name.binding = binding
    return binding


def parameters(function: Node) -> list[Node]:
    """Patterns of a function's parameters."""
    if (single := function.parts.get("parameter")) is not None:
        return [single]
    listed = function.parts.get("parameters")
    return listed.children if listed is not None else []


def names_of(pattern: Node) -> Iterator[Node]:
    """Names that a pattern binds or assigns, in source order."""
    stack = [pattern]
    while stack:
        node = stack.pop()
        if node.kind in _NAMES:
            yield node
        elif node.kind in _PATTERNS:
            stack += reversed(node.children)
        elif node.kind == "pair_pattern" and "value" in node.parts:
            stack.append(node.parts["value"])
        elif node.kind in ("assignment_pattern", "object_assignment_pattern") and "left" in node.parts:
            stack.append(node.parts["left"])


def _read(node: Node) -> None:
    if node.kind in _READ and node.binding is None and node.scope is not None:
        node.binding = node.scope.find(node.text)
        if node.binding is not None:
            node.binding.reads.append(node)


def _write(node: Node) -> None:
    """Names that get another value later."""
    if node.kind in ("assignment_expression", "augmented_assignment_expression"):
        left = node.parts.get("left")
    elif node.kind == "update_expression":
        left = node.parts.get("argument")
    elif node.kind == "for_in_statement" and {"var", "let", "const"}.isdisjoint(node.tokens):
        left = node.parts.get("left")
    else:
        return
    for name in names_of(left) if left is not None else ():
        binding = name.binding or (name.scope.find(name.text) if name.scope is not None else None)
        if binding is not None:
            binding.sets += 2
