"""Rules about statements: what can never work, what STRICT leaves out, loops without end, what nothing reaches.

Pure, standard library only.
"""

from __future__ import annotations

from typing import Final

from ringfence.enclave.agentscript import folding, vocabulary
from ringfence.enclave.agentscript.methods import UNDEFINED
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.tree import FUNCTIONS, LOOPS, Node, inner

_ENDS: Final = {
    "return_statement": "return",
    "throw_statement": "throw",
    "break_statement": "break",
    "continue_statement": "continue",
}
_HOISTED: Final = frozenset({"function_declaration", "generator_function_declaration", "empty_statement"})
_BLOCKS: Final = frozenset({"program", "statement_block", "switch_case", "switch_default"})
_LEAVES: Final = frozenset({"return_statement", "throw_statement", "await_expression", "yield_expression"})
_CATCHES: Final = frozenset({"call_expression", "member_expression", "subscript_expression"})
_LONGEST: Final = 30


KINDS: Final = (
    _BLOCKS
    | LOOPS
    | frozenset(vocabulary.FUNCTION_CODES)
    | frozenset("method_definition import_statement export_statement import meta_property with_statement".split())
)


def look_at_unknown(subject: Subject, node: Node) -> None:
    """Report a construct that no rule knows."""
    subject.add("UNSUPPORTED_SYNTAX", node, node.kind.replace("_", " "))


def look(subject: Subject, node: Node) -> None:
    """Report what is wrong with one construct."""
    _always(subject, node)
    if node.kind in _BLOCKS:
        _unreachable(subject, node)
    if node.kind in LOOPS:
        _loop(subject, node)
    elif node.kind in vocabulary.FUNCTION_CODES:
        _function(subject, node, vocabulary.FUNCTION_CODES[node.kind])
    elif node.kind == "method_definition":
        in_class = node.parent is not None and node.parent.kind == "class_body"
        _function(subject, node, "NO_USER_METHOD_DEFINITION" if in_class else "NO_USER_METHOD_SHORTHAND")


def _always(subject: Subject, node: Node) -> None:
    if node.kind in ("import_statement", "export_statement"):
        fix = None
        if node.kind == "export_statement":
            fix = "remove export; the value of return is the script's result"
        subject.add("FORBIDDEN_IMPORT", node, node.kind.partition("_")[0], fix)
    elif node.kind == "import":  # of import()
        subject.add("FORBIDDEN_IMPORT", node, "import()")
    elif node.kind == "meta_property" and node.text.startswith("import"):
        subject.add("FORBIDDEN_IMPORT", node, "import.meta", "pass what the script needs as inputs")
    elif node.kind == "with_statement":
        subject.add("NO_WITH", node, "with")


def _function(subject: Subject, node: Node, code: str) -> None:
    name = node.parts.get("name")
    shown = name.text if name is not None else "function"
    subject.add(code, node, shown)


def _unreachable(subject: Subject, node: Node) -> None:
    end = ""
    for statement in node.children:
        if end and statement.kind not in _HOISTED:
            subject.add("UNREACHABLE_CODE", statement, end)
            return
        end = end or _ENDS.get(statement.kind, "")


# loops


def _loop(subject: Subject, node: Node) -> None:
    if node.kind == "while_statement":
        subject.add("FORBIDDEN_LOOP", node, "while")
    elif node.kind == "do_statement":
        subject.add("FORBIDDEN_LOOP", node, "do … while")
    elif node.kind == "for_in_statement":
        if "in" in node.tokens:
            subject.add("FORBIDDEN_LOOP", node, "for … in", "write for (const key of Object.keys(object))")
        return
    condition = node.parts.get("condition")
    if _is_endless(node, condition) and (subject.level == "STRICT" or not _is_left(node)):
        fix = "give the loop a bound: for (let i = 0; i < n; i++)" if subject.level == "STRICT" else None
        subject.add("INFINITE_LOOP", node, _shown(node, condition), fix)


def _shown(node: Node, condition: Node | None) -> str:
    text = condition.text if condition is not None else ""
    if node.kind == "for_statement":
        return f"for (; {text[:_LONGEST]}; )" if text.rstrip(";") else "for (;;)"
    return f"{'do … ' if node.kind == 'do_statement' else ''}while {text[:_LONGEST]}"


def _is_endless(node: Node, condition: Node | None) -> bool:
    if condition is None or condition.kind == "empty_statement":
        return node.kind == "for_statement"
    while condition.kind == "expression_statement" and condition.children:
        condition = condition.children[0]
    return is_true(inner(condition))


def is_true(node: Node) -> bool:
    """Whether a condition is always true."""
    if node.kind in ("object", "array", "arrow_function", "regex", "new_expression"):
        return True
    if node.kind == "unary_expression" and node.operator == "!" and "argument" in node.parts:
        return _is_false(inner(node.parts["argument"]))
    if node.kind == "binary_expression" and node.operator in ("==", "==="):
        sides = [folding.value(node.parts.get(name)) for name in ("left", "right")]
        return sides[0] is not UNDEFINED and not isinstance(sides[0], Node) and sides[0] == sides[1]
    if node.kind == "identifier" and (node.binding is None or node.binding.constant is None):
        return False
    value = folding.value(node)
    return not isinstance(value, Node) and value is not UNDEFINED and bool(value)


def _is_false(node: Node) -> bool:
    if node.kind == "undefined":
        return True
    value = folding.value(node)
    return not isinstance(value, Node) and value is not UNDEFINED and not value and value != ()


def _is_left(loop: Node) -> bool:
    """Whether something in a loop can end it, or waits for somebody else."""
    caught = _is_caught(loop)
    label = (
        loop.parent.parts.get("label") if loop.parent is not None and loop.parent.kind == "labeled_statement" else None
    )
    stack = [(child, False) for child in loop.children]
    while stack:
        node, inside = stack.pop()
        if node.kind in _LEAVES or (node.kind == "for_in_statement" and "await" in node.tokens):
            return True
        if node.kind == "break_statement" and _breaks(node, label, inside):
            return True
        if caught and node.kind in _CATCHES:  # an exception can be what ends it
            return True
        if node.kind in FUNCTIONS:
            continue
        inside = inside or node.kind in LOOPS or node.kind == "switch_statement"
        stack += [(child, inside) for child in node.children]
    return False


def _breaks(node: Node, label: Node | None, inside: bool) -> bool:
    named = node.parts.get("label")
    if named is None:
        return not inside
    return label is None or named.text == label.text or not inside


def _is_caught(loop: Node) -> bool:
    """Whether a `try` of the same function is around."""
    below = loop
    for node in loop.above():
        if node.kind in FUNCTIONS:
            return False
        if node.kind == "try_statement" and node.parts.get("body") is below:
            return True
        below = node
    return False
