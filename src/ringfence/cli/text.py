"""Text that others wrote, made harmless for a terminal, and values as JSON text.

Tool names, arguments, results, printed output and error messages may hold escape sequences, line breaks, or marks
that reverse the reading direction. `safe` shows them as `\\x1b` and the like. Knows nothing of rich: callers put the
result into `rich.text.Text`, which never reads markup. Pure; every file of this package that prints calls it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ringfence.enclave.table import TYPES, write

_SUSPECT: Final = re.compile(r"[^ -~]")


def safe(text: str, *, keep: str = "") -> str:
    """`text` with every character that a terminal would obey shown as its escape, except those in `keep`."""
    return _SUSPECT.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii") if _is_hidden(char) else char


def _is_hidden(char: str) -> bool:
    """It shows nothing, changes how what follows is shown, or is unknown to this Python."""
    return not char.isprintable() and unicodedata.category(char) != "Zs"


def brief(text: str, width: int) -> str:
    """`safe` text of at most `width` characters, cut in the middle of nothing: the end is replaced by `…`."""
    shown = safe(text)
    return shown if len(shown) <= width else shown[: max(width - 1, 0)] + "…"


def json_text(value: object, *, width: int = 80) -> str:
    """JSON for people: what fits a line is on one line, hidden characters are escaped, and it parses to the same value."""
    text = _laid_out(plain(value), "", width)
    return _SUSPECT.sub(lambda found: found[0] if found[0] == "\n" else _json_escaped(found[0]), text)


def _laid_out(value: Any, indent: str, room: int) -> str:
    """JSON text whose lines begin with `indent`, but for the first, which has `room` characters left."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(line) <= room or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    left = room - 3  # two more of indentation, and a comma
    if isinstance(value, list):
        items = [_laid_out(item, inner, left) for item in cast("list[Any]", value)]
        return "[\n" + ",\n".join(inner + item for item in items) + f"\n{indent}]"
    members = [(json.dumps(key, ensure_ascii=False), item) for key, item in cast("dict[str, Any]", value).items()]
    pairs = [f"{inner}{key}: {_laid_out(item, inner, left - len(key) - 2)}" for key, item in members]
    return "{\n" + ",\n".join(pairs) + f"\n{indent}}}"


def _json_escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if _is_hidden(char) else char


def json_line(value: object) -> str:
    """JSON for programs: ASCII only, whatever the encoding of standard output is."""
    return json.dumps(plain(value), ensure_ascii=True, allow_nan=False)


def plain(value: object) -> Any:
    """Values of a script as JSON values: those that JSON lacks as the texts of the value table."""
    if isinstance(value, TYPES):
        return write(value)[1]
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {str(key): plain(item) for key, item in items}
        case Sequence():
            return [plain(item) for item in cast("Sequence[object]", value)]
        case _:
            raise TypeError(f"a {type(value).__name__} is not a value that a script can return")


def seconds(duration: float) -> str:
    """A duration for people: `850 µs`, `12 ms`, `3.4 s`, `2 min 05 s`."""
    if duration < 0.000_999_5:
        return f"{duration * 1e6:.0f} µs"
    if duration < 0.999_5:
        return f"{duration * 1e3:.1f} ms" if duration < 0.009_95 else f"{duration * 1e3:.0f} ms"
    if duration < 59.95:
        return f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} min {rest:02d} s"


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
