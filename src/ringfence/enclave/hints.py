"""What usually mends an exception that a script raised: one short sentence for the model that wrote it.

Judges the guest's own account, so a hint is advice and nothing more. Knows names of modules and tools. Pure;
`results` asks it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ringfence.contract.names import suggest
from ringfence.enclave.modules import AMBIENT, MODULES
from ringfence.enclave.protocol import Failed

_TOP_MODULES: Final = frozenset(name.partition(".")[0] for name in MODULES)

_BY_NAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PermissionError": "scripts have no files, network or processes; call a tool instead",
        "ModuleNotFoundError": "use one of the modules named, or call a tool",
        "RecursionError": "use a loop",
        "EOFError": "pass what the script needs as inputs",
    }
)

_FROM: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: module
        for module, names in (
            ("abc", "ABC abstractmethod"),
            ("collections", "Counter OrderedDict defaultdict deque namedtuple"),
            ("contextlib", "asynccontextmanager contextmanager suppress"),
            ("dataclasses", "asdict dataclass field"),
            ("datetime", "date datetime timedelta timezone"),
            ("decimal", "Decimal"),
            ("enum", "Enum IntEnum auto"),
            ("functools", "lru_cache partial reduce wraps"),
            ("itertools", "accumulate chain combinations groupby islice product"),
            ("pathlib", "Path PurePath"),
            ("typing", "Any Callable NamedTuple Optional TypedDict"),
            ("zoneinfo", "ZoneInfo"),
        )
        for name in names.split()
    }
)
"""Where names come from that scripts use bare."""
_ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {"null": "None", "undefined": "None", "true": "True", "false": "False", "console": "print(...)"}
)
"""What Python calls what other languages call so."""

Maker = Callable[[re.Match[str], Collection[str]], str | None]
"""From what a message matched, and the names of tools, to the fix; None for the next rule."""
Rules = Sequence[tuple[str, re.Pattern[str], Maker]]
"""Class of the exception, pattern of its message, what makes the fix."""


def hint_for(frame: Failed, tools: Collection[str]) -> str | None:
    """The fix, if one is known. `tools`: names that `tools` has as methods."""
    return first(_RULES, frame, tools) or _BY_NAME.get(frame.name)


def first(rules: Rules, frame: Failed, tools: Collection[str]) -> str | None:
    """The fix of the first rule that has one."""
    for kind, pattern, make in rules:
        if frame.name == kind and (found := pattern.search(frame.message)) is not None:
            hint = make(found, tools)
            if hint is not None:
                return hint
    return None


def _undefined(found: re.Match[str], tools: Collection[str]) -> str | None:
    name = found[1]
    if name in _ELSEWHERE:
        return f"write {_ELSEWHERE[name]}"
    if name in _FROM:
        return f"add at the top: from {_FROM[name]} import {name}"
    if name in _TOP_MODULES:
        return f"add at the top: import {name}"
    if name in tools:
        return f"write: await tools.{name}(...)"
    if name == "tools":
        return 'write: await call_tool("name", {...})'
    close = suggest(name, [*AMBIENT, *tools])
    return f"did you mean {close if close in AMBIENT else f'tools.{close}'}?" if close else None


def _ambient_import(found: re.Match[str], _: Collection[str]) -> str | None:
    return f"{found[1]} is there without an import; remove the line" if found[1] in AMBIENT else None


def fixed(fix: str) -> Maker:
    """The same fix whatever was matched."""
    return lambda _, __: fix


_RULES: Final[Rules] = (
    ("TypeError", re.compile("coroutine"), fixed("a tool call is missing its await")),
    ("TypeError", re.compile("'NoneType' object is not"), fixed("a value is None here: test for it first")),
    ("AttributeError", re.compile("'NoneType' object has no"), fixed("a value is None here: test for it first")),
    (
        "TypeError",
        re.compile("string indices must be integers"),
        fixed("going through a dict gives its keys: take the list inside it, or its .values()"),
    ),
    ("TypeError", re.compile("is not JSON serializable"), fixed("write json.dumps(..., default=str)")),
    ("TypeError", re.compile("naive and offset-aware"), fixed("give both a time zone: datetime.now(timezone.utc)")),
    ("TypeError", re.compile(r"can only concatenate str \("), fixed('write f"...{value}" or str(value)')),
    (
        "AttributeError",
        re.compile(r"module 'datetime' has no attribute"),
        fixed("import the class: from datetime import datetime"),
    ),
    (
        "TypeError",
        re.compile(r"^object \w+ can't be used in 'await' expression|^'\w+' object can't be awaited"),
        fixed("what stands after this await is a value already: remove the await"),
    ),
    ("SystemExit", re.compile(""), fixed("end with return, or raise an error that says what is wrong")),
    ("NameError", re.compile(r"name '(\w+)' is not defined"), _undefined),
    ("ModuleNotFoundError", re.compile(r"No module named '(\w+)"), _ambient_import),
    (
        "AttributeError",
        re.compile(r"'dict' object has no attribute '(\w+)'"),
        lambda found, _: f'results and inputs are plain dicts; write ["{found[1]}"]',
    ),
)
