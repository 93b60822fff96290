"""JSON Schema as a contract: exactly what it says is enforced, within bounds, and nothing is fetched."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from ringfence.contract.check import MAX_PATTERNS
from ringfence.contract.raw import RawInput, RawOutput
from ringfence.ports import InvalidInput
from tests.contract.helpers import codes, config_error, issues, refusal

FIELD = "tool 'x': input"


def raw(properties: dict[str, Any] | None = None, **more: Any) -> RawInput:
    return RawInput({"type": "object", "properties": properties or {}, **more}, FIELD)


def sent(value: Any) -> bytes:
    return json.dumps(value).encode()


def fits(schema: RawInput, value: Any) -> bool:
    try:
        return schema.validate(sent(value)) == value
    except InvalidInput:
        return False


def of(schema: Any, *values: Any) -> list[bool]:
    """Which values fit a schema of one argument."""
    made = raw({"a": schema})
    return [fits(made, {"a": value}) for value in values]


def test_a_tool_gets_what_was_sent() -> None:
    made = raw({"a": {"type": "integer"}, "b": {"default": 1}}, required=["a"])
    assert made.validate(b'{"a":1}') == {"a": 1}
    assert codes(made, b'{"a":"1","c":2}') == [("a", "type"), ("c", "extra_forbidden")]


def test_validation_is_strict() -> None:
    assert of({"type": "boolean"}, "false", 0, 1, None, False) == [False, False, False, False, True]
    assert of({"type": "integer"}, "1", True, 1.5, None, 1, 1.0) == [False, False, False, False, True, True]
    assert of({"type": "string"}, 1, None, "") == [False, False, True]


def test_whole_numbers_are_exact_at_any_length() -> None:
    for exact in (2**53, 2**64, 10**300):
        assert of({"const": exact + 1}, exact, exact + 1, exact + 2) == [False, True, False]
        assert of({"maximum": exact}, exact, exact + 1) == [True, False]
        assert raw({"a": {}}).validate(sent({"a": exact + 1})) == {"a": exact + 1}


def test_known_formats_are_asserted_and_unknown_ones_say_something_about_the_value() -> None:
    assert of({"format": "date"}, "2026-02-30", "2026-02-28", 7) == [False, True, True]
    assert of({"format": "email"}, "nobody", "ada@example.org") == [False, True]
    assert of({"format": "of-our-house"}, "x") == [True]


def test_patterns_take_linear_time_and_bounded_space() -> None:
    assert of({"pattern": "^([a-z]+)*@corp[.]com$"}, "a" * 100_000, "ada@corp.com") == [False, True]
    for pattern in ("(?=a)b", r"(a)\1", "(?<!a)b", "(((a{100}){100}){100}){100}", "("):
        assert config_error(raw, {"a": {"pattern": pattern}}).code == "bad_schema"
    assert "pattern '(?=a)b' has no linear-time form" in config_error(raw, {"a": {"pattern": "(?=a)b"}}).message
    many = {f"a{at}": {"pattern": f"^{at}$"} for at in range(MAX_PATTERNS + 1)}
    assert "patterns" in config_error(raw, many).message


@pytest.mark.parametrize("name", ["$ref", "$defs", "$id", "properties", "type", "", "a b", "class", "__proto__"])
def test_a_property_may_have_any_name(name: str) -> None:
    made = raw({name: {"type": "integer"}}, required=[name])
    assert made.json_schema()["properties"] == {name: {"type": "integer"}}
    assert (fits(made, {name: 1}), fits(made, {name: "x"}), fits(made, {})) == (True, False, False)


def test_true_admits_all_and_false_nothing() -> None:
    made = raw({"any": True, "never": False})
    values: list[Any] = [1, None, [{}], "x"]
    assert all(fits(made, {"any": value}) for value in values)
    assert codes(made, b'{"never":1}') == [("never", "false_schema")]


def test_a_reference_into_the_middle_and_a_list_of_itself_are_followed() -> None:
    node = {"type": "object", "properties": {"children": {"items": {"$ref": "#/properties/nodes/items"}}}}
    made = raw({"nodes": {"type": "array", "items": node}})
    assert fits(made, {"nodes": [{"children": [{"children": []}]}]})
    assert codes(made, b'{"nodes":[{"children":[{"children":[1]}]}]}') == [("nodes[0].children[0].children[0]", "type")]


def test_two_schemas_with_one_id_are_two_schemas() -> None:
    integer, text = (raw({"a": {"type": kind}}, **{"$id": "https://example.org/s"}) for kind in ("integer", "string"))
    assert [fits(made, {"a": value}) for made in (integer, text) for value in (1, "x")] == [True, False, False, True]


def test_an_open_root_stays_open_as_far_as_it_says() -> None:
    made = raw({"a": True}, additionalProperties={"type": "integer"})
    assert made.json_schema("draft-07")["additionalProperties"] == {"type": "integer"}
    assert (fits(made, {"b": 1}), fits(made, {"b": "x"})) == (True, False)


def test_what_was_written_for_an_older_draft_is_enforced_as_meant() -> None:
    made = raw(
        {"n": {"minimum": 0, "exclusiveMinimum": True}}, **{"$schema": "http://json-schema.org/draft-04/schema#"}
    )
    assert (fits(made, {"n": 0}), fits(made, {"n": 1})) == (False, True)
    old = raw(
        {"p": {"items": [True], "additionalItems": False}}, **{"$schema": "http://json-schema.org/draft-07/schema"}
    )
    assert (fits(old, {"p": [1]}), fits(old, {"p": [1, 2]})) == (True, False)


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def nested(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


def clique(size: int) -> RawInput:
    names = [f"D{at}" for at in range(size)]
    every = {"type": "object", "properties": {"a": {"anyOf": [ref(name) for name in names]}}}
    return raw({"x": ref("D0")}, **{"$defs": dict.fromkeys(names, every)})


def test_a_value_that_would_take_for_ever_is_refused_before_it_is_checked() -> None:
    made = clique(20)
    assert fits(made, {"x": nested(2, {})})
    assert codes(made, sent({"x": nested(50, "no")})) == [("", "too_complex")]


def test_a_mistake_too_costly_to_explain_is_a_mistake() -> None:
    choice = {"anyOf": [{"type": "object", "properties": {"a": ref("N"), "b": {"const": at}}} for at in range(10)]}
    made = raw({"x": ref("N")}, **{"$defs": {"N": choice}})
    assert fits(made, {"x": nested(50, {})})
    assert codes(made, sent({"x": nested(50, 1)})) == [("", "schema")]


def test_of_a_large_value_the_first_mistake_is_told() -> None:
    made = raw({"a": {"items": {"type": "integer"}}})
    assert len(issues(made, sent({"a": ["x"] * 100_000}))) == 1


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b"null", b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", b'{"a":1e999}']
)
def test_what_is_no_object_within_bounds_is_refused(data: bytes) -> None:
    assert issues(raw({"a": True}), data)


def test_of_a_key_sent_twice_the_last_value_is_the_one_that_counts() -> None:
    assert raw({"a": {"type": "integer"}}).validate(b'{"a":"x","a":1}') == {"a": 1}


def output(schema: Any) -> RawOutput:
    return RawOutput(schema, "tool 'x': output")


def test_a_result_is_checked_as_a_caller_sees_it() -> None:
    made = output({"type": "object", "properties": {"day": {"format": "date"}, "n": {"type": "integer"}}})
    assert made.dump({"day": datetime.date(2026, 3, 1), "n": 2**70}) == b'{"day":"2026-03-01","n":%d}' % 2**70
    assert refusal(made, {"n": "secret"}) == ("n", "not what was declared: should be a whole number")
    assert refusal(made, {"n": "x", "day": "y"})[1].endswith("(and 1 more)")
    assert refusal(made, {"n": object()}) == ("n", "a object is not a JSON value")


def test_a_result_may_have_any_root_and_is_not_closed() -> None:
    made = output({"type": ["array", "null"], "items": {"type": "integer"}})
    assert (made.dump([1, 2]), made.dump(None)) == (b"[1,2]", b"null")
    assert made.json_schema("draft-07")["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert output({"properties": {"a": True}}).dump({"b": 1}) == b'{"b":1}'
    assert config_error(output, {"type": "nothing"}).message.startswith("tool 'x': output: ")


CLOSED: list[dict[str, Any]] = [
    {"dependentRequired": {"admin": ["a"]}, "additionalProperties": False},
    {"anyOf": [{"required": ["admin"]}, {}], "additionalProperties": False},
    {"allOf": [{"properties": {"admin": {}}}], "additionalProperties": False},
    {"dependentRequired": {"admin": ["a"]}, "unevaluatedProperties": False},
]


@pytest.mark.parametrize("more", CLOSED)
def test_what_an_author_closed_is_not_opened_for_names_that_are_only_mentioned(more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], **more}
    made = RawInput(schema, "f")
    assert codes(made, b'{"a":1,"admin":{"x":[1]}}') == [("admin", "extra_forbidden")]
    assert made.validate(b'{"a":1}') == {"a": 1}


@pytest.mark.parametrize("more", [{"enum": [10**5000]}, {"minimum": 10**5000}, {"default": [10**5000]}])
def test_a_schema_with_a_number_that_cannot_be_written_is_refused_as_such(more: dict[str, Any]) -> None:
    assert config_error(raw, {"a": more}).code == "bad_schema"
