"""Rules about constants that ask for more than any limit allows. Nothing is computed that could itself be large.

Numbers are followed as exact integers while they are small and as logarithms beyond. Pure, standard library only.
"""

from __future__ import annotations

import ast
import math
import re
import string
from typing import Final, NamedTuple

from ringfence.enclave.check.facts import COMPREHENSIONS, Visit
from ringfence.enclave.check.subject import Subject

MOST_BITS: Final = 20_000_000
"""Of an integer: about six million digits, seconds of work."""
MOST_ITEMS: Final = 50_000_000
"""Characters of a text, bytes, or elements: as many bytes and more."""
MOST_TURNS: Final = 1_000_000_000
MOST_FACTORIAL: Final = 500_000
_EXACT_BITS: Final = 256
_STEPS: Final = 12
_PERCENT_WIDTH: Final = re.compile(r"%[-+ #0]*(?:\d+\.)?(\d{8,})")
_SPEC_WIDTH: Final = re.compile(r"\d{8,}")
_BYTES: Final = frozenset("bytes bytearray secrets.token_bytes secrets.token_hex os.urandom random.randbytes".split())
_PADDED: Final = frozenset("ljust rjust center zfill expandtabs".split())


class _Number(NamedTuple):
    """An integer as far as it is known: itself while it is small, else the logarithm of its size."""

    exact: int | None
    bits: float

    def __bool__(self) -> bool:
        return True


def look(subject: Subject, visit: Visit) -> None:
    """Report a node whose constants ask for too much."""
    node = visit.node
    match node:
        case ast.BinOp(op=ast.Pow() | ast.LShift()):
            number = _number(subject, node)
            if number is not None and number.bits > MOST_BITS:
                _report(subject, node, node)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            for many, count in ((left, right), (right, left)):
                length = _length(subject, many)
                if length and _exceeds(subject, count, MOST_ITEMS // length):
                    _report(subject, node, node)
        case ast.BinOp(op=ast.Mod(), left=left):
            _percent(subject, node, left)
        case ast.For(iter=source) | ast.comprehension(iter=source):
            if _range_exceeds(subject, source, MOST_TURNS):
                _report(subject, source, source)
        case ast.FormattedValue(format_spec=ast.JoinedStr() as spec):
            if _too_wide(subject.text(spec)):
                _report(subject, node, spec)
        case ast.Call():
            _call(subject, node)
        case _:
            pass


def _report(subject: Subject, at: ast.expr, what: ast.expr) -> None:
    subject.findings.add("RESOURCE_EXHAUSTION", at, ast.unparse(what))


def _call(subject: Subject, node: ast.Call) -> None:
    name = subject.dotted(node.func)
    first = node.args[0] if node.args else None
    if first is None:
        return
    if (isinstance(node.func, ast.Attribute) and node.func.attr in _PADDED) or name in _BYTES:
        too_much = _exceeds(subject, first, MOST_ITEMS)
    elif name in ("list", "tuple", "set", "sorted", "frozenset", "collections.deque"):
        too_much = _range_exceeds(subject, first, MOST_ITEMS)
    elif name in ("sum", "max", "min", "any", "all"):
        too_much = _range_exceeds(subject, first, MOST_TURNS)
    elif name == "math.factorial":
        too_much = _exceeds(subject, first, MOST_FACTORIAL)
    elif name == "pow" and len(node.args) == 2:
        power = ast.BinOp(left=node.args[0], op=ast.Pow(), right=node.args[1])
        too_much = (number := _number(subject, power)) is not None and number.bits > MOST_BITS
    elif name == "random.choices":
        count = next((one.value for one in node.keywords if one.arg == "k"), None)
        too_much = count is not None and _exceeds(subject, count, MOST_ITEMS)
    elif name == "format" and len(node.args) > 1:
        too_much = _too_wide(subject.text(node.args[1]))
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        too_much = _wide_field(subject.text(node.func.value))
    else:
        return
    if too_much:
        _report(subject, node, node)


def _percent(subject: Subject, node: ast.BinOp, left: ast.expr) -> None:
    text = subject.text(left)
    if text is not None and any(int(width) > MOST_ITEMS for width in _PERCENT_WIDTH.findall(text)):
        _report(subject, node, node)


def _too_wide(spec: str | None) -> bool:
    return spec is not None and any(int(width[:18]) > MOST_ITEMS for width in _SPEC_WIDTH.findall(spec))


def _wide_field(text: str | None) -> bool:
    if text is None:
        return False
    try:
        return any(_too_wide(spec) for _, _, spec, _ in string.Formatter().parse(text))
    except ValueError:  # no format at all
        return False


def _length(subject: Subject, node: ast.expr) -> int:
    """Elements of a text, bytes, list or tuple that is written out; 0 for anything else."""
    node = subject.facts.value(node)
    match node:
        case ast.Constant(value=str(text)):
            return len(text)
        case ast.Constant(value=bytes(data)):
            return len(data)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return len(items)
        case _:
            return 0


def _range_exceeds(subject: Subject, node: ast.expr, most: int) -> bool:
    node = subject.facts.value(node)
    if isinstance(node, COMPREHENSIONS):
        return _range_exceeds(subject, node.generators[0].iter, most)
    if not (isinstance(node, ast.Call) and subject.dotted(node.func) == "range" and node.args):
        return False
    numbers = [_number(subject, argument) for argument in node.args]
    match numbers:
        case [_Number() as stop]:
            return stop.exact is None or stop.exact > most
        case [_Number(exact=int(start)), _Number(exact=int(stop))]:
            return stop - start > most
        case [_Number(exact=int(start)), _Number(exact=int(stop)), _Number(exact=int(step))]:
            return step != 0 and (stop - start) // step > most
        case _:
            return False


def _exceeds(subject: Subject, node: ast.expr, most: int) -> bool:
    number = _number(subject, node)
    return number is not None and (number.exact is None or number.exact > most)


def _number(subject: Subject, node: ast.expr, steps: int = _STEPS) -> _Number | None:
    """The integer that constants make, as far as it can be told without making it."""
    if steps <= 0:
        return None
    node = subject.facts.value(node)
    match node:
        case ast.Constant(value=int(value)):
            return _known(value)
        case ast.Constant(value=float(value)) if value.is_integer():
            return _known(int(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _number(subject, operand, steps - 1)
            return _known(-number.exact) if number is not None and number.exact is not None else None
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _number(subject, left, steps - 1), _number(subject, right, steps - 1)
            return None if one is None or other is None else _combined(one, op, other)
        case _:
            return None


def _known(value: int) -> _Number:
    bits = value.bit_length()
    return _Number(value if bits <= _EXACT_BITS else None, float(bits))


def _combined(one: _Number, op: ast.operator, other: _Number) -> _Number | None:
    match op:
        case ast.Add() | ast.Sub() | ast.Mult() if one.exact is not None and other.exact is not None:
            if isinstance(op, ast.Mult):
                return _known(one.exact * other.exact)
            return _known(one.exact + other.exact if isinstance(op, ast.Add) else one.exact - other.exact)
        case ast.FloorDiv() if one.exact is not None and other.exact:
            return _known(one.exact // other.exact)
        case ast.Mult():
            return _Number(None, one.bits + other.bits)
        case ast.Pow():
            return _power(one, other)
        case ast.LShift() if one.exact != 0:
            if one.exact is not None and other.exact is not None and 0 <= other.exact <= _EXACT_BITS:
                return _known(one.exact << other.exact)
            return _Number(None, one.bits + (math.inf if other.exact is None else other.exact))
        case _:
            return None


def _power(base: _Number, exponent: _Number) -> _Number | None:
    if base.exact in (0, 1, -1) or (exponent.exact is not None and exponent.exact < 0):
        return None
    size = math.log2(abs(base.exact)) if base.exact is not None else base.bits
    if exponent.exact is None:
        return _Number(None, math.inf)
    bits = size * exponent.exact
    if bits <= _EXACT_BITS and base.exact is not None:
        return _known(base.exact**exponent.exact)
    return _Number(None, bits)
