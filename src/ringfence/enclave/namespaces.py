"""Which tools a script finds as methods of which names: `tool_namespaces`, checked and frozen.

Every mistake is found while the enclave is built, in the order of the enclave catalogue (D4), adapted to the language:
a namespace is a top-level name of the script, a method a member, and each leads to one tool name that every adapter can
carry. Knows the names that languages keep for themselves (`languages`), and no tools.
`enclave.options` calls it; the guest builds its namespaces from what it returns. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn, cast

from ringfence.enclave.languages import PROTOTYPES, PYTHON, Language
from ringfence.errors import ConfigError
from ringfence.limits import shown
from ringfence.policy.names import MAX_NAME, is_carried

PREFIX: Final = "Invalid toolNamespaces: "
"""How every refusal begins (second seed, "Tool Namespaces")."""

Namespaces = Mapping[str, Mapping[str, str]]
"""Namespace to method, as the script spells it, to tool name."""


def parse(given: object, *, reserved: Collection[str] = (), language: Language = PYTHON) -> Namespaces:
    """Frozen copies in configuration order; empty for None.

    A list of methods leads to the tools `<namespace>.<method>`; a mapping names each tool itself. In Python a method that
    is a keyword is spelt with an underscore in scripts: `["del"]` of `mail` is `mail.del_(...)`, the tool `mail.del`.

    Args:
        given: namespace to a list (or tuple) of methods, or to a mapping of method to tool name.
        reserved: names of the enclave's own globals.
        language: of the scripts.

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
        _check_namespace(name, reserved, language)
        made[name] = MappingProxyType(_methods(name, methods, language))
    return MappingProxyType(made)


def _is_mapping(value: object) -> bool:
    return type(value) in (dict, MappingProxyType)


def _check_namespace(name: object, reserved: Collection[str], language: Language) -> None:
    where = f"namespace {shown(name)}"
    plain = _identifier(name, where, language)
    if plain in language.keywords:
        _refuse(where, f"is a reserved word of {language.title}", "choose another name")
    if plain in language.guest or plain in language.builtins:
        _refuse(where, "would hide a name that every script has", f"choose another name, such as '{plain}_tools'")
    if plain in language.refused_names:
        _refuse(where, "is a name that scripts may not use", f"choose another name, such as '{plain}_tools'")
    if plain in reserved:
        _refuse(where, "is also a name in globals", "rename one of the two")


def _identifier(name: object, where: str, language: Language) -> str:
    """Text that scripts can write as a name, and that is nobody's internal one."""
    if type(name) is not str:
        _refuse(where, f"is not text but {type(name).__name__}", "use a plain str")
    if language.identifier.fullmatch(name) is None:
        _refuse(where, "is not an identifier", f"use ASCII letters, digits and {language.signs}, not a digit first")
    if name.startswith("__") or name in PROTOTYPES:
        _refuse(where, "is a reserved name", f"choose another name; {language.private}")
    return name


def _methods(namespace: str, given: object, language: Language) -> dict[str, str]:
    """Method, as the script spells it, to tool name."""
    if type(given) not in (list, tuple) and not _is_mapping(given):
        kind = "None" if given is None else type(given).__name__
        fix = "list the methods, or map each method to its tool"
        _refuse(f"namespace {namespace!r}", f"is neither a plain list nor a plain mapping but {kind}", fix)
    made: dict[str, str] = {}
    for method, tool in _pairs(namespace, given):
        where = f"namespace {namespace!r}, method {shown(method)}"
        plain = _identifier(method, where, language)
        if plain in language.refused_members:
            _refuse(where, f"is {language.member} that scripts may not use", "map another method name to the tool")
        spelt = language.method(plain)
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
