"""From JSON Schema to Python type declarations that a model reads: TypedDict classes, Literals, unions.

Exact for what pydantic publishes, `Any` for what Python cannot say. Knows schemas and text, not tools; `enclave.stubs`
calls it for arguments and results. What it writes is meant to be read and type-checked, not run. Pure.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from ringfence.contract.binary import is_base64
from ringfence.contract.keywords import Json, node_of, parts
from ringfence.contract.restorable import MARK
from ringfence.limits import MIB, ValueBudget
from ringfence.values import canonical

_SCALARS: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_BUILTINS: Final = frozenset({"str", "int", "float", "bool", "list", "dict", "bytes"})
_RESERVED: Final = _BUILTINS | {
    "Any",
    "Literal",
    "NotRequired",
    "TypeAlias",
    "TypedDict",
    "builtins",
    "datetime",
    "decimal",
    "inputs",
    "tools",
    "uuid",
}
_BUDGET: Final = ValueBudget(size=8 * MIB, depth=200)
_BOUNDS: Final = {
    "minimum": ">= {}", "exclusiveMinimum": "> {}", "maximum": "<= {}", "exclusiveMaximum": "< {}",
    "multipleOf": "multiple of {}", "minLength": "length >= {}", "maxLength": "length <= {}",
    "pattern": "matches {}", "format": "format {}", "minItems": "items >= {}", "maxItems": "items <= {}",
    "minProperties": "keys >= {}", "maxProperties": "keys <= {}",
}  # fmt: skip
_OF_TEXT: Final = frozenset({"type", "format", "pattern", "contentEncoding", "default"})
_LONGEST_DEFAULT: Final = 60
_LONGEST_NAME: Final = 60
_DEEPEST: Final = 40
"""Declarations that need each other one by one; beyond it a type is `Any`. No reader follows that far."""


class Declarations:
    """The classes and aliases that a set of schemas needs, each written once, under names that do not collide."""

    def __init__(self, methods: Iterable[str]) -> None:
        """Start with none.

        Args:
            methods: Names that mean something else where the types are used: a builtin among them is written
                `builtins.list`, and no class gets such a name.
        """
        self._methods = frozenset(methods)
        self._names: dict[bytes, str] = {}
        self._used: set[str] = set(self._methods | _RESERVED)
        self._texts: dict[str, str] = {}
        self._depth = 0
        self._identities: dict[tuple[int, str], tuple[Json, bytes]] = {}
        self.imports: set[str] = set()
        """Names from `typing`, and modules (`builtins`, `datetime`, …), that the texts need."""

    def texts(self) -> list[str]:
        """Source of every declaration, in order of first use."""
        return list(self._texts.values())

    def expression(self, schema: Any, definitions: Json, name: str) -> str:
        """The type of a schema, as source text.

        Args:
            definitions: `$defs` of the whole schema.
            name: For an object that has no name of its own.
        """
        members = dict.fromkeys(self._members(schema, definitions, name))
        if not members or "Any" in members:
            return self._typing("Any")
        return " | ".join([member for member in members if member != "None"] + ["None"] * ("None" in members))

    def _members(self, schema: Any, definitions: Json, name: str) -> list[str]:
        """The members of the union that a schema stands for; commonly one."""
        node = node_of(schema)
        if "$ref" in node:
            return [self._referred(str(node["$ref"]), definitions)]
        if "const" in node or "enum" in node:
            return self._literal(node.get("enum", [node.get("const")]))
        choices: list[Any] = node.get("anyOf") or node.get("oneOf") or []
        if not choices and len(node.get("allOf", ())) == 1:
            choices = node["allOf"]
        if isinstance(node.get("type"), list):
            choices = [{**node, "type": kind} for kind in node["type"]]
        if choices:
            return [member for choice in choices for member in self._members(choice, definitions, name)]
        return [self._simple(node, definitions, name)]

    def _simple(self, node: Json, definitions: Json, name: str) -> str:
        if MARK in node:
            return self._class_of_python(str(node[MARK]))
        match node.get("type"):
            case "array":
                return self._array(node, definitions, name)
            case "object" if "properties" in node:
                return self._declared(str(node.get("title", name)), node, definitions)
            case "object":
                values = self.expression(node.get("additionalProperties", True), definitions, f"{name}Value")
                return f"{self._builtin('dict')}[{self._builtin('str')}, {values}]"
            case "null":
                return "None"
            case str(kind) if kind in _SCALARS:
                return self._builtin(_SCALARS[kind])
            case _:
                return "Any"

    def object_of(self, schema: Json, definitions: Json, name: str) -> str:
        """Name of the class declared for a whole schema with an object at its root."""
        return self._declared(str(schema.get("title", name)), schema, definitions)

    def _typing(self, name: str) -> str:
        self.imports.add(name)
        return name

    def _builtin(self, name: str) -> str:
        if name not in self._methods:
            return name
        self.imports.add("builtins")
        return f"builtins.{name}"

    def _class_of_python(self, name: str) -> str:
        """`bytes`, or a class of a module that is imported; the module's name may be a method's too."""
        module, dot, _ = name.partition(".")
        if not dot:
            return self._builtin(name)
        if module in self._methods:
            return self._typing("Any")
        self.imports.add(module)
        return name

    def _literal(self, values: list[Any]) -> list[str]:
        if any(type(value) not in (str, int, bool, type(None)) for value in values):
            return ["Any"]
        exact = [repr(value) for value in values if value is not None]
        literal = [f"{self._typing('Literal')}[{', '.join(exact)}]"] if exact else []
        return literal + ["None"] * (None in values)

    def _array(self, node: Json, definitions: Json, name: str) -> str:
        inner = list(node.get("prefixItems", ()))
        if not inner or isinstance(node.get("items"), dict):
            inner.append(node.get("items", True))
        return f"{self._builtin('list')}[{self.expression({'anyOf': inner}, definitions, f'{name}Item')}]"

    def _referred(self, reference: str, definitions: Json) -> str:
        name = reference.removeprefix("#/$defs/")
        if name not in definitions:
            return "Any"
        place = (id(definitions), name)
        if place not in self._identities:  # definitions are kept, so that their id stays theirs
            self._identities[place] = definitions, _identity(name, _bare(node_of(definitions[name])), definitions)
        return self._declared(name, node_of(definitions[name]), definitions, self._identities[place][1])

    def _declared(self, name: str, node: Json, definitions: Json, identity: bytes | None = None) -> str:
        node = _bare(node)
        key = _identity(name, node, definitions) if identity is None else identity
        if key in self._names:
            return self._names[key]
        if self._depth == _DEEPEST:
            return self._typing("Any")
        self._depth += 1
        final = self._written(_class_name(name), key, node, definitions)
        self._depth -= 1
        return final

    def _written(self, name: str, key: bytes, node: Json, definitions: Json) -> str:
        final = self._free(name)
        self._names[key] = final
        self._texts[final] = ""  # holds the place, so that what it needs comes after it
        if node.get("type") == "object" and "properties" in node:
            self._texts[final] = self._class(final, node, definitions)
        else:
            alias = self.expression(node, definitions, final)
            if alias == "Any":
                del self._texts[final]  # a name for anything says less than the word
                self._names[key] = alias
                return alias
            is_literal = "enum" in node or "const" in node
            shown = alias if is_literal else _quoted(alias)  # else it may use a name that is declared further down
            self._texts[final] = f"{final}: {self._typing('TypeAlias')} = {shown}"
        return final

    def _free(self, name: str) -> str:
        candidate, number = name, 2
        while candidate in self._used or keyword.iskeyword(candidate):
            candidate, number = f"{name}{number}", number + 1
        self._used.add(candidate)
        return candidate

    def _class(self, name: str, node: Json, definitions: Json) -> str:
        self._typing("TypedDict")
        required = node.get("required", ())
        fields: list[tuple[str, str, str]] = []
        for key, schema in node["properties"].items():
            hint = self.expression(schema, definitions, f"{name}{_class_name(key)}")
            if key not in required:
                hint = f"{self._typing('NotRequired')}[{hint}]"
            fields.append((key, hint, remark(schema)))
        about = f"  # {_line(node['description'])}" if node.get("description") else ""
        if any(not is_plain_name(key) or key in self._used for key, _, _ in fields):
            rows = [f"    {key!r}: {_quoted(hint)},{_comment(note)}" for key, hint, note in fields]
            return "\n".join([f"{name} = TypedDict({name!r}, {{{about}", *rows, "})"])
        rows = [f"    {key}: {hint}{_comment(note)}" for key, hint, note in fields]
        return "\n".join([f"class {name}(TypedDict):{about}", *(rows or ["    pass"])])


def restored(schema: Any) -> Any:
    """A result's schema with the classes that a script gets in place of some texts (`contract.restorable`)."""
    return _replaced(schema, lambda node: node.get(MARK))


def sent(schema: Any) -> Any:
    """An argument's schema with the class that a script passes in place of some texts (`contract.binary`)."""
    return _replaced(schema, lambda node: "bytes" if is_base64(node) else None)


def _replaced(schema: Any, class_of: Callable[[Json], str | None]) -> Any:
    node = node_of(schema)
    known = class_of(node) if node.get("type") == "string" and "enum" not in node else None
    if known is not None:
        return {key: part for key, part in node.items() if key not in _OF_TEXT} | {MARK: known}
    return {key: _replaced_part(key, part, class_of) for key, part in node.items()} if node else schema


def _replaced_part(key: str, part: Any, class_of: Callable[[Json], str | None]) -> Any:
    if key in ("properties", "$defs"):
        return {name: _replaced(one, class_of) for name, one in node_of(part).items()}
    if key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        return [_replaced(one, class_of) for one in cast("list[Any]", part)]
    return _replaced(part, class_of) if key in ("items", "additionalProperties") else part


def is_plain_name(name: str) -> bool:
    """Whether it can be written as a parameter or field (a leading `__` would be changed inside a class)."""
    is_name = name.isidentifier() and unicodedata.normalize("NFKC", name) == name  # Python reads it so
    return is_name and not keyword.iskeyword(name) and not name.startswith("__")


def remark(schema: Any, literal: Callable[[Any], str] = repr) -> str:
    """Description, bounds and default of a field, in one line. `literal` writes the default."""
    node = node_of(schema)
    words = [_line(node["description"])] if node.get("description") else []
    words += bounds(node)
    default = node.get("default")
    if default is not None and len(shown := literal(default)) <= _LONGEST_DEFAULT:
        words.append(f"default {_line(shown)}")
    return "; ".join(word.rstrip(".") if at < len(words) - 1 else word for at, word in enumerate(words))


def bounds(node: Json) -> list[str]:
    """What a schema demands beyond its type, in words."""
    found = [text.format(_line(str(node[key]))) for key, text in _BOUNDS.items() if key in node]
    for choice in map(node_of, [*node.get("anyOf", ()), *node.get("oneOf", ())]):
        found += [word for word in bounds(choice) if word not in found]
    if "items" in node:
        found += [f"each {word}" for word in bounds(node_of(node["items"]))]
    return found


def _bare(node: Json) -> Json:
    """A root without what only a root has: it is the same type elsewhere."""
    return {key: node[key] for key in node if key not in ("$defs", "$schema")}


def _identity(name: str, node: Json, definitions: Json) -> bytes:
    """Equal for declarations that would be written equally, whichever schema they come from."""
    reached: dict[str, Any] = {}
    waiting: list[Json] = [node]
    while waiting:
        for part in parts(waiting.pop()):
            target = str(part.get("$ref", "")).removeprefix("#/$defs/")
            if target in definitions and target not in reached:
                reached[target] = _visible(definitions[target])
                waiting.append(definitions[target])
    return canonical([name, _visible(node), reached], _BUDGET)


def _visible(value: object) -> Any:
    """The schema without `additionalProperties: false`, which arguments say, results do not, and Python cannot."""
    if isinstance(value, list):
        return [_visible(item) for item in cast("list[Any]", value)]
    node = node_of(value)
    shown = {key: _visible(part) for key, part in node.items() if (key, part) != ("additionalProperties", False)}
    return shown if node else value


def _class_name(text: str) -> str:
    words = [word for word in re.split(r"[\W_]+", text, flags=re.ASCII) if word]
    name = "".join(word[0].upper() + word[1:] for word in words)[:_LONGEST_NAME]
    return name if name[:1].isalpha() else f"Type{name}"


def _quoted(expression: str) -> str:
    return repr(expression)


def _comment(text: str) -> str:
    return f"  # {text}" if text else ""


def _line(text: str) -> str:
    one = " ".join(text.encode(errors="replace").decode().split())
    return "".join(character for character in one if character.isprintable())
