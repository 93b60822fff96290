"""Arguments of decorated functions: their schema, their validation, and who is to blame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from ringfence.contract.function import FunctionInput
from ringfence.contract.hints import Arguments, read_function
from tests.contract.helpers import codes, config_error


class Query(BaseModel):
    """What to look for."""

    text: str
    limit: int = 10


class Strange:
    pass


def made(function: Callable[..., Any], **texts: str) -> FunctionInput:
    return FunctionInput(read_function(function, label="tool 'f'", texts=texts), "tool 'f'")


def test_parameters_become_the_properties_of_a_closed_object() -> None:
    def function(
        order_id: Annotated[int, Field(ge=1)], deep: bool = False, *, tags: list[str] | None = None
    ) -> None: ...

    assert made(function, order_id="The number.").json_schema() == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "order_id": {"type": "integer", "minimum": 1, "description": "The number."},
            "deep": {"type": "boolean", "default": False},
            "tags": {"anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}], "default": None},
        },
        "required": ["order_id"],
        "additionalProperties": False,
    }


def test_an_explicit_description_beats_the_docstring() -> None:
    def function(a: Annotated[int, Field(description="explicit")], b: int) -> None: ...

    properties = made(function, a="from the docstring", b="also").json_schema()["properties"]
    assert [properties[name]["description"] for name in "ab"] == ["explicit", "also"]


def test_a_function_without_parameters_takes_the_empty_object() -> None:
    def function() -> None: ...

    schema = made(function)
    assert schema.json_schema()["properties"] == {}
    assert schema.validate(b"{}") == Arguments({})
    assert codes(schema, b'{"a":1}') == [("a", "extra_forbidden")]


def test_a_lone_model_gives_its_own_schema_and_its_own_type() -> None:
    def function(query: Query) -> None: ...

    schema = made(function)
    assert schema.json_schema()["properties"] == {
        "text": {"type": "string"},
        "limit": {"type": "integer", "default": 10},
    }
    assert schema.json_schema()["description"] == "What to look for."
    assert schema.validate(b'{"text":"x"}') == Query(text="x")


def test_any_legal_parameter_name_works() -> None:
    def function(
        model_config: int, schema: str, json: int, _x: int, class_: int, copy: int, items: int, keys: int, self_: int,
        model_fields: int, dict: int, id: int, validate: int,  # noqa: A002
    ) -> None: ...  # fmt: skip

    schema = made(function)
    names = list(schema.json_schema()["properties"])
    assert names == list(function.__annotations__)[:-1]
    text = ",".join(f'"{name}":{chr(34) + "s" + chr(34) if name == "schema" else 1}' for name in names)
    assert vars(schema.validate(f"{{{text}}}".encode())) == {name: "s" if name == "schema" else 1 for name in names}


def test_a_default_fills_in_and_is_never_shared_when_it_can_change() -> None:
    shared: list[int] = [1]
    token = object()

    def function(a: list[int] = shared, b: Any = token) -> None: ...

    schema = made(function)
    first, second = schema.validate(b"{}"), schema.validate(b"{}")
    assert (first.a, first.b) == ([1], token)
    first.a.append(2)
    assert (second.a, shared) == ([1], [1])


def test_a_default_that_json_cannot_show_is_left_out_without_a_warning() -> None:
    def function(a: Any = object()) -> None: ...  # noqa: B008

    assert made(function).json_schema()["properties"] == {"a": {}}


def test_an_alias_is_what_callers_write() -> None:
    def function(order_id: Annotated[int, Field(alias="orderId")]) -> None: ...

    schema = made(function)
    assert list(schema.json_schema()["properties"]) == ["orderId"]
    assert schema.validate(b'{"orderId":1}').order_id == 1
    assert codes(schema, b'{"order_id":1}') == [("orderId", "missing"), ("order_id", "extra_forbidden")]


@pytest.mark.parametrize("hint", [Strange, Callable[[], int], type, list[Strange]])
def test_a_type_without_a_schema_is_blamed_on_its_parameter(hint: Any) -> None:
    def function(a: int, b: Any) -> None: ...

    function.__annotations__["b"] = hint
    error = config_error(made, function)
    assert error.code == "bad_schema"
    assert error.message.startswith("tool 'f': parameter 'b': pydantic says: ")


def test_the_blame_does_not_fall_on_fields_with_settings_of_their_own() -> None:
    def function(a: Annotated[int, Field(alias="aA")] = 1, b: Strange | None = None) -> None: ...

    assert config_error(made, function).message.startswith("tool 'f': parameter 'b': pydantic says: ")


def test_a_default_given_twice_is_blamed_on_its_parameter() -> None:
    def function(a: int, b: Annotated[list[int], Field(default_factory=list)] = []) -> None: ...  # noqa: B006

    assert config_error(made, function).message.startswith("tool 'f': parameter 'b': pydantic says: ")


def test_a_schema_that_is_too_large_is_blamed_on_the_arguments() -> None:
    def function(a: str = "x" * 300_000) -> None: ...

    error = config_error(made, function)
    assert error.code == "bad_schema"
    assert error.message.startswith("tool 'f': arguments: its JSON Schema cannot be published: value: ")


def test_a_functions_arguments_are_published_in_both_drafts() -> None:
    def pair(of: tuple[int, str]) -> None: ...

    schema = made(pair)
    assert schema.json_schema("draft-07") == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "of": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2}
        },
        "required": ["of"],
        "additionalProperties": False,
    }


def test_a_functions_arguments_are_converted_only_where_that_is_asked_for() -> None:
    def double(a: int) -> None: ...

    strict = made(double)
    lax = strict.as_lax(True)
    assert (strict.lax, lax.lax, type(lax)) == (False, True, FunctionInput)
    assert lax.validate(b'{"a":"7"}').a == 7
    assert codes(strict, b'{"a":"7"}') == [("a", "int_type")]
    assert codes(lax, b'{"a":"7","b":1}') == [("b", "extra_forbidden")]
