"""Rules about functions that reach by text: attribute access, code, formats, json hooks, patterns, tools.

What a call is made of decides; a function of this kind that is handed on as a value (`map(getattr, …)`) is judged as
one whose text is not known. Pure, standard library only: nothing is evaluated, no pattern compiled.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from typing import Final

from ringfence.enclave.check import vocabulary
from ringfence.enclave.check.facts import Visit, is_dunder
from ringfence.enclave.check.subject import Subject

_JSON_HOOKS: Final = frozenset("object_hook object_pairs_hook cls parse_constant".split())
_JSON: Final = frozenset("json.dumps json.dump json.loads json.load".split())
_REGEX: Final = frozenset(
    "re.compile re.match re.search re.fullmatch re.findall re.finditer re.sub re.subn re.split".split()
)
_LITERAL_NAMES: Final = ("STRICT", "SECURE")
"""Levels at which a tool's name has to stand in the call (catalogue, C15); elsewhere a constant may lead to it."""
_NESTED_REPEAT: Final = re.compile(
    r"\((?:\?:)?(?:\\.|\[[^\]]*+\]|[^\\()\[\]|?*+^$])(?:[*+]|\{\d+,\})\)(?:[*+]|\{\d+,\})"
)
"""A group that holds one repeated thing and is repeated itself."""


def look(subject: Subject, visit: Visit) -> None:
    """Report what is wrong with one call, or with one function that is used as a value."""
    node, parent, _ = visit
    match node:
        case ast.Call():
            _call(subject, node)
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            called = isinstance(parent, ast.Call) and parent.func is node
            if not called:
                _value(subject, node)
            if isinstance(node, ast.Attribute) and node.attr in ("format", "format_map"):
                _format(subject, node, parent if called and isinstance(parent, ast.Call) else None)
        case _:
            pass


def _value(subject: Subject, node: ast.Name | ast.Attribute) -> None:
    name = subject.dotted(node)
    if isinstance(node, ast.Name) and name != node.id and name not in vocabulary.GETTERS:
        return  # an alias: where it was made is reported
    if name in vocabulary.ATTRIBUTE_CALLS or name in vocabulary.GETTERS:
        subject.findings.add("DYNAMIC_ATTRIBUTE", node, name)
    elif name == "string.Formatter":
        subject.findings.add("DYNAMIC_FORMAT", node, name)


def _call(subject: Subject, node: ast.Call) -> None:
    name = subject.dotted(node.func)
    if name is None:
        return
    if name in vocabulary.ATTRIBUTE_CALLS:
        _attribute_call(subject, node, name)
    elif name in vocabulary.GETTERS:
        for argument in node.args or [node]:
            _attribute_name(subject, node, name, subject.text(argument))
    elif name == "type" and len(node.args) == 3:
        subject.findings.add("DYNAMIC_CODE", node, "type(name, bases, members)")
    elif name == "call_tool":
        _tool_call(subject, node)
    elif name in _JSON:
        _json(subject, node)
    elif name in _REGEX:
        _regex(subject, node)
    elif name == "string.Formatter":
        subject.findings.add("DYNAMIC_FORMAT", node, name)


def _attribute_call(subject: Subject, node: ast.Call, name: str) -> None:
    if len(node.args) < 2:
        subject.findings.add("DYNAMIC_ATTRIBUTE", node, name)
        return
    target, text = node.args[0], subject.text(node.args[1])
    if subject.namespace(target) is not None and text is None:
        subject.findings.add("DYNAMIC_CALL_TARGET", node, name)
        return
    if name in ("setattr", "delattr") and subject.dotted(target) in subject.facts.modules | vocabulary.CLASSES:
        subject.findings.add("MODULE_CHANGED", node, f"{subject.dotted(target)}.{text}")
    _attribute_name(subject, node, name, text)


def _attribute_name(subject: Subject, node: ast.Call, name: str, text: str | None) -> None:
    """An attribute that is named by text."""
    if text is None:
        subject.findings.add("DYNAMIC_ATTRIBUTE", node, name)
        return
    for part in text.split("."):
        if is_dunder(part):
            if part not in vocabulary.READABLE:
                subject.findings.add("DUNDER", node, part)
        elif part in vocabulary.FRAMES:
            subject.findings.add("FRAME_ATTRIBUTE", node, part)


def _tool_call(subject: Subject, node: ast.Call) -> None:
    named = next((one.value for one in node.keywords if one.arg == "name"), None)
    target = node.args[0] if node.args else named
    if target is None:
        if not any(one.arg is None for one in node.keywords):
            subject.findings.add("MISSING_CALL_TARGET", node, "call_tool()")
            return
    elif _is_literal(target) or (subject.level not in _LITERAL_NAMES and subject.text(target) is not None):
        return
    subject.findings.add("DYNAMIC_CALL_TARGET", node, "call_tool")


def _is_literal(node: ast.expr) -> bool:
    """Text as it stands, also as an f-string without fields."""
    if isinstance(node, ast.JoinedStr):
        return not any(isinstance(part, ast.FormattedValue) for part in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _json(subject: Subject, node: ast.Call) -> None:
    for one in node.keywords:
        if one.arg is None or (isinstance(one.value, ast.Constant) and one.value.value is None):
            continue
        if one.arg in _JSON_HOOKS or (one.arg == "default" and subject.dotted(one.value) not in ("str", "repr")):
            subject.findings.add("JSON_CALLBACK_NOT_ALLOWED", one.value, one.arg)


def _regex(subject: Subject, node: ast.Call) -> None:
    named = next((one.value for one in node.keywords if one.arg == "pattern"), None)
    text = subject.text(node.args[0] if node.args else named)
    if text is not None and _NESTED_REPEAT.search(text):
        subject.findings.add("CATASTROPHIC_REGEX", node, text)


# formats


def _format(subject: Subject, node: ast.Attribute, call: ast.Call | None) -> None:
    """`'…'.format`, called or not; `text.format`; `str.format`."""
    if subject.namespace(node.value) is not None:
        return  # a tool of that name
    text = subject.text(node.value)
    if text is None and subject.dotted(node.value) == "str" and not isinstance(node.value, ast.JoinedStr):
        text = subject.text(call.args[0]) if call is not None and call.args else None
    if text is None:
        subject.findings.add("DYNAMIC_FORMAT", node, f".{node.attr}")
        return
    for name in _fields(text):
        parts = re.split(r"[.\[\]]", name)
        bad = next((part for part in parts if is_dunder(part) and part not in vocabulary.READABLE), None)
        if bad is not None:
            subject.findings.add("DUNDER", node, f"{{{name}}}", "use an f-string with plain attributes")
        elif any(part in vocabulary.FRAMES for part in parts):
            subject.findings.add("FRAME_ATTRIBUTE", node, f"{{{name}}}")
        elif len(parts) > 1:
            subject.findings.add("FORMAT_ATTRIBUTE", node, f"{{{name}}}")


def _fields(text: str, depth: int = 2) -> Iterator[str]:
    """Field names of a format text, those inside format specifications included."""
    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError:  # no format at all; it will raise when it runs
        return
    for _, name, spec, _ in parsed:
        if name is not None:
            yield name
        if spec and depth:
            yield from _fields(spec, depth - 1)
