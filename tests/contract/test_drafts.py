"""What was written for one draft means the same in another, or is refused by name."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.contract.drafts import URLS, draft_of, lowered, raised
from ringfence.contract.references import Unpublishable, localised

PAIR = [{"type": "integer"}, {"type": "string"}]
ANY: dict[str, Any] = {}


def test_a_draft_is_read_from_its_url() -> None:
    urls = [
        "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema",
        "https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", URLS["2020-12"],
    ]  # fmt: skip
    assert [draft_of({"$schema": url}) for url in urls] == [4, 6, 7, 2019, 2020]
    assert (draft_of({}), draft_of({}, 7)) == (2020, 7)


@pytest.mark.parametrize("url", ["https://example.org/draft", "", 7])
def test_an_unknown_draft_is_refused(url: object) -> None:
    with pytest.raises(Unpublishable, match="no draft from 4 to 2020-12"):
        draft_of({"$schema": url})


@pytest.mark.parametrize(
    ("draft", "old", "new"),
    [
        (4, {"minimum": 0, "exclusiveMinimum": True}, {"exclusiveMinimum": 0}),
        (4, {"maximum": 0, "exclusiveMaximum": False}, {"maximum": 0}),
        (4, {"exclusiveMaximum": True}, ANY),
        (4, {"const": 1, "if": ANY, "then": False}, ANY),
        (6, {"const": 1, "if": ANY, "then": False}, {"const": 1}),
        (7, {"const": 1, "if": ANY, "then": False}, {"const": 1, "if": ANY, "then": False}),
        (7, {"items": PAIR, "additionalItems": False}, {"prefixItems": PAIR, "items": False}),
        (7, {"items": [], "additionalItems": {"type": "null"}}, {"items": {"type": "null"}}),
        (7, {"items": ANY, "additionalItems": False}, {"items": ANY}),
        (7, {"dependencies": {"a": ["b"], "c": ANY}}, {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": ANY}}),
        (7, {"$ref": "#/$defs/A", "minimum": 1, "description": "d"}, {"$ref": "#/$defs/A", "description": "d"}),
        (2019, {"$ref": "#/$defs/A", "minimum": 1}, {"$ref": "#/$defs/A", "minimum": 1}),
        (7, {"prefixItems": PAIR, "unevaluatedProperties": False, "dependentRequired": {"a": ["b"]}}, ANY),
        (2020, {"prefixItems": PAIR}, {"prefixItems": PAIR}),
        (7, {"not": {"items": PAIR}}, {"not": {"prefixItems": PAIR}}),
    ],
)  # fmt: skip
def test_an_older_draft_is_raised_with_what_it_meant(draft: int, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert raised(old, draft) == new


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"prefixItems": PAIR, "items": False}, {"items": PAIR, "additionalItems": False}),
        ({"items": {"type": "null"}}, {"items": {"type": "null"}}),
        ({"$ref": "#/$defs/A", "$defs": {"A": ANY}}, {"$ref": "#/definitions/A", "definitions": {"A": ANY}}),
        ({"not": {"$ref": "#/$defs/A", "minimum": 1}}, {"not": {"allOf": [{"$ref": "#/definitions/A"}], "minimum": 1}}),
        ({"dependentRequired": {"a": ["b"]}}, {"dependencies": {"a": ["b"]}}),
        (
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"minProperties": 2}}},
            {"dependencies": {"a": {"allOf": [{"minProperties": 2}, {"required": ["b"]}]}}},
        ),
        ({"contains": ANY, "minContains": 1}, {"contains": ANY}),
        ({"contains": ANY, "minContains": 0}, ANY),
        ({"minContains": 3}, ANY),
        ({"properties": {"a": True}, "unevaluatedProperties": False},
         {"properties": {"a": True}, "patternProperties": ANY, "additionalProperties": False}),
        ({"allOf": [{"properties": {"a": ANY}}], "unevaluatedProperties": False},
         {"allOf": [{"properties": {"a": ANY}}], "properties": {"a": True}, "patternProperties": ANY,
          "additionalProperties": False}),
        ({"anyOf": [ANY], "unevaluatedProperties": True}, {"anyOf": [ANY]}),
        ({"prefixItems": PAIR, "unevaluatedItems": False}, {"items": PAIR, "additionalItems": False}),
        ({"contentSchema": ANY}, ANY),
        ({"discriminator": {"propertyName": "k", "mapping": {"a": "#/$defs/A"}}},
         {"discriminator": {"propertyName": "k", "mapping": {"a": "#/definitions/A"}}}),
    ],
)  # fmt: skip
def test_the_newest_draft_is_lowered_with_what_it_means(new: dict[str, Any], old: dict[str, Any]) -> None:
    assert lowered(new) == {"$schema": URLS["draft-07"], **old}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"not": {"contains": ANY, "minContains": 2}}, "minContains"),
        ({"contains": ANY, "maxContains": 2}, "maxContains"),
        ({"anyOf": [{"properties": {"a": ANY}}], "unevaluatedProperties": False}, "unevaluatedProperties"),
        ({"allOf": [{"prefixItems": PAIR}], "unevaluatedItems": False}, "unevaluatedItems"),
    ],
)
def test_what_draft_07_cannot_say_is_refused_by_name(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(Unpublishable, match=words):
        lowered(schema)


LEAVES = st.sampled_from(
    [True, False, {"type": "integer"}, {"type": "string", "minLength": 2}, {"const": 1}, {"enum": ["ab", None]},
     {"minimum": 1}, {"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A", "minimum": 2}, {"required": ["a"]}]
)  # fmt: skip


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    listed = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": named, "additionalProperties": inner, "prefixItems": listed, "items": inner, "allOf": listed,
            "anyOf": listed, "oneOf": listed, "not": inner, "contains": inner, "if": inner, "then": inner, "else": inner,
            "dependentRequired": st.just({"a": ["b"]}), "dependentSchemas": named, "propertyNames": inner,
            "maxItems": st.just(2), "uniqueItems": st.just(True), "unevaluatedProperties": inner,
            "minContains": st.sampled_from([0, 1]), "unevaluatedItems": inner,
        },
    )  # fmt: skip


SCHEMAS = st.recursive(LEAVES, combined, max_leaves=8)
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 2.0, "a", "ab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, SCHEMAS, st.lists(VALUES, min_size=3, max_size=6))
def test_a_value_fits_both_drafts_or_neither(root: Any, definition: Any, values: list[Any]) -> None:
    if definition == {"$ref": "#/$defs/A"} or not isinstance(root, dict):
        return
    try:
        new = localised({**root, "$defs": {"A": {"properties": {"a": definition}}}})
        old = lowered(new)
    except Unpublishable:
        return
    newest, oldest = jsonschema_rs.Draft202012Validator(new), jsonschema_rs.Draft7Validator(old)
    again = jsonschema_rs.Draft202012Validator(raised(localised(old), 7))
    for value in values:
        answers = [one.is_valid(value) for one in (newest, oldest, again)]
        assert answers in ([True] * 3, [False] * 3), (new, old, value)


def test_two_ways_to_say_what_depends_on_a_name_both_hold() -> None:
    node = {"dependencies": {"a": ["b"], "c": {"minProperties": 2}},
            "dependentRequired": {"a": ["d"]}, "dependentSchemas": {"c": {"maxProperties": 3}}}  # fmt: skip
    assert raised(node, 2019) == {
        "dependentRequired": {"a": ["d", "b"]},
        "dependentSchemas": {"c": {"allOf": [{"maxProperties": 3}, {"minProperties": 2}]}},
    }
