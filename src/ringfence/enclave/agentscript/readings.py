"""Where the parser's grammar and the engine read the same characters differently, and what settles it.

What hides from the tree hides from every rule, so that none of these is left to chance:

* An arrow function cannot be called, looked into or calculated with unless it has brackets around it, so that its line
  ends there; the grammar goes on into the next line. A semicolon is put in.
* `await` before brackets or a template is a name to the grammar at the top level of a file. The parser is shown `void`
  with a space, which is read as `await` is, is as long, and cannot be a name. In a function that is not asynchronous it
  is a name to the engine, but nobody means that: refused.
* `<!--`, and `-->` at the beginning of a line, begin a comment for the engine, as they do in web pages; to the grammar
  they may be operators. Where both see a comment, `//` takes their place; else refused, as nobody means them.
* `let` in a line of its own is a name to the grammar, and the flags of a regular expression may stand behind a comment.
  Refused.
* U+2028 and U+2029 end lines in code, and the engine does not count them everywhere: line feeds take their place. Spaces
  other than the usual ones keep the grammar from seeing what the next line goes on with: spaces take their place. Texts
  keep theirs.

Pure, standard library only; runs in the jailed guest. `syntax` calls it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

_AWAIT: Final = re.compile(r"await(?=\s*+(?:[^\s\w$'\"!~]|in\b|of\b|instanceof\b)|[^\S\n]*+\n)")
"""Where it is not certain that it is no name: else what comes next cannot follow a name."""
_LET: Final = re.compile(r"\blet\b(?![^\S\n]*+[\w$\[{\\])")
"""Where it is not certain that it declares something."""
_ODD: Final = re.compile("[\v\f\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
"""Space and ends of lines that are not the usual ones."""
_SEPARATORS: Final = "\u2028\u2029"
_WEB: Final = re.compile(b"<!--|-->")
_GOES_ON: Final = re.compile(
    r"""
    [\n\u2028\u2029](?:[^\S\n]|\ufeff)*+(?:[(\[`+-]|/(?![/*]))
    |\*/(?:\s|\ufeff)*+(?:[(\[`+-]|/(?![/*]))
    """,
    re.VERBOSE,
)
"""Where a line may go on that an arrow function has ended; more places than that, as this only says when to look."""
_GOING_ON: Final = frozenset({"call_expression", "subscript_expression", "member_expression", "binary_expression"})
_TEXTS: Final = frozenset({"string", "regex", "string_fragment", "escape_sequence"})
_COMMENTS: Final = frozenset({"comment", "html_comment", "hash_bang_line"})
_FUNCTIONS: Final = frozenset(
    """function_declaration function_expression generator_function generator_function_declaration arrow_function
    method_definition class_static_block field_definition""".split()
)
"""What `await` belongs to, if it is asynchronous."""
_LINE_END: Final = re.compile("[\n\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Edit:
    """One place where the text changes."""

    start: int
    end: int
    text: bytes
    """For the engine."""
    shown: bytes
    """For the parser; of the same length."""


@dataclass(slots=True)
class Settled:
    """What a look at a tree comes to."""

    edits: list[Edit] = field(default_factory=list[Edit])
    """In the order of the text."""
    refused: tuple[int, str, str] | None = None
    """Byte, message and fix of what nothing can settle."""


def settle(root: Node, data: bytes) -> Settled:
    """What has to change in a text before its tree says what the engine will do.

    Args:
        data: the text that the engine is to run; the tree's own may have `void` for `await`.
    """
    if not _is_doubtful(data):
        return Settled()
    look = _Look(data)
    look.at(root)
    return look.settled()


def applied(data: bytes, edits: list[Edit], *, shown: bool) -> bytes:
    """A text with the edits in it."""
    parts: list[bytes] = []
    at = 0
    for edit in edits:
        parts += (data[at : edit.start], edit.shown if shown else edit.text)
        at = edit.end
    parts.append(data[at:])
    return b"".join(parts)


def _is_doubtful(data: bytes) -> bool:
    text = data.decode()
    return (
        ("=>" in text and _GOES_ON.search(text) is not None)
        or ("await" in text and _AWAIT.search(text) is not None)
        or ("--" in text and _WEB.search(data) is not None)
        or ("let" in text and _LET.search(text) is not None)
        or _ODD.search(text) is not None
        or "//*" in text
    )


class _Spans:
    """Parts of a text that do not overlap, in its order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, node: Node) -> None:
        if not self._ends or node.start_byte >= self._ends[-1]:
            self._starts.append(node.start_byte)
            self._ends.append(node.end_byte)

    def holds(self, at: int) -> bool:
        found = bisect_right(self._starts, at) - 1
        return found >= 0 and at < self._ends[found]


class _Look:
    """One walk over a tree."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._texts = _Spans()
        self._comments = _Spans()
        self._edits: list[Edit] = []
        self._refused: list[tuple[int, str, str]] = []

    def at(self, root: Node) -> None:
        for node, above in _with_those_above(root):
            kind = node.type
            if kind in _TEXTS:
                self._texts.add(node)
                if kind == "regex":
                    self._pattern(node)
            elif kind in _COMMENTS:
                self._comments.add(node)
                if kind == "html_comment":
                    self._comment_of_page(node.start_byte)
            elif kind == "arrow_function" and above:
                self._function(node, above[-1])
            elif kind in ("identifier", "await", "void"):
                self._word(node, above)

    def _function(self, node: Node, parent: Node) -> None:
        if parent.start_byte != node.start_byte or parent.type not in _GOING_ON:
            return
        after = next((child for child in parent.children[1:] if child.type not in _COMMENTS), parent)
        if _LINE_END.search(self._data[node.end_byte : after.start_byte].decode()) is not None:
            self._edits.append(Edit(node.end_byte, node.end_byte, b";", b";"))

    def _pattern(self, node: Node) -> None:
        comment = next((child for child in node.named_children if child.type in _COMMENTS), None)
        if comment is not None:
            message, fix = "a comment right behind a regular expression", "put a space before the comment"
            self._refused.append((comment.start_byte, message, fix))

    def _comment_of_page(self, at: int) -> None:
        sign = b"<!--" if self._data.startswith(b"<!--", at) else b"-->"
        if sign == b"<!--" or self._begins_line(at):
            both = b"//--"[: len(sign)]
            self._edits.append(Edit(at, at + len(sign), both, both))

    def _word(self, node: Node, above: list[Node]) -> None:
        at, length = node.start_byte, 5 if node.type == "void" else node.end_byte - node.start_byte
        word = self._data[at : at + length]
        if word == b"let":
            self._refused.append((at, "let is no name", "write what it declares in the same line"))
        if word != b"await":
            return
        if not _is_asynchronous(above):
            message, fix = "await in a function that is not async", "write async before that function"
            self._refused.append((at, message, fix))
        elif node.type == "identifier":
            self._edits.append(Edit(at, at + length, b"await", b"void "))

    def settled(self) -> Settled:
        edits = sorted([*self._edits, *self._odd_spaces()], key=lambda edit: edit.start)
        refused = [] if edits else [*self._refused, *self._operators()]
        return Settled(edits, min(refused, default=None))

    def _odd_spaces(self) -> Iterator[Edit]:
        text = self._data.decode()
        at = before = 0
        for match in _ODD.finditer(text):
            at += len(text[before : match.start()].encode())
            before = match.start()
            if self._texts.holds(at):
                continue
            if match[0] in _SEPARATORS:
                yield Edit(at, at + len(match[0].encode()), b"\n", b"\n")
            elif not self._comments.holds(at):
                yield Edit(at, at + len(match[0].encode()), b" ", b" ")

    def _operators(self) -> Iterator[tuple[int, str, str]]:
        for match in _WEB.finditer(self._data):
            at = match.start()
            if self._texts.holds(at) or self._comments.holds(at):
                continue
            sign = match[0].decode()
            if sign == "<!--" or self._begins_line(at):
                yield at, f"{sign} begins a comment here", "put spaces between the signs, or write a comment with //"
                return

    def _begins_line(self, at: int) -> bool:
        """Whether a line may begin right before a place, but for space: a comment there may hold a line's end too."""
        before = at
        while before > 0 and self._data[before - 1 : before].isspace():
            before -= 1
        return before == 0 or b"\n" in self._data[before:at] or self._data[before - 2 : before] == b"*/"


def _is_asynchronous(above: list[Node]) -> bool:
    """Whether the innermost function around is; the script itself is."""
    function = next((node for node in reversed(above) if node.type in _FUNCTIONS), None)
    return function is None or any(child.type == "async" for child in function.children)


def _with_those_above(root: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Every node with those around it, outer ones first. The list is the same one each time."""
    cursor = root.walk()
    above: list[Node] = []
    while True:
        node = cursor.node
        assert node is not None
        yield node, above
        if cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            above.pop()
