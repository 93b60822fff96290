"""A value that would take too long is known before anybody judges it, and ordinary ones are never meant."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Discriminator, Field, JsonValue, Tag, TypeAdapter

from ringfence.contract.raw import RawInput
from ringfence.contract.schema import PydanticInput
from ringfence.ports import InputSchema
from tests.contract.helpers import codes

COMPLEX = [("", "too_complex")]


class And(BaseModel):
    op: Literal["and"]
    args: list[And | Or]


class Or(BaseModel):
    op: Literal["or"]
    args: list[And | Or]


class All(BaseModel):
    op: Literal["all"]
    args: list[Annotated[All | Not, Field(discriminator="op")]]


class Not(BaseModel):
    op: Literal["not"]
    arg: Annotated[All | Not, Field(discriminator="op")]


def kind_of(value: Any) -> str:
    return "list" if isinstance(value, dict) and "items" in value else "one"


class One(BaseModel):
    of: Several | None = None


class Several(BaseModel):
    items: list[Annotated[Annotated[One, Tag("one")] | Annotated[Several, Tag("list")], Discriminator(kind_of)]]


class Tree(BaseModel):
    left: Tree | None = None
    right: Tree | None = None
    below: dict[str, list[Tree]] = {}


class Free(BaseModel):
    value: JsonValue
    nested: dict[str, Free] | list[Free] | str | None = None


def made(kind: Any) -> PydanticInput:
    return PydanticInput(TypeAdapter(kind), "f")


def deep(levels: int, last: Any, op: str = "and") -> Any:
    for _ in range(levels):
        last = {"op": op, "args": [last]}
    return last


def sent(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_small_value_under_choices_in_circles_is_refused_in_place_of_blocking_for_seconds() -> None:
    schema = made(And)
    assert codes(schema, sent(deep(22, {"op": "and", "args": []}))) == COMPLEX
    assert codes(schema, sent(deep(22, {"op": "and", "args": 5}))) == COMPLEX


def test_trees_of_usual_depth_are_judged_under_choices_in_circles() -> None:
    schema = made(And)
    assert schema.validate(sent(deep(10, {"op": "and", "args": []}))).op == "and"
    full: Any = {"op": "and", "args": []}
    for _ in range(6):
        full = {"op": "and", "args": [full, {**full, "op": "or"}]}
    assert len(schema.validate(sent(full)).args) == 2


def chain(levels: int, around: str, last: str) -> str:
    """JSON text of a value inside a value, where `@` stands in the one around."""
    for _ in range(levels):
        last = around.replace("@", last)
    return last


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (All, chain(25, '{"op":"all","args":[@]}', '{"op":"all","args":[]}')),
        (All, '{"op":"all","args":[@]}'.replace("@", chain(50, '{"op":"not","arg":@}', '{"op":"all","args":[]}'))),
        (Several, chain(25, '{"items":[@]}', '{"items":[]}')),
        (Tree, chain(30, '{"left":@,"below":{"a":[{},{}]}}', "{}")),
        (Free, '{"value":@}'.replace("@", chain(30, '{"a":[@]}', "1"))),
        (Free, chain(12, '{"value":1,"nested":[@]}', '{"value":1}')),
    ],
)
def test_nothing_is_too_deep_where_one_look_tells_which_choice_is_meant(kind: Any, text: str) -> None:
    made(kind).validate(text.encode())


def raw(part: dict[str, Any]) -> InputSchema:
    return RawInput({"type": "object", "properties": {"a": part}}, "f")


class Text(BaseModel):
    a: Annotated[str, Field(pattern="[ab]*a[ab]{1000}c")]


@pytest.mark.parametrize("schema", [raw({"pattern": "[ab]*a[ab]{1000}c"}), made(Text)])
def test_a_long_text_under_a_large_pattern_is_refused(schema: InputSchema) -> None:
    assert codes(schema, sent({"a": "a" * 900_000})) == COMPLEX
    fine = {"a": "a" + "b" * 1000 + "c"}
    assert schema.validate(sent(fine)) in (fine, Text(**fine))


def test_a_long_text_under_a_usual_pattern_is_judged() -> None:
    schema = raw({"pattern": "^[a-z0-9_.]+$"})
    assert schema.validate(sent({"a": "a" * 1_000_000})) == {"a": "a" * 1_000_000}
    beside = RawInput(
        {"type": "object", "properties": {"a": {}, "id": {"pattern": "^[0-9a-f]{8}-[0-9a-f]{200}$"}}}, "f"
    )
    assert beside.validate(sent({"a": "a" * 1_000_000})) == {"a": "a" * 1_000_000}


@pytest.mark.parametrize("around", ["@", '{"x":[@]}', "[0,@]"])
def test_long_numbers_are_not_compared_by_the_thousand(around: str) -> None:
    schema = raw({"uniqueItems": True})
    many: list[Any] = [json.loads(around.replace("@", str(2**64 + at))) for at in range(3000)]
    assert codes(schema, sent({"a": many})) == COMPLEX
    few = {"a": [*many[:50], *range(20_000)]}
    assert schema.validate(sent(few)) == few


def test_values_without_an_end_of_choices_that_are_no_scalars_are_counted() -> None:
    schema = raw({"items": {"enum": [{"x": at} for at in range(2000)]}})
    assert codes(schema, sent({"a": [{"x": 5000}] * 30_000})) == COMPLEX
    assert schema.validate(sent({"a": [{"x": 5}] * 100})) == {"a": [{"x": 5}] * 100}
