"""What methods and operators of JavaScript make of constants: texts, numbers, arrays as tuples. For `folding`.

Only what hides a name is here, and only as far as names need it. Each function says None where it does not know.
Pure, standard library only.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final, TypeAlias

LONGEST: Final = 10_000
"""Characters up to which text is put together."""
_LARGEST: Final = 2**53
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")


class _Undefined:
    """JavaScript's `undefined`."""


UNDEFINED: Final = _Undefined()
Value: TypeAlias = "str | int | float | bool | _Undefined | tuple[Value, ...] | None"


def to_text(value: Value) -> str:
    """As JavaScript turns a value into text."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case tuple():
            return ",".join("" if one is None or one is UNDEFINED else to_text(one) for one in value)
        case int() | float():
            return str(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)
        case _:
            return "undefined"


def _add(one: Value, other: Value) -> Value | None:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return _bounded(one + other)
    made = to_text(one) + to_text(other)
    return made if len(made) <= LONGEST else None


def _numeric(calculate: Callable[[float, float], float]) -> Callable[[Value, Value], Value | None]:
    def make(one: Value, other: Value) -> Value | None:
        left, right = _number(one), _number(other)
        if left is None or right is None:
            return None
        try:
            return _bounded(calculate(left, right))
        except (ArithmeticError, ValueError):
            return None

    return make


def _bounded(value: float) -> Value | None:
    if abs(value) > _LARGEST:
        return None
    return int(value) if float(value).is_integer() else value


def _number(value: Value) -> int | float | None:
    if isinstance(value, (int, float)):
        return value if abs(value) <= _LARGEST else None
    if isinstance(value, str) and len(value) < 20:
        try:
            return float(value) if value.strip() else 0
        except ValueError:
            return None
    return None


OPERATORS: Final[dict[str, Callable[[Value, Value], Value | None]]] = {
    "+": _add,
    "-": _numeric(lambda one, other: one - other),
    "*": _numeric(lambda one, other: one * other),
    "/": _numeric(lambda one, other: one / other),
    "%": _numeric(lambda one, other: one % other if one >= 0 and other > 0 else float("nan")),
    "^": _numeric(lambda one, other: int(one) ^ int(other)),
    "|": _numeric(lambda one, other: int(one) | int(other)),
    "&": _numeric(lambda one, other: int(one) & int(other)),
}
SIGNS: Final[dict[str, Callable[[Value], Value | None]]] = {
    "-": lambda one: None if (value := _number(one)) is None else -value,
    "+": _number,
    "void": lambda _: UNDEFINED,
}


def item(base: Value, key: str) -> Value | None:
    """`base[key]` of a text or an array."""
    if not isinstance(base, (str, tuple)):
        return None
    if key == "length":
        return len(base)
    return base[int(key)] if key.isdecimal() and len(key) < 10 and int(key) < len(base) else None


# functions


def _from_codes(*codes: Value) -> Value | None:
    numbers = [_number(code) for code in codes]
    if any(one is None or not 0 <= one <= 0x10FFFF for one in numbers):
        return None
    return "".join(chr(int(one)) for one in numbers if one is not None)


def _string(value: Value = "") -> Value:
    return to_text(value)


def _decoded(value: Value) -> Value | None:
    try:
        return base64.b64decode(to_text(value), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return None


def _unquoted(value: Value) -> Value:
    data = _PERCENT.sub(lambda match: bytes([int(match[1], 16)]), to_text(value).encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "replace")


FUNCTIONS: Final[dict[str, Callable[..., Value | None]]] = {
    "String.fromCharCode": _from_codes,
    "String.fromCodePoint": _from_codes,
    "String": _string,
    "atob": _decoded,
    "decodeURIComponent": _unquoted,
    "decodeURI": _unquoted,
    "unescape": _unquoted,
}


# methods

_Given = tuple[Value, ...]


def call(name: str, base: Value, *given: Value) -> Value | None:
    """`base.name(...given)`; None where that is not known."""
    try:
        match base:
            case str():
                return _of_text(base, name, given)
            case tuple():
                return _of_array(base, name, given)
            case bool() | None:
                return to_text(base) if name == "toString" else None
            case int():
                return _digits(base, given) if name == "toString" else None
            case _:
                return None
    except (ValueError, TypeError, IndexError, OverflowError):  # arguments of a kind that names are not hidden with
        return None


def _of_text(base: str, name: str, given: _Given) -> Value | None:
    match name, given:
        case "concat", _:
            return base + "".join(to_text(one) for one in given)
        case (("toString" | "valueOf" | "normalize"), _):
            return base
        case (("toLowerCase" | "toLocaleLowerCase"), _):
            return base.lower()
        case (("toUpperCase" | "toLocaleUpperCase"), _):
            return base.upper()
        case (("trim" | "trimStart" | "trimEnd"), _):
            return base.strip()
        case "slice", _:
            return base[_slice(given, len(base))]
        case "substring", _:
            start, end = _place(given, 0, 0), _place(given, 1, len(base))
            start, end = max(0, start), max(0, end)
            return base[min(start, end) : max(start, end)]
        case "substr", _:
            start = _place(given, 0, 0)
            start = start if start >= 0 else max(0, len(base) + start)
            return base[start : start + _place(given, 1, len(base))]
        case (("charAt" | "at"), _):
            return base[_place(given, 0, 0)]
        case "split", ():
            return (base,)
        case "split", (separator, *_):
            return tuple(base) if separator == "" else tuple(base.split(to_text(separator)))
        case "replace", (str() as old, str() as new):
            return base.replace(old, new, 1)
        case "replaceAll", (str() as old, str() as new):
            return base.replace(old, new) if (base.count(old) + 1) * len(new) <= LONGEST else None
        case "repeat", (int() as times,):
            return base * times if len(base) * times <= LONGEST else None
        case _:
            return None


def _of_array(base: tuple[Value, ...], name: str, given: _Given) -> Value | None:
    match name, given:
        case "join", _:
            separator = to_text(given[0]) if given and given[0] is not UNDEFINED else ","
            if len(base) * len(separator) > LONGEST:
                return None
            return separator.join("" if one is None or one is UNDEFINED else to_text(one) for one in base)
        case (("reverse" | "toReversed"), _):
            return base[::-1]
        case "concat", _:
            more = [one if isinstance(one, tuple) else (one,) for one in given]
            return base + tuple(item for one in more for item in one)
        case "slice", _:
            return base[_slice(given, len(base))]
        case "at", _:
            return base[_place(given, 0, 0)]
        case "pop", ():
            return base[-1]
        case "shift", ():
            return base[0]
        case (("toString" | "toLocaleString"), _):
            return to_text(base)
        case "flat", _:
            return tuple(item for one in base for item in (one if isinstance(one, tuple) else (one,)))
        case _:
            return None


def _place(given: _Given, at: int, default: int) -> int:
    if at >= len(given) or given[at] is UNDEFINED:
        return default
    value = _number(given[at])
    if value is None:
        raise ValueError
    return int(value)


def _slice(given: _Given, size: int) -> slice:
    return slice(_place(given, 0, 0), _place(given, 1, size))


def _digits(value: int, given: _Given) -> str:
    base = _place(given, 0, 10)
    if not 2 <= base <= 36 or value < 0:
        raise ValueError
    digits = ""
    while value:
        value, digit = divmod(value, base)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"
