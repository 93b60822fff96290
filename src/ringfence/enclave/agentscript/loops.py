"""Loops that count their turns: what is inserted into a source for it (enclave catalogue, H3).

Around a loop stands a block with a counter of its own; the first thing in its body takes a turn from it and from those of
all loops. When there are none left, `k.stop` ends the run, which no script can catch into success. Callbacks of array
methods and recursion are not counted. Advice, as the guest owns its process; the kernel's limit on processor time is
the wall. Pure; runs in the jailed guest. `rewrite` calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ringfence.enclave.agentscript.syntax import walk

if TYPE_CHECKING:
    from tree_sitter import Node

    from ringfence.enclave.agentscript.syntax import Script

LOOPS: Final = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_COMMENTS: Final = frozenset({"comment", "html_comment"})
_ALWAYS: Final = frozenset({"true", "number"})


def count(script: Script, hidden: str, *, turns: int, endless: bool) -> list[tuple[int, int, str]]:
    """Edits that make every loop of a script count. `endless`: also those whose condition is always true."""
    edits: list[tuple[int, int, str]] = []
    loops = 0
    for node, outer, depth in _loops(script.root):
        body = node.child_by_field_name("body")
        if body is None or (not endless and is_endless(node)):
            continue
        loops += 1
        own = f"{hidden}{loops}"
        line = script.lines.line(node.start_byte)
        take = f"if(++{own}>{turns}||--{hidden}t<0){hidden}.stop({own}>{turns},{line});"
        edits.append((outer.start_byte, depth, f"{{let {own}=0;"))
        if body.type == "statement_block":
            edits.append((body.start_byte + 1, -1_000_000, take))
        else:
            edits.append((body.start_byte, depth, f"{{{take}"))
            edits.append((_end(body), -depth, "}"))
        edits.append((_end(outer), -depth, "}"))
    return edits


def _loops(root: Node) -> Iterator[tuple[Node, Node, int]]:
    """Each loop, with the statement that it is with its labels, which have to stand right before it, and how deep it is.

    What is around a node is remembered on the way: the parser would look for it from the root.
    """
    path: list[Node] = []
    for node, depth in walk(root):
        del path[depth:]
        path.append(node)
        if node.type in LOOPS:
            first = depth
            while first > 0 and path[first - 1].type == "labeled_statement":
                first -= 1
            yield node, path[first], depth


def _end(statement: Node) -> int:
    """Where a statement's own text ends: one without a semicolon has a comment behind it as its last part."""
    node: Node | None = statement
    end = statement.end_byte
    while node is not None:
        end = node.end_byte
        node = next((child for child in reversed(node.children) if child.type not in _COMMENTS), None)
    return end


def is_endless(loop: Node) -> bool:
    """Whether the condition says that something else ends the loop: `while (true)`, `for (;;)`."""
    if loop.type == "for_in_statement":
        return False
    condition = loop.child_by_field_name("condition")
    if loop.type == "for_statement":
        return condition is None or condition.type == "empty_statement" or _is_true(condition)
    return condition is not None and _is_true(condition)


def _is_true(node: Node) -> bool:
    while node.type in ("parenthesized_expression", "expression_statement") and len(node.named_children) == 1:
        node = node.named_children[0]
    return node.type in _ALWAYS and node.text not in (b"0", None)
