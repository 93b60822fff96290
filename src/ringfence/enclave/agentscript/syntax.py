"""A JavaScript source as a syntax tree, or what keeps it from being one.

The tree is tree-sitter's; its parser is handed in, so that nothing outside the standard library is imported here. Walks
never recurse: a tree may be as deep as its text is long. Where the grammar and the engine would read the same characters
differently, the text is settled first, so that what the rules judge is what runs (`readings`). Pure; runs in the jailed
guest. `script` calls it first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ringfence.enclave.agentscript import readings

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

DEEPEST: Final = 600
"""Nodes inside nodes; the engine's own parser takes 900 brackets inside each other, and overflows its stack at 1200."""
_ROUNDS: Final = 5
"""How often a source is read anew: what one reading settles may show the next."""
_LONGEST: Final = 40
"""Characters of the source that a message quotes."""
_CARRIAGE_RETURN: Final = re.compile("\r(?!\n)")


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


class Lines:
    """Where the lines of a text begin, found when somebody first asks."""

    __slots__ = ("_data", "_starts")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts: list[int] | None = None

    def line(self, at: int) -> int:
        """Line of a byte, 1-based."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in re.finditer(b"\n", self._data))]
        return bisect_right(self._starts, at)

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a byte, both 1-based, the column in characters."""
        line = self.line(at)
        begin = self._data.rfind(b"\n", 0, at) + 1
        return line, len(self._data[begin:at].decode("utf-8", "replace")) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A source that is JavaScript."""

    source: str
    """As it runs: what the engine would read otherwise than the tree is settled, lines stay, each ends with a line feed."""
    data: bytes
    """The same as UTF-8; nodes count in it."""
    tree: Tree
    lines: Lines

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()


def parse(source: str, parser: Parser) -> Script:
    """The tree of a source.

    Raises:
        Rejected: `SYNTAX`, not JavaScript, or JSX; `TOO_DEEP`.
    """
    data = _edges(source).encode()
    seen = data
    for _ in range(_ROUNDS):
        tree = parser.parse(seen)
        _check_depth(tree, Lines(data))
        settled = readings.settle(tree.root_node, data)
        if not settled.edits:
            break
        seen = readings.applied(seen, settled.edits, shown=True)
        data = readings.applied(data, settled.edits, shown=False)
    else:
        fix = "end each statement with a semicolon"
        raise Rejected("SYNTAX", 1, 1, "where the statements end cannot be told", fix)
    script = Script(source=data.decode(), data=data, tree=tree, lines=Lines(data))
    if settled.refused is not None:  # often also why the rest cannot be read
        at, message, fix = settled.refused
        raise Rejected("SYNTAX", *script.lines.place(at), message, fix)
    _check_kinds(script)
    return script


def _edges(source: str) -> str:
    """Without what only a file begins with, and with line feeds for carriage returns, which the engine does not count
    everywhere. The language makes no difference between the two.
    """
    if source.startswith("\ufeff"):
        source = source[1:] if source.startswith("\ufeff#!") else " " + source[1:]
    if source.startswith("#!"):
        source = "//" + source[2:]
    return _CARRIAGE_RETURN.sub("\n", source) if "\r" in source else source


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


def _check_depth(tree: Tree, lines: Lines) -> None:
    cursor = tree.root_node.walk()
    while True:
        if cursor.depth > DEEPEST and cursor.node is not None:
            place = lines.place(cursor.node.start_byte)
            raise Rejected("TOO_DEEP", *place, "nested too deep", "split long expressions into steps")
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _check_kinds(script: Script) -> None:
    """Whether all of it is JavaScript; nodes are made only where that is in doubt."""
    if not script.root.has_error and b"</" not in script.data and b"/>" not in script.data:
        return
    broken: Node | None = None
    for node, _ in walk(script.root):
        if node.type.startswith("jsx_"):
            raise _rejected(script, node, "JSX is no JavaScript", "build text or objects instead")
        if broken is None and (node.is_missing or node.type == "ERROR"):
            broken = node
    if broken is not None:
        raise _rejected(script, broken, _complaint(script, broken), "correct the syntax on this line")


def _complaint(script: Script, node: Node) -> str:
    if node.is_missing:
        return f"missing {node.type!r}"
    text = script.text(node).strip()
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f"not JavaScript: {shown.splitlines()[0] if shown else 'the end of the script'}"


def _rejected(script: Script, node: Node, message: str, fix: str) -> Rejected:
    return Rejected("SYNTAX", *script.lines.place(node.start_byte), message, fix)
