"""The text that the engine runs in the place of a source: a function around it, its last value returned, loops counted.

The function is `(k, variables…) => async () => { source }` on the source's own first line, so that line numbers stay. Two
arrow functions, so that `arguments` and `new.target` are the errors that they are at the top of a file, and that a
script may declare a session variable anew. `k` is what the script's hidden calls go to (`prelude/main.js`): `k.stop`
ends a loop that has had its turns, `k.key` looks at a computed key, `k.keep` is told how to read the top level's names.
Edits are insertions at byte offsets; nothing of the source is lost. Pure; runs in the jailed guest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ringfence.enclave.agentscript.guards import guard
from ringfence.enclave.agentscript.loops import count
from ringfence.limits import TOTAL_ITERATIONS

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from ringfence.enclave.agentscript.syntax import Script

Counted = Literal["none", "bounded", "all"]
_ESCAPE: Final = re.compile(r"\\u(?:([0-9a-fA-F]{4})|\{0*+([0-9a-fA-F]{1,6})\})")
"""Names may be written with these."""
_LAST: Final = 0x10FFFF
_DECLARED: Final = frozenset({"function_declaration", "generator_function_declaration", "class_declaration"})
_VARIABLES: Final = frozenset({"lexical_declaration", "variable_declaration"})
_NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_SILENT: Final = frozenset({"comment", "empty_statement", "hash_bang_line", "html_comment"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What the engine is given."""

    text: str
    """An expression: the outer function."""
    prefix: int
    """Characters before the source in the first line."""


Edit = tuple[int, int, str]
"""Byte offset, order among edits at the same place, text to insert there."""


def rewrite(
    script: Script,
    parser: Parser,
    *,
    counted: Counted = "none",
    turns: int = 0,
    guarded: bool = False,
    variables: Collection[str] = (),
    keep: bool = False,
) -> Rewritten:
    """The script as the engine runs it.

    Args:
        parser: as for `syntax.parse`, to find out whether a last block is an object.
        counted: which loops count their turns; `bounded` leaves out those that say themselves that something else ends
            them, such as `while (true)`.
        turns: of one loop; all together have 100 times as many.
        guarded: whether computed keys are looked at when they are used.
        variables: session variables, which become parameters.
        keep: whether the run wants its top level's values.
    """
    hidden = _free_name(script.source, variables)
    edits: list[Edit] = []
    if counted != "none":
        edits += count(script, hidden, turns=turns, endless=counted == "all")
    if guarded:
        edits += guard(script.root, hidden)
    edits += _returned(script, parser)
    head = f"(({', '.join([hidden, *variables])}) => async () => {{'use strict';"
    if counted != "none":
        head += f"let {hidden}t={turns * TOTAL_ITERATIONS};"
    if keep:
        names = dict.fromkeys([*variables, *_top_names(script)])
        head += f"{hidden}.keep({{{','.join(f'{name}:()=>{name}' for name in names if name != '__proto__')}}});"
    return Rewritten(text=f"{head}{_applied(script.data, edits)}\n}})", prefix=len(head))


def _free_name(source: str, variables: Collection[str]) -> str:
    """A name that neither the source holds, in whatever way it is written, nor a session variable."""
    written = "\n".join([_ESCAPE.sub(_character, source) if "\\u" in source else source, *variables])
    name = "$k"
    while name in written:
        name += "$"
    return name


def _character(escape: re.Match[str]) -> str:
    code = int(escape[1] or escape[2], 16)
    return chr(code) if code <= _LAST else escape[0]


def _applied(data: bytes, edits: list[Edit]) -> str:
    parts: list[bytes] = []
    at = 0
    for offset, _, text in sorted(edits):
        parts += (data[at:offset], text.encode())
        at = offset
    parts.append(data[at:])
    return b"".join(parts).decode()


def _returned(script: Script, parser: Parser) -> list[Edit]:
    """The value of a last expression becomes the script's."""
    last = next((node for node in reversed(script.root.named_children) if node.type not in _SILENT), None)
    if last is None:
        return []
    if last.type == "expression_statement":
        value = last.named_children[0]
        return [(value.start_byte, 9, "return ("), (value.end_byte, -9, "\n)")]
    if (
        last.named_children
        and last.type in ("statement_block", "labeled_statement")
        and _is_object(script, last, parser)
    ):
        return [(last.start_byte, 9, "return ("), (last.end_byte, -9, ")")]
    return []


def _is_object(script: Script, block: Node, parser: Parser) -> bool:
    """Whether a last `{ … }` is also an object literal, which is what its author means: `{ total, count }`."""
    text = script.data[block.start_byte : block.end_byte]
    return text.startswith(b"{") and not parser.parse(b"(" + text + b")").root_node.has_error


def _top_names(script: Script) -> Iterator[str]:
    """Names that the script's top level declares."""
    for node in script.root.named_children:
        if node.type in _DECLARED:
            name = node.child_by_field_name("name")
            if name is not None:
                yield script.text(name)
        elif node.type in _VARIABLES:
            for declarator in node.named_children:
                target = declarator.child_by_field_name("name")
                if target is not None:
                    yield from (script.text(name) for name in _bound(target))


def _bound(pattern: Node) -> Iterator[Node]:
    """The names that a pattern binds."""
    stack = [pattern]
    while stack:
        node = stack.pop()
        if node.type in _NAMES:
            yield node
        elif node.type == "pair_pattern":
            stack += [child for child in [node.child_by_field_name("value")] if child is not None]
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            stack += [child for child in [node.child_by_field_name("left")] if child is not None]
        else:
            stack += reversed(node.named_children)
