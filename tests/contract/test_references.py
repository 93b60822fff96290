"""Every reference leads into `$defs`, or is refused with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.contract.references import MAX_DEFINITIONS, Unpublishable, localised, target_of


def reason(schema: dict[str, Any]) -> str:
    with pytest.raises(Unpublishable) as caught:
        localised(schema)
    return str(caught.value)


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "reference"),
    [
        ({"$defs": {"A": TEXT}}, "#/$defs/A"),
        ({"definitions": {"A": TEXT}}, "#/definitions/A"),
        ({"components": {"schemas": {"A": TEXT}}}, "#/components/schemas/A"),
        ({"properties": {"A": TEXT}}, "#/properties/A"),
        ({"$defs": {"x": {"$anchor": "here", **TEXT}}}, "#here"),
        ({"$defs": {"x": {"$id": "#here", **TEXT}}}, "#here"),
        ({"$id": "http://x/y.json", "$defs": {"A": TEXT}}, "http://x/y.json#/$defs/A"),
        ({"$defs": {"a/b~ü %": TEXT}}, "#/$defs/a~1b~0%C3%BC%20%25"),
        ({"prefixItems": [True, TEXT]}, "#/prefixItems/1"),
    ],
)
def test_a_target_anywhere_inside_becomes_a_definition(schema: dict[str, Any], reference: str) -> None:
    made = localised({**schema, "not": {"$ref": reference}})
    assert "$id" not in made
    assert target_of(made["not"], made["$defs"]) == TEXT
    assert list(made["$defs"].values()) == [TEXT]


def test_targets_of_equal_name_stay_apart_and_what_nobody_refers_to_goes() -> None:
    schema = {
        "$defs": {"A": TEXT, "B": {"type": "null"}},
        "definitions": {"A": {"type": "integer"}},
        "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/definitions/A"}],
    }
    assert localised(schema) == {
        "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A_2"}],
        "$defs": {"A": TEXT, "A_2": {"type": "integer"}},
    }


def test_a_root_that_is_referred_to_is_a_definition_too() -> None:
    assert localised({"title": "N", "properties": {"next": {"$ref": "#"}}}) == {
        "$ref": "#/$defs/N",
        "$defs": {"N": {"title": "N", "properties": {"next": {"$ref": "#/$defs/N"}}}},
    }


def test_a_property_named_like_a_keyword_is_a_property() -> None:
    schema = {"properties": {"$ref": TEXT, "$id": TEXT, "$defs": TEXT}}
    assert localised(schema) == schema


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"$ref": "https://example.org/s.json"}, "leads outside the schema, and nothing is fetched"),
        ({"$ref": "other.json#/a"}, "leads outside"),
        ({"$ref": "file:///etc/hostname"}, "leads outside"),
        ({"$ref": "#/$defs/none"}, "leads nowhere"),
        ({"$ref": 7}, "its $ref is no text but int"),
        ({"$ref": "#nowhere"}, "leads nowhere"),
        ({"$ref": "#/enum/0"}, "leads nowhere"),
        ({"$ref": "#/allOf/7"}, "leads nowhere"),
        ({"$ref": "#/allOf/²"}, "leads nowhere"),
        ({"$dynamicRef": "#x"}, "$dynamicRef"),
        ({"$recursiveRef": "#"}, "$recursiveRef"),
        ({"$id": "https://example.org/inner"}, "$id below its root, at allOf/0"),
    ],
)
def test_what_leads_outside_or_nowhere_is_refused_by_name(node: dict[str, Any], words: str) -> None:
    assert words in reason({"enum": [1], "allOf": [node]})


def test_the_number_of_targets_is_bounded() -> None:
    many = {f"d{at}": TEXT for at in range(MAX_DEFINITIONS + 1)}
    assert "refers to more than" in reason({"$defs": many, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in many]})
