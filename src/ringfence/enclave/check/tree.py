"""One fast walk over a syntax tree, for what every run of a script pays for. Pure, standard library only."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final

_LEAVES: Final = frozenset({ast.Name, ast.Constant})


def below(nodes: Iterable[ast.AST]) -> list[Any]:
    """These nodes and every node below them, outer ones first, without those that hold nothing (contexts, operators, `pass`).

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
