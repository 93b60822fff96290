"""From JSON Schema to TypeScript declarations that a model reads: interfaces, unions of literals, arrays.

Exact where TypeScript can say it, `any` where it cannot; what a type cannot say stands in comments. Differs from
`python_types` in how things are written only. `enclave.stubs_typescript` calls it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from ringfence.contract.keywords import Json, node_of
from ringfence.contract.python_types import Declarations, remark
from ringfence.contract.restorable import MARK

_SCALARS: Final = {"string": "string", "number": "number", "boolean": "boolean"}
_RESTORED: Final = {"datetime.datetime": "Date | string", "bytes": "Uint8Array"}
"""Results that arrive as more than text, by the class that Python has for them; a date without an offset stays text."""
_TEXTS: Final = {
    "datetime.datetime": "text where it has no offset",
    "datetime.date": "ISO date",
    "datetime.time": "ISO time",
    "datetime.timedelta": "ISO duration",
    "decimal.Decimal": "decimal",
    "uuid.UUID": "UUID",
}
"""What their text is."""
_SAFE: Final = 2**53 - 1
"""The largest whole number that a `number` holds exactly; beyond it a script gets a BigInt."""
_LIMITS: Final = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_UNIONS: Final = frozenset({"Date | string", "string | Date", "number | bigint"})
_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_RESERVED: Final = frozenset(
    """any boolean number string null undefined unknown never void object symbol bigint Date Uint8Array Array Record
    Promise Map Set Error Iterable Parameters ReturnType ToolError GlobalFunctionError CallOptions Result tools inputs
    console""".split()
)


class TypeScript(Declarations):
    """The interfaces and aliases that a set of schemas needs, each written once, under names that do not collide."""

    def __init__(self, methods: Iterable[str] = ()) -> None:
        super().__init__({*methods, *_RESERVED})

    def expression(self, schema: Any, definitions: Json, name: str) -> str:
        """The type of a schema, as source text; the arguments are those of `Declarations.expression`."""
        found = self._members(schema, definitions, name)
        members = dict.fromkeys(part for one in found for part in (one.split(" | ") if one in _UNIONS else [one]))
        if not members or members.keys() & {"any", "Any"}:
            return "any"
        return " | ".join([member for member in members if member != "null"] + ["null"] * ("null" in members))

    def _simple(self, node: Json, definitions: Json, name: str) -> str:
        if MARK in node:
            return _RESTORED.get(str(node[MARK]), "string")
        match node.get("type"):
            case "array":
                return self._array(node, definitions, name)
            case "object" if "properties" in node:
                return self._declared(str(node.get("title", name)), node, definitions)
            case "object":
                values = self.expression(node.get("additionalProperties", True), definitions, f"{name}Value")
                return f"Record<string, {values}>"
            case "null":
                return "null"
            case "string" if node.get("format") == "date-time":
                return "string | Date"
            case "integer":
                return _whole(node)
            case str(kind) if kind in _SCALARS:
                return _SCALARS[kind]
            case _:
                return "any"

    def _literal(self, values: list[Any]) -> list[str]:
        if any(type(value) not in (str, int, float, bool, type(None)) for value in values):
            return ["any"]
        return [quoted(value) for value in values]

    def _array(self, node: Json, definitions: Json, name: str) -> str:
        if prefix := list(node.get("prefixItems", ())):
            return self._tuple(prefix, node, definitions, name)
        return _listed(self.expression(node.get("items", True), definitions, f"{name}Item"))

    def _tuple(self, prefix: list[Any], node: Json, definitions: Json, name: str) -> str:
        """`[string, number?, ...boolean[]]`."""
        items = [self.expression(item, definitions, f"{name}Item") for item in prefix]
        needed = node.get("minItems", 0)
        items = [item if at < needed else f"{_grouped(item)}?" for at, item in enumerate(items)]
        rest = node.get("items", True)
        if rest is not False and node.get("maxItems") != len(prefix):
            items.append(f"...{_listed(self.expression(rest, definitions, f'{name}Item'))}")
        return f"[{', '.join(items)}]"

    def _written(self, name: str, key: bytes, node: Json, definitions: Json) -> str:
        final = self._free(name)
        self._names[key] = final
        self._texts[final] = ""  # holds the place, so that what it needs comes after it
        if node.get("type") == "object" and "properties" in node:
            self._texts[final] = self._class(final, node, definitions)
            return final
        alias = self.expression(node, definitions, final)
        if alias == "any":
            del self._texts[final]  # a name for anything says less than the word
            self._names[key] = alias
            return alias
        self._texts[final] = f"type {final} = {alias};"
        return final

    def _class(self, name: str, node: Json, definitions: Json) -> str:
        about = comment(str(node["description"]), "") if node.get("description") else ""
        members = "".join(f"  {line}\n" for line in self.members(node, definitions, name))
        return f"{about}interface {name} {{\n{members}}}"

    def members(self, node: Json, definitions: Json, name: str) -> list[str]:
        """`count?: number; // how many`, one for each property, and one for all others where there may be some."""
        required = node.get("required", ())
        lines: list[str] = []
        for key, schema in node.get("properties", {}).items():
            camel = "".join(part.capitalize() for part in re.split(r"[\W_]+", key))
            hint = self.expression(schema, definitions, f"{name}{camel}")
            notes = [remark(_unsaid(schema), quoted), *_texts(schema)]
            note = inline("; ".join(filter(None, notes)))
            lines.append(f"{property_name(key)}{'' if key in required else '?'}: {hint};{f' // {note}' * bool(note)}")
        rest = node.get("additionalProperties", False)
        if rest is not False and (rest is not True or "additionalProperties" in node):
            other = self.expression(rest, definitions, f"{name}Other")
            if not lines or other == "any":
                lines.append(f"[other: string]: {other};")
            else:  # TypeScript has no type for all members but those that are named
                lines.append(f"[other: string]: any; // others: {inline(other)}")
        return lines


def _whole(node: Json) -> str:
    """A whole number, as a script gets it and may send it."""
    low = max(node.get("minimum", -_SAFE), node.get("exclusiveMinimum", -_SAFE))
    high = min(node.get("maximum", _SAFE), node.get("exclusiveMaximum", _SAFE))
    if low > _SAFE or high < -_SAFE:
        return "bigint"
    beyond = [node[key] for key in _LIMITS if key in node and abs(node[key]) > _SAFE]
    return "number | bigint" if beyond else "number"


def _unsaid(schema: Any) -> Any:
    """What a type does not say: without the length of a tuple."""
    node = node_of(schema)
    left = {key: part for key, part in node.items() if "prefixItems" not in node or key not in ("minItems", "maxItems")}
    for key in ("anyOf", "oneOf"):
        if key in left:
            left[key] = [_unsaid(choice) for choice in left[key]]
    return left | ({"items": _unsaid(left["items"])} if "items" in left else {})


def _texts(schema: Any) -> list[str]:
    """What the texts of a result are, that are more than text elsewhere."""
    node = node_of(schema)
    found = [_TEXTS[node[MARK]]] if node.get(MARK) in _TEXTS else []
    inner = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("prefixItems", ())]
    inner += [node[key] for key in ("items", "additionalProperties") if key in node]
    return list(dict.fromkeys([*found, *(text for part in inner for text in _texts(part))]))


def _grouped(item: str) -> str:
    return f"({item})" if " | " in item else item


def _listed(item: str) -> str:
    return f"{_grouped(item)}[]"


def property_name(key: str) -> str:
    """A key as a member of a type: quoted where it is no identifier."""
    return key if _PLAIN.fullmatch(key) else quoted(key)


def quoted(value: Any) -> str:
    """A literal of JSON's types."""
    if type(value) is int and abs(value) > _SAFE:
        return f"{value}n"
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def inline(text: str) -> str:
    """One line that can follow `//`."""
    flat = " ".join(text.encode(errors="replace").decode().split())
    return "".join(character for character in flat if character.isprintable())


def comment(text: str, indent: str) -> str:
    """A `/** … */` in lines of their own, which the text cannot end."""
    printable = "".join(
        character if character.isprintable() or character == "\n" else " "
        for character in text.encode(errors="replace").decode().replace("\r\n", "\n")
    ).replace("*/", "* /")
    lines = [line.rstrip() for line in printable.strip().splitlines()]
    if len(lines) <= 1:
        return f"{indent}/** {''.join(lines)} */\n"
    return "".join([f"{indent}/**\n", *(f"{indent} * {line}".rstrip() + "\n" for line in lines), f"{indent} */\n"])
