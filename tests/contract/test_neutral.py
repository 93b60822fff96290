"""The validator and converter of a library that nobody here knows: really called, never trusted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any

import pytest

from ringfence.contract.issues import MAX_ISSUES
from ringfence.contract.neutral import PairInput, PairOutput, halves
from ringfence.ports import InvalidInput, Unfinished
from ringfence.values import ValueRefused
from tests.contract.helpers import config_error

OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
OLD = "http://json-schema.org/draft-07/schema#"
NEWEST = "https://json-schema.org/draft/2020-12/schema"


class Pair:
    """Answers with `answer`, publishes `published`; what is an exception is raised."""

    vendor = "somebody"
    version = 1

    def __init__(self, answer: Any = None, published: Any = OBJECT, targets: tuple[str, ...] = ("draft-07", "2020-12")):
        self.answer = {"value": {"a": 1}} if answer is None else answer
        self.published = published
        self.targets = targets
        self.seen: list[Any] = []
        self.asked: list[tuple[str, str]] = []

    def validate(self, value: Any) -> Any:
        self.seen.append(value)
        return self._or_raise(self.answer)

    def json_schema(self, target: str, mode: str = "input") -> Any:
        self.asked.append((target, mode))
        if target not in self.targets:
            raise NotImplementedError(target)
        return self._or_raise(self.published[mode] if isinstance(self.published, Modes) else self.published)

    @staticmethod
    def _or_raise(made: Any) -> Any:
        if isinstance(made, BaseException):
            raise made
        return made


class Modes(dict[str, Any]):
    """What is published, by mode."""


class Late(Pair):
    async def validate(self, value: Any) -> Any:  # type: ignore[override]
        return Pair.validate(self, value)


def made(pair: Any) -> PairInput:
    return PairInput(pair, "tool 'x': input")


def settled(answer: Any) -> Any:
    """What a synchronous answer is, or an asynchronous one becomes."""
    if not isinstance(answer, Unfinished):
        return answer

    async def wait(awaitable: Awaitable[Any]) -> Any:
        return await awaitable

    return answer.finish(asyncio.run(wait(answer.awaitable)))


def found(pair: Pair) -> list[Any]:
    with pytest.raises(InvalidInput) as caught:
        settled(made(pair).validate(b'{"password":"hunter2-hunter2"}'))
    return [dict(issue) for issue in caught.value.issues]


both = pytest.mark.parametrize("kind", [Pair, Late])


@both
def test_the_validators_value_is_what_runs_and_it_is_asked_once(kind: type[Pair]) -> None:
    pair = kind({"value": {"cents": 500}})
    schema = made(pair)
    assert pair.seen == []
    assert settled(schema.validate(b'{"euros":"5"}')) == {"cents": 500}
    assert pair.seen == [{"euros": "5"}]


def test_an_asynchronous_validator_is_left_to_somebody_who_can_wait() -> None:
    answer = made(Late()).validate(b"{}")
    assert isinstance(answer, Unfinished)
    assert settled(answer) == {"a": 1}


@both
def test_what_the_owner_keeps_of_a_value_is_not_what_runs(kind: type[Pair]) -> None:
    kept = {"lines": [1]}
    value = settled(made(kind({"value": kept})).validate(b"{}"))
    kept["lines"].append(2)
    assert value == {"lines": [1]}


def test_both_drafts_and_both_directions_are_asked_for_at_registration() -> None:
    pair = Pair()
    made(pair)
    assert pair.asked == [("draft-07", "input"), ("2020-12", "input"), ("draft-07", "output")]


def test_both_drafts_are_published_closed_under_their_names() -> None:
    schema = made(Pair())
    assert schema.json_schema() == {"$schema": NEWEST, **OBJECT, "additionalProperties": False}
    assert schema.json_schema("draft-07") == {"$schema": OLD, **OBJECT, "additionalProperties": False}


PAIR: dict[str, Any] = {"items": [{}, {}], "additionalItems": False}


@pytest.mark.parametrize(
    "pair",
    [
        Pair(published={"type": "object", "properties": {"p": PAIR}}, targets=("draft-07",)),
        Pair(published={"$schema": OLD, "type": "object", "properties": {"p": PAIR}}),
    ],
)
def test_a_converter_that_knows_only_draft_07_is_converted_for(pair: Pair) -> None:
    schema = made(pair)
    assert schema.json_schema("draft-07")["properties"] == {"p": PAIR}
    assert schema.json_schema()["properties"] == {"p": {"prefixItems": [{}, {}], "items": False}}


def test_a_converter_without_an_answer_for_the_newest_draft_is_converted_for() -> None:
    class Partial(Pair):
        def json_schema(self, target: str, mode: str = "input") -> Any:
            return OBJECT if target == "draft-07" else None

    assert made(Partial()).json_schema()["$schema"] == NEWEST


@pytest.mark.parametrize(
    "answer",
    [
        None.__class__, {}, [], "fine", True, 7, {"values": 1}, {"issues": "no"}, {"issues": 5}, {"issues": {"a": 1}},
        {"value": 1, "issues": "no"}, [("value", 1)],
    ],
)  # fmt: skip
@both
def test_any_other_answer_refuses_the_call(kind: type[Pair], answer: Any) -> None:
    assert found(kind(answer)) == [
        {"path": "", "message": "its validator answered in no known form", "code": "validator_error"}
    ]


@pytest.mark.parametrize("answer", [{"issues": []}, {"issues": (), "value": {}}, {"issues": iter(())}])
@both
def test_an_empty_list_of_issues_refuses_the_call(kind: type[Pair], answer: Any) -> None:
    assert found(kind(answer)) == [{"path": "", "message": "refused without a reason", "code": "invalid"}]


def test_a_validator_that_breaks_refuses_the_call_without_its_text() -> None:
    assert found(Pair(ValueError("hunter2-hunter2"))) == [
        {"path": "", "message": "a validator raised ValueError", "code": "validator_error"}
    ]


class Uncopyable:
    def __deepcopy__(self, memo: object) -> object:
        raise RuntimeError("hunter2-hunter2")


class Unreadable(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("hunter2-hunter2")

    def __iter__(self) -> Any:
        return iter(["value"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("answer", [{"value": Uncopyable()}, Unreadable(), {"issues": [Unreadable()]}])
def test_an_answer_that_breaks_when_it_is_read_refuses_the_call(answer: Any) -> None:
    assert found(Pair(answer))[0]["message"] == "a validator raised RuntimeError"


def test_issues_are_the_validators_without_the_value() -> None:
    given = [
        {"message": "too short", "path": ["lines", 3, "sku"], "code": "short"},
        {"message": "hunter2-hunter2 is no password", "path": [{"key": "password"}]},
        {"message": "plain path", "path": "a.b"},
        {"message": "no path", "path": None, "code": "a\nb"},
        {"message": 7},
        "text",
    ]
    assert found(Pair({"issues": given})) == [
        {"path": "lines[3].sku", "message": "too short", "code": "short"},
        {"path": "password", "message": "… is no password", "code": "invalid"},
        {"path": "a.b", "message": "plain path", "code": "invalid"},
        {"path": "", "message": "no path", "code": "invalid"},
        {"path": "", "message": "its validator answered in no known form", "code": "validator_error"},
    ]


@pytest.mark.parametrize("data", [b"null", b'""', b"[1]", b"true", b"0"])
def test_what_is_no_object_never_reaches_the_validator(data: bytes) -> None:
    pair = Pair()
    with pytest.raises(InvalidInput) as caught:
        PairInput(pair, "input").validate(data)
    assert caught.value.issues == ({"path": "", "message": "should be an object", "code": "type"},)
    assert pair.seen == []


def test_issues_are_bounded_in_number_and_length() -> None:
    many = found(Pair({"issues": [{"message": f"{at} " + "m" * 9_000, "path": "p" * 9_000} for at in range(5_000)]}))
    assert (len(many), len(json.dumps(many)) < 20_000) == (MAX_ISSUES + 1, True)


def test_arguments_that_are_no_json_never_reach_the_validator() -> None:
    pair = Pair()
    with pytest.raises(InvalidInput):
        made(pair).validate(b"{")
    assert pair.seen == []


class OnlyValidates:
    def validate(self, value: Any) -> Any:
        return {"value": value}


class OnlyPublishes:
    validate = "not callable"

    def json_schema(self, target: str, mode: str) -> Any:
        return OBJECT


class Locked:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_a_missing_half_is_refused_by_its_name() -> None:
    assert "no json_schema(target, mode)" in config_error(made, OnlyValidates()).message
    assert "no validate(value)" in config_error(made, OnlyPublishes()).message
    assert [halves(one) for one in (OnlyValidates(), OnlyPublishes(), Pair(), Locked(), None)] == [
        (True, False), (False, True), (True, True), (False, False), (False, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 2),
        ("version", True),
        ("version", "1"),
        ("version", None),
        ("vendor", ""),
        ("vendor", " "),
        ("vendor", 7),
    ],
)
def test_another_version_or_a_blank_vendor_is_refused(field: str, value: object) -> None:
    pair = Pair()
    setattr(pair, field, value)
    assert field in config_error(made, pair).message


async def promised() -> dict[str, Any]:
    return OBJECT


@pytest.mark.parametrize(
    ("published", "words"),
    [
        ([], "answered list"),
        (None, "answered NoneType"),
        (True, "answered bool"),
        ({"type": "string"}, "at its root"),
        ({"type": "object", "x": {1}}, "a set is not a JSON value"),
        ({"type": "object", "required": 7}, "no JSON Schema"),
        (Modes(input=OBJECT, output="text"), "answered str"),
        (ValueError("hunter2"), 'json_schema("draft-07", mode="input") raised ValueError'),
        (Modes(input=OBJECT, output=ValueError("hunter2")), 'json_schema("draft-07", mode="output") raised ValueError'),
    ],
)
def test_what_a_converter_may_not_answer(published: Any, words: str) -> None:
    error = config_error(made, Pair(published=published))
    assert (error.code, error.message[:15]) == ("bad_schema", "tool 'x': input")
    assert words in error.message
    assert "hunter2" not in error.message


def test_the_converters_exception_is_the_cause() -> None:
    failure = ValueError("no draft-07 here")
    assert config_error(made, Pair(published=failure)).__cause__ is failure


def test_an_asynchronous_converter_is_refused() -> None:
    assert config_error(made, Pair(published=promised())).hint == "make it a plain def"


def output(pair: Any) -> PairOutput:
    return PairOutput(pair, "tool 'x': output")


@both
def test_a_result_is_what_the_validator_makes_of_it(kind: type[Pair]) -> None:
    pair = kind({"value": {"when": (1, 2)}}, Modes(output={"type": "object", "title": "Out"}, input={"type": "object"}))
    schema = output(pair)
    assert settled(schema.dump({"raw": 1})) == b'{"when":[1,2]}'
    assert pair.seen == [{"raw": 1}]
    assert schema.json_schema()["title"] == "Out"
    assert schema.json_schema("draft-07")["$schema"] == OLD


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"issues": [{"message": "no", "path": ["a"]}]}, "a: not what was declared: no"),
        ({}, "value: not what was declared: its validator answered in no known form"),
        (ValueError("x"), "value: not what was declared: a validator raised ValueError"),
        ({"value": {"a": object()}}, "a: a object is not a JSON value"),
    ],
)
@both
def test_a_result_that_is_refused_says_why(kind: type[Pair], answer: Any, reason: str) -> None:
    if kind is Late and isinstance(answer, BaseException):
        return  # raised while it is awaited, by whoever awaits it
    with pytest.raises(ValueRefused) as caught:
        settled(output(kind(answer)).dump({"a": 1}))
    assert str(caught.value) == reason
