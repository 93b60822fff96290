"""From pydantic's account of a failed validation to issues that a caller may read.

A path, a message, a code: never the value, its context or a link. Knows pydantic's errors, not schemas or tools;
the modules of every kind of contract call it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from typing import Any, Final, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails, core_schema

from ringfence.contract.names import suggest
from ringfence.errors import Issue

MAX_ISSUES: Final = 20
"""Issues reported for one value; a last one says how many there were."""

_MOST_EXAMINED: Final = 10_000
"""Problems that pydantic is asked to describe: it describes all or none, at 6 µs each, and one value can have millions."""
_MAX_MESSAGE: Final = 500
_MAX_PATH: Final = 200
_MOST_LEAVES: Final = 3_000
"""Values of an input that are looked for in a message."""
_MOST_BITS: Final = 14_000
"""Of a whole number that Python still writes out."""
_WORD: Final = re.compile(r"[^\W\d]+")
_WITHHELD: Final = "refused by a validator"
_MOST_SUGGESTED: Final = 3
_SHORT: Final = 2
_LONG: Final = 8
_MISSING: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument", "union_tag_not_found"})
_FREE_TEXT: Final = frozenset({"value_error", "assertion_error"})
_OWN_TYPES: Final = frozenset(get_args(core_schema.ErrorType))
"""Errors whose text is pydantic's own."""
_REPLACED: Final = {
    "import_error": "Input cannot be imported",
    "uuid_parsing": "Input should be a valid UUID",
    "union_tag_invalid": "Input has an unknown tag",
    "json_invalid": "Input is not valid JSON, or is nested too deeply",
    "bytes_invalid_encoding": "Input is not in the expected encoding",
    "get_attribute_error": "Input has an attribute that cannot be read",
    "iteration_error": "Input cannot be iterated",
    "mapping_type": "Input should be a valid mapping",
}
"""Messages in which pydantic repeats a part of the input."""


def issues_of(error: ValidationError, root: Any, names: Container[str] = ()) -> tuple[Issue, ...]:
    """At most `MAX_ISSUES` issues, with paths such as `items[3].price`; of very many problems only their number.

    Args:
        root: The value that was validated, to tell names in it from names of union branches.
        names: Keys that the schema itself speaks of.
    """
    count = error.error_count()
    if count > _MOST_EXAMINED:
        return (_more(count),)
    found: dict[tuple[str, str], Issue] = {}
    mask = Mask(root, names)
    details = error.errors(include_url=False, include_context=True)
    for detail in details:
        path = _path(detail["loc"], root, missing=detail["type"] in _MISSING)
        issue = Issue(path=path[:_MAX_PATH], message=_message(detail, mask)[:_MAX_MESSAGE], code=detail["type"])
        found.setdefault((issue["path"], issue["message"]), issue)
        if len(found) == MAX_ISSUES:
            found["", ""] = _more(len(details))
            break
    return tuple(found.values())


def bounded(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """The first `MAX_ISSUES` of them without repetitions, with bounded texts; a last one says how many there were."""
    found: dict[tuple[str, str], Issue] = {}
    for issue in issues:
        short = Issue(path=issue["path"][:_MAX_PATH], message=issue["message"][:_MAX_MESSAGE], code=issue["code"])
        found.setdefault((short["path"], short["message"]), short)
        if len(found) == MAX_ISSUES:
            found["", ""] = _more(len(issues))
            break
    return tuple(found.values())


def _more(count: int) -> Issue:
    return Issue(path="", message=f"{count} problems in all", code="more_issues")


class Suggestions:
    """The nearest names for the first unknown ones of a value: each takes a comparison with all that exist."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names
        self._left = _MOST_SUGGESTED

    def near(self, name: str) -> str | None:
        if self._left == 0:
            return None
        self._left -= 1
        return suggest(name, self._names)


def unknown_argument(name: str, path: str, names: Suggestions) -> Issue:
    """The issue for a key that is not declared, with the nearest one that is."""
    near = names.near(name)
    message = f"no such argument; did you mean {near!r}?" if near else "no such argument"
    return Issue(path=join_path(path, name), message=message, code="extra_forbidden")


def internal_issue(error: Exception) -> Issue:
    """The issue for a validator that broke instead of deciding: its class only."""
    return Issue(path="", message=f"a validator raised {type(error).__name__}", code="validator_error")


def join_path(path: str, step: str | int) -> str:
    if isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step


def _path(location: tuple[int | str, ...], root: Any, *, missing: bool) -> str:
    """Follow `location` through the value; steps that lead nowhere in it name a union branch and are dropped."""
    path, here, last = "", root, len(location) - 1
    for at, step in enumerate(location):
        if _leads_on(here, step):
            path, here = join_path(path, step), here[step]
        elif at == last and missing:
            path = join_path(path, step)
    return path


def _leads_on(here: Any, step: str | int) -> bool:
    if type(here) is dict:
        return step in here
    return type(here) in (list, tuple) and type(step) is int and step < len(here)


def _message(detail: ErrorDetails, mask: Mask) -> str:
    kind = detail["type"]
    if kind in _REPLACED:
        expected = detail.get("ctx", {}).get("expected_tags")
        return f"{_REPLACED[kind]}, expected {expected}" if expected else _REPLACED[kind]
    if kind in _FREE_TEXT or kind not in _OWN_TYPES:
        return Mask(detail["input"])(mask(detail["msg"]))  # what it got may have been made of what was sent
    return detail["msg"]


class Mask:
    """Takes values out of the texts of other people's validators."""

    def __init__(self, value: Any, names: Container[str] = ()) -> None:
        """Look at nothing yet.

        Args:
            names: Keys that the schema itself speaks of, which give nothing away.
        """
        self._value, self._names = value, names

    def __call__(self, text: str, *, keys: bool = True) -> str:
        """The text without the values in it; withheld altogether, when there are too many to look for.

        One or two characters give nothing away and would tear holes into the text; a short word must stand alone in it.

        Args:
            keys: Whether keys of free objects are values, too.
        """
        texts = self._texts if keys else self._texts - self._keys
        if self._too_many:
            return _WITHHELD
        for one in texts:
            for form in {one, repr(one)[1:-1]}:
                if len(form) >= _LONG:
                    text = text.replace(form, "…")
                elif len(form) > _SHORT and form in text:
                    text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "…", text)
        return text

    @cached_property
    def _found(self) -> tuple[set[str], set[str], bool]:
        texts: set[str] = set()
        keys: set[str] = set()
        stack: list[Any] = [self._value]
        seen = 0
        while stack and seen <= _MOST_LEAVES:
            item = stack.pop()
            seen += 1
            if isinstance(item, dict):
                keys.update(key for key in item if self._tells(key))  # type: ignore[reportUnknownVariableType]
                stack.extend(item.values())  # type: ignore[reportUnknownArgumentType]
            elif isinstance(item, (list, tuple, set, frozenset)):
                stack.extend(item)  # type: ignore[reportUnknownArgumentType]
            elif isinstance(item, (str, float)) or (isinstance(item, int) and item.bit_length() < _MOST_BITS):
                texts.add(str(item))
        return texts, keys, bool(stack)

    def _tells(self, key: object) -> bool:
        """Whether a key is a value: neither declared nor a mere word."""
        return isinstance(key, str) and key not in self._names and _WORD.fullmatch(key) is None

    @property
    def _texts(self) -> set[str]:
        return self._found[0] | self._found[1]

    @property
    def _keys(self) -> set[str]:
        return self._found[1] - self._found[0]

    @property
    def _too_many(self) -> bool:
        return self._found[2]
