"""What is said about a value that does not fit: where, and what was expected, never what was sent."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from ringfence.contract.complaints import issues_from
from ringfence.contract.issues import MAX_ISSUES

SECRET = "hunter2-hunter2"
ANY: dict[str, Any] = {}


def told(schema: dict[str, Any], value: Any, *names: str) -> list[tuple[str, str, str]]:
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    found = issues_from(validator.iter_errors(value), names)
    return [(issue["path"], issue["message"], issue["code"]) for issue in found]


@pytest.mark.parametrize(
    ("schema", "value", "message", "code"),
    [
        ({"type": "integer"}, SECRET, "should be a whole number", "type"),
        ({"type": ["null", "integer", "string"]}, [SECRET], "should be a whole number or text or null", "type"),
        ({"enum": ["a", 1, None]}, SECRET, 'should be one of "a", 1, null', "enum"),
        ({"const": {"a": 1}}, SECRET, 'should be {"a": 1}', "const"),
        ({"pattern": "^a+$"}, SECRET, "should match the pattern ^a+$", "pattern"),
        ({"format": "email"}, SECRET, "should have the format email", "format"),
        ({"minimum": 3}, 2, "should be at least 3", "minimum"),
        ({"exclusiveMaximum": 3}, 3, "should be less than 3", "exclusive_maximum"),
        ({"multipleOf": 0.5}, 0.3, "should be a multiple of 0.5", "multiple_of"),
        ({"maxLength": 2}, SECRET, "should have at most 2 characters", "max_length"),
        ({"minItems": 2}, [SECRET], "should have at least 2 items", "min_items"),
        ({"maxProperties": 0}, {"a": SECRET}, "should have at most 0 keys", "max_properties"),
        ({"uniqueItems": True}, [SECRET, SECRET], "should have no equal items", "unique_items"),
        ({"contains": False}, [SECRET], "should hold an item of another form", "contains"),
        ({"not": ANY}, SECRET, "should not have this form", "not"),
        ({"oneOf": [ANY, ANY]}, SECRET, "fits more than one of the forms allowed here", "one_of"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, SECRET, "should be a whole number or null", "type"),
        ({"anyOf": [{"minLength": 90}, {"pattern": "q"}]}, SECRET, "fits none of the forms allowed here", "any_of"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": SECRET}, "a key in it: should have at most 1 characters",
         "property_names"),
    ],
)  # fmt: skip
def test_a_mistake_names_what_was_expected(schema: dict[str, Any], value: Any, message: str, code: str) -> None:
    found = told({"properties": {"a": {"items": schema}}}, {"a": [value]})
    assert found == [("a[0]", message, code)]
    assert SECRET not in str(found)


def test_missing_and_unknown_keys_are_named() -> None:
    schema: dict[str, Any] = {"properties": {"order_id": {}}, "required": ["order_id"], "additionalProperties": False}
    assert told(schema, {"orderid": 1, "zzz": 2}, "order_id") == [
        ("orderid", "no such argument; did you mean 'order_id'?", "extra_forbidden"),
        ("zzz", "no such argument", "extra_forbidden"),
        ("order_id", "Field required", "missing"),
    ]
    inner: dict[str, Any] = {"properties": {"a": schema}}
    assert told(inner, {"a": {"order_id": 1, "x": 1}})[0][0] == "a.x"


def test_a_key_that_no_branch_knows_is_unknown_too() -> None:
    schema: dict[str, Any] = {"anyOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}
    assert told(schema, {"b": 1}) == [("b", "no such argument", "extra_forbidden")]


def test_what_is_false_is_not_allowed() -> None:
    assert told({"properties": {"a": False}}, {"a": SECRET}) == [("a", "is not allowed", "false_schema")]


def test_of_several_forms_the_nearest_one_is_explained() -> None:
    cat = {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind", "lives"]}
    dog = {"properties": {"kind": {"const": "dog"}, "bone": {"type": "string"}}, "required": ["kind", "bone"]}
    assert told({"oneOf": [cat, dog]}, {"kind": "cat", "lives": "9"}) == [("lives", "should be a whole number", "type")]


def test_the_number_of_issues_and_their_length_are_bounded() -> None:
    schema: dict[str, Any] = {"properties": {}, "additionalProperties": False}
    found = told(schema, {f"{at}" * 300: 1 for at in range(100)})
    assert (len(found), found[-1]) == (MAX_ISSUES + 1, ("", "100 problems in all", "more_issues"))
    assert all(len(path) <= 200 for path, _, _ in found)
    assert len(told({"enum": ["x" * 1_000] * 50 + ["y"]}, 1)[0][1]) <= 500
