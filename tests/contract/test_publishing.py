"""From what somebody wrote to two published texts, or a reason why not."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from ringfence.contract.publishing import SCHEMA_BUDGET, publish, published
from tests.contract.helpers import config_error

NEWEST = "https://json-schema.org/draft/2020-12/schema"
OLD = "http://json-schema.org/draft-07/schema#"
A = {"a": {"type": "integer"}}


def both(schema: Any, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    made = publish(schema, "f", **options)
    return made.schema("2020-12"), made.schema("draft-07")


def test_an_object_is_published_closed_in_both_drafts() -> None:
    assert both({"type": "object", "properties": A}) == (
        {"$schema": NEWEST, "type": "object", "properties": A, "additionalProperties": False},
        {"$schema": OLD, "type": "object", "properties": A, "additionalProperties": False},
    )


def test_every_caller_gets_a_copy_of_its_own() -> None:
    made = publish({"type": "object", "properties": A}, "f")
    made.schema("2020-12")["properties"].clear()
    assert made.schema("2020-12")["properties"] == A


def test_an_unknown_target_is_refused() -> None:
    made = publish({"type": "object"}, "f")
    assert config_error(made.schema, "draft-08").hint == "use '2020-12' or 'draft-07'"


def test_a_root_that_refers_is_replaced_by_what_it_refers_to() -> None:
    schema = {"$ref": "#/$defs/A", "title": "T", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "object"}}}
    assert both(schema)[0] == {
        "$schema": NEWEST, "title": "T", "type": "object", "properties": {}, "additionalProperties": False,
    }  # fmt: skip


def test_a_root_that_contains_itself_is_closed_wherever_it_stands() -> None:
    newest, old = both({"title": "N", "type": "object", "properties": {"next": {"$ref": "#"}}})
    assert newest["properties"] == {"next": {"$ref": "#/$defs/N"}}
    assert newest["$defs"]["N"]["additionalProperties"] is False
    assert old["properties"] == {"next": {"$ref": "#/definitions/N"}}


def test_what_a_draft_07_schema_means_is_published_in_both() -> None:
    pair: dict[str, Any] = {"items": [{}, {}], "additionalItems": False}
    newest, old = both({"$schema": OLD, "type": "object", "properties": {"p": pair}})
    assert (newest["properties"], old["properties"]) == (
        {"p": {"prefixItems": [{}, {}], "items": False}},
        {"p": pair},
    )
    assert both({"type": "object", "properties": {"p": pair}}, default_draft=7)[1]["properties"] == {"p": pair}


def test_an_id_is_not_passed_on() -> None:
    assert all("$id" not in one for one in both({"$id": "https://example.org/s", "type": "object"}))


def test_any_mapping_is_read_and_a_result_may_have_any_root() -> None:
    assert both(MappingProxyType({"type": ["object"]}))[0]["type"] == "object"
    assert both({"type": "array"}, root_object=False)[0] == {"$schema": NEWEST, "type": "array"}


class Broken(dict[str, Any]):
    def keys(self) -> Any:
        raise RuntimeError("no")

    __iter__ = keys  # type: ignore[assignment]


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return {"type": "object", **schema}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ([], "a JSON Schema is an object, not list"),
        (True, "not bool"),
        (Broken(), "it raised RuntimeError"),
        ({}, 'must say "type": "object"'),
        ({"type": "array"}, 'must say "type": "object"'),
        ({"type": ["object", "null"]}, 'must say "type": "object"'),
        ({"$ref": "#/$defs/A", "$defs": {"A": True}}, 'must say "type": "object"'),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, "at properties/a/type: 'text' is no type"),
        ({"type": "object", "required": "a"}, "at required: wrong type"),
        ({"type": "object", "$schema": "https://example.org/own"}, "is no draft"),
        ({"type": "object", "not": {"$ref": "#/x/y"}, "x": {"y": {"required": 5}}}, "at $defs/y/required: wrong type"),
        ({"type": "object", "default": float("nan")}, "default: not a finite number"),
        ({"type": "object", "enum": [{1}]}, "enum[0]: a set is not a JSON value"),
        ({"type": "object", 1: 2}, "an object key is a int"),
        ({"type": "object", "title": "\ud800"}, "lone surrogate"),
        ({"type": "object", "description": "d" * SCHEMA_BUDGET.size}, "bytes of JSON"),
        (nested(100), "nested deeper"),
        ({"type": "object", "$schema": "http://json-schema.org/draft-04/schema", "exclusiveMinimum": 3}, "it is no JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_published_is_refused_with_field_and_reason(schema: Any, words: str) -> None:
    error = config_error(publish, schema, "tool 'x': input")
    assert (error.code, error.message.startswith("tool 'x': input: ")) == ("bad_schema", True)
    assert words in error.message


def test_a_schema_of_ours_whose_reference_leads_out_is_refused() -> None:
    assert "outside its $defs" in config_error(published, {"$ref": "#/properties/a", "properties": A}, "f").message


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "str"}, "'str' is no type; did you mean 'string'?"),
        ({"type": "intger"}, "'intger' is no type; did you mean 'integer'?"),
        ({"type": "integer", "required": True}, "'required' is a list of names, beside 'properties'"),
    ],
)
def test_a_usual_mistake_in_a_schema_is_said_in_words(part: dict[str, Any], said: str) -> None:
    error = config_error(publish, {"type": "object", "properties": {"a": part}}, "f")
    assert error.message.endswith(said)
