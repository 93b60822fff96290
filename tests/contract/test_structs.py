"""Structs as contracts: strict, closed at every depth, and published as they are enforced."""

from __future__ import annotations

import datetime
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import msgspec
import pytest

from ringfence.contract.structs import StructInput, StructOutput, is_struct
from tests.contract.helpers import codes, config_error, issues, refusal

T = TypeVar("T")


class Color(Enum):
    RED = "red"


class Line(msgspec.Struct):
    sku: str
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


class Order(msgspec.Struct):
    """An order."""

    id: int
    rush: bool = False
    lines: list[Line] = []
    color: Color | None = None
    day: datetime.date | None = None

    def __post_init__(self) -> None:
        if self.id == 13:
            raise ValueError(f"thirteen is unlucky, as {self.id!r} is")
        if self.id == 14:
            raise RuntimeError("secret")


class Tree(msgspec.Struct, rename="camel"):
    own_name: str
    sub_trees: list[Tree] = []


class Box(msgspec.Struct, Generic[T]):
    content: T


class Row(msgspec.Struct, array_like=True):
    a: int


def made(struct: Any = Order, **options: Any) -> StructInput:
    return StructInput(struct, "tool 'x': input", **options)


def test_arguments_become_a_struct() -> None:
    data = b'{"id":1,"lines":[{"sku":"a"}],"color":"red","day":"2026-03-01"}'
    assert made().validate(data) == Order(1, lines=[Line("a")], color=Color.RED, day=datetime.date(2026, 3, 1))
    assert made().validate(b'{"id":%d}' % (2**64 + 1)) == Order(2**64 + 1)


def test_it_is_published_closed_at_every_depth() -> None:
    published = made().json_schema()
    assert (published["type"], published["additionalProperties"], list(published["$defs"])) == (
        "object", False, ["Line", "Color"],
    )  # fmt: skip
    assert published["$defs"]["Line"]["additionalProperties"] is False
    assert made().json_schema("draft-07")["definitions"]["Line"]["properties"]["count"]["minimum"] == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id":"1"}', [("id", "type")]),
        (b'{"id":true}', [("id", "type")]),
        (b'{"id":1,"rush":"false"}', [("rush", "type")]),
        (b'{"id":1,"rush":1}', [("rush", "type")]),
        (b'{"id":1.0}', [("id", "struct")]),
        (b'{"id":1,"lines":[{"sku":"a","count":0,"size":1}]}', [
            ("lines[0].size", "extra_forbidden"), ("lines[0].count", "minimum"),
        ]),
        (b'{"id":1,"day":"soon"}', [("day", "struct")]),
        (b'{"id":1,"color":"blue"}', [("color", "enum")]),
        (b"{}", [("id", "missing")]),
        (b"[1]", [("", "type")]),
        (b"{", [("", "json_invalid")]),
    ],
)  # fmt: skip
def test_validation_is_strict_and_names_every_mistake(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert sorted(codes(made(), data)) == sorted(expected)


def test_what_a_struct_itself_refuses_is_an_issue_without_the_value() -> None:
    assert codes(made(), b'{"id":13}') == [("", "struct")]
    assert issues(made(), b'{"id":14}') == [
        {"path": "", "message": "a validator raised RuntimeError", "code": "validator_error"}
    ]
    found = issues(made(), b'{"id":1,"day":"a-long-secret"}')
    assert (found[0]["path"], "secret" in found[0]["message"]) == ("day", False)


def test_lax_converts_and_stays_closed_at_the_root() -> None:
    lax = made(lax=True)
    assert lax.validate(b'{"id":"7","rush":"true"}') == Order(7, rush=True)
    assert codes(lax, b'{"id":"7","ruhs":1}') == [("ruhs", "extra_forbidden")]
    assert codes(lax, b"[1]") == [("", "struct")]
    assert lax.json_schema() == made().json_schema()


def test_a_struct_that_contains_itself_under_other_names_and_with_parameters() -> None:
    tree = made(Tree)
    assert tree.validate(b'{"ownName":"a","subTrees":[{"ownName":"b"}]}') == Tree("a", [Tree("b")])
    assert codes(tree, b'{"ownName":"a","subTrees":[{"own_name":"b"}]}') == [
        ("subTrees[0].own_name", "extra_forbidden"), ("subTrees[0].ownName", "missing"),
    ]  # fmt: skip
    assert made(Box[int]).validate(b'{"content":1}') == Box(1)
    assert codes(made(Box[int]), b'{"content":"x"}') == [("content", "type")]


class Odd:
    pass


class Held(msgspec.Struct):
    odd: Odd


class Slow(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(pattern="(?=a)b")]


@pytest.mark.parametrize("struct", [Held, Row, Slow])
def test_what_cannot_be_published_or_enforced_is_a_bad_schema(struct: Any) -> None:
    error = config_error(made, struct)
    assert (error.code, error.message[:15]) == ("bad_schema", "tool 'x': input")


def test_what_a_struct_is() -> None:
    assert [is_struct(value) for value in (Order, Box[int], Order(1), list[int], int, None)] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


def output(struct: Any = Order) -> StructOutput:
    return StructOutput(struct, "tool 'x': output")


def test_a_result_is_a_struct_or_makes_one() -> None:
    expected = b'{"id":1,"rush":false,"lines":[{"sku":"a","count":2}],"color":null,"day":null}'
    assert output().dump(Order(1, lines=[Line("a", 2)])) == expected
    assert output().dump({"id": 1, "lines": [Line("a", 2)]}) == expected
    assert output().json_schema("draft-07")["title"] == "Order"


def test_a_struct_made_with_wrong_values_is_refused_as_a_result() -> None:
    wrong: Any = "secret"
    assert refusal(output(), Order(wrong)) == ("id", "not what was declared: should be a whole number")
    assert refusal(output(Box[float]), Box(float("nan"))) == ("content", "not a finite number")
    assert refusal(output(), {"id": 1, "extra": 2}) == ("extra", "not what was declared: no such argument")
    assert refusal(output(), Odd())[1] == "not representable as JSON (TypeError)"
    assert refusal(output(), {"id": 13})[1].startswith("not what was declared: thirteen is unlucky")


class Circle(msgspec.Struct, tag=1):
    radius: float = float("inf")


class Square(msgspec.Struct, tag=2):
    sides: tuple[int, ...] = (1, 2)


class Drawing(msgspec.Struct):
    shape: Circle | Square


def test_tags_that_are_numbers_and_defaults_that_json_lacks_are_published() -> None:
    schema = StructInput(Drawing, "f")
    assert schema.validate(b'{"shape":{"type":1,"radius":2.5}}') == Drawing(Circle(2.5))
    assert schema.validate(b'{"shape":{"type":2}}') == Drawing(Square())
