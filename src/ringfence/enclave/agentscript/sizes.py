"""Rules about constants that ask for more than any limit allows. Nothing is computed that could itself be large.

The bounds of STRICT and SECURE are AgentScript's; at the others they are those of memory and time. Pure, standard
library only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from ringfence.enclave.agentscript import vocabulary
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.tree import Node, arguments, number

_STEPS: Final = 12
_LARGEST: Final = 2.0**1000
_POWERS: Final = frozenset({"**", "<<"})
_TEXTS: Final = frozenset({"repeat", "padStart", "padEnd"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    """What one expression may ask for."""

    exponent: int
    """Of a BigInt, and bits that it may be shifted."""
    items: int
    """Of an array."""
    filled: int
    characters: int


_TIGHT: Final = _Bounds(exponent=10_000, items=1_000_000, filled=100_000, characters=100_000)
_WIDE: Final = _Bounds(exponent=20_000_000, items=50_000_000, filled=50_000_000, characters=50_000_000)


KINDS: Final = frozenset("binary_expression augmented_assignment_expression new_expression call_expression".split())


def look(subject: Subject, node: Node) -> None:
    """Report a node whose constants ask for too much."""
    bounds = _TIGHT if subject.level in ("STRICT", "SECURE") else _WIDE
    if node.kind in ("binary_expression", "augmented_assignment_expression"):
        exceeds = _power(subject, node, bounds)
    elif node.kind == "new_expression":
        exceeds = _array(subject, node, node.parts.get("constructor"), bounds)
    else:
        exceeds = _array(subject, node, node.parts.get("function"), bounds) or _method(subject, node, bounds)
    if exceeds:
        subject.add("RESOURCE_EXHAUSTION", node, node.text)


def _power(subject: Subject, node: Node, bounds: _Bounds) -> bool:
    """A BigInt to a large power; other numbers become Infinity."""
    right = node.parts.get("right")
    if right is None or node.operator.removesuffix("=") not in _POWERS or not _is_big(subject, right):
        return False
    base = size(subject, node.parts.get("left"))
    exponent = size(subject, right)
    if exponent is None or exponent <= bounds.exponent:
        return False
    return base not in ((0,) if "<<" in node.operator else (0, 1, -1))


def _is_big(subject: Subject, node: Node) -> bool:
    """Whether a BigInt is in it."""
    value = subject.facts.value(node)
    return any(one.kind == "number" and one.text.endswith("n") for one in value.below())


def _array(subject: Subject, node: Node, maker: Node | None, bounds: _Bounds) -> bool:
    name = subject.dotted(maker)
    given = arguments(node)
    if name in vocabulary.SIZED and len(given) == 1:
        asked = size(subject, given[0])
    elif name == "Array.from" and given and (shape := subject.facts.value(given[0])).kind == "object":
        asked = size(subject, _member(shape, "length"))
    else:
        return False
    return asked is not None and asked > bounds.items


def _member(shape: Node, name: str) -> Node | None:
    for pair in shape.children:
        if pair.kind == "pair" and pair.parts.get("key") is not None and pair.parts["key"].text == name:
            return pair.parts.get("value")
    return None


def _method(subject: Subject, node: Node, bounds: _Bounds) -> bool:
    function = node.parts.get("function")
    if function is None or function.kind != "member_expression" or "property" not in function.parts:
        return False
    name, target, given = function.parts["property"].text, function.parts.get("object"), arguments(node)
    if target is None or subject.namespace(target) is not None:
        return False
    if name in _TEXTS and given:
        asked, most = size(subject, given[0]), bounds.characters
    elif name == "fill":
        asked, most = _length(subject, target), bounds.filled
    elif name == "join":
        length = _length(subject, target)
        asked, most = length, bounds.characters
    else:
        return False
    return asked is not None and asked > most


def _length(subject: Subject, node: Node) -> float | None:
    """Items of `Array(n)`, also filled already."""
    value = subject.facts.value(node)
    for _ in range(_STEPS):
        function = value.parts.get("function")
        if value.kind != "call_expression" or function is None or function.kind != "member_expression":
            break
        inside = function.parts.get("object")
        if inside is None or function.parts.get("property") is None or function.parts["property"].text != "fill":
            break
        value = subject.facts.value(inside)
    maker = value.parts.get("constructor") or value.parts.get("function")
    given = arguments(value)
    return size(subject, given[0]) if subject.dotted(maker) == "Array" and len(given) == 1 else None


def size(subject: Subject, node: Node | None, steps: int = _STEPS) -> float | None:
    """The number that constants make, as far as it can be told without making it; infinite where it is too large."""
    if node is None or steps <= 0:
        return None
    node = subject.facts.value(node)
    if node.kind == "number":
        read = number(node)
        return None if read is None else _float(read)
    if node.kind == "unary_expression" and node.operator == "-":
        value = size(subject, node.parts.get("argument"), steps - 1)
        return None if value is None else -value
    if node.kind != "binary_expression":
        return None
    one = size(subject, node.parts.get("left"), steps - 1)
    other = size(subject, node.parts.get("right"), steps - 1)
    return None if one is None or other is None else _combined(one, node.operator, other)


def _float(value: float) -> float:
    return float(value) if abs(value) < _LARGEST else math.copysign(math.inf, value)


def _combined(one: float, operator: str, other: float) -> float | None:
    try:
        match operator:
            case "+":
                return one + other
            case "-":
                return one - other
            case "*":
                return one * other
            case "/":
                return one / other
            case "**":
                power = one**other
                return power if isinstance(power, float) else None
            case "<<":
                return one * 2.0 ** min(other, 1100.0)
            case _:
                return None
    except OverflowError:
        return math.inf
    except ArithmeticError:
        return None
