"""The part of a pydantic type that has to be judged a second time, as JSON Schema.

Python says that 1 == True == 1.0, and so do `Literal` and `Enum`, also under strict validation: a tool that declares
`Literal[True]` would run with a sent 1. Where a type holds such choices, this makes a schema of its structure and its
choices, which tells the two apart; all else in it is left open, since pydantic has judged it. Knows core schemas, not
adapters or tools; `contract.schema` calls it at registration. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from math import isfinite
from typing import Any, Final

from ringfence.contract.core import FIELDS, fields, nodes
from ringfence.contract.keywords import Json, node_of
from ringfence.contract.references import HOME

_SCALARS: Final = {"int": "integer", "float": "number", "bool": "boolean", "str": "string", "none": "null"}
_INSIDE: Final = frozenset({"model", "dataclass", "default", "function-after", "custom-error"})
_CALLED_FIRST: Final = frozenset({"function-before", "function-wrap"})
_LISTS: Final = frozenset({"list", "set", "frozenset"})
_ANY: Final[Json] = {"type": "any"}
_UNKNOWN: Final = object()
"""In place of a choice that JSON has no form for."""


def exact(core: Any) -> Json | None:
    """JSON Schema 2020-12 of what tells numbers from truth values in a type; None, when nothing has to."""
    if not any(_is_confusing(node) for node in nodes(core)):
        return None
    return _Exact(core).run()


def _is_confusing(node: Json) -> bool:
    match node.get("type"):
        case "literal":
            return any(isinstance(_bare(value), (int, float)) for value in node["expected"])
        case "enum":
            return any(isinstance(_bare(value), (int, float)) for value in node["members"])
        case "function-plain":
            return _takes_address(node)
        case _:
            return False


def _takes_address(node: Json) -> bool:
    """Whether it makes IP addresses of whatever it gets: pydantic's own type does so of 5, and of true."""
    owner = getattr(node_of(node.get("function")).get("function"), "__self__", None)
    return getattr(owner, "__module__", "") == "pydantic.networks" and str(owner).find("IPvAny") >= 0


def _has_others(kind: type[Enum]) -> bool:
    """Whether an Enum makes members of other values."""
    return getattr(kind._missing_, "__func__", None) is not getattr(Enum._missing_, "__func__", None)


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


class _Exact:
    def __init__(self, core: Any) -> None:
        self._core = core
        self._targets: dict[str, Json] = {node["ref"]: node for node in nodes(core) if "ref" in node}
        self._names: dict[tuple[str, bool], str] = {}
        self._definitions: Json = {}

    def run(self) -> Json:
        made = self._of(self._core, loose=False)
        return {**made, "$defs": self._definitions} if self._definitions else made

    def _of(self, node: Json, *, loose: bool) -> Json:
        """The schema of a node.

        Args:
            loose: Whether the user's own code sees the value first, and may take another form for the one declared.
        """
        if node["type"] == "definition-ref":
            return self._referred(node["schema_ref"], loose=loose)
        return self._referred(node["ref"], loose=loose) if "ref" in node else self._bare_of(node, loose=loose)

    def _referred(self, ref: str, *, loose: bool) -> Json:
        if (ref, loose) not in self._names:
            name = self._names[ref, loose] = f"D{len(self._names)}"
            self._definitions[name] = True  # holds the place of a type that contains itself
            self._definitions[name] = self._bare_of(self._targets[ref], loose=loose)
        return {"$ref": HOME + self._names[ref, loose]}

    def _bare_of(self, node: Json, *, loose: bool) -> Json:
        kind = node["type"]
        if kind in _SCALARS:
            return {} if loose or node.get("strict") is False else {"type": _SCALARS[kind]}
        if kind in FIELDS:
            parts = {name: self._of(one["schema"], loose=loose) for name, one in fields(node)}
            return _typed("object", loose, properties={name: part for name, part in parts.items() if part})
        if kind in _LISTS:
            return _typed("array", loose, items=self._of(node.get("items_schema", _ANY), loose=loose))
        if kind in _INSIDE:
            return self._of(node["schema"], loose=loose)
        if kind in _CALLED_FIRST:
            return self._of(node["schema"], loose=True)
        match kind:
            case "definitions":
                return self._of(node["schema"], loose=loose)
            case "nullable":
                return {"anyOf": [self._of(node["schema"], loose=loose), {"type": "null"}]}
            case "literal":
                return _choice(node["expected"], loose=loose)
            case "enum":
                return _choice(node["members"], loose=loose or _has_others(node["cls"]))
            case "function-plain":
                return {"type": "string"} if _takes_address(node) else {}
            case _:
                return self._combined(node, loose=loose)

    def _combined(self, node: Json, *, loose: bool) -> Json:
        match node["type"]:
            case "union":
                choices: list[Any] = node["choices"]  # each a schema, or one with a label
                return {"anyOf": [self._of(_unlabelled(one), loose=loose) for one in choices]}
            case "tagged-union":
                return {"anyOf": [self._of(one, loose=loose) for one in node["choices"].values()]}
            case "tuple":
                return self._tuple(node, loose=loose)
            case "dict":
                values = self._of(node.get("values_schema", _ANY), loose=loose)
                return _typed("object", loose, additionalProperties=values)
            case "lax-or-strict":
                return self._of(node["strict_schema"], loose=loose)
            case "json-or-python":
                return self._of(node["json_schema"], loose=loose)
            case "chain":
                return self._of(node["steps"][0], loose=loose)
            case _:  # scalars that JSON lacks, and what only the user's own code knows
                return {}

    def _tuple(self, node: Json, *, loose: bool) -> Json:
        parts = [self._of(one, loose=loose) for one in node["items_schema"]]
        at = node.get("variadic_item_index")
        fixed = parts if at is None else parts[:at]
        made = {"prefixItems": fixed} if fixed else {}
        if at is not None and at == len(parts) - 1:  # otherwise what follows the repeated item has no fixed place
            made["items"] = parts[at]
        return _typed("array", loose, **made)


def _unlabelled(choice: Any) -> Json:
    return choice[0] if isinstance(choice, tuple) else choice  # type: ignore[reportUnknownVariableType]


def _typed(kind: str, loose: bool, **demands: Any) -> Json:
    return demands if loose else {"type": kind, **demands}


def _choice(members: Iterable[Any], *, loose: bool) -> Json:
    """One of the values; only the kind of them, where they may be made of others."""
    values = [_plain(_bare(member)) for member in members]
    if not loose and _UNKNOWN not in values:
        return {"enum": values}
    has_bool = any(isinstance(value, bool) for value in values)
    has_number = any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if has_bool == has_number:
        return {}
    return {"not": {"type": "number" if has_bool else "boolean"}}


def _plain(value: Any) -> Any:
    """A value of a subclass as what JSON makes of it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) else _UNKNOWN
    return str(value) if isinstance(value, str) else _UNKNOWN
