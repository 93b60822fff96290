"""The value table: the kinds that JSON lacks, as texts and back, and what becomes of every other value as data.

A value of a kind crosses as a text, in plain JSON; tags beside it say which texts stand for what (paths, by kind). Both
sides of the channel read and write them here; `scripts.write_docs` makes docs/values.md of `ROWS`. Standard library
only, since the jailed guest loads it. Knows values and tags, neither frames nor budgets. Pure.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

Paths = Mapping[str, Sequence[Sequence[str | int]]]
"""Kind to paths: keys and positions from the root."""

MOST_DIGITS: Final = 4_300
"""Digits of a decimal before, and after, its point: as many as Python reads of a whole number."""
MOST_EXPONENT: Final = 9_999
"""Of a decimal, either way: one of ten digits makes `int(value)` or `f"{value:f}"` a matter of minutes."""
_DECIMAL: Final = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}(?:\.[0-9]{{0,{MOST_DIGITS}}})?(?:[eE][+-]?[0-9]{{1,4}})?")
_DURATION: Final = re.compile(
    r"(-?)P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})D)?"
    r"(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})(?:\.([0-9]{1,6}))?S)?)?"
)
"""A year, which pydantic writes, has 365 days."""
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class BadTags(ValueError):
    """A path that leads nowhere, or to something that is not a text of the kind. The message names the path."""


class Unwritable(ValueError):
    """A value of one of the kinds that has no text: it stands for no value."""


def _read_decimal(text: str) -> decimal.Decimal:
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError
    return decimal.Decimal(text)


def _read_uuid(text: str) -> uuid.UUID:
    if _UUID.fullmatch(text) is None:
        raise ValueError
    return uuid.UUID(text)


def _read_timedelta(text: str) -> datetime.timedelta:
    found = _DURATION.fullmatch(text)
    if found is None or text[-1] in "PT":
        raise ValueError
    years, days, hours, minutes, seconds = (int(found[at] or 0) for at in range(2, 7))
    micros = int((found[7] or "").ljust(6, "0"))
    made = datetime.timedelta(365 * years + days, seconds, micros, minutes=minutes, hours=hours)
    return -made if found[1] else made


# the classes are looked up when they are needed: in the guest a script's own stand in their places
READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "datetime": lambda text: datetime.datetime.fromisoformat(text),
    "date": lambda text: datetime.date.fromisoformat(text),
    "time": lambda text: datetime.time.fromisoformat(text),
    "timedelta": _read_timedelta,
    "decimal": _read_decimal,
    "uuid": _read_uuid,
    "bytes": lambda text: base64.b64decode(text.encode("ascii"), b"-_", validate=True),
}
"""Kind to what reads its texts, all of them bounded in time and memory by the text's length.

Each raises ValueError for a text that is not of the kind.
"""

_Writer = Callable[[Any], str]
_NO_TIME: Final = datetime.timedelta(0)
# what the classes themselves write; a subclass of a script's own has no say
_ISO_DATETIME: Final[_Writer] = datetime.datetime.isoformat
_ISO_DATE: Final[_Writer] = datetime.date.isoformat
_ISO_TIME: Final[_Writer] = datetime.time.isoformat
_DECIMAL_TEXT: Final[_Writer] = decimal.Decimal.__str__
_UUID_TEXT: Final[_Writer] = uuid.UUID.__str__


def _datetime_text(value: datetime.datetime) -> str:
    if value != value:  # pandas.NaT, which calls itself a datetime
        raise Unwritable("is not a date; use None")
    return _ISO_DATETIME(value)


def _timedelta_text(value: datetime.timedelta) -> str:
    sign, whole = ("-", -value) if value < _NO_TIME else ("", value)
    days, seconds, micros = whole.days, whole.seconds, whole.microseconds
    if not seconds and not micros:
        return f"{sign}P{days}D"
    fraction = f".{micros:06}".rstrip("0") if micros else ""
    return f"{sign}P{f'{days}D' * bool(days)}T{seconds}{fraction}S"


def _decimal_text(value: decimal.Decimal) -> str:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise Unwritable(f"{_DECIMAL_TEXT(value)} is not a finite number")
    # judged before the text is made, which may be longer than memory
    if abs(exponent) > MOST_EXPONENT or _DECIMAL.fullmatch(_DECIMAL_TEXT(value)) is None:
        raise Unwritable(f"a Decimal of more than {MOST_DIGITS} digits, or with an exponent beyond {MOST_EXPONENT}")
    return _DECIMAL_TEXT(value)


def _bytes_text(value: Any) -> str:
    kind: Any = bytes if isinstance(value, bytes) else bytearray
    plain = kind.__getitem__(value, slice(None))  # from Python 3.12 on a subclass can have a __buffer__ of its own
    return base64.urlsafe_b64encode(plain).decode()


_WRITERS: Final[tuple[tuple[type | tuple[type, ...], str, _Writer], ...]] = (
    (datetime.datetime, "datetime", _datetime_text),  # before date, which it is too
    (datetime.date, "date", _ISO_DATE),
    (datetime.time, "time", _ISO_TIME),
    (datetime.timedelta, "timedelta", _timedelta_text),
    (decimal.Decimal, "decimal", _decimal_text),
    (uuid.UUID, "uuid", _UUID_TEXT),
    ((bytes, bytearray), "bytes", _bytes_text),
)
TYPES: Final = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID, bytes, bytearray)
"""Values of these have a kind, and so have those of their subclasses."""


def write(value: Any) -> tuple[str, str]:
    """Kind and text of a value of one of `TYPES`.

    Raises:
        Unwritable: not a number, infinite, of too many digits, or no date at all (pandas has such).
    """
    _, kind, text = next(row for row in _WRITERS if isinstance(value, row[0]))
    return kind, cast("_Writer", text)(value)


def restore(value: Any, tags: Paths) -> Any:
    """The value with its tagged texts restored, in place. Everything may come from a hostile peer.

    Args:
        value: what JSON text said.
        tags: kinds are keys of `READERS`.

    Raises:
        BadTags: the first that does not fit; `value` is of no use then.
    """
    return _swap([value], tags, None)


def judge(value: Any, tags: Paths) -> None:
    """Whether `restore` would take these tags. The value is the same afterwards.

    Raises:
        BadTags: as `restore`.
    """
    before: list[tuple[Any, Any, str]] = []
    _swap([value], tags, before)
    for at, key, text in before:
        at[key] = text


def _swap(holder: list[Any], tags: Paths, before: list[tuple[Any, Any, str]] | None) -> Any:
    """Put what tagged texts stand for in their places, and note in `before` what was there."""
    for kind, paths in tags.items():
        read = READERS[kind]
        for path in paths:
            at: Any = holder
            key: str | int = 0
            for step in path:
                at, key = _member(at, key, path), step
            text = _member(at, key, path)
            if type(text) is not str:
                raise BadTags(f"{shown(path)}: not a text that could be a {kind}")
            if before is not None:
                before.append((at, key, text))
            try:
                at[key] = read(text)
            except (ValueError, ArithmeticError):
                raise BadTags(f"{shown(path)}: not the text of a {kind}") from None
    return holder[0]


def _member(at: Any, key: str | int, path: Sequence[str | int]) -> Any:
    if (type(at) is dict and type(key) is str and key in at) or (
        type(at) is list and type(key) is int and 0 <= key < len(at)  # type: ignore[reportUnknownArgumentType]
    ):
        return at[key]  # type: ignore[reportUnknownVariableType]
    raise BadTags(f"{shown(path)}: leads nowhere")


def shown(path: Sequence[str | int]) -> str:
    """A path as messages have it: `items[3].when`; `value` for the whole, at most 200 characters."""
    text = "".join(f"[{step}]" if type(step) is int else f".{step}" for step in path[:50])
    return text.removeprefix(".")[:200] or "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What becomes of one sort of value. Texts are Markdown for docs/values.md."""

    value: str
    """The value in a script, or what a tool or a function of the host returns."""
    wire: str
    """What crosses; why it does not, where it is refused."""
    script: str = ""
    """What a Python script gets."""
    javascript: str = ""
    """What a JavaScript script gets."""
    host: str = ""
    """What a `tool_handler`, a function in `globals` and `result.value` get. Empty: it never comes from a script."""
    example: str = ""
    """Python expression of such a value."""
    text: str = ""
    """JSON text of the example, as a script sends it."""


_SAME: Final = "the same"

ROWS: Final = (
    Row(
        value="`None`",
        wire="`null`",
        script="`None`",
        javascript="`null`",
        host="`None`",
        example="None",
        text="null",
    ),
    Row(
        value="`bool`",
        wire="`true`, `false`",
        script="`bool`",
        javascript="boolean",
        host="`bool`",
        example="True",
        text="true",
    ),
    Row(
        value="`int` from -(2^53-1) to 2^53-1",
        wire="number",
        script="`int`",
        javascript="number",
        host="`int`",
        example="9007199254740991",
        text="9007199254740991",
    ),
    Row(
        value="larger `int`, up to 4,300 digits",
        wire="number, all its digits",
        script="`int`, exact",
        javascript="`BigInt`",
        host="`int`, exact",
        example="2**64",
        text="18446744073709551616",
    ),
    Row(
        value="finite `float`",
        wire="number",
        script="`float`",
        javascript="number",
        host="`float`",
        example="0.1",
        text="0.1",
    ),
    Row(
        value="`str` of Unicode text",
        wire="string",
        script="`str`",
        javascript="string",
        host="`str`",
        example="'é'",
        text='"é"',
    ),
    Row(
        value="`list`, `tuple`, `set`, `frozenset`, `collections.deque`",
        wire="array; the order of a set is Python's",
        script="`list`",
        javascript="Array",
        host="`list`",
        example="(1, 2)",
        text="[1,2]",
    ),
    Row(
        value="`range`, views of a `dict`",
        wire="array; from scripts only",
        host="`list`",
        example="{'a': 1}.items()",
        text='[["a",1]]',
    ),
    Row(
        value="`dict` whose keys are text",
        wire="object",
        script="`dict`",
        javascript="plain object",
        host="`dict`",
        example="{'a': 1}",
        text='{"a":1}',
    ),
    Row(
        value="dataclass instance",
        wire="object of its fields",
        script="`dict`",
        javascript="plain object",
        host="`dict`",
    ),
    Row(
        value="pydantic model",
        wire="object, under serialisation aliases; from the host only",
        script="`dict`",
        javascript="plain object",
    ),
    Row(
        value="member of an `Enum`",
        wire="its value",
        script="the value",
        javascript="the value",
        host="the value",
    ),
    Row(
        value="`datetime.datetime`",
        wire="ISO 8601 text, tagged; an offset stays, a zone's name does not",
        script="`datetime.datetime`",
        javascript="`Date` where it has an offset, else its text",
        host="`datetime.datetime`",
        example="datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)",
        text='"2026-01-02T03:04:05+00:00"',
    ),
    Row(
        value="`datetime.date`",
        wire="ISO 8601 text, tagged",
        script="`datetime.date`",
        javascript="its text",
        host="`datetime.date`",
        example="datetime.date(2026, 1, 2)",
        text='"2026-01-02"',
    ),
    Row(
        value="`datetime.time`",
        wire="ISO 8601 text, tagged",
        script="`datetime.time`",
        javascript="its text",
        host="`datetime.time`",
        example="datetime.time(3, 4)",
        text='"03:04:00"',
    ),
    Row(
        value="`decimal.Decimal`, finite, up to 4,300 digits",
        wire="its text, tagged",
        script="`decimal.Decimal`",
        javascript="its text",
        host="`decimal.Decimal`",
        example="decimal.Decimal('12.50')",
        text='"12.50"',
    ),
    Row(
        value="`uuid.UUID`",
        wire="its text, tagged",
        script="`uuid.UUID`",
        javascript="its text",
        host="`uuid.UUID`",
        example="uuid.UUID(int=1)",
        text='"00000000-0000-0000-0000-000000000001"',
    ),
    Row(
        value="`bytes`, `bytearray`",
        wire="URL-safe Base64 text, tagged",
        script="`bytes`",
        javascript="`Uint8Array`",
        host="`bytes`",
        example="b'\\xff\\xfe'",
        text='"__4="',
    ),
    Row(
        value="`datetime.timedelta`",
        wire="ISO 8601 duration, tagged",
        script="`datetime.timedelta`",
        javascript="its text",
        host="`datetime.timedelta`",
        example="datetime.timedelta(days=1, seconds=90)",
        text='"P1DT90S"',
    ),
    Row(
        value="`fractions.Fraction` of a script",
        wire="its text",
        host="`str`",
        example="fractions.Fraction(1, 3)",
        text='"1/3"',
    ),
)
"""What crosses. A row without `host` is about the host's values, one without `script` about a script's."""

REFUSED: Final = (
    Row(value="NaN, infinities, also as `Decimal`", wire="no JSON number says them", example="float('nan')"),
    Row(value="text with a lone surrogate", wire="it is not Unicode", example="'\\ud800'"),
    Row(value="a value that contains itself", wire="it has no end"),
    Row(
        value="`dict` whose keys are not text",
        wire="a key would change its type unseen; in a script's result, numbers, dates and the like become text",
        example="{('a', 1): 2}",
    ),
    Row(value="functions, methods, classes, modules", wire="they are code", example="print"),
    Row(value="generators, iterators, coroutines", wire="looking at them uses them up", example="iter([1])"),
    Row(value="open files, locks, connections", wire="they are parts of a process", example="io.StringIO()"),
    Row(value="paths", wire="a path means something in one place only", example="pathlib.PurePath('a')"),
    Row(value="`complex`", wire="no JSON number says it", example="1j"),
    Row(value="instances of any other class", wire="unknown means no", example="object()"),
)
"""What does not cross, and why; the error names the place (`items[3].price`)."""
