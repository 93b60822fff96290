"""Types of JSON Schema as Python declarations."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.contract.python_types import Declarations, bounds, is_plain_name, remark

LINE = {"type": "object", "title": "Line", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
NODE = {
    "type": "object",
    "title": "Node",
    "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
}


def typed(schema: Any, definitions: dict[str, Any] | None = None) -> str:
    return Declarations([]).expression(schema, definitions or {}, "It")


def declared(schema: Any, definitions: dict[str, Any] | None = None, methods: tuple[str, ...] = ()) -> tuple[str, str]:
    """The expression, and all declarations."""
    types = Declarations(methods)
    expression = types.expression(schema, definitions or {}, "It")
    return expression, "\n\n".join(types.texts())


@pytest.mark.parametrize(
    ("schema", "expression"),
    [
        ({"type": "string"}, "str"),
        ({"type": "integer", "minimum": 1}, "int"),
        ({"type": "number"}, "float"),
        ({"type": "boolean"}, "bool"),
        ({"type": "null"}, "None"),
        ({"type": "array"}, "list[Any]"),
        ({"type": "array", "items": {"type": "integer"}}, "list[int]"),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, "list[int | str]"),
        ({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "null"}}, "list[int | None]"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object", "additionalProperties": False}, "dict[str, Any]"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "str | None"),
        ({"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 3}]}, "int"),
        ({"anyOf": [{"anyOf": [{"type": "null"}, {"type": "string"}]}, {"type": "integer"}]}, "str | int | None"),
        ({"type": ["string", "null"]}, "str | None"),
        ({"allOf": [{"type": "string"}]}, "str"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, "Any"),
        ({"enum": ["a", 1, True, None]}, "Literal['a', 1, True] | None"),
        ({"enum": ["it's | ["]}, 'Literal["it\'s | ["]'),
        ({"enum": [None]}, "None"),
        ({"enum": [1.5, "a"]}, "Any"),
        ({"const": "a", "type": "string"}, "Literal['a']"),
        ({"const": None}, "None"),
        ({"anyOf": [{"type": "integer"}, {}]}, "Any"),
        ({}, "Any"),
        (True, "Any"),
        (False, "Any"),
        (None, "Any"),
        ({"type": "file"}, "Any"),
        ({"$ref": "#/$defs/Absent"}, "Any"),
        ({"$ref": "https://elsewhere/schema"}, "Any"),
    ],
)
def test_a_schema_becomes_a_type(schema: Any, expression: str) -> None:
    assert typed(schema) == expression


def test_an_object_becomes_a_class_with_remarks() -> None:
    schema = {
        "type": "object",
        "description": "What\nto send.",
        "properties": {
            "sku": {"type": "string", "description": "Stock code.", "minLength": 1},
            "count": {"type": "integer", "default": 1, "exclusiveMinimum": 0},
            "note": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}], "default": None},
        },
        "required": ["sku"],
    }
    assert declared(schema) == (
        "It",
        "class It(TypedDict):  # What to send.\n"
        "    sku: str  # Stock code; length >= 1\n"
        "    count: NotRequired[int]  # > 0; default 1\n"
        "    note: NotRequired[str | None]  # length <= 9",
    )


def test_a_definition_is_written_once_and_may_contain_itself() -> None:
    schema = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Node"}]}}
    assert declared(schema, {"Node": NODE}) == (
        "list[Node]",
        "class Node(TypedDict):\n    next: NotRequired[Node | None]",
    )


def test_a_definition_that_is_no_object_becomes_an_alias() -> None:
    definitions = {
        "Color": {"enum": ["red", "blue"], "type": "string"},
        "Tree": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/Tree"}}]},
    }
    assert declared({"$ref": "#/$defs/Color"}, definitions) == ("Color", "Color: TypeAlias = Literal['red', 'blue']")
    assert declared({"$ref": "#/$defs/Tree"}, definitions) == ("Tree", "Tree: TypeAlias = 'int | list[Tree]'")


def test_equal_definitions_share_a_class_and_others_get_a_number() -> None:
    types = Declarations([])
    other = {**LINE, "properties": {"sku": {"type": "integer"}}}
    closed = {**LINE, "additionalProperties": False}
    found = [types.expression({"$ref": "#/$defs/Line"}, {"Line": one}, "It") for one in (LINE, closed, other, LINE)]
    assert found == ["Line", "Line", "Line2", "Line"]


def test_definitions_that_differ_further_down_are_different() -> None:
    types = Declarations([])
    outer = {"type": "object", "properties": {"line": {"$ref": "#/$defs/Line"}}, "required": ["line"]}
    other = {**LINE, "properties": {"sku": {"type": "integer"}}}
    found = [
        types.expression({"$ref": "#/$defs/Outer"}, {"Outer": outer, "Line": line}, "It") for line in (LINE, other)
    ]
    assert found == ["Outer", "Outer2"]
    assert "    line: Line2" in "\n".join(types.texts())


@pytest.mark.parametrize("key", ["list", "my-key", "class", "__x", "a b", "str", "It"])
def test_a_key_that_no_class_can_hold_is_written_as_text(key: str) -> None:
    schema = {"type": "object", "properties": {key: {"type": "integer"}}, "required": [key]}
    assert declared(schema) == ("It", f"It = TypedDict('It', {{\n    {key!r}: 'int',\n}})")


def test_a_method_named_like_a_builtin_makes_the_builtin_explicit() -> None:
    types = Declarations(["list", "order"])
    assert types.expression({"type": "array", "items": {"type": "string"}}, {}, "It") == "builtins.list[str]"
    assert "builtins" in types.imports


def test_a_class_never_has_the_name_of_a_method_or_of_a_word_in_use() -> None:
    for name in ("any", "TypedDict", "literal", "Any"):
        expression, _ = declared({**LINE, "title": name}, methods=("Order",))
        assert expression not in {"Any", "TypedDict", "Literal", "Order"}


@pytest.mark.parametrize("title", ["", "my line", "3D", "Box[int]", "é", "a.b.C", "class"])
def test_any_title_becomes_a_name(title: str) -> None:
    expression, text = declared({**LINE, "title": title})
    assert is_plain_name(expression)
    ast.parse(text)


def test_an_alias_of_anything_is_anything() -> None:
    assert declared({"$ref": "#/$defs/Json"}, {"Json": {}}) == ("Any", "")


def test_a_whole_schema_is_declared_without_what_belongs_to_the_file() -> None:
    types = Declarations([])
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {},
        **LINE,
        "additionalProperties": False,
    }
    assert [types.object_of(whole, {}, "It"), types.expression(LINE, {}, "It")] == ["Line", "Line"]
    nameless = {key: value for key, value in whole.items() if key != "title"}
    assert types.object_of(nameless, {}, "It") == "It"


def test_imports_name_what_the_texts_use() -> None:
    types = Declarations([])
    types.expression(NODE, {"Node": NODE}, "It")
    types.expression({"enum": ["a"]}, {}, "It")
    assert types.imports == {"TypedDict", "NotRequired", "Literal"}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"description": "The\n number."}, "The number."),
        ({"description": "The number.", "minimum": 1, "maximum": 5}, "The number; >= 1; <= 5"),
        ({"type": "array", "minItems": 1, "items": {"pattern": "^a$"}}, "items >= 1; each matches ^a$"),
        ({"default": "x" * 100}, ""),
        ({"default": None}, ""),
        ({"default": []}, "default []"),
        ({"format": "date"}, "format date"),
        (True, ""),
    ],
)
def test_a_remark_is_one_line(schema: Any, text: str) -> None:
    assert remark(schema) == text


def test_bounds_of_branches_are_told_once() -> None:
    assert bounds({"anyOf": [{"minimum": 1}, {"minimum": 1}, {"maxLength": 2}]}) == [">= 1", "length <= 2"]


TEXT = st.text(max_size=6) | st.sampled_from(["list", "class", "Any", "It", "a", "title", "additionalProperties"])
LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [True, {}, {"type": "string"}, {"type": "null"}, {"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"enum": ["a", 1]}]
)


def record(title: str, properties: dict[str, Any], text: str) -> dict[str, Any]:
    required = list(properties)[:1]
    return {"type": "object", "title": title, "properties": properties, "description": text, "required": required}


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(dict[str, Any], anyOf=st.lists(inner, min_size=1, max_size=3)),
        st.builds(dict[str, Any], type=st.just("array"), items=inner),
        st.builds(dict[str, Any], enum=st.lists(TEXT, min_size=1, max_size=3)),
        st.builds(record, TEXT, st.dictionaries(TEXT, inner, max_size=3), TEXT),
    )


SCHEMA: st.SearchStrategy[Any] = st.recursive(LEAVES, around, max_leaves=8)


@pytest.mark.slow
@given(SCHEMA, SCHEMA, SCHEMA)
def test_whatever_the_schema_the_text_is_python(schema: Any, first: Any, second: Any) -> None:
    definitions = {"A": first, "B": second}
    types = Declarations(["list"])
    expression = types.expression(schema, definitions, "It")
    ast.parse(expression, mode="eval")
    for text in types.texts():
        ast.parse(text)
