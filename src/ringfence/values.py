"""The values that cross the boundary, and the cost of looking at them.

A value is null, a bool, a finite number, text, a list, or an object with text keys. `canonical` is the one way from
a Python object to bytes (sorted keys, no spaces), `parse` the one way back; both are bounded by a `ValueBudget`
*before* other code touches the value, and neither calls a method of the value. Pure.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any, Final

import msgspec

from ringfence.limits import KIB, ValueBudget

JSON = Any
"""None, bool, int, float, str, list of these, dict from str to these."""

_encoder: Final = msgspec.json.Encoder(order="sorted")

# possessive and unrolled: no mark is kept for a way back, which cost 100 bytes for every character of a long text
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
MOST_QUOTES: Final = 400_000
"""Quotation marks in a text that looks too rich in values; telling structure from text costs half a second beyond."""
MOST_DIGITS: Final = 100_000
"""Digits of one value's very long whole numbers together; they take 5 ms."""
_LONG: Final = b"0" * 400
"""Digits that take no longer than as many of short numbers."""
_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_NO_LIMIT: Final = 2**63
_SHORT: Final = 64 * KIB
"""Bytes of text that are not looked at: as memory they are some megabytes at most."""
_VALUE: Final = 92
"""Bytes of memory for each value, at the worst."""
_UNSTRUCTURED: Final = bytes(set(range(256)) - set(b'[]{}:"\\'))
_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_INNERMOST: Final = re.compile(rb"\{:*\}|\[\]")
_FORMS: Final = 40
"""Forms of containers that are taken away one after another before parsing is quicker."""
_CONTAINERS: Final = frozenset({dict, list})
_SCALARS: Final = frozenset({type(None), bool, int, str})


class ValueRefused(Exception):
    """A value may not cross. `path` is where (`items[3].price`, `""` for the whole value)."""

    def __init__(self, path: str, reason: str, *, too_large: bool = False) -> None:
        super().__init__(f"{path or 'value'}: {reason}")
        self.path = path
        self.reason = reason
        self.too_large = too_large


def canonical(value: object, budget: ValueBudget) -> bytes:
    """Sorted, compact UTF-8 JSON of a value of exact builtin types.

    Raises:
        ValueRefused: another type, a cycle, a number that is not finite, text that is not Unicode, or over budget.
    """
    if type(value) not in _CONTAINERS or _nodes_left(value, budget.depth, budget.nodes - 1) < 0:
        _refuse_first(value, budget)
    try:
        data = _encoder.encode(value)
    except UnicodeEncodeError:
        raise ValueRefused("", "text with a lone surrogate, which is not Unicode") from None
    except ValueError:  # more digits than Python writes
        raise ValueRefused("", "holds a whole number of too many digits", too_large=True) from None
    if len(data) > budget.size:
        raise _too_long(data, budget)
    return data


def check_exact(value: object, budget: ValueBudget) -> None:
    """Exact builtin types only, within depth and nodes (a cycle exceeds the depth).

    Raises:
        ValueRefused: with the path of the first offender.
    """
    if type(value) not in _CONTAINERS or _nodes_left(value, budget.depth, budget.nodes - 1) < 0:
        _refuse_first(value, budget)


def _refuse_first(value: object, budget: ValueBudget) -> None:
    """Refuse the first value that may not cross, by its path; return where there is none after all. Takes five times
    as long as looking without paths.
    """
    nodes = 0
    stack: list[tuple[object, str, int]] = [(value, "", 0)]
    while stack:
        item, path, depth = stack.pop()
        nodes += 1
        if nodes > budget.nodes:
            raise ValueRefused("", f"more than {budget.nodes} values", too_large=True)
        kind = type(item)
        if kind in _SCALARS:
            continue
        if kind is float:
            if not math.isfinite(item):  # type: ignore[arg-type]
                raise ValueRefused(path, "not a finite number")
            continue
        if kind is not list and kind is not dict:
            raise ValueRefused(path, f"a {kind.__name__} is not a JSON value")
        if depth >= budget.depth:
            raise ValueRefused(path, f"nested deeper than {budget.depth} levels, or cyclic", too_large=True)
        if nodes + len(stack) + len(item) > budget.nodes:  # type: ignore[arg-type]  (before a path is made for each)
            raise ValueRefused("", f"more than {budget.nodes} values", too_large=True)
        if kind is list:
            stack.extend((child, f"{path}[{at}]", depth + 1) for at, child in enumerate(item))  # type: ignore[arg-type,var-annotated]
            continue
        for key, child in item.items():  # type: ignore[union-attr]
            if type(key) is not str:  # type: ignore[reportUnknownArgumentType]
                raise ValueRefused(path, f"an object key is a {type(key).__name__}, not text")  # type: ignore[reportUnknownArgumentType]
            stack.append((child, f"{path}.{key}" if path else key, depth + 1))  # type: ignore[reportUnknownArgumentType]


def _nodes_left(item: Any, depth: int, nodes: int) -> int:
    """How many of so many nodes the values in a container leave, each of them exact; negative where one may not be.

    Recursive, as deep as the budget: beside a call of 20 us, a walk by levels took 4.1 us where this takes 2.8.
    """
    nodes -= len(item)
    if nodes < 0 or depth == 0:
        return -1
    children: Any = item
    if type(item) is dict:
        for key in item:  # type: ignore[reportUnknownVariableType]
            if type(key) is not str:  # type: ignore[reportUnknownArgumentType]
                return -1
        children = item.values()  # type: ignore[reportUnknownMemberType,reportUnknownVariableType]
    for child in children:
        kind = type(child)  # type: ignore[reportUnknownVariableType]
        if kind in _SCALARS:  # first, as most are
            continue
        if kind in _CONTAINERS:
            nodes = _nodes_left(child, depth - 1, nodes)
            if nodes < 0:
                return -1
        elif kind is not float or not math.isfinite(child):
            return -1
    return nodes


def parse(data: bytes | msgspec.Raw, budget: ValueBudget) -> JSON:
    """Python value of JSON text that a hostile peer may have written. Size and node count are bounded before parsing.

    Raises:
        ValueRefused: not JSON, or over budget.
    """
    raw = bytes(data)
    check_text(raw, budget)
    try:
        value: JSON = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ValueRefused("", f"not valid JSON ({type(error).__name__})") from None
    if len(raw) < _SHORT or not _is_shapely(raw, budget):
        _check_shape(value, budget)
    return value


def check_text(raw: bytes, budget: ValueBudget) -> None:
    """Bound what parsing `raw` could cost, without parsing it.

    Raises:
        ValueRefused: too many bytes, or too many values.
    """
    if len(raw) > budget.size:
        raise _too_long(raw, budget)
    if len(raw) > MOST_DIGITS:
        _check_digits(raw)
    if len(raw) <= budget.nodes or _structure(raw) <= budget.nodes:
        return  # every value costs at least one byte of structure
    if raw.count(b'"') > MOST_QUOTES:
        raise ValueRefused(
            "", f"more than {budget.nodes} commas and brackets in {MOST_QUOTES // 2} texts", too_large=True
        )
    if _structure(_STRING.sub(b"", raw)) > budget.nodes:
        raise ValueRefused("", f"more than {budget.nodes} values", too_large=True)


def _check_digits(raw: bytes) -> None:
    """Reading and writing a whole number takes time by the square of its digits."""
    if raw.translate(_AS_ZEROS).count(_LONG) <= MOST_DIGITS // len(_LONG):
        return
    if _STRING.sub(b"", raw).translate(_AS_ZEROS).count(_LONG) > MOST_DIGITS // len(_LONG):
        raise ValueRefused("", f"more than {MOST_DIGITS} digits in long whole numbers", too_large=True)


def footprint(data: bytes) -> int:
    """Bytes that the Python value of JSON text may take, its text included.

    An object of one member is 7 bytes of text and 184 of memory, two values (CPython 3.11).
    """
    return len(data) + _VALUE * _structure(data)


def _structure(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{") + 1


def check_shape(raw: bytes, budget: ValueBudget) -> None:
    """Bound JSON text of our own making by depth and by the members of each object, as `parse` does, mostly without
    parsing: a list of 10,000 rows takes a fifth of the time so.

    Raises:
        ValueRefused: nested too deeply, or too many members in one object.
    """
    if not _is_shapely(raw, budget):
        _check_shape(msgspec.json.decode(raw), budget)


def _is_shapely(raw: bytes, budget: ValueBudget) -> bool:
    """Whether valid JSON text is within depth and members as far as its brackets show; False where they do not."""
    most = _NO_LIMIT if budget.members is None else budget.members
    if raw.count(b"[") + raw.count(b"{") <= budget.depth and raw.count(b":") <= most:
        return True
    structure = raw.translate(None, _UNSTRUCTURED).replace(b'""', b"")
    if b'"' in structure:  # a quote is left where a text holds structure
        return False
    return _is_shallow(structure, budget.depth) and _is_narrow(structure, most)


def _is_shallow(structure: bytes, depth: int) -> bool:
    """Takes the innermost containers away as often as that is allowed."""
    brackets = structure.translate(_BRACKETS, b":")
    for _ in range(depth):
        brackets = brackets.replace(b"[]", b"")
        if not brackets:
            return True
    return not brackets


def _is_narrow(structure: bytes, members: int) -> bool:
    """Takes away innermost containers, all of one form at once; False also where there are many forms."""
    for _ in range(_FORMS):
        if (found := _INNERMOST.search(structure)) is None:
            return True
        if len(found[0]) - 2 > members:
            return False
        structure = structure.replace(found[0], b"")
    return False


def _check_shape(value: JSON, budget: ValueBudget) -> None:
    most = _NO_LIMIT if budget.members is None else budget.members
    if type(value) is dict and len(value) <= most and not any(type(child) in _CONTAINERS for child in value.values()):  # type: ignore[reportUnknownArgumentType]
        return  # flat, as most arguments are
    level: list[Any] = [value]  # type: ignore[reportUnknownArgumentType]
    if type(value) not in _CONTAINERS:  # type: ignore[reportUnknownArgumentType]
        return
    for _ in range(budget.depth):
        inner: list[Any] = []
        for item in level:  # no generators in here: a hostile value has half a million objects
            children: Any = item
            if type(item) is dict:
                if len(item) > most:  # type: ignore[reportUnknownArgumentType]
                    raise ValueRefused("", f"an object of more than {most} members", too_large=True)
                children = item.values()  # type: ignore[reportUnknownMemberType,reportUnknownVariableType]
            for child in children:
                if type(child) in _CONTAINERS:
                    inner.append(child)  # noqa: PERF401
        if not inner:
            return
        level = inner
    raise ValueRefused("", f"nested deeper than {budget.depth} levels", too_large=True)


def digest(data: bytes) -> str:
    """Name of canonical bytes: `sha256:` and 64 hexadecimal digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def recode(value: JSON, budget: ValueBudget) -> bytes:
    """Canonical bytes of a value that `parse` made, which need no second look.

    Raises:
        ValueRefused: over the budget's bytes.
    """
    data = _encoder.encode(value)
    if len(data) > budget.size:
        raise _too_long(data, budget)
    return data


def _too_long(data: bytes, budget: ValueBudget) -> ValueRefused:
    return ValueRefused("", f"{len(data)} bytes of JSON, more than {budget.size}", too_large=True)
