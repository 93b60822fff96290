"""Where schemas are inside schemas, and where a name is only a name."""

from __future__ import annotations

from typing import Any

from ringfence.contract.keywords import inner, node_of, parts, replaced

SCHEMA: dict[str, Any] = {
    "properties": {"$ref": {"type": "string"}, "properties": True},
    "items": [{"type": "null"}, 3],
    "not": {},
    "anyOf": [False],
    "dependencies": {"a": ["b"], "c": {"minProperties": 1}},
    "enum": [{"properties": {"x": {}}}],
    "default": {"not": {}},
}


def test_every_schema_inside_is_found_with_the_way_to_it_and_nothing_else() -> None:
    assert list(inner(SCHEMA)) == [
        (("properties", "$ref"), {"type": "string"}),
        (("properties", "properties"), True),
        (("items", "0"), {"type": "null"}),
        (("not",), {}),
        (("anyOf", "0"), False),
        (("dependencies", "c"), {"minProperties": 1}),
    ]


def test_replacing_touches_schemas_only() -> None:
    assert replaced(SCHEMA, lambda part: "S") == {
        **SCHEMA,
        "properties": {"$ref": "S", "properties": "S"},
        "items": ["S", 3],
        "not": "S",
        "anyOf": ["S"],
        "dependencies": {"a": ["b"], "c": "S"},
    }


def test_parts_are_the_schema_and_all_below_it() -> None:
    nested = {"items": {"items": {"type": "null"}}}
    assert list(parts(nested)) == [nested, {"items": {"type": "null"}}, {"type": "null"}]


def test_what_is_no_object_is_the_empty_schema() -> None:
    assert [node_of(value) for value in ({"a": 1}, True, None, [1])] == [{"a": 1}, {}, {}, {}]
