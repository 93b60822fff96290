"""A closed object never forbids a name that its own schema speaks of."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.contract.closing import closed, names_of

A = {"a": {"type": "integer"}}
ANY: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (ANY, {"properties": ANY, "additionalProperties": False}),
        ({"properties": A}, {"properties": A, "additionalProperties": False}),
        ({"properties": A, "required": ["b"]}, {"properties": {**A, "b": True}, "required": ["b"]}),
        ({"dependentRequired": {"a": ["b"]}}, {"properties": {"a": True, "b": True}}),
        ({"dependentSchemas": {"a": {"properties": {"c": ANY}}}}, {"properties": {"c": True, "a": True}}),
        ({"allOf": [{"properties": A}, {"$ref": "#/$defs/D"}]}, {"properties": {"a": True, "d": True}}),
        ({"anyOf": [{"required": ["a"]}, {"properties": {"b": ANY}}]}, {"properties": {"b": True, "a": True}}),
        ({"if": {"properties": A}, "then": {"required": ["z"]}}, {"properties": {"a": True, "z": True}}),
        ({"patternProperties": {"^x": ANY}}, {"properties": ANY, "patternProperties": {"^x": ANY}}),
        ({"allOf": [{"patternProperties": {"^x": ANY}}]}, {"properties": ANY, "patternProperties": {"^x": True}}),
        ({"not": {"properties": A}}, {"properties": ANY}),
    ],
)
def test_names_that_are_spoken_of_are_admitted_and_no_others(node: dict[str, Any], expected: dict[str, Any]) -> None:
    assert closed(node, {"D": {"properties": {"d": {}}}}) == {**node, "additionalProperties": False, **expected}


@pytest.mark.parametrize(
    "node",
    [
        {"additionalProperties": True},
        {"additionalProperties": {"type": "integer"}},
        {"unevaluatedProperties": {}},
        {"allOf": [{"additionalProperties": True}]},
        {"anyOf": [{"$ref": "#/$defs/D"}]},
    ],
)
def test_an_object_that_is_open_in_so_many_words_stays_so(node: dict[str, Any]) -> None:
    assert closed(node, {"D": {"additionalProperties": {}}}) == {**node, "properties": {}}


@pytest.mark.parametrize(
    "node",
    [
        {"properties": A, "required": ["b"], "additionalProperties": False},
        {"properties": A, "dependentRequired": {"admin": ["a"]}, "additionalProperties": False},
        {"properties": A, "anyOf": [{"required": ["b"]}, {"properties": {"c": ANY}}], "additionalProperties": False},
        {"allOf": [{"patternProperties": {"^x": ANY}}], "properties": A, "additionalProperties": False},
        {"properties": A, "anyOf": [{"properties": {"c": ANY}}], "unevaluatedProperties": False},
    ],
)
def test_an_object_that_its_author_closed_admits_no_name_more(node: dict[str, Any]) -> None:
    assert closed(node, {}) == node


def test_a_second_way_of_closing_admits_what_has_a_schema_and_nothing_that_is_only_mentioned() -> None:
    node = {"allOf": [{"properties": A}], "required": ["b"], "unevaluatedProperties": False}
    assert closed(node, {}) == {
        "allOf": [{"properties": A}], "required": ["b"], "properties": {"a": True}, "additionalProperties": False,
    }  # fmt: skip


def test_a_circle_is_walked_once() -> None:
    definitions = {"D": {"allOf": [{"$ref": "#/$defs/D"}], "properties": A}}
    assert list(names_of({"$ref": "#/$defs/D"}, definitions).names) == ["a"]
