"""Random types of arguments: the same shape as every kind of schema, and an answer of its own to what fits.

A `Shape` judges values by hand-written rules, so that it can be held against validators. `wild` makes JSON Schema of
any form, sensible or not. Everything is drawn from one `random.Random`, so that a seed is a whole run.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Optional, cast

import msgspec
from pydantic import Field, create_model
from typing_extensions import TypedDict

CANARY = "canary-7f3a"
"""In every text that is sent, and in no schema: nothing that is said about a refused value may hold it."""

WORDS = ("a", "b", "order_id", "items", "class_", "x1", "note", "deep")
CHOICES = ("red", "green", "blue")


@dataclass(frozen=True)
class Shape:
    """One type of value."""

    hint: Any
    """For pydantic and msgspec alike."""
    schema: dict[str, Any]
    fits: Callable[[Any], bool]
    make: Callable[[random.Random], Any]
    """A value that fits."""


def _whole(low: int | None) -> Shape:
    bound = {} if low is None else {"minimum": low}
    return Shape(
        hint=int if low is None else Annotated[int, Field(ge=low), msgspec.Meta(ge=low)],
        schema={"type": "integer", **bound},
        fits=lambda value: type(value) is int and (low is None or value >= low),
        make=lambda rng: rng.choice([0, 1, 7, 2**31, 2**53 + 1, 2**63, 2**64 + 1, 10**30]) + (low or 0),
    )


def _text(longest: int | None) -> Shape:
    bound = {} if longest is None else {"maxLength": longest}
    return Shape(
        hint=str if longest is None else Annotated[str, Field(max_length=longest), msgspec.Meta(max_length=longest)],
        schema={"type": "string", **bound},
        fits=lambda value: type(value) is str and (longest is None or len(value) <= longest),
        make=lambda rng: rng.choice(["", "é", "\u2028", "0", CANARY])[:longest],
    )


_FLAG = Shape(bool, {"type": "boolean"}, lambda value: type(value) is bool, lambda rng: rng.random() < 0.5)
_RATIO = Shape(
    float, {"type": "number"}, lambda value: type(value) in (int, float), lambda rng: rng.choice([0.5, -1e300, 3, 2.0])
)
_CHOICE = Shape(
    Literal[CHOICES],
    {"enum": list(CHOICES)},
    lambda value: type(value) is str and value in CHOICES,
    lambda rng: rng.choice(CHOICES),
)


def _optional(inner: Shape) -> Shape:
    return Shape(
        hint=Optional[inner.hint],  # noqa: UP045 - a hint that is a value
        schema={"anyOf": [inner.schema, {"type": "null"}]},
        fits=lambda value: value is None or inner.fits(value),
        make=lambda rng: None if rng.random() < 0.3 else inner.make(rng),
    )


def _list(inner: Shape) -> Shape:
    return Shape(
        hint=list[inner.hint],
        schema={"type": "array", "items": inner.schema},
        fits=lambda value: type(value) is list and all(map(inner.fits, value)),  # type: ignore[reportUnknownArgumentType]
        make=lambda rng: [inner.make(rng) for _ in range(rng.randrange(3))],
    )


def _table(inner: Shape) -> Shape:
    return Shape(
        hint=dict[str, inner.hint],
        schema={"type": "object", "additionalProperties": inner.schema},
        fits=lambda value: type(value) is dict and all(map(inner.fits, value.values())),  # type: ignore[reportUnknownArgumentType]
        make=lambda rng: {rng.choice(WORDS): inner.make(rng) for _ in range(rng.randrange(3))},
    )


@dataclass(frozen=True)
class Fields:
    """Arguments: names with shapes, some of them required."""

    shapes: dict[str, Shape]
    required: frozenset[str]

    def fits(self, value: Any) -> bool:
        return (
            type(value) is dict
            and value.keys() <= self.shapes.keys()  # type: ignore[reportUnknownMemberType]
            and value.keys() >= self.required  # type: ignore[reportUnknownMemberType]
            and all(self.shapes[name].fits(part) for name, part in value.items())  # type: ignore[reportUnknownArgumentType]
        )

    def make(self, rng: random.Random) -> dict[str, Any]:
        sent = [name for name in self.shapes if name in self.required or rng.random() < 0.5]
        return {name: self.shapes[name].make(rng) for name in sent}

    @property
    def schema(self) -> dict[str, Any]:
        properties = {name: shape.schema for name, shape in self.shapes.items()}
        return {"type": "object", "properties": properties, "required": sorted(self.required)}


def fields(rng: random.Random, depth: int = 2) -> Fields:
    names = rng.sample(WORDS, rng.randrange(1, 4))
    return Fields({name: shape(rng, depth) for name in names}, frozenset(name for name in names if rng.random() < 0.6))


def shape(rng: random.Random, depth: int) -> Shape:
    plain = [
        _whole(rng.choice([None, 0, -5])), _text(rng.choice([None, 3])), _FLAG, _RATIO, _CHOICE,
    ]  # fmt: skip
    if depth == 0 or rng.random() < 0.6:
        return rng.choice(plain)
    inner = shape(rng, depth - 1)
    kind = rng.randrange(4)
    if kind == 3:
        return _object(fields(rng, depth - 1))
    return (_optional, _list, _table)[kind](inner)


def _object(inner: Fields) -> Shape:
    return Shape(
        hint=as_row(inner),
        schema={**inner.schema, "additionalProperties": False},
        fits=inner.fits,
        make=inner.make,
    )


def as_row(of: Fields) -> Any:
    make: Any = TypedDict
    return make(
        "Row", {name: one.hint if name in of.required else NotRequired[one.hint] for name, one in of.shapes.items()}
    )


def as_model(of: Fields) -> Any:
    make: Any = create_model
    return make("Model", **{name: (one.hint, ... if name in of.required else None) for name, one in of.shapes.items()})


def as_record(of: Fields) -> Any:
    made = [
        (name, one.hint) if name in of.required else (name, one.hint, dataclasses.field(default=None))
        for name, one in of.shapes.items()
    ]
    return dataclasses.make_dataclass("Record", made, kw_only=True)


def as_struct(of: Fields) -> Any:
    made = [
        (name, one.hint) if name in of.required else (name, one.hint | msgspec.UnsetType, msgspec.UNSET)
        for name, one in of.shapes.items()
    ]
    return msgspec.defstruct("Struct", made, kw_only=True)


def as_draft_07(of: Fields) -> Any:
    return {"$schema": "http://json-schema.org/draft-07/schema#", **of.schema}


def as_pair(of: Fields) -> Any:
    return Pair(of)


class Pair:
    """A validator of its own: the shape itself."""

    def __init__(self, of: Fields) -> None:
        self._fields = of

    def validate(self, value: Any) -> dict[str, Any]:
        if self._fields.fits(value):
            return {"value": value}
        parts: list[Any] = list(value.values()) if isinstance(value, dict) else [value]  # type: ignore[reportUnknownArgumentType]
        said = [f"{part!s:.200} does not fit" for part in parts if not isinstance(part, (dict, list))]
        return {"issues": [{"message": text, "path": []} for text in said]}

    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        return self._fields.schema


KINDS: tuple[Callable[[Fields], Any], ...] = (
    as_model, as_row, as_record, as_struct, lambda of: of.schema, as_draft_07, as_pair,
)  # fmt: skip


def near(rng: random.Random, value: Any) -> Any:
    """The value with one thing changed somewhere: often just not fitting any more."""
    if type(value) is dict and value and rng.random() < 0.7:
        name: str = rng.choice(sorted(value))  # type: ignore[reportUnknownArgumentType]
        given = cast("dict[str, Any]", value)
        rest = {key: part for key, part in given.items() if key != name}
        change = rng.randrange(4)
        if change == 0:
            return rest
        if change == 1:
            return {**rest, name + CANARY: given[name]}
        return {**rest, name: near(rng, given[name])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        items = cast("list[Any]", value)
        at = rng.randrange(len(items))
        return [*items[:at], near(rng, items[at]), *items[at + 1 :]]
    return anything(rng, 1)


def anything(rng: random.Random, depth: int, secret: str = CANARY) -> Any:
    plain: list[Any] = [
        None, True, False, 0, 1, -7, 2**64, 0.5, "", "false", "1", "null", secret, f"{secret}@example.org", [], {},
    ]  # fmt: skip
    if depth == 0 or rng.random() < 0.6:
        return rng.choice(plain)
    if rng.random() < 0.5:
        return [anything(rng, depth - 1, secret) for _ in range(rng.randrange(3))]
    return {rng.choice((*WORDS, "", "$ref")): anything(rng, depth - 1, secret) for _ in range(rng.randrange(3))}


_KEYWORDS: tuple[str, ...] = (
    "type", "enum", "const", "properties", "patternProperties", "additionalProperties", "required", "items",
    "prefixItems", "contains", "minContains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$defs",
    "definitions", "$id", "$anchor", "$dynamicRef", "minimum", "exclusiveMinimum", "multipleOf", "minLength",
    "pattern", "format", "maxItems", "uniqueItems", "maxProperties", "propertyNames", "dependentRequired",
    "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "title",
    "description", "default", "examples", "nullable", "discriminator",
)  # fmt: skip


_RARE = ("$id", "$dynamicRef", "$anchor", "unevaluatedItems")


def wild(rng: random.Random) -> Any:
    """A JSON Schema of any form: mostly sensible, sometimes not."""
    made: Any = _wild(rng, 3)
    if not isinstance(made, dict):
        return made
    root = cast("dict[str, Any]", made)
    if rng.random() < 0.1:
        return root
    root.setdefault("type", "object")
    root.setdefault("properties", {name: _wild(rng, 2) for name in rng.sample(WORDS, 2)})
    if rng.random() < 0.9:
        root["$defs"] = {name: _wild(rng, 2) for name in "AB"}
        root["type"] = "object"
    if rng.random() < 0.3:
        root["$schema"] = rng.choice([
            "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
            "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema",
            *["https://json-schema.org/draft/2020-12/schema"] * 5, "https://example.org/own",
        ])  # fmt: skip
    return root


def _wild(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.15:
        leaves: list[Any] = [
            True, False, {}, {"type": "integer"}, {"type": "string"}, {"type": "null"}, {"$ref": "#/$defs/A"},
            {"$ref": "#/$defs/B"}, {"$ref": "#"}, {"enum": ["red", 1, None]},
        ]  # fmt: skip
        return rng.choice(leaves)
    keys = [key for key in rng.sample(_KEYWORDS, rng.randrange(1, 5)) if key not in _RARE or rng.random() < 0.1]
    return {key: _wild_value(rng, key, depth - 1) for key in keys}


def _wild_value(rng: random.Random, key: str, depth: int) -> Any:
    if rng.random() < 0.01:
        return anything(rng, 1, "red")
    match key:
        case "type":
            kinds = ["object", "array", "string", "integer", "number", "boolean", "null"]
            return rng.choice(kinds) if rng.random() < 0.8 else rng.sample(kinds, 2)
        case "properties" | "dependentSchemas" | "$defs" | "definitions" | "dependencies":
            return {rng.choice((*WORDS, "$ref", "")): _wild(rng, depth) for _ in range(rng.randrange(3))}
        case "patternProperties":
            return {rng.choice(["^a", "e$", "(?=a)"]): _wild(rng, depth)}
        case "allOf" | "anyOf" | "oneOf" | "prefixItems":
            return [_wild(rng, depth) for _ in range(rng.randrange(1, 3))]
        case "required":
            return rng.sample(WORDS, 1)
        case "dependentRequired":
            return {rng.choice(WORDS): rng.sample(WORDS, 1)}
        case "enum" | "examples":
            return [anything(rng, 1, "red") for _ in range(rng.randrange(1, 4))]
        case "const" | "default":
            return anything(rng, 2, "red")
        case "$ref" | "$dynamicRef":
            return rng.choice(
                [
                    "#",
                    "#/$defs/A",
                    "#/$defs/B",
                    "#/definitions/a",
                    "#/properties/a",
                    "#x",
                    "https://example.org/s",
                    "#/a",
                ]
            )
        case "$id":
            return rng.choice(["https://example.org/s", "#x", "relative.json"])
        case "$anchor":
            return "x"
        case "minimum" | "exclusiveMinimum":
            return rng.choice([0, -1.5, 2**64, True])
        case "multipleOf":
            return rng.choice([2, 0.1, 1e-300, 3.0])
        case "minLength" | "maxItems" | "maxProperties" | "minContains":
            return rng.choice([0, 1, 2, 10**30])
        case "pattern":
            return rng.choice(["^a", "(?=a)", "(a+)+$", "(((a{99}){99}){99})", "[", r"\d", "é"])
        case "format":
            return rng.choice(["date", "email", "uri", "nobody-knows", "regex", "ipv6"])
        case "uniqueItems" | "nullable":
            return rng.random() < 0.5
        case "title" | "description":
            return rng.choice(["", 'A\n"""\nimport os', "class", "None", "\u2028", "x" * 300])
        case "discriminator":
            return {"propertyName": "a", "mapping": {"a": "#/$defs/A"}}
        case _:
            return _wild(rng, depth)
