"""What the tests of the JavaScript check share: trees, codes with their places, for one source at one level."""

from __future__ import annotations

import tree_sitter
import tree_sitter_javascript

from ringfence.enclave.agentscript.scopes import resolve
from ringfence.enclave.agentscript.script import rules
from ringfence.enclave.agentscript.syntax import parse
from ringfence.enclave.agentscript.tree import Node, Tree
from ringfence.enclave.check.findings import Found
from ringfence.enclave.check.known import Known

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))

KNOWN = Known(
    namespaces={"tools": {"get": "get", "list": "list"}, "mail": {"list": "mail.list", "send": "mail.send"}},
    names=("settings",),
)


def tree(source: str) -> Tree:
    """Nodes of a source, with what their names stand for."""
    made = Tree(parse(source, PARSER))
    resolve(made)
    return made


def node(source: str, kind: str) -> Node:
    """The first node of a kind."""
    return next(one for one in tree(source).nodes if one.kind == kind)


def found(source: str, level: str = "SECURE") -> list[Found]:
    return rules(parse(source, PARSER), level, KNOWN)


def codes(source: str, level: str = "SECURE") -> list[str]:
    """Codes of what the rules find, in source order."""
    return [one.code for one in found(source, level)]


def places(source: str, level: str = "SECURE") -> list[tuple[str, int, int]]:
    """Codes with line and column."""
    return [(one.code, one.line, one.column) for one in found(source, level)]
