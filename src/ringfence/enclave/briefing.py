"""What a model reads besides the stubs of the tools: what its security level forbids, how much it may do, and which other
names its script finds.

Comments, so that they stand below any stubs. Knows options and globals, no tools; a function of `globals` is asked for
its signature and its docstring, and is not called. `enclave.facade` calls it. Pure.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ringfence.enclave.check.vocabulary import SECURE_MODULES, STRICT_MODULES
from ringfence.enclave.globals import Function, Globals
from ringfence.enclave.options import EnclaveConfig
from ringfence.enclave.protocol import clip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """How one language is spoken of."""

    comment: str
    mapping: str
    sequence: str
    fails: str
    arguments: str
    forbidden: Mapping[str, tuple[str, str]]
    """By level: what most scripts would stumble over, and the only modules that may be imported."""


_MOST_NAMED: Final = 20
"""Keys of one object; the others are an ellipsis."""
_LONGEST_LINE: Final = 200
_WIDTH: Final = 116
_LONGEST_DEFAULT: Final = 40
_SIMPLE: Final = (type(None), bool, int, float, str)

_WORDS: Final[Mapping[str, _Words]] = {
    "python": _Words(
        comment="#",
        mapping="dict",
        sequence="list",
        fails="raise GlobalFunctionError (.message)",
        arguments="called with one object of arguments, or with keywords",
        forbidden={
            "STRICT": (
                "while, yield, global, nonlocal, classes that are no data classes, decorators of your own, getattr and "
                "the like with computed names, eval, names such as __x__, format fields with attributes",
                ", ".join(sorted(STRICT_MODULES - {"__future__"})),
            ),
            "SECURE": (
                "computed names of tools or attributes, eval and exec, vars and dir, metaclasses, names such as __x__, "
                "format fields with attributes, loops that never end",
                ", ".join(sorted(SECURE_MODULES - {"__future__"})),
            ),
        },
    ),
    "javascript": _Words(
        comment="//",
        mapping="object",
        sequence="array",
        fails="throw GlobalFunctionError (.message)",
        arguments="called with one object of arguments",
        forbidden={
            "STRICT": (
                "functions other than arrow functions, methods, generators, while, do, for-in, regular expressions, "
                "new Error, Promise, Map, Set, Symbol, Reflect, computed names of tools, eval, constructor and prototype",
                "",
            ),
            "SECURE": (
                "computed names of tools, eval and Function, constructor, prototype and __proto__, Reflect, Proxy, "
                "Object.defineProperty and the like, globalThis, loops that never end",
                "",
            ),
        },
    ),
}


def briefing(config: EnclaveConfig, namespaces: Mapping[str, Mapping[str, str]], globals_: Globals) -> str:
    """Lines of comments.

    Args:
        namespaces: configured ones, and `tools`, which is described elsewhere.
    """
    words = _WORDS[config.language]
    lines = [*_rules(config, words), *_namespaces(namespaces, words), *_globals(globals_, words)]
    return "".join(f"{words.comment} {line}\n" for line in lines)


def _rules(config: EnclaveConfig, words: _Words) -> Iterator[str]:
    forbidden, modules = words.forbidden.get(config.rules, ("", ""))
    if forbidden:
        yield from _wrapped(f"Not allowed in this script: {forbidden}.")
        if modules:
            yield from _wrapped(f"It may import {', '.join([*config.preload, modules])}, and nothing else.")
    elif config.preload:
        yield f"Besides Python's own modules it may import {', '.join(config.preload)}."
    turns = f", {config.max_iterations:,} turns of one loop" if config.max_iterations is not None else ""
    yield f"It may make {config.max_tool_calls:,} calls of tools{turns}, and take {config.timeout:g} seconds."


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ")


def _namespaces(namespaces: Mapping[str, Mapping[str, str]], words: _Words) -> Iterator[str]:
    rows = [
        f"  await {space}.{method}({{...}})  {words.comment} the tool {tool}"
        for space, methods in namespaces.items()
        if space != "tools"
        for method, tool in methods.items()
    ]
    if rows:
        yield f"Tools under other names, {words.arguments}:"
        yield from rows


def _globals(globals_: Globals, words: _Words) -> Iterator[str]:
    nodes: Mapping[str, Any] = json.loads(globals_.nodes)
    rows = [f"  {name}: {_shape(node, words)}" for name, node in sorted(nodes.items()) if node["k"] != "function"]
    if rows:
        yield "Further names, which can only be read:"
        yield from rows
    if globals_.functions:
        yield f"Functions, which {words.fails} when they fail:"
        yield from (_function(one, words) for one in globals_.functions)


def _shape(node: Mapping[str, Any], words: _Words) -> str:
    if node["k"] == "data":
        value: Any = node["v"]
        if type(value) is dict:
            return f"{words.mapping} of {_keys([*value])}"
        if type(value) is list:
            return f"{words.sequence} of {len(cast('list[Any]', value))}"
        tags: Mapping[str, Any] = node["tags"] or {}
        return next(iter(tags), type(value).__name__)
    members = [f"{name}()" if part["k"] == "function" else name for name, part in node["m"].items()]
    return f"{words.mapping if node['k'] == 'mapping' else 'object'} of {_keys(members)}"


def _keys(names: list[str]) -> str:
    more = ", …" if len(names) > _MOST_NAMED else ""
    return _line(", ".join(names[:_MOST_NAMED])) + more if names else "nothing"


def _function(function: Function, words: _Words) -> str:
    text = inspect.getdoc(function.call) or ""
    about = f"  {words.comment} {_line(text.splitlines()[0])}" if text else ""
    return f"  {'await ' * function.is_async}{function.name}{_signature(function.call)}{about}"


class _Written(str):
    """Text that a signature shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(call: Callable[..., Any]) -> str:
    """Of a host's function, without objects of the host as defaults."""
    try:
        found = inspect.signature(call)
        parameters = [
            one.replace(default=_default(one.default), annotation=_hint(one.annotation))
            for one in found.parameters.values()
        ]
        shown = found.replace(parameters=parameters, return_annotation=_hint(found.return_annotation))
        return _line(str(shown))
    except Exception:  # noqa: BLE001 - what C wrote may have none, and annotations are objects of the user's own
        return "(...)"


def _hint(annotation: Any) -> Any:
    return _Written(annotation) if type(annotation) is str else annotation


def _default(value: Any) -> Any:
    simple = value is inspect.Parameter.empty or (type(value) in _SIMPLE and len(repr(value)) <= _LONGEST_DEFAULT)
    return value if simple else _Written("...")


def _line(text: str) -> str:
    """One line that ends no comment."""
    flat = " ".join(text.encode(errors="replace").decode().split())
    return clip("".join(character for character in flat if character.isprintable()), _LONGEST_LINE)
