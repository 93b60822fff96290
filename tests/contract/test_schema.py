"""Input schemas: what may be given, what is published, and that exactly this is enforced."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Generator, Iterable
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    TypeAdapter,
    model_validator,
)
from typing_extensions import TypedDict

from ringfence.contract.door import as_input_schema
from ringfence.contract.hints import arguments_type
from ringfence.contract.keywords import node_of, parts
from ringfence.contract.publishing import SCHEMA_BUDGET
from ringfence.contract.schema import reason_of
from ringfence.ports import InputSchema, InvalidInput
from tests.contract.helpers import codes, config_error, issues


class Line(BaseModel):
    sku: str
    price: Annotated[float, Field(ge=0)]


class Color(Enum):
    RED = "red"


class Order(BaseModel):
    """An order to place."""

    id: int
    rush: bool = False
    lines: list[Line] = []
    color: Color | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Row(TypedDict):
    a: int


class Node(BaseModel):
    value: int
    next: Node | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class WithOpen(BaseModel):
    free: Open
    line: Line | None = None


def schema(of: object) -> InputSchema:
    return as_input_schema(of, "tool 'x': input")


def test_a_model_is_published_as_a_closed_object_at_every_depth() -> None:
    published = schema(Order).json_schema()
    assert published["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (published["type"], published["additionalProperties"]) == ("object", False)
    assert published["description"] == "An order to place."
    assert published["properties"]["id"] == {"type": "integer"}
    assert published["$defs"]["Line"]["additionalProperties"] is False


def test_what_is_published_as_closed_is_refused_at_every_depth() -> None:
    data = b'{"id":1,"extra":1,"lines":[{"sku":"a","price":1,"colour":2}]}'
    assert codes(schema(Order), data) == [("lines[0].colour", "extra_forbidden"), ("extra", "extra_forbidden")]


def test_a_model_inside_that_admits_other_keys_leaves_the_root_closed() -> None:
    made = schema(WithOpen)
    assert made.json_schema()["additionalProperties"] is False
    assert made.json_schema()["$defs"]["Open"]["additionalProperties"] is True
    assert "additionalProperties" not in made.json_schema()["$defs"]["Line"]
    assert made.validate(b'{"free":{"a":1,"b":2},"line":{"sku":"s","price":1,"z":1}}') == WithOpen(
        free=Open(a=1, b=2),  # type: ignore[call-arg]
        line=Line(sku="s", price=1),
    )
    assert codes(made, b'{"free":{"a":1},"lines":1}') == [("lines", "extra_forbidden")]


def test_an_unknown_argument_is_answered_with_the_nearest_known_one() -> None:
    assert issues(schema(Order), b'{"id":1,"line":[],"zzz":1}') == [
        {"path": "line", "message": "no such argument; did you mean 'lines'?", "code": "extra_forbidden"},
        {"path": "zzz", "message": "no such argument", "code": "extra_forbidden"},
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"id":"1"}', [("id", "int_type")]),
        (b'{"id":true}', [("id", "int_type")]),
        (b'{"id":1.0}', [("id", "int_type")]),
        (b'{"id":1,"rush":"false"}', [("rush", "bool_type")]),
        (b'{"id":1,"rush":1}', [("rush", "bool_type")]),
        (b'{"id":1,"lines":[{"sku":"a","price":"2"}]}', [("lines[0].price", "float_type")]),
        (b'{"id":1,"lines":[{"sku":"a","price":true},{}]}', [
            ("lines[0].price", "float_type"), ("lines[1].sku", "missing"), ("lines[1].price", "missing"),
        ]),
        (b'{"id":1,"lines":{"0":1}}', [("lines", "list_type")]),
        (b'{"id":1,"color":"blue"}', [("color", "enum")]),
        (b'{"id":null}', [("id", "int_type")]),
        (b"{}", [("id", "missing")]),
        (b"[1]", [("", "model_type")]),
        (b"null", [("", "model_type")]),
        (b'"x"', [("", "model_type")]),
        (b"", [("", "json_invalid")]),
        (b"{", [("", "json_invalid")]),
        (b"\xff", [("", "json_invalid")]),
        (b'{"id":1,"lines":' + b"[" * 100_000, [("", "json_invalid")]),
        (b'{"id":' + b"9" * 5_000 + b"}", [("", "json_invalid")]),
        (b'{"id":1,"rush":"\\ud800"}', [("", "json_invalid")]),
    ],
)  # fmt: skip
def test_validation_is_strict_at_every_depth(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert codes(schema(Order), data) == expected


def test_text_stands_for_what_json_has_no_form_for() -> None:
    class Forms(BaseModel):
        color: Color
        amount: Decimal
        id: UUID
        names: set[str]
        pair: tuple[int, str]
        ratio: float

    data = b'{"color":"red","amount":"1.10","id":"12345678123456781234567812345678","names":["a"],"pair":[1,"b"],"ratio":1}'
    assert schema(Forms).validate(data) == Forms(
        color=Color.RED,
        amount=Decimal("1.10"),
        id=UUID("12345678123456781234567812345678"),
        names={"a"},
        pair=(1, "b"),
        ratio=1.0,
    )


def test_a_dataclass_a_typed_dict_and_an_adapter_are_accepted() -> None:
    class Alias(BaseModel):
        a: int

    assert schema(Point).validate(b'{"x":1}') == Point(1)
    assert codes(schema(Point), b'{"x":1,"z":1}') == [("z", "extra_forbidden")]
    assert schema(Row).validate(b'{"a":1}') == {"a": 1}
    assert codes(schema(Row), b'{"a":1,"b":1}') == [("b", "extra_forbidden")]
    assert schema(TypeAdapter(Alias)).validate(b'{"a":1}') == Alias(a=1)
    closed = {one.json_schema()["additionalProperties"] for one in map(schema, (Point, Row, TypeAdapter(Alias)))}
    assert closed == {False}


def test_a_type_that_contains_itself_has_an_object_at_its_root() -> None:
    made = schema(Node)
    assert (made.json_schema()["type"], list(made.json_schema()["properties"])) == ("object", ["value", "next"])
    assert made.validate(b'{"value":1,"next":{"value":2}}') == Node(value=1, next=Node(value=2))
    assert codes(made, b'{"value":1,"next":{"value":2,"prev":3}}') == [("next.prev", "extra_forbidden")]


class Names(RootModel[list[str]]):
    pass


class NoSchema:
    def validate(self, data: bytes) -> object:
        return data

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object"}


NO_SCHEMAS: list[Any] = [
        None, 3, "Order", {"type": "array"}, lambda: None, int, list[int], dict[str, int], Order(id=1), Names,
        Names(["a"]), Point(1), NoSchema, NoSchema(), Open, Order | Row, TypeAdapter(int), TypeAdapter(dict[str, int]),
        TypeAdapter(Order | Row),
]  # fmt: skip


@pytest.mark.parametrize("value", NO_SCHEMAS)
def test_anything_else_is_no_schema(value: object) -> None:
    error = config_error(schema, value)
    assert (error.code, error.message[:15]) == ("bad_schema", "tool 'x': input")


def test_the_error_says_what_is_accepted() -> None:
    assert config_error(schema, 3).message == (
        "tool 'x': input must be a pydantic model, a dataclass, a TypedDict, a pydantic TypeAdapter of one of these, "
        "a msgspec Struct, a JSON Schema (dict), or an object with validate(value) and json_schema(target, mode); "
        "not int"
    )


def test_a_model_that_admits_any_key_is_told_where_to_put_them() -> None:
    assert config_error(schema, Open).hint == (
        'remove extra="allow"; put free keys into a field of type dict[str, ...]'
    )


def test_a_schema_that_is_one_already_stays_itself() -> None:
    made = schema(Order)
    assert as_input_schema(made, "elsewhere") is made


def test_a_model_whose_types_are_not_there_yet_is_a_bad_schema() -> None:
    class Late(BaseModel):
        a: Nowhere  # type: ignore[name-defined]  # noqa: F821

    error = config_error(schema, Late)
    assert (error.code, "Nowhere" in error.message) == ("bad_schema", True)


def test_a_model_that_cannot_be_published_is_a_bad_schema() -> None:
    class Held(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        a: NoSchema

    assert config_error(schema, Held).code == "bad_schema"


def test_a_schema_over_the_budget_is_refused() -> None:
    class Wide(BaseModel):
        a: Literal["x"] = Field(default="x", description="d" * SCHEMA_BUDGET.size)

    assert "more than" in config_error(schema, Wide).message


def test_a_callers_copy_of_the_schema_changes_nothing() -> None:
    made = schema(Order)
    published = made.json_schema()
    published["properties"].clear()
    published["additionalProperties"] = True
    assert made.json_schema()["properties"]["id"] == {"type": "integer"}
    assert codes(made, b'{"id":1,"other":1}') == [("other", "extra_forbidden")]


def test_no_title_is_made_up() -> None:
    assert all("title" not in part for part in schema(Order).json_schema()["properties"].values())


def explode(value: int) -> int:
    raise KeyError(f"secret {value}")


def endless(value: int) -> int:
    return endless(value)


@pytest.mark.parametrize(("check", "name"), [(explode, "KeyError"), (endless, "RecursionError")])
def test_a_validator_that_breaks_refuses_the_arguments_and_tells_its_class_only(check: Any, name: str) -> None:
    class Checked(BaseModel):
        a: Annotated[int, AfterValidator(check)]

    assert issues(schema(Checked), b'{"a":1}') == [
        {"path": "", "message": f"a validator raised {name}", "code": "validator_error"}
    ]


def test_what_a_whole_model_demands_is_asked_once() -> None:
    asked: list[int] = []

    class Checked(BaseModel):
        a: int

        @model_validator(mode="after")
        def even(self) -> Checked:
            asked.append(self.a)
            if self.a % 2:
                raise ValueError("a must be even")
            return self

    assert schema(Checked).validate(b'{"a":2}').a == 2
    assert asked == [2]
    assert issues(schema(Checked), b'{"a":3}') == [
        {"path": "", "message": "Value error, a must be even", "code": "value_error"}
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(["id", "lines"]), inner, max_size=4)
    ),
    max_leaves=12,
)
SCHEMAS = [schema(Order), schema(Point), schema(Row), schema(Node), schema(WithOpen)]


def attempt(made: InputSchema, data: bytes) -> object:
    """The type of the value, or the set of keys of all issues."""
    try:
        return next(kind for kind in TYPES if isinstance(made.validate(data), kind))
    except InvalidInput as error:
        return {key for issue in error.issues for key in issue}


TYPES: tuple[type, ...] = (Order, Point, dict, Node, WithOpen)
ISSUE = {"path", "message", "code"}


@pytest.mark.slow
@given(JSON, st.sampled_from(SCHEMAS))
@example({"id": 2**70}, SCHEMAS[0])
@example({"next": {"next": []}}, SCHEMAS[3])
def test_any_json_is_a_value_of_the_type_or_invalid_input(value: Any, made: InputSchema) -> None:
    assert attempt(made, json.dumps(value).encode()) in (*TYPES, ISSUE)


@given(st.binary(max_size=60), st.sampled_from(SCHEMAS))
def test_any_bytes_at_all_are_a_value_of_the_type_or_invalid_input(data: bytes, made: InputSchema) -> None:
    assert attempt(made, data) in (*TYPES, ISSUE)


def test_parts_visits_schemas_but_not_what_only_looks_like_one() -> None:
    tree = {
        "properties": {"$ref": {"type": "string"}, "any": True, "items": {"items": {"type": "integer"}}},
        "anyOf": [{"type": "null"}, False],
        "$defs": {"A": {"additionalProperties": {"type": "number"}}},
        "default": {"type": "boolean"},
        "required": ["type"],
    }
    kinds = [part.get("type") for part in parts(tree)]
    assert sorted(kind for kind in kinds if kind) == ["integer", "null", "number", "string"]


def test_a_boolean_schema_is_an_empty_one() -> None:
    assert [node_of(one) for one in (True, False, None, {"type": "null"})] == [{}, {}, {}, {"type": "null"}]


def test_only_the_first_sentence_of_a_complaint_is_repeated() -> None:
    assert reason_of(ValueError("It is bad. Set this.\nSee there.")) == "pydantic says: It is bad"
    assert reason_of(KeyError()) == "pydantic raised KeyError"


@pytest.mark.parametrize("hint", [Iterable[int], Generator[int, None, None], list[Iterable[int]], Iterable[int] | None])
def test_what_would_be_checked_only_while_the_tool_reads_it_is_refused(hint: Any) -> None:
    error = config_error(as_input_schema, TypeAdapter(arguments_type({"v": hint})), "f")
    assert (error.code, error.hint) == ("bad_schema", "write list[...] or tuple[..., ...]")


class Spellings(BaseModel):
    x: int = Field(validation_alias=AliasChoices("a", "b"))


class Away(BaseModel):
    x: int = Field(validation_alias=AliasPath("a", "b"))


class Ignored(BaseModel):
    model_config = ConfigDict(validate_by_alias=False, validate_by_name=True)
    x: int = Field(alias="X")


@dataclasses.dataclass
class Inside:
    away: Away


class Clash(BaseModel):
    x: int = Field(alias="y")
    y: int


@pytest.mark.parametrize("kind", [Spellings, Away, Ignored, Inside, Clash])
def test_names_that_are_published_as_one_thing_and_accepted_as_another_are_refused(kind: type) -> None:
    error = config_error(as_input_schema, kind, "f")
    assert (error.code, bool(error.hint)) == ("bad_schema", True)


@pytest.mark.parametrize("setting", ["validate_by_name", "populate_by_name"])
def test_a_field_with_an_alias_has_no_other_name(setting: str) -> None:
    class Below(BaseModel):
        model_config = ConfigDict({setting: True})  # type: ignore[misc]
        in_it: int = Field(alias="inIt")

    class Both(BaseModel):
        model_config = ConfigDict({setting: True})  # type: ignore[misc]
        below: Below | None = None
        my_field: int = Field(alias="myField")

    schema = as_input_schema(Both, "f")
    assert schema.validate(b'{"myField":1,"below":{"inIt":2}}') == Both.model_validate(
        {"myField": 1, "below": {"inIt": 2}}
    )
    assert codes(schema, b'{"my_field":1}') == [("myField", "missing"), ("my_field", "extra_forbidden")]
    assert codes(schema, b'{"myField":1,"below":{"in_it":2}}') == [
        ("below.inIt", "missing"),
        ("below.in_it", "extra_forbidden"),
    ]


@pytest.mark.parametrize(
    "extra",
    [{"type": 5}, {"properties": 5}, {"enum": 5}, {"required": 5}, {"anyOf": 5}, {"allOf": 5}, {"minimum": 10**5000}],
)
def test_what_an_author_adds_to_a_published_schema_has_to_be_one(extra: dict[str, Any]) -> None:
    hint = Annotated[int, Field(json_schema_extra=extra)]
    assert config_error(as_input_schema, TypeAdapter(arguments_type({"v": hint})), "f").code == "bad_schema"


@dataclasses.dataclass
class Counted:
    a: int
    b: int = dataclasses.field(init=False, default=3)


class Left(BaseModel):
    kind: Literal["left"] = "left"


class Right(BaseModel):
    kind: Literal["right"] = "right"


def test_what_nobody_may_set_is_not_published_and_a_tag_that_must_be_there_is_required() -> None:
    schema = as_input_schema(Counted, "f")
    assert list(schema.json_schema()["properties"]) == ["a"]
    assert [path for path, _ in codes(schema, b'{"a":1,"b":2}')] == ["b"]
    hint = Annotated[Left | Right, Field(discriminator="kind")]
    tagged = as_input_schema(TypeAdapter(arguments_type({"v": hint})), "f")
    assert [one["required"] for one in tagged.json_schema()["properties"]["v"]["oneOf"]] == [["kind"], ["kind"]]
    assert codes(tagged, b'{"v":{}}') == [("v", "union_tag_not_found")]
