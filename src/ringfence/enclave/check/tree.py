"""Walks over syntax trees that more than one part needs: a fast one over all nodes, and one over blocks of statements.

Pure, standard library only: it runs in the jailed guest. `source`, `guards` and the rest of the check call it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, Final

_LEAVES: Final = frozenset({ast.Name, ast.Constant})


def below(nodes: Iterable[ast.AST]) -> list[Any]:
    """These nodes and every node below them, outer ones first, without those that hold nothing (contexts, operators,
    `pass`).

    Half the time of `ast.walk`, and complete before the first node is looked at, so a caller may change the tree.
    """
    found: list[Any] = list(nodes)
    for node in found:
        if type(node) in _LEAVES:
            continue
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, list):
                found += [one for one in child if isinstance(one, ast.AST) and one._fields]  # pyright: ignore[reportUnknownVariableType]
            elif isinstance(child, ast.AST) and child._fields:
                found.append(child)
    return found


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Lists of statements inside a statement or a module, those of its handlers and cases included; none is empty."""
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] | None = getattr(node, name, None)
        if block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body
