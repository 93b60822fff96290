"""Which tools a script finds as methods of which names: `tool_namespaces`, checked and frozen.

Every mistake is found while the enclave is built, in the order of the enclave catalogue (D4), adapted to a Python
guest: a namespace is a top-level name of the script, a method an attribute, and each leads to one tool name that every
adapter can carry. Knows the names that Python, the guest and the static check keep for themselves, and no tools.
`enclave.options` calls it; the guest builds its namespaces from what it returns. Pure.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, cast

from ringfence.enclave.check import vocabulary
from ringfence.errors import ConfigError
from ringfence.limits import shown
from ringfence.policy.names import MAX_NAME, is_carried

PREFIX: Final = "Invalid toolNamespaces: "
"""How every refusal begins (second seed, "Tool Namespaces")."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
PROTOTYPES: Final = frozenset({"constructor", "prototype"})
"""Names and keys that are refused in every language, so that one configuration serves all (second seed)."""

GUEST_NAMES: Final = frozenset({"call_tool", "inputs", "tools", "ToolError", "GlobalFunctionError"})
"""What the guest itself puts into a script's globals."""

BUILTINS: Final = (
    vocabulary.BUILTINS
    | vocabulary.DYNAMIC_CODE
    | vocabulary.HOST
    | vocabulary.INTROSPECTION
    | {"copyright", "credits", "license"}
)
"""Names that every script has, in any Python from 3.11 on."""

REFUSED_NAMES: Final = frozenset(
    "builtins ctypes gc importlib inspect marshal multiprocessing os pickle posix shutil socket subprocess sys "
    "threading".split()
)
"""Names that a script must not use for anything, since they stand for the interpreter or the machine."""

REFUSED_ATTRIBUTES: Final = vocabulary.FRAMES | {"mro"}
"""Attributes that lead from a value to frames, code and classes (enclave catalogue, section 5)."""

Namespaces = Mapping[str, Mapping[str, str]]
"""Namespace to method, as the script spells it, to tool name."""


def parse(given: object, *, reserved: Collection[str] = ()) -> Namespaces:
    """Frozen copies in configuration order; empty for None.

    A list of methods leads to the tools `<namespace>.<method>`; a mapping names each tool itself. A method that is a
    Python keyword is spelt with an underscore in scripts: `["del"]` of `mail` is `mail.del_(...)`, the tool `mail.del`.

    Args:
        given: namespace to a list (or tuple) of methods, or to a mapping of method to tool name.
        reserved: names of the enclave's own globals.

    Raises:
        ConfigError: `bad_name` or `duplicate_name`; the message begins with `PREFIX`.
    """
    if given is None:
        return MappingProxyType({})
    if not _is_mapping(given):
        text = f"expected a plain mapping of namespace to methods, not {type(given).__name__}"
        raise ConfigError(PREFIX + text, code="bad_name", hint="write {'mail': ['list', 'send']}")
    made: dict[str, Mapping[str, str]] = {}
    for name, methods in cast("Mapping[Any, Any]", given).items():
        _check_namespace(name, reserved)
        made[name] = MappingProxyType(_methods(name, methods))
    return MappingProxyType(made)


def _is_mapping(value: object) -> bool:
    return type(value) in (dict, MappingProxyType)


def _check_namespace(name: object, reserved: Collection[str]) -> None:
    where = f"namespace {shown(name)}"
    plain = _identifier(name, where)
    if keyword.iskeyword(plain):
        _refuse(where, "is a reserved word of Python", "choose another name")
    if plain in GUEST_NAMES or plain in BUILTINS:
        _refuse(where, "would hide a name that every script has", f"choose another name, such as '{plain}_tools'")
    if plain in REFUSED_NAMES:
        _refuse(where, "is a name that scripts may not use", f"choose another name, such as '{plain}_tools'")
    if plain in reserved:
        _refuse(where, "is also a name in globals", "rename one of the two")


def _identifier(name: object, where: str) -> str:
    """Text that scripts can write as a name, and that is nobody's internal one."""
    if type(name) is not str:
        _refuse(where, f"is not text but {type(name).__name__}", "use a plain str")
    if _IDENTIFIER.fullmatch(name) is None:
        _refuse(where, "is not an identifier", "use ASCII letters, digits and _, not a digit first")
    if name.startswith("__") or name in PROTOTYPES:
        _refuse(where, "is a reserved name", "choose another name; two underscores at the start are Python's own")
    return name


def _methods(namespace: str, given: object) -> dict[str, str]:
    """Method, as the script spells it, to tool name."""
    if type(given) not in (list, tuple) and not _is_mapping(given):
        kind = "None" if given is None else type(given).__name__
        fix = "list the methods, or map each method to its tool"
        _refuse(f"namespace {namespace!r}", f"is neither a plain list nor a plain mapping but {kind}", fix)
    made: dict[str, str] = {}
    for method, tool in _pairs(namespace, given):
        where = f"namespace {namespace!r}, method {shown(method)}"
        plain = _identifier(method, where)
        if plain in REFUSED_ATTRIBUTES:
            _refuse(where, "is an attribute that scripts may not use", "map another method name to the tool")
        spelt = f"{plain}_" if keyword.iskeyword(plain) else plain
        if spelt in made:
            reason = "is listed twice" if spelt == plain else f"is a keyword, and its spelling {spelt!r} is taken"
            _refuse(where, reason, "remove or rename one of them", code="duplicate_name")
        made[spelt] = _tool_name(tool, where)
    if not made:
        _refuse(f"namespace {namespace!r}", "has no methods", "list at least one, or remove the namespace")
    return made


def _pairs(namespace: str, given: object) -> Iterator[tuple[object, object]]:
    if _is_mapping(given):
        yield from cast("Mapping[object, object]", given).items()
        return
    for method in cast("list[object]", given):
        yield method, f"{namespace}.{method}" if type(method) is str else None


def _tool_name(tool: object, where: str) -> str:
    if type(tool) is not str or not tool:
        kind = "empty text" if type(tool) is str else type(tool).__name__
        _refuse(where, f"needs the name of a tool, not {kind}", "map the method to a tool's name")
    if len(tool) > MAX_NAME:
        _refuse(where, f"leads to a tool name of {len(tool)} characters, more than {MAX_NAME}", "shorten it")
    if not is_carried(tool):
        fix = "use letters, digits and : . _ -, a letter first; map the method to such a name"
        _refuse(where, f"leads to the tool name {shown(tool)}, which not every adapter can carry", fix)
    return tool


def _refuse(where: str, reason: str, fix: str, *, code: str = "bad_name") -> NoReturn:
    raise ConfigError(f"{PREFIX}{where} {reason}", code=code, hint=fix)
