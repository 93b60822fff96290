"""Whatever a user gives as a contract is sorted by its kind, or refused with what is accepted."""

from __future__ import annotations

import dataclasses
import json
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from ringfence.contract.door import as_input_schema, as_output_schema
from ringfence.contract.hints import UNDECLARED
from ringfence.contract.neutral import PairInput, PairOutput
from ringfence.contract.output import PydanticOutput
from ringfence.contract.raw import RawInput, RawOutput
from ringfence.contract.schema import PydanticInput
from ringfence.contract.structs import StructInput, StructOutput
from ringfence.contract.tool import Tool, tool
from tests.contract.helpers import codes, config_error

FIELD = "tool 'x': input"


class Model(BaseModel):
    a: int


@dataclasses.dataclass
class Record:
    a: int


class Row(TypedDict):
    a: int


class Struct(msgspec.Struct):
    a: int


RAW: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


class Pair:
    def validate(self, value: Any) -> dict[str, Any]:
        if set(value) == {"a"} and type(value["a"]) is int:
            return {"value": value}
        return {"issues": [{"message": "no", "path": ["a"]}]}

    def json_schema(self, target: str, mode: str) -> dict[str, Any]:
        return RAW


KINDS: list[tuple[Any, type]] = [
    (Model, PydanticInput),
    (TypeAdapter(Model), PydanticInput),
    (Record, PydanticInput),
    (Row, PydanticInput),
    (Struct, StructInput),
    (RAW, RawInput),
    (MappingProxyType(RAW), RawInput),
    (Pair(), PairInput),
]


@pytest.mark.parametrize(("given", "kind"), KINDS)
def test_every_kind_of_input_is_taken_and_published_alike(given: Any, kind: type) -> None:
    made = as_input_schema(given, FIELD)
    assert type(made) is kind
    for target, url in (
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("draft-07", "http://json-schema.org/draft-07/schema#"),
    ):
        published = made.json_schema(target)  # type: ignore[arg-type]
        published.pop("title", None)
        assert published == {"$schema": url, **RAW, "additionalProperties": False}
    value = made.validate(b'{"a":1}')
    assert (value["a"] if isinstance(value, dict) else value.a) == 1
    assert [path for path, _ in codes(made, b'{"a":"1"}')] == ["a"]


def test_a_finished_schema_stays_itself() -> None:
    made = as_input_schema(RAW, FIELD)
    assert as_input_schema(made, FIELD) is made


@pytest.mark.parametrize("given", [Struct(1), Model(a=1)])
def test_an_instance_in_place_of_its_class_is_told_so(given: Any) -> None:
    assert config_error(as_input_schema, given, FIELD).hint == "give the class"


@pytest.mark.parametrize(("given", "kind"), KINDS)
def test_lax_converts_where_a_library_can_and_is_refused_elsewhere(given: Any, kind: type) -> None:
    if kind in (PydanticInput, StructInput):
        value = as_input_schema(given, FIELD, lax=True).validate(b'{"a":"7"}')
        assert (value["a"] if isinstance(value, dict) else value.a) == 7
    else:
        error = config_error(as_input_schema, given, FIELD, lax=True)
        assert (error.code, error.message[: len(FIELD)], error.hint) == ("bad_config", FIELD, "remove lax=True")


def test_lax_is_refused_for_a_finished_schema() -> None:
    assert "lax means nothing" in config_error(as_input_schema, as_input_schema(RAW, FIELD), FIELD, lax=True).message


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (UNDECLARED, PydanticOutput),
        (None, PydanticOutput),
        (Model, PydanticOutput),
        (list[int], PydanticOutput),
        (TypeAdapter(Row), PydanticOutput),
        (Struct, StructOutput),
        (RAW, RawOutput),
        (Pair(), PairOutput),
    ],
)
def test_every_kind_of_output_is_taken(given: Any, kind: type) -> None:
    made = as_output_schema(given, "tool 'x': output")
    assert type(made) is kind
    assert as_output_schema(made, "elsewhere") is made
    assert (made.json_schema() is None) is (given is UNDECLARED)


@pytest.mark.parametrize("given", [Model, Struct, RAW, Pair()])
def test_what_a_tool_declares_of_its_result_is_checked_alike(given: Any) -> None:
    made = as_output_schema(given, "tool 'x': output")
    data: Any = made.dump({"a": 1})
    assert json.loads(data) == {"a": 1}


def test_a_tool_made_lax_or_strict_again_keeps_its_function() -> None:
    @tool(lax=True)
    def double(a: int) -> int:
        """Double it."""
        return 2 * a

    assert (double.lax, double.input.validate(b'{"a":"7"}').a) == (True, 7)
    strict = double.replace(lax=False)
    assert codes(strict.input, b'{"a":"7"}') == [("a", "int_type")]
    assert strict.replace(lax=True).input.validate(b'{"a":"7"}').a == 7


def test_a_tool_is_lax_where_its_schema_can_be() -> None:
    made = Tool("a", "A.", Model, lambda it: it.a, lax=True)
    assert made.input.validate(b'{"a":"7"}') == Model(a=7)
    assert codes(made.input, b'{"a":"7","b":1}') == [("b", "extra_forbidden")]
    error = config_error(Tool, "a", "A.", RAW, len, lax=True)
    assert error.message == "tool 'a': input: lax means nothing for a JSON Schema, which alone says what it accepts"


@pytest.mark.parametrize("given", [Model, Struct])
def test_a_tool_that_is_changed_keeps_its_laxity_until_that_is_changed(given: Any) -> None:
    lax = Tool("a", "A.", given, repr, lax=True).replace(name="b").replace(timeout=1.0)
    assert (lax.lax, lax.input.validate(b'{"a":"7"}').a) == (True, 7)
    strict = lax.replace(lax=False)
    assert [path for path, _ in codes(strict.input, b'{"a":"7"}')] == ["a"]
    assert strict.replace(lax=True).input.validate(b'{"a":"7"}').a == 7


def test_a_foreign_converter_is_asked_once_however_often_a_tool_is_changed() -> None:
    asked: list[str] = []

    class Counting(Pair):
        def json_schema(self, target: str, mode: str) -> dict[str, Any]:
            asked.append(target)
            return super().json_schema(target, mode)

    made = Tool("a", "A.", Counting(), repr)
    before = len(asked)
    assert made.replace(name="b").input is made.input
    assert len(asked) == before
