"""Which names a tool may have, and which name somebody probably meant.

Knows text only: no tools, no schemas. Called by `contract.tool` and `contract.toolset` at registration, and by the
gate and the enclave to answer "did you mean" for a name that does not exist. Pure.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from ringfence.errors import ConfigError

MAX_NAME: Final = 128
"""Characters in a tool name. The first seed sets no bound; 128 is what common model providers and MCP clients take."""

_TOOL_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", re.ASCII)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_COMPARED: Final = 64
"""Characters of a name that is looked for among similar ones: that takes their square, and it may come from a script."""
_SHOWN: Final = 60
"""Characters of a wrong name that an error repeats."""


def is_tool_name(name: str) -> bool:
    """Whether `name` is lower snake case (first seed, "Tools & Security") and not over `MAX_NAME`."""
    return len(name) <= MAX_NAME and _TOOL_NAME.fullmatch(name) is not None


def check_tool_name(name: object, field: str = "name") -> str:
    """The name itself, when it is usable.

    Raises:
        ConfigError: `bad_name`, naming `field`, with the nearest usable name where there is one.
    """
    if not isinstance(name, str):
        raise ConfigError(f"{field} must be text, not {type(name).__name__}", code="bad_name")
    if is_tool_name(name):
        return str(name)
    shown = repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "…")
    if len(name) > MAX_NAME:
        raise ConfigError(
            f"{field} {shown} has {len(name)} characters, more than {MAX_NAME}", code="bad_name", hint="shorten it"
        )
    usable = snake_case(name)
    raise ConfigError(
        f"{field} {shown} is not lower snake case (letters a-z, digits, single underscores, a letter first)",
        code="bad_name",
        hint=f"use {usable!r}" if usable else "use a name such as 'lookup_order'",
    )


def snake_case(name: str) -> str | None:
    """The nearest tool name (`lookupOrder` becomes `lookup_order`); None when nothing usable is left."""
    plain = unicodedata.normalize("NFKD", name[: 4 * MAX_NAME]).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", _HUMP.sub(" ", plain).lower())
    candidate = "_".join(words)
    if candidate and not candidate[0].isalpha():
        candidate = f"tool_{candidate}"
    return candidate if is_tool_name(candidate) else None


def suggest(name: str, names: Iterable[str]) -> str | None:
    """The existing name that `name` was probably meant to be; None when none is near.

    The same words in another spelling (`lookupOrder`, `lookup-order`) come first, then small typing errors.
    """
    if len(name) > 2 * MAX_NAME:
        return None
    known = sorted(names)
    squeezed = {_squeeze(one): one for one in reversed(known)}
    if (same := squeezed.get(_squeeze(name))) is not None:
        return same
    if len(name) > _COMPARED:
        return None
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return near[0] if near else None


def _squeeze(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
