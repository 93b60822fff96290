"""What the host knows of the languages that scripts are written in: how names are written, and which are taken.

Pure data. `namespaces`, `globals` and `variables` judge names by it, `options` picks one.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ringfence.enclave.agentscript import vocabulary as javascript
from ringfence.enclave.check import vocabulary as python

_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
PROTOTYPES: Final = frozenset({"constructor", "prototype"})
"""Names and keys that are refused in every language, so that one configuration serves all (second seed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One of `options.LANGUAGES`."""

    name: str
    title: str
    """As people write it."""
    identifier: re.Pattern[str]
    """What namespaces and methods are; ASCII."""
    signs: str
    """Characters that it may have besides letters and digits."""
    private: str
    """Why a name does not begin with two underscores."""
    keywords: frozenset[str]
    """Reserved words."""
    guest: frozenset[str]
    """What the guest itself puts into a script's globals."""
    builtins: frozenset[str]
    """Names that every script has."""
    refused_names: frozenset[str]
    """Names that a script must not use for anything, since they stand for the interpreter or the machine."""
    refused_members: frozenset[str]
    """Members that lead from a value to what made it."""
    member: str
    """One of them, with its article."""
    or_else: str
    """How arguments may be written besides as one object."""
    underscored: bool
    """Whether a keyword is no method's name, and gets an underscore (`mail.del_`)."""

    def method(self, name: str) -> str:
        """How a method is spelt in scripts."""
        return f"{name}_" if self.underscored and name in self.keywords else name

    def is_name(self, name: str) -> bool:
        """Whether a script can write it as a name of its own."""
        plain = name.replace("$", "_") if "$" in self.signs else name
        return plain.isidentifier() and name not in self.keywords

    def resembles_name(self, name: str) -> bool:
        """Whether an engine may take it for a name: what lies beyond ASCII is another table in each version of Unicode."""
        return self.identifier.fullmatch(_FOREIGN.sub("a", name)) is not None and name not in self.keywords


PYTHON: Final = Language(
    name="python",
    title="Python",
    identifier=re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII),
    signs="_",
    private="two underscores at the start are Python's own",
    keywords=frozenset(keyword.kwlist),
    guest=frozenset({"call_tool", "inputs", "tools", "ToolError", "GlobalFunctionError"}),
    # in any Python from 3.11 on
    builtins=python.BUILTINS
    | python.DYNAMIC_CODE
    | python.HOST
    | python.INTROSPECTION
    | {"copyright", "credits", "license"},
    refused_names=frozenset(
        "builtins ctypes gc importlib inspect marshal multiprocessing os pickle posix shutil socket subprocess sys "
        "threading".split()
    ),
    # to frames, code and classes (enclave catalogue, section 5)
    refused_members=python.FRAMES | {"mro"},
    member="an attribute",
    or_else=", or keywords",
    underscored=True,
)

JAVASCRIPT: Final = Language(
    name="javascript",
    title="JavaScript",
    identifier=re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII),
    signs="_ $",
    private="two underscores at the start are the runtime's own",
    # strict mode's, those of modules, and what only looks like a name (enclave catalogue, D4)
    keywords=frozenset(
        """arguments await break case catch class const continue debugger default delete do else enum eval export extends
        false finally for function if implements import in instanceof interface let new null package private protected
        public return static super switch this throw true try typeof undefined var void while with yield NaN
        Infinity""".split()
    ),
    guest=javascript.GUEST | {"tools"},
    builtins=javascript.ALL_NAMES | javascript.GLOBAL_OBJECT,
    refused_names=javascript.DISALLOWED["STRICT"] - javascript.ALL_NAMES,
    refused_members=javascript.DISALLOWED["STRICT"] | javascript.BEHIND,
    member="a member",
    or_else="",
    underscored=False,
)

LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType({one.name: one for one in (PYTHON, JAVASCRIPT)})
"""By the name that options have."""
