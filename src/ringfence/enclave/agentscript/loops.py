"""Loops that count their turns: what is inserted into a source for it (enclave catalogue, H3).

Around a loop stands a block with a counter of its own; the first thing in its body takes a turn from it and from those of
all loops. When there are none left, `k.stop` ends the run, which no script can catch into success. Callbacks of array
methods and recursion are not counted. Advice, as the guest owns its process; the kernel's limit on processor time is
the wall. Pure; runs in the jailed guest. `rewrite` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ringfence.enclave.agentscript.syntax import walk

if TYPE_CHECKING:
    from tree_sitter import Node

LOOPS: Final = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_ALWAYS: Final = frozenset({"true", "number"})


def count(
    root: Node, hidden: str, *, turns: int, endless: bool, place: Callable[[Node], tuple[int, int]]
) -> list[tuple[int, int, str]]:
    """Edits that make every loop below a node count. `endless`: also those whose condition is always true."""
    edits: list[tuple[int, int, str]] = []
    loops = 0
    for node, depth in walk(root):
        if node.type not in LOOPS or (not endless and is_endless(node)):
            continue
        body = node.child_by_field_name("body")
        if body is None:
            continue
        loops += 1
        own = f"{hidden}{loops}"
        outer = _labelled(node)
        take = f"if(++{own}>{turns}||--{hidden}t<0){hidden}.stop({own}>{turns},{place(node)[0]});"
        edits.append((outer.start_byte, depth, f"{{let {own}=0;"))
        if body.type == "statement_block":
            edits.append((body.start_byte + 1, -1_000_000, take))
        else:
            edits.append((body.start_byte, depth, f"{{{take}"))
            edits.append((body.end_byte, -depth, "}"))
        edits.append((outer.end_byte, -depth, "}"))
    return edits


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


def _labelled(loop: Node) -> Node:
    """The statement that a loop is with its labels, which have to stand right before it."""
    while loop.parent is not None and loop.parent.type == "labeled_statement":
        loop = loop.parent
    return loop
