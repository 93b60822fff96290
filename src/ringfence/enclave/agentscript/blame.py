"""What was called where the engine only says "not a function": its message has no name, and a model needs one.

Pure, standard library only; the guest asks when a script has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

NAMELESS: Final = frozenset({"not a function", "not a constructor"})
"""Messages of the engine's TypeError that say nothing of what it is about."""
_LONGEST: Final = 60
_CALLS: Final = frozenset({"call_expression", "new_expression"})


def callee(text: str, line: int, column: int, parser: Parser) -> str | None:
    """The source of what is called at a place, as the engine gives it; None where it does not say.

    Args:
        text: what the engine runs.
        line: 1-based.
        column: 1-based, in characters: of a method's name, or of what `new` is about.
    """
    lines = text.split("\n")  # as the engine counts
    if not 0 < line <= len(lines):
        return None
    at = (line - 1, len(lines[line - 1][: column - 1].encode()))
    node = parser.parse(text.encode()).root_node.named_descendant_for_point_range(at, at)
    return None if node is None else _called(node)


def _called(node: Node) -> str | None:
    target = node
    while target.parent is not None and target.parent.type == "member_expression":
        target = target.parent
    call = target.parent
    if call is None or call.type not in _CALLS or target.text is None:
        return None
    if target not in (call.child_by_field_name("function"), call.child_by_field_name("constructor")):
        return None
    shown = " ".join(target.text.decode().split())
    return shown if len(shown) <= _LONGEST else f"…{shown[1 - _LONGEST :]}"
