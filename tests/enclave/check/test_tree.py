"""The fast walk sees what the slow one sees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ringfence.enclave.check.tree import below, blocks


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_every_node_that_holds_something_is_seen_once(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    fast = [id(node) for node in below([tree])]
    assert sorted(fast) == sorted(id(node) for node in ast.walk(tree) if node._fields)


def test_the_tree_may_change_under_the_walk() -> None:
    tree = ast.parse("for i in range(3): pass")
    for node in below(tree.body):
        if isinstance(node, ast.For):
            node.iter = ast.Constant(value=None)
    assert ast.unparse(tree) == "for i in None:\n    pass"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if x: a\nelse: b", ["a", "b"]),
        ("try: a\nexcept E: b\nelse: c\nfinally: d", ["a", "c", "d", "b"]),
        ("match x:\n    case 1: a\n    case _: b", ["a", "b"]),
        ("def f():\n    a\n    b", ["a\nb"]),
        ("while x: a", ["a"]),
        ("x = 1", []),
    ],
)
def test_the_blocks_of_a_statement_are_found(source: str, found: list[str]) -> None:
    inner = [ast.unparse(ast.Module(body=block, type_ignores=[])) for block in blocks(ast.parse(source).body[0])]
    assert inner == found
