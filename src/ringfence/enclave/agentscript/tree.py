"""A script's syntax tree as the rules read it: nodes that know their parent, their parts by name, where they stand, and
what their names are bound to.

Made once from tree-sitter's tree, with a cursor and without recursion, because the rules look at each node many times and
every look at a foreign node makes a new object. Comments and brackets are left out. Pure, standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import tree_sitter

    from ringfence.enclave.agentscript.syntax import Script

_LEFT_OUT: Final = frozenset({"comment", "html_comment", "hash_bang_line"})
FUNCTIONS: Final = frozenset(
    """function_declaration function_expression generator_function generator_function_declaration arrow_function
    method_definition""".split()
)
LOOPS: Final = frozenset("for_statement for_in_statement while_statement do_statement".split())
_LONGEST_NUMBER: Final = 400
"""Digits that are read."""


class Node:
    """One node. `kind` is tree-sitter's type; `parts` are children by the grammar's names for them."""

    __slots__ = (
        "binding",
        "children",
        "end",
        "kind",
        "operator",
        "parent",
        "parts",
        "scope",
        "start",
        "tokens",
        "tree",
    )

    def __init__(self, tree: Tree, kind: str, start: int, end: int, parent: Node | None) -> None:
        self.tree = tree
        self.kind = kind
        self.start = start
        """Bytes of UTF-8."""
        self.end = end
        self.parent = parent
        self.children: list[Node] = []
        self.parts: dict[str, Node] = {}
        self.tokens: list[str] = []
        """Words and signs among its children: `async`, `const`, `*`."""
        self.operator = ""
        self.scope: Scope | None = None
        """Where it stands; set by `scopes`."""
        self.binding: Binding | None = None
        """What a name stands for; set by `scopes`. None: the script does not declare it."""

    @property
    def text(self) -> str:
        return self.tree.data[self.start : self.end].decode("utf-8", "replace")

    @property
    def lineno(self) -> int:
        return self.tree.place(self.start)[0]

    @property
    def col_offset(self) -> int:
        """Characters before it in its line."""
        return self.tree.place(self.start)[1]

    def below(self) -> Iterator[Node]:
        """It and every node inside it, outer ones first, in source order."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(node.children)

    def above(self) -> Iterator[Node]:
        """Every node around it, inner ones first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Binding:
    """One name in one scope."""

    __slots__ = ("is_whole", "name", "node", "reads", "scope", "sets", "value")

    def __init__(self, name: str, node: Node, scope: Scope) -> None:
        self.name = name
        self.node = node
        """Where it is declared first."""
        self.scope = scope
        self.sets = 0
        """How often it gets a value."""
        self.value: Node | None = None
        """Its initial value: an expression, a function, a class; what it is taken out of where a pattern declares it."""
        self.is_whole = True
        """Whether it is all of `value`, and not taken out of it."""
        self.reads: list[Node] = []

    @property
    def constant(self) -> Node | None:
        """The expression that it stands for wherever it is read."""
        return self.value if self.sets == 1 and self.is_whole else None


class Scope:
    """One region of names."""

    __slots__ = ("names", "node", "parent")

    def __init__(self, node: Node, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.names: dict[str, Binding] = {}

    @property
    def is_function(self) -> bool:
        return self.node.kind in FUNCTIONS or self.node.kind in ("program", "class_static_block")

    def function(self) -> Scope:
        """The scope that `var` belongs to."""
        scope = self
        while not scope.is_function and scope.parent is not None:
            scope = scope.parent
        return scope

    def find(self, name: str) -> Binding | None:
        scope: Scope | None = self
        while scope is not None:
            if (binding := scope.names.get(name)) is not None:
                return binding
            scope = scope.parent
        return None


class Tree:
    """All nodes of one source, in source order, outer ones first."""

    def __init__(self, script: Script) -> None:
        self.data = script.data
        self._lines = script.lines
        self.nodes = _nodes(self, script.tree.root_node)

    @property
    def root(self) -> Node:
        return self.nodes[0]

    def place(self, at: int) -> tuple[int, int]:
        """Line, 1-based, and characters before it in that line."""
        line, column = self._lines.place(at)
        return line, column - 1


def _nodes(tree: Tree, root: tree_sitter.Node) -> list[Node]:
    cursor = root.walk()
    first = Node(tree, root.type, root.start_byte, root.end_byte, None)
    made = [first]
    if not cursor.goto_first_child():
        return made
    parents = [first]
    while True:
        node, parent = cursor.node, parents[-1]
        assert node is not None
        kind, field = node.type, cursor.field_name
        entered = False
        if not node.is_named:
            if kind == "void" and tree.data.startswith(b"await", node.start_byte):
                kind, field, parent.kind = "await", None, "await_expression"  # the parser saw the other (`readings`)
            parent.tokens.append(kind)
            if field == "operator":
                parent.operator = kind
        elif kind not in _LEFT_OUT:
            own = Node(tree, kind, node.start_byte, node.end_byte, parent)
            parent.children.append(own)
            if field is not None:
                parent.parts.setdefault(field, own)
            made.append(own)
            if entered := cursor.goto_first_child():
                parents.append(own)
        while not entered and not cursor.goto_next_sibling():
            if not cursor.goto_parent() or len(parents) == 1:
                return made
            parents.pop()


# what nodes are made of


def inner(node: Node) -> Node:
    """The expression inside brackets."""
    while node.kind == "parenthesized_expression" and len(node.children) == 1:
        node = node.children[0]
    return node


def outer(node: Node) -> Node:
    """The brackets around an expression, the outermost ones."""
    while node.parent is not None and node.parent.kind == "parenthesized_expression":
        node = node.parent
    return node


def arguments(call: Node) -> list[Node]:
    """Arguments of a call or of `new`; none for a tagged template."""
    given = call.parts.get("arguments")
    return given.children if given is not None and given.kind == "arguments" else []


def is_async(node: Node) -> bool:
    return "async" in node.tokens


def is_generator(node: Node) -> bool:
    return node.kind.startswith("generator_") or "*" in node.tokens


def number(node: Node) -> float | int | None:
    """Value of a number literal, BigInts included, that is not too long to be read."""
    text = node.text.replace("_", "").lower()
    if len(text) > _LONGEST_NUMBER:
        return None
    try:
        if text.endswith("n") and not text.startswith("0x"):
            return int(text[:-1], 0)
        if text.startswith(("0x", "0o", "0b")):
            return int(text.removesuffix("n"), 0)
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else value
