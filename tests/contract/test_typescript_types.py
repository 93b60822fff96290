"""JSON Schema as TypeScript, one part at a time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.contract.restorable import MARK
from ringfence.contract.typescript_types import TypeScript, comment, inline, property_name


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "string"),
        ({"type": "integer"}, "number"),
        ({"type": "null"}, "null"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, "number | null"),
        ({"enum": ["a", 1, True, None]}, '"a" | 1 | true | null'),
        ({"const": 'say "hi"'}, '"say \\"hi\\""'),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"type": ["string", "null"]}}, "(string | null)[]"),
        ({"type": "array"}, "any[]"),
        ({"type": "object"}, "Record<string, any>"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "Record<string, boolean>"),
        ({"type": "string", "format": "date-time"}, "string | Date"),
        ({"type": "string", MARK: "datetime.datetime"}, "Date | string"),
        ({"type": "string", MARK: "bytes"}, "Uint8Array"),
        ({"type": "string", MARK: "decimal.Decimal"}, "string"),
        ({"type": ["string", "integer"], "maximum": 2**60}, "string | number | bigint"),
        ({"type": "integer", "minimum": 0, "maximum": 2**53 - 1}, "number"),
        ({"type": "integer", "minimum": 0, "maximum": 2**53}, "number | bigint"),
        ({"type": "integer", "minimum": -(2**63)}, "number | bigint"),
        ({"type": "integer", "exclusiveMinimum": 2**60}, "bigint"),
        ({"type": "integer", "maximum": -(2**60)}, "bigint"),
        ({"type": "array", "items": {"type": "integer", "maximum": 2**60}}, "(number | bigint)[]"),
        ({"anyOf": [{"type": "integer"}, {"type": "integer", "maximum": 2**60}]}, "number | bigint"),
        ({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string"}]}, "string | Date"),
        ({"enum": [2**53, -(2**53), 7, 0.5]}, "9007199254740992n | -9007199254740992n | 7 | 0.5"),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "minItems": 2, "maxItems": 2},
            "[string, null]",
        ),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, "[string?]"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1}, "[string, ...any[]]"),
        (
            {"type": "array", "prefixItems": [{"type": ["string", "null"]}], "items": {"enum": [1, 2]}},
            "[(string | null)?, ...(1 | 2)[]]",
        ),
        ({"type": "array", "items": [{"type": "string"}]}, "any[]"),
        ({}, "any"),
        (True, "any"),
        ({"$ref": "#/$defs/Missing"}, "any"),
        ({"enum": [{"a": 1}]}, "any"),
    ],
)
def test_a_schema_is_a_type(schema: Any, expected: str) -> None:
    assert TypeScript().expression(schema, {}, "It") == expected


def test_an_object_is_an_interface_that_is_written_once() -> None:
    types = TypeScript()
    node = {"type": "object", "properties": {"a b": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}
    again = {"type": "array", "items": {"title": "Row", **node}}
    assert types.expression({"title": "Row", **node}, {}, "Row") == "Row"
    assert types.expression(again, {}, "Rows") == "Row[]"
    assert types.texts() == ['interface Row {\n  "a b"?: string;\n  n: number;\n}']


def test_a_type_that_contains_itself_names_itself() -> None:
    node = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}}
    types = TypeScript()
    assert types.expression({"$ref": "#/$defs/Node"}, {"Node": node}, "It") == "Node"
    assert types.texts() == ["interface Node {\n  next?: Node | null;\n}"]


def test_an_alias_of_a_union_is_a_type() -> None:
    types = TypeScript()
    assert types.expression({"$ref": "#/$defs/State"}, {"State": {"enum": ["on", "off"]}}, "It") == "State"
    assert types.texts() == ['type State = "on" | "off";']


def test_names_of_the_language_are_not_taken() -> None:
    types = TypeScript()
    node = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert types.expression({"title": "Promise", **node}, {}, "x") == "Promise2"


@pytest.mark.parametrize(("key", "expected"), [("a1", "a1"), ("$x", "$x"), ("a-b", '"a-b"'), ("", '""'), ("é", '"é"')])
def test_a_key_that_is_no_identifier_is_quoted(key: str, expected: str) -> None:
    assert property_name(key) == expected


def written(properties: dict[str, Any], **more: Any) -> list[str]:
    return TypeScript().members({"properties": properties, **more}, {}, "It")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "boolean", "default": True}, "a?: boolean; // default true"),
        ({"type": "string", "default": "it's"}, 'a?: string; // default "it\'s"'),
        ({"type": "array", "default": [None, {"b": False}]}, 'a?: any[]; // default [null, {"b": false}]'),
        ({"type": "integer", "maximum": 2**60, "default": 2**60}, "a?: number | bigint; // <= {0}; default {0}n"),
        ({"type": ["string", "null"], "default": None}, "a?: string | null;"),
        ({"type": "string", "description": "How.", "maxLength": 3}, "a?: string; // How; length <= 3"),
        ({"type": "string", MARK: "datetime.datetime"}, "a?: Date | string; // text where it has no offset"),
        ({"type": "string", MARK: "decimal.Decimal", "description": "Sum"}, "a?: string; // Sum; decimal"),
        ({"type": "array", "items": {"type": "string", MARK: "uuid.UUID"}}, "a?: string[]; // UUID"),
        ({"anyOf": [{"type": "string", MARK: "datetime.date"}, {"type": "null"}]}, "a?: string | null; // ISO date"),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "maxItems": 1},
            "a?: [string];",
        ),
        (
            {"anyOf": [{"type": "array", "prefixItems": [True], "minItems": 1, "maxItems": 1}, {"type": "null"}]},
            "a?: [any] | null;",
        ),
        ({"type": "array", "minItems": 1, "items": {"minLength": 2}}, "a?: any[]; // items >= 1; each length >= 2"),
    ],
)
def test_what_a_type_does_not_say_stands_behind_it(schema: Any, expected: str) -> None:
    assert written({"a": schema}) == [expected.format(2**60) if "{0}" in expected else expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ["a?: string;"]),
        ({"additionalProperties": False}, ["a?: string;"]),
        ({"additionalProperties": True}, ["a?: string;", "[other: string]: any;"]),
        ({"additionalProperties": {"type": "null"}}, ["a?: string;", "[other: string]: any; // others: null"]),
    ],
)
def test_members_without_names_leave_those_with_names_their_types(more: Any, expected: list[str]) -> None:
    assert written({"a": {"type": "string"}}, **more) == expected


@given(st.text() | st.text(alphabet="*/\\ \n\r\u2028a"))
def test_no_text_ends_its_comment(text: str) -> None:
    made = comment(text, "  ")
    assert (made.count("*/"), made[-3:]) == (1, "*/\n")
    assert not {"\r", "\u2028", "\u2029"} & {*made, *inline(text)}
    assert "\n" not in inline(text)
