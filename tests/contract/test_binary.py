"""Bytes among arguments: where a schema reads them, in which alphabet, and where it does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from pydantic import Base64Bytes, Base64UrlBytes, BaseModel, ConfigDict

from ringfence.contract.binary import carry, is_base64
from ringfence.contract.function import FunctionInput
from ringfence.contract.hints import read_function
from ringfence.contract.keywords import Json
from ringfence.contract.structs import StructInput
from ringfence.errors import Issue

SENT = "__4="
"""URL-safe Base64 of `ODD`."""
ODD = b"\xff\xfe"


def made(function: Callable[..., Any]) -> FunctionInput:
    return FunctionInput(read_function(function, label="tool 'f'", texts={}), "tool 'f'")


def of(part: Any) -> Json:
    return {"type": "object", "properties": {"b": part}, "additionalProperties": False}


def refused(path: str) -> list[Issue]:
    return [Issue(path=path, message="bytes, which the tool does not take here", code="bytes_not_accepted")]


URL = {"type": "string", "format": "base64url"}
STANDARD = {"type": "string", "contentEncoding": "base64"}


@pytest.mark.parametrize("node", [URL, STANDARD, {"type": "string", "format": "byte"}])
def test_a_text_in_base64_stands_for_bytes(node: Json) -> None:
    assert is_base64(node)


@pytest.mark.parametrize("node", [{}, {"type": "string"}, {"type": "string", "format": "binary"}])
def test_any_other_text_does_not(node: Json) -> None:
    assert not is_base64(node)


@pytest.mark.parametrize("part", [URL, {"anyOf": [URL, {"type": "null"}]}, {"allOf": [URL]}])
def test_url_safe_text_stays_as_it_is(part: Json) -> None:
    arguments = {"b": SENT}
    assert (carry(of(part), arguments, [["b"]]), arguments) == ((False, []), {"b": SENT})


def test_the_standard_alphabet_is_written_where_it_is_read() -> None:
    arguments = {"b": [SENT, SENT]}
    assert carry(of({"type": "array", "items": STANDARD}), arguments, [["b", 1]]) == (True, [])
    assert arguments == {"b": [SENT, "//4="]}


@pytest.mark.parametrize(
    "part",
    [
        True,
        {},
        {"type": "string"},
        {"type": ["string", "null"]},
        {"type": "integer"},
        {"anyOf": [URL, {"type": "string"}]},
    ],
)
def test_where_another_value_may_be_read_bytes_are_refused(part: Any) -> None:
    arguments = {"b": SENT}
    assert (carry(of(part), arguments, [["b"]]), arguments) == ((False, refused("b")), {"b": SENT})


def test_references_and_nested_places_are_followed() -> None:
    schema = of({"type": "array", "prefixItems": [{"$ref": "#/$defs/Part"}], "items": {"type": "object"}})
    schema["$defs"] = {"Part": {"type": "object", "properties": {"data": URL, "next": {"$ref": "#/$defs/Part"}}}}
    arguments = {"b": [{"data": SENT, "next": {"data": SENT}}, {"data": SENT}]}
    paths: list[list[str | int]] = [["b", 0, "data"], ["b", 0, "next", "data"], ["b", 1, "data"]]
    assert carry(schema, arguments, paths) == (False, refused("b[1].data"))


def test_a_reference_that_leads_to_itself_ends() -> None:
    schema = {**of({"$ref": "#/$defs/A"}), "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, URL]}}}
    assert carry(schema, {"b": SENT}, [["b"]]) == (False, [])


def test_what_may_not_be_there_at_all_is_left_to_the_validator() -> None:
    assert carry(of(URL), {"c": SENT}, [["c"]]) == (False, [])


class Own(BaseModel):
    model_config = ConfigDict(val_json_bytes="base64")
    data: bytes


class Plain(BaseModel):
    model_config = ConfigDict(ser_json_bytes="base64")  # about results only
    data: bytes


@dataclasses.dataclass
class Record:
    data: bytes


@pytest.mark.parametrize(
    ("hint", "path", "passes"),
    [
        (bytes, [], True),
        (bytes | None, [], True),
        (list[bytes], [0], True),
        (dict[str, bytes], ["k"], True),
        (dict[str, bytes] | list[bytes] | None, [0], True),
        (Record, ["data"], True),  # reads as the function around it does
        (Own, ["data"], True),
        (Base64Bytes, [], True),
        (Base64UrlBytes, [], True),
        (Plain, ["data"], False),
        (bytes | str, [], False),
        (str, [], False),
        (Any, [], False),
    ],
)
def test_bytes_reach_a_function_as_they_were_or_not_at_all(hint: Any, path: list[str | int], passes: bool) -> None:
    def function(b: Any, others: int = 0) -> None: ...

    function.__annotations__["b"] = hint
    schema = made(function)
    value: Any = SENT
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [value]
    arguments = {"b": value}
    _, issues = carry(schema.json_schema(), arguments, [["b", *path]])
    assert (issues == []) is passes
    if passes:
        got: Any = schema.validate(msgspec.json.encode(arguments))["b"]
        for step in path:
            got = got[step] if not isinstance(got, (Own, Record)) else getattr(got, str(step))
        assert got == ODD


def test_what_a_type_decodes_itself_is_decoded_once() -> None:
    def function(a: Base64Bytes, b: bytes = b"") -> None: ...

    schema = made(function)
    assert schema.validate(b'{"a":"YWJj"}')["a"] == b"abc"
    assert carry(schema.json_schema(), {"a": "YWJj", "b": "YWJj"}, [["a"], ["b"]]) == (True, refused("b"))


def test_a_default_is_published_as_it_is_read() -> None:
    def function(b: bytes = b"abc") -> None: ...

    assert made(function).json_schema()["properties"] == {"b": {**URL, "default": "YWJj"}}


class Struct(msgspec.Struct):
    data: bytes


def test_structs_read_the_standard_alphabet() -> None:
    schema = StructInput(Struct, "x")
    arguments = {"data": SENT}
    assert carry(schema.json_schema(), arguments, [["data"]]) == (True, [])
    assert schema.validate(msgspec.json.encode(arguments)) == Struct(data=ODD)
