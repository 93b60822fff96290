"""What usually mends an exception that a script raised: one short sentence for the model that wrote it.

Judges the guest's own account, so a hint is advice and nothing more. Knows names of modules and tools. Pure;
`results` asks it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
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

_Maker = Callable[[re.Match[str], Collection[str]], str | None]


def hint_for(frame: Failed, tools: Collection[str]) -> str | None:
    """The fix, if one is known. `tools`: names that `tools` has as methods."""
    for kind, pattern, make in _RULES:
        if frame.name == kind and (found := pattern.search(frame.message)) is not None:
            hint = make(found, tools)
            if hint is not None:
                return hint
    return _BY_NAME.get(frame.name)


def _undefined(found: re.Match[str], tools: Collection[str]) -> str | None:
    name = found[1]
    if name in _TOP_MODULES:
        return f"add at the top: import {name}"
    if name in tools:
        return f"write: await tools.{name}(...)"
    close = suggest(name, [*AMBIENT, *tools])
    return f"did you mean {close if close in AMBIENT else f'tools.{close}'}?" if close else None


def _ambient_import(found: re.Match[str], _: Collection[str]) -> str | None:
    return f"{found[1]} is there without an import; remove the line" if found[1] in AMBIENT else None


_RULES: Final[tuple[tuple[str, re.Pattern[str], _Maker], ...]] = (
    ("TypeError", re.compile("coroutine"), lambda _, __: "a tool call is missing its await"),
    ("NameError", re.compile(r"name '(\w+)' is not defined"), _undefined),
    ("ModuleNotFoundError", re.compile(r"No module named '(\w+)"), _ambient_import),
    (
        "AttributeError",
        re.compile(r"'dict' object has no attribute '(\w+)'"),
        lambda found, _: f'results and inputs are plain dicts; write ["{found[1]}"]',
    ),
)
