"""Approvals decided beforehand, in a TOML file: what it says, and what that means for one call. Pure.

    [[approve]]
    tool = "refund_order"
    arguments = { order_id = 1042 }

    [[deny]]
    tool = "send_mail"

An entry fits a call when the tool is the same and every argument it names is equal; without `arguments` it fits every
call of the tool. A fitting `deny` beats any `approve`; a call that nothing fits is denied. The file is read, and the
answer given to the gate, by `cli.approve`.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from ringfence.errors import ConfigError
from ringfence.values import JSON

Kind = Literal["approve", "deny"]
_KINDS: Final[tuple[Kind, ...]] = ("approve", "deny")
_KEYS: Final = ("tool", "arguments")
_HEADER: Final = re.compile(r"^[ \t]*\[\[[ \t]*(approve|deny)[ \t]*\]\]", re.MULTILINE)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_TO_ESCAPE: Final = re.compile(r'["\\]|[^ -~]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One `[[approve]]` or `[[deny]]`."""

    kind: Kind
    tool: str
    arguments: Mapping[str, JSON]
    """Arguments that must be equal; others may be anything."""
    place: str
    """Where it stands, for messages: `approvals.toml:3 [[approve]]`."""

    def fits(self, tool: str, arguments: Mapping[str, JSON]) -> bool:
        return tool == self.tool and all(
            name in arguments and _equal(arguments[name], wanted) for name, wanted in self.arguments.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the file says about one call."""

    approved: bool
    reason: str
    fix: str | None = None
    """How this very call could be approved, when nobody decided against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """A whole file."""

    name: str
    """As the user wrote it, for messages."""
    entries: tuple[Entry, ...] = field(default=())

    def decide(self, tool: str, arguments: Mapping[str, JSON]) -> Verdict:
        fitting = [entry for entry in self.entries if entry.fits(tool, arguments)]
        for kind in ("deny", "approve"):
            for entry in fitting:
                if entry.kind == kind:
                    done = "approved" if kind == "approve" else "denied"
                    return Verdict(approved=kind == "approve", reason=f"{done} by {entry.place}")
        reason = f"no entry of {self.name} fits this call"
        return Verdict(approved=False, reason=reason, fix=f"to approve it, add to {self.name}:")


def entry_text(tool: str, arguments: Mapping[str, JSON]) -> str:
    """The `[[approve]]` that fits exactly one call, as TOML to paste.

    TOML has no null: an argument that holds one cannot be named, and a comment says so.
    """
    written = {name: _toml(value) for name, value in arguments.items()}
    pairs = ", ".join(f"{_key(name)} = {text}" for name, text in written.items() if text is not None)
    lines = ["[[approve]]", f"tool = {_quoted(tool)}", *([f"arguments = {{ {pairs} }}"] if pairs else [])]
    missing = [_quoted(name) for name, text in written.items() if text is None]
    if missing:
        lines.append(f"# TOML cannot say null, so this fits whatever stands in {', '.join(missing)}")
    return "\n".join(lines)


def _toml(value: JSON) -> str | None:
    """A JSON value as inline TOML; None when there is a null in it."""
    if value is None:
        return None
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        items = [_toml(item) for item in cast("list[JSON]", value)]
        return None if None in items else f"[{', '.join(cast('list[str]', items))}]"
    if isinstance(value, dict):
        members = {key: _toml(item) for key, item in cast("dict[str, JSON]", value).items()}
        pairs = ", ".join(f"{_key(key)} = {text}" for key, text in members.items())
        return None if None in members.values() else f"{{ {pairs} }}" if pairs else "{}"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A basic string in ASCII, so that no character of another's choice reaches a terminal."""
    return '"' + _TO_ESCAPE.sub(lambda found: f"\\U{ord(found[0]):08x}", text) + '"'


def _equal(actual: JSON, wanted: JSON) -> bool:
    """Equality of JSON values: `true` is not 1, 1 is 1.0."""
    if isinstance(actual, bool) or isinstance(wanted, bool):
        return actual is wanted
    if isinstance(actual, list) and isinstance(wanted, list):
        left, right = cast("list[JSON]", actual), cast("list[JSON]", wanted)
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(actual, dict) and isinstance(wanted, dict):
        mine, theirs = cast("dict[str, JSON]", actual), cast("dict[str, JSON]", wanted)
        return mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)
    return bool(actual == wanted)


def parse_decisions(text: str, name: str, human_tools: Mapping[str, Collection[str]]) -> Decisions:
    """The decisions of a TOML text.

    Args:
        text: contents of the file.
        name: its name, for messages.
        human_tools: tools that ask for approval, with the names of their arguments. An entry about anything else
            would decide nothing, and a misspelt `deny` would be dangerous, so it is an error.

    Raises:
        ConfigError: naming file, line where known, key and the smallest fix.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _problem(name, f"not valid TOML: {error}", "see https://toml.io for the syntax") from None
    except RecursionError:
        raise _problem(name, "nested too deeply", "an entry needs only `tool` and `arguments`") from None
    for key in document:
        if key not in _KINDS:
            raise _problem(name, f"unknown key {key!r}", f"only {_list(f'[[{kind}]]' for kind in _KINDS)} exist")
    lines = _header_lines(text)
    entries: list[Entry] = []
    for kind in _KINDS:
        tables = _tables(name, kind, document.get(kind, []))
        known = lines[kind] if len(lines[kind]) == len(tables) else [None] * len(tables)
        for number, (table, line) in enumerate(zip(tables, known, strict=True), start=1):
            where = f"{name}:{line} [[{kind}]]" if line else f"{name} [[{kind}]] number {number}"
            entries.append(_entry(kind, table, where, human_tools))
    return Decisions(name=name, entries=tuple(entries))


def _header_lines(text: str) -> dict[Kind, list[int]]:
    lines: dict[Kind, list[int]] = {"approve": [], "deny": []}
    for found in _HEADER.finditer(text):
        lines[cast("Kind", found[1])].append(text.count("\n", 0, found.start()) + 1)
    return lines


def _tables(name: str, kind: Kind, value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if all(isinstance(item, dict) for item in items):
            return cast("list[dict[str, Any]]", items)
    raise _problem(name, f"{kind!r} is not a list of tables", f"write [[{kind}]] with two brackets")


def _entry(kind: Kind, table: dict[str, Any], where: str, human_tools: Mapping[str, Collection[str]]) -> Entry:
    for key in table:
        if key not in _KEYS:
            raise _problem(where, f"unknown key {key!r}", _meant(key, _KEYS) or f"only {_list(_KEYS)} exist")
    tool = table.get("tool")
    if not isinstance(tool, str):
        raise _problem(where, "'tool' must be the name of a tool", 'write tool = "name"')
    if tool not in human_tools:
        names = _list(sorted(human_tools)) or "no tool at all"
        hint = _meant(tool, human_tools) or f"these tools ask for approval: {names}"
        raise _problem(where, f"'tool': {tool!r} is not a tool that asks for approval", hint)
    arguments = table.get("arguments", {})
    if not isinstance(arguments, dict):
        raise _problem(where, "'arguments' must be a table", "write arguments = { name = value }")
    named = cast("dict[str, Any]", arguments)
    for argument, value in named.items():
        if argument not in human_tools[tool]:
            hint = _meant(argument, human_tools[tool]) or f"{tool} takes {_list(sorted(human_tools[tool]))}"
            raise _problem(where, f"'arguments': {tool} takes no argument {argument!r}", hint)
        if not _is_json(value):
            fix = f'quote it: {argument} = "{value}"'
            raise _problem(where, f"'arguments.{argument}' is a date or time, which JSON does not have", fix)
    return Entry(kind=kind, tool=tool, arguments=named, place=where)


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_json(item) for item in cast("dict[str, Any]", value).values())
    if isinstance(value, list):
        return all(_is_json(item) for item in cast("list[Any]", value))
    return isinstance(value, str | bool | int | float)


def _meant(word: str, names: Collection[str]) -> str | None:
    close = difflib.get_close_matches(word, list(names), n=1)
    return f"did you mean {close[0]!r}?" if close else None


def _list(names: Any) -> str:
    return ", ".join(names)


def _problem(where: str, what: str, fix: str) -> ConfigError:
    return ConfigError(f"{where}: {what}", hint=fix)
