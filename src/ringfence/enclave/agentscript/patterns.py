"""Rules about regular expressions: literals, `RegExp` of constants, and methods that take patterns.

A pattern is read by a few shapes that are known to backtrack without end (enclave catalogue, M3); it is never compiled.
Pure, standard library only.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from ringfence.enclave.agentscript import folding, vocabulary
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.tree import Node, arguments

_LENGTHS: Final = {"STRICT": 100, "SECURE": 200, "STANDARD": 500, "PERMISSIVE": 1_000}
_COUNTS: Final = {"STRICT": 10, "SECURE": 20, "STANDARD": 30, "PERMISSIVE": 50}
_ONE: Final = r"(?:\\.|\[[^\]]*+\]|[^\\()\[\]|?*+^$])"
"""One thing that can be repeated."""
_MANY: Final = r"(?:[*+]|\{\d+,\d*\})"
_NESTED: Final = re.compile(rf"\((?:\?:|\?<\w+>)?{_ONE}{_MANY}\??\){_MANY}")
"""A group that holds one repeated thing and is repeated itself."""
_ALTERNATIVES: Final = re.compile(rf"\((?:\?:|\?<\w+>)?((?:{_ONE}|\|)++)\){_MANY}")
"""A repeated group of alternatives."""
_WITH_PATTERN: Final = frozenset({"string", "template_string", "regex"})


KINDS: Final = frozenset({"regex", "call_expression", "new_expression"})


def look(subject: Subject, node: Node) -> None:
    """Report what is wrong with one pattern, or with one use of what may be one."""
    match node.kind:
        case "regex":
            subject.add("NO_REGEX_LITERAL", node, node.text)
            _pattern(subject, node, node.parts["pattern"].text if "pattern" in node.parts else "")
        case "call_expression":
            _method(subject, node)
            _made(subject, node, node.parts.get("function"))
        case "new_expression":
            _made(subject, node, node.parts.get("constructor"))
        case _:
            pass


def look_at_all(subject: Subject) -> None:
    """Report what is wrong with all patterns together."""
    most = _COUNTS.get(subject.level, 0)
    literals = [node for node in subject.facts.nodes if node.kind == "regex"]
    if len(literals) > most:
        subject.add("TOO_MANY_REGEXES", literals[most], f"{len(literals)} patterns, more than {most}")


def _made(subject: Subject, node: Node, maker: Node | None) -> None:
    if subject.dotted(maker) == "RegExp" and (given := arguments(node)):
        text = folding.text(given[0])
        if text is not None:
            _pattern(subject, node, text)


def _pattern(subject: Subject, node: Node, text: str) -> None:
    most = _LENGTHS.get(subject.level, 0)
    if len(text) > most:
        subject.add("REGEX_TOO_LONG", node, f"{len(text)} characters, more than {most}")
    elif _NESTED.search(text) or any(_overlap(match[1]) for match in _ALTERNATIVES.finditer(text)):
        subject.add("CATASTROPHIC_REGEX", node, text)


def _overlap(alternatives: str) -> bool:
    """Whether two alternatives are the same, or one begins with the other."""
    parts = sorted(alternatives.split("|"))
    return len(parts) > 1 and any(other.startswith(one) and one for one, other in itertools.pairwise(parts))


def _method(subject: Subject, node: Node) -> None:
    function = node.parts.get("function")
    name = function.parts.get("property") if function is not None and function.kind == "member_expression" else None
    given = arguments(node)
    if name is None or not given or name.text not in vocabulary.REGEX_METHODS:
        return
    if function is not None and subject.namespace(function.parts.get("object")) is not None:
        return  # a tool of that name
    if subject.facts.value(given[0]).kind not in _WITH_PATTERN and folding.text(given[0]) is None:
        subject.add("REGEX_METHOD_DYNAMIC", given[0], name.text)
