"""Rules about single names and members: what nobody declares, what stands for the host, what leads behind objects.

Every place of the syntax where a name can stand is looked at (names, members, keys in brackets, patterns, literals),
since each one forgotten is a way around the rule. Pure, standard library only.
"""

from __future__ import annotations

from typing import Final

from ringfence.enclave.agentscript import folding, vocabulary
from ringfence.enclave.agentscript.facts import function_around, has_own_this, key_text
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.tree import FUNCTIONS, Node, inner, outer

_SETS: Final = frozenset({"assignment_expression", "augmented_assignment_expression"})


KINDS: Final = frozenset(
    """identifier shorthand_property_identifier shorthand_property_identifier_pattern member_expression
    subscript_expression pair_pattern pair method_definition field_definition object_pattern""".split()
)


def look(subject: Subject, node: Node) -> None:
    """Report what is wrong with the names of one node."""
    match node.kind:
        case "identifier" | "shorthand_property_identifier" | "shorthand_property_identifier_pattern":
            if node.binding is None:
                _free(subject, node)
            else:
                _bound(subject, node)
            if node.kind == "shorthand_property_identifier_pattern":
                _destructured(subject, node, [node.text])
        case "member_expression":
            if (name := node.parts.get("property")) is not None:
                _member(subject, node, name, [name.text])
            _this(subject, node)
        case "subscript_expression":
            if (index := node.parts.get("index")) is not None:
                _member(subject, node, index, folding.texts(index)[0])
            _this(subject, node)
        case "pair_pattern":
            _pattern_key(subject, node)
        case "pair" | "method_definition" | "field_definition":
            _literal_key(subject, node)
        case "object_pattern":
            _global_taken_apart(subject, node)
        case _:
            pass


# names


def _free(subject: Subject, node: Node) -> None:
    """A name that the script does not declare."""
    name = node.text
    if name in subject.given:
        if name in subject.protected and _is_set(node):
            _rebound(subject, node, name)
    elif name in vocabulary.CODE:
        subject.add("NO_EVAL", node, name, vocabulary.FIXES.get(name))
    elif name in vocabulary.GLOBAL_OBJECT:
        if not _is_destructured(node):
            subject.add("NO_GLOBAL_ACCESS", node, name, vocabulary.FIXES.get(name))
    elif name == "Reflect":
        subject.add("NO_REFLECT_API", node, name)
    elif name in subject.disallowed:
        subject.add("DISALLOWED_IDENTIFIER", node, name, _instead(name))
    elif name == "arguments" and _has_arguments(node):
        return
    elif name not in subject.ambient:
        if not _is_typeof(node):
            subject.add("UNKNOWN_GLOBAL", node, name, _suggestion(subject, node, name))
    elif name in subject.protected and _is_set(node):
        _rebound(subject, node, name)


def _instead(name: str) -> str | None:
    return vocabulary.STRICT_FIXES.get(name) or vocabulary.FIXES.get(name)


def _is_set(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (
        (parent.kind in _SETS and parent.parts.get("left") is node) or parent.kind == "update_expression"
    )


def _is_typeof(node: Node) -> bool:
    parent = outer(node).parent
    return parent is not None and parent.kind == "unary_expression" and parent.operator == "typeof"


def _has_arguments(node: Node) -> bool:
    """Whether a function that has `arguments` is around."""
    return any(one.kind in FUNCTIONS and one.kind != "arrow_function" for one in node.above())


def _suggestion(subject: Subject, node: Node, name: str) -> str | None:
    for space, tools in subject.known.namespaces.items():
        if name in tools:
            return f"write await {space}.{name}(...)"
    fix = vocabulary.FIXES.get(name) or (vocabulary.STRICT_FIXES.get(name) if subject.level == "STRICT" else None)
    if fix is not None:
        return fix
    if _is_set(node):
        return f"declare it: let {name} = …"
    if name in subject.facts.declared:
        return "declare it outside the block or function in which it is declared now"
    close = subject.similar(name, subject.facts.declared | subject.ambient, 0.75)
    return f"did you mean {close}?" if close is not None else None


def _bound(subject: Subject, node: Node) -> None:
    """A name that the script declares; looked at where it does."""
    name = node.text
    declared = node.binding is not None and node.binding.node is node
    if (declared or _is_set(node)) and name.startswith(vocabulary.RESERVED_PREFIXES):
        subject.add("RESERVED_PREFIX", node, name)
    if declared and name in subject.protected:
        _rebound(subject, node, name)


def _rebound(subject: Subject, node: Node, name: str) -> None:
    binding = node.binding
    at_top = binding.scope is subject.facts.top if binding is not None else function_around(node) is None
    subject.add("REBOUND_NAME" if at_top else "SHADOWED_NAME", node, name)


# members


def _member(subject: Subject, node: Node, at: Node, names: list[str]) -> None:
    """A member, with a dot or in brackets; `names` are those that it may be."""
    for name in names:
        if name == "constructor":
            subject.add("NO_CONSTRUCTOR_ACCESS", at, _shown(at, name))
        elif name in vocabulary.LEGACY:
            subject.add("NO_META_PROGRAMMING", at, _shown(at, name))
        elif name in vocabulary.MEMBERS:
            subject.add("DISALLOWED_IDENTIFIER", at, _shown(at, name), _member_fix(name))
        elif subject.level == "STRICT" and name in subject.disallowed and not _is_tool(subject, node, name):
            fix = f"take it out with a pattern: const {{ {name}: value }} = object"
            subject.add("DISALLOWED_IDENTIFIER", at, _shown(at, name), fix)
    if (parent := node.parent) is not None and parent.kind in _SETS and parent.parts.get("left") is node:
        for name in names:
            if name.startswith(vocabulary.RESERVED_PREFIXES):
                subject.add("RESERVED_PREFIX", at, name)


def _is_tool(subject: Subject, node: Node, name: str) -> bool:
    space = subject.namespace(node.parts.get("object"))
    return space is not None and name in subject.known.namespaces[space]


def _shown(at: Node, name: str) -> str:
    return f".{name}" if at.kind in ("property_identifier", "private_property_identifier") else f"[{name!r}]"


def _member_fix(name: str) -> str | None:
    if name == "prototype":
        return "call the method itself: items.slice(1), or write a function of your own"
    return "use a plain object without it"


def _this(subject: Subject, node: Node) -> None:
    target = node.parts.get("object")
    if target is None or inner(target).kind != "this":
        return
    if subject.level == "STRICT" or not has_own_this(node):
        subject.add("NO_GLOBAL_ACCESS", target, "this", "use variables")


def _literal_key(subject: Subject, node: Node) -> None:
    """A key in an object literal or a class."""
    key = node.parts.get("key") or node.parts.get("name") or node.parts.get("property")
    name = key_text(key) if key is not None else None
    if key is not None and name is not None and name in vocabulary.MEMBERS:
        subject.add("DISALLOWED_IDENTIFIER", key, f"the key {name}", _member_fix("__proto__"))


# patterns


def _destructured(subject: Subject, at: Node, names: list[str]) -> None:
    for name in names:
        if name in vocabulary.BEHIND:
            subject.add("NO_DANGEROUS_DESTRUCTURING", at, name)


def _pattern_key(subject: Subject, node: Node) -> None:
    key = node.parts.get("key")
    if key is None:
        return
    if key.kind != "computed_property_name":
        _destructured(subject, key, [folding.literal(key) if key.kind == "string" else key.text])
        return
    _destructured(subject, key, folding.texts(key.children[0])[0] if key.children else [])
    subject.add("NO_COMPUTED_DESTRUCTURING", key, key.text)


def _global_taken_apart(subject: Subject, node: Node) -> None:
    parent = node.parent
    if parent is None or parent.kind not in ("variable_declarator", "assignment_expression"):
        return
    value = parent.parts.get("value") or parent.parts.get("right")
    if value is None:
        return
    value = inner(value)
    is_this = value.kind == "this" and (subject.level == "STRICT" or not has_own_this(node))
    if is_this or (value.binding is None and value.kind == "identifier" and value.text in vocabulary.GLOBAL_OBJECT):
        subject.add("NO_GLOBAL_DESTRUCTURE", value, value.text)


def _is_destructured(node: Node) -> bool:
    parent = outer(node).parent
    if parent is None or parent.kind not in ("variable_declarator", "assignment_expression"):
        return False
    pattern = parent.parts.get("name") or parent.parts.get("left")
    return pattern is not None and pattern.kind == "object_pattern"
