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


@given(st.text())
def test_no_text_ends_its_comment(text: str) -> None:
    made = comment(text, "  ")
    assert (made.count("*/"), made[-3:]) == (1, "*/\n")
    assert not {"\r", "\u2028", "\u2029"} & {*made, *inline(text)}
    assert "\n" not in inline(text)
