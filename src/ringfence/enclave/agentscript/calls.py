"""Rules about functions that reach far: tools by name, machinery of objects, code from text, JSON with callbacks.

What a call is made of decides, also through aliases. Pure, standard library only.
"""

from __future__ import annotations

from typing import Final

from ringfence.enclave.agentscript import folding, vocabulary
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.tree import Node, arguments, inner, outer

_LITERAL_NAMES: Final = ("STRICT", "SECURE")
"""Levels at which a tool's name has to stand in the call (catalogue, C15); elsewhere a constant may lead to it."""
_SHOWN: Final = 20
"""Tools in a fix."""
_DATA: Final = frozenset({"null", "undefined", "array"})
_TEXTS: Final = frozenset({"string", "template_string"})


KINDS: Final = frozenset(
    """call_expression member_expression subscript_expression shorthand_property_identifier_pattern
    pair_pattern""".split()
)


def look(subject: Subject, node: Node) -> None:
    """Report what is wrong with one call, or with one function that is used as a value."""
    match node.kind:
        case "call_expression":
            _call(subject, node)
        case "member_expression" | "subscript_expression":
            _tool_member(subject, node)
            _machinery(subject, node)
        case "shorthand_property_identifier_pattern" | "pair_pattern":
            _tool_taken(subject, node)
        case _:
            pass


def _call(subject: Subject, node: Node) -> None:
    function = node.parts.get("function")
    name = subject.dotted(function)
    if function is None or name is None:
        return
    if name == "callTool":
        _tool_call(subject, node)
    elif name in ("JSON.stringify", "JSON.parse"):
        _json(subject, node, name)
    elif name in vocabulary.TIMERS and (given := arguments(node)) and folding.text(given[0]) is not None:
        subject.add("NO_EVAL", given[0], f"text in {name}", "write a function: () => { … }")
    if inner(function).kind == "identifier" and name in vocabulary.META:  # an alias
        subject.add("NO_META_PROGRAMMING", node, name)


# tools


def _tool_call(subject: Subject, node: Node) -> None:
    given = arguments(node)
    if not given:
        subject.add("MISSING_CALL_TARGET", node, "callTool()")
    elif not _names_tool(subject, given[0]):
        subject.add("DYNAMIC_CALL_TARGET", node, "callTool")


def _names_tool(subject: Subject, node: Node) -> bool:
    node = inner(node)
    if node.kind in _TEXTS and not any(part.kind == "template_substitution" for part in node.children):
        return True
    return subject.level not in _LITERAL_NAMES and folding.text(node) is not None


def _tool_member(subject: Subject, node: Node) -> None:
    """A member of a namespace: its tools are all that it has."""
    space = subject.namespace(node.parts.get("object"))
    if space is None:
        return
    if node.kind == "member_expression":
        method = node.parts["property"].text if "property" in node.parts else None
    else:
        method = folding.text(node.parts.get("index"))
    if method is None:
        subject.add("DYNAMIC_CALL_TARGET", node, f"{space}[…]")
    else:
        _known_tool(subject, node, space, method)


def _tool_taken(subject: Subject, node: Node) -> None:
    """`const { list } = mail`."""
    pattern = node.parent
    declarator = pattern.parent if pattern is not None else None
    if declarator is None or declarator.kind != "variable_declarator":
        return
    space = subject.namespace(declarator.parts.get("value"))
    key = node if node.kind != "pair_pattern" else node.parts.get("key")
    if space is not None and key is not None and key.kind != "computed_property_name":
        _known_tool(subject, node, space, folding.literal(key) if key.kind == "string" else key.text)


def _known_tool(subject: Subject, node: Node, space: str, method: str) -> None:
    methods = subject.known.namespaces[space]
    if method not in methods:
        close = subject.similar(method, methods, 0.6, space)
        fix = (
            f"did you mean {space}.{close}?"
            if close is not None
            else f"{space} has {', '.join(list(methods)[:_SHOWN])}"
        )
        subject.add("UNKNOWN_TOOL_NAME", node, f"{space}.{method}", fix)


# machinery


def _machinery(subject: Subject, node: Node) -> None:
    name = subject.dotted(node)
    if name in vocabulary.META:
        if name != "Object.create" or subject.level == "STRICT" or not _makes_plain(node):
            subject.add("NO_META_PROGRAMMING", node, name, _meta_fix(name))
    elif name in vocabulary.CODE:  # through the global object
        subject.add("NO_EVAL", node, name)


def _meta_fix(name: str) -> str | None:
    if name.startswith("Object.getOwnPropertyDescriptor"):
        return "read the members: Object.entries(object)"
    return "use typeof, Array.isArray or instanceof" if name == "Object.getPrototypeOf" else None


def _makes_plain(node: Node) -> bool:
    """`Object.create(null)`: data without a prototype."""
    call = outer(node).parent
    if call is None or call.kind != "call_expression":
        return False
    given = arguments(call)
    return len(given) == 1 and inner(given[0]).kind == "null"


def _json(subject: Subject, node: Node, name: str) -> None:
    given = arguments(node)
    if len(given) > 1 and subject.facts.value(given[1]).kind not in _DATA:
        what = "replacer" if name == "JSON.stringify" else "reviver"
        fix = "convert the values first, or pass an array of keys" if what == "replacer" else "convert what you parsed"
        subject.add("JSON_CALLBACK_NOT_ALLOWED", given[1], f"a {what}", fix)
