"""A JavaScript source as a syntax tree, or what keeps it from being one.

The tree is tree-sitter's; its parser is handed in, so that nothing outside the standard library is imported here. Walks
never recurse: a tree may be as deep as its text is long. Pure; runs in the jailed guest. `script` calls it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

DEEPEST: Final = 600
"""Nodes inside nodes; the engine's own parser overflows its stack at several times as many."""
_NEXT: Final = re.compile(r"\}[ \t]*\n\s*[\[(`]")
"""Where the grammar may take two statements for one."""
_GOES_ON: Final = frozenset({"call_expression", "subscript_expression", "member_expression"})
_LONGEST: Final = 40
"""Characters of the source that a message quotes."""
_UNMARKED: Final = frozenset({"template_string", "string", "comment", "regex"})


class Rejected(Exception):
    """The source cannot run."""

    def __init__(self, code: str, line: int, column: int, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.line = line
        """1-based."""
        self.column = column
        """1-based, in characters."""
        self.message = message
        self.fix = fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A source that is JavaScript."""

    source: str
    data: bytes
    """The same as UTF-8; nodes count in it."""
    tree: Tree

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def place(self, node: Node) -> tuple[int, int]:
        """Line and column of a node, both 1-based, the column in characters."""
        return place(self.data, node.start_byte)


def parse(source: str, parser: Parser) -> Script:
    """The tree of a source.

    Raises:
        Rejected: `SYNTAX`, not JavaScript, or JSX; `TOO_DEEP`.
    """
    if source.startswith("\ufeff"):
        source = " " + source[1:]
    if source.startswith("#!"):
        source = "//" + source[2:]
    if "\r" in source:  # to the language, but not to the grammar, it ends a line alone as well
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    script = _read(source, parser)
    if _NEXT.search(source) is not None and (ends := _ends_of_functions(script.root)):
        for end in reversed(ends):
            data = script.data[:end] + b";" + script.data[end:]
            script = Script(source=data.decode(), data=data, tree=script.tree)
        script = _read(script.source, parser)
    _check(script)
    return script


def _read(source: str, parser: Parser) -> Script:
    data = source.encode()
    return Script(source=source, data=data, tree=parser.parse(data))


def _ends_of_functions(root: Node) -> list[int]:
    """Where arrow functions end which the grammar takes for what is called, or looked into, by the next line.

    The language does not let an arrow function be that without brackets around it, so that its line ends there.
    """
    return [
        node.end_byte
        for node, _ in walk(root)
        if node.type == "arrow_function"
        and node.parent is not None
        and node.parent.type in _GOES_ON
        and node.parent.start_byte == node.start_byte
    ]


def walk(root: Node) -> Iterator[tuple[Node, int]]:
    """Every node below one, itself included, before its children, with how deep it is."""
    cursor = root.walk()
    depth = 0
    while True:
        node = cursor.node
        assert node is not None
        yield node, depth
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


def place(data: bytes, at: int) -> tuple[int, int]:
    """Line and column of a byte, both 1-based, the column in characters. Lines end as JavaScript says."""
    before = data[:at].decode(errors="replace").replace("\r\n", "\n")
    for other in "\r\u2028\u2029":
        before = before.replace(other, "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _check(script: Script) -> None:
    cursor = script.root.walk()
    while True:
        if cursor.depth > DEEPEST and cursor.node is not None:
            raise _rejected(script, cursor.node, "TOO_DEEP", "nested too deep", "split long expressions into steps")
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                _check_kinds(script)
                return


def _check_kinds(script: Script) -> None:
    """Whether all of it is JavaScript; nodes are made only where that is in doubt."""
    if not script.root.has_error and b"</" not in script.data and b"/>" not in script.data:
        return
    broken: Node | None = None
    for node, _ in walk(script.root):
        if node.type.startswith("jsx_"):
            raise _rejected(script, node, "SYNTAX", "JSX is no JavaScript", "build text or objects instead")
        if broken is None and (node.is_missing or node.type == "ERROR"):
            broken = node
    if broken is not None:
        raise _rejected(script, broken, "SYNTAX", _complaint(script, broken), "correct the syntax on this line")


def _complaint(script: Script, node: Node) -> str:
    if node.is_missing:
        return f"missing {node.type!r}"
    text = script.text(node).strip()
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f"not JavaScript: {shown.splitlines()[0] if shown else 'the end of the script'}"


def _rejected(script: Script, node: Node, code: str, message: str, fix: str) -> Rejected:
    line, column = script.place(node)
    return Rejected(code, line, column, message, fix)
