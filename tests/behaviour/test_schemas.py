"""What a schema publishes is what it enforces, and a schema that can do only one of both is refused."""

from __future__ import annotations

import asyncio
import datetime
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

import ringfence as rf
from tests.behaviour.kit import Book, Heard, Payment, call, door, ending, run
from tests.requirements import requirement

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


class Pair:
    """The two methods that make any object a schema: whole euros, written as a number or as text."""

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.asked: list[tuple[str, str]] = []

    def validate(self, value: Any) -> Mapping[str, Any]:
        self.seen.append(value)
        if not isinstance(value, dict) or set(value) != {"euros"}:  # type: ignore[reportUnknownArgumentType]
            return {"issues": [{"message": "give euros", "path": ["euros"]}]}
        euros: object = value["euros"]  # type: ignore[reportUnknownVariableType]
        if not isinstance(euros, int | str) or isinstance(euros, bool) or not str(euros).isdigit():
            return {"issues": [{"message": "whole euros, please", "path": ["euros"]}]}
        return {"value": {"cents": 100 * int(euros)}}

    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        self.asked.append((target, mode))
        name = "euros" if mode == "input" else "cents"
        return {
            "$schema": DRAFT_07,
            "type": "object",
            "properties": {name: {"type": ["integer", "string"] if mode == "input" else "integer"}},
            "required": [name],
            "additionalProperties": False,
        }


class PatientPair(Pair):
    """Answers later."""

    async def validate(self, value: Any) -> Mapping[str, Any]:  # type: ignore[override]
        await asyncio.sleep(0)
        return Pair.validate(self, value)


def tool(schema: Any, execute: Any = None, **options: Any) -> rf.Tool[..., Any]:
    return rf.Tool("pay", "Pay somebody.", schema, execute or echo, **options)


async def echo(value: Any) -> Any:
    return value


def refused(make: Callable[[], object]) -> str:
    with pytest.raises(rf.ConfigError) as caught:
        make()
    return caught.value.code


def registered(schema: Any, *, naming: str = "") -> rf.Tool[..., Any] | None:
    """The tool, or None where it was refused by a reason that names what was wrong."""
    try:
        return tool(schema)
    except rf.ConfigError as error:
        if error.code != "bad_schema" or naming not in str(error):
            raise
        return None


def issues(outcome: rf.Outcome) -> list[tuple[str, str]]:
    assert outcome.error is not None
    return [(issue["path"], issue["message"]) for issue in outcome.error.issues]


def raw(properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A JSON Schema of an object."""
    return {"type": "object", "properties": dict(properties), **more}


# --- the kinds of schema ---


class Visit(BaseModel):
    day: datetime.date


@dataclass
class Record:
    amount: int
    to: str = "ada"


class Struct(msgspec.Struct):
    amount: int
    to: str = "ada"


class Typed(TypedDict):
    amount: int


SCHEMA = raw({"amount": {"type": "integer"}, "to": {"type": "string"}}, required=["amount"])


@requirement("seed.neutral", "seed.enforced", "D1", "D2", "B7")
@pytest.mark.parametrize(
    "schema", [Payment, TypeAdapter(Payment), Record, Typed, Struct, SCHEMA], ids=lambda it: str(it)[:24]
)
@pytest.mark.parametrize(
    "args", [{"amount": "5"}, {"amount": True}, {"amount": 5.5}, {"amount": None}, {}, [5], "5", None]
)
def test_whatever_kind_of_schema_it_is_judgement_is_strict(schema: Any, args: Any) -> None:
    ran: list[object] = []
    outcome, heard = call(tool(schema, ran.append), args=args if args is not None else [None])
    assert (ending(outcome), ran, heard.types) == (("refused", "invalid_input", 0), [], [])
    assert ending(call(tool(schema))[0]) == ("succeeded", None, 1)


@requirement("seed.published", "D2", "seed.enforced")
@pytest.mark.parametrize(
    "schema", [Payment, TypeAdapter(Payment), Record, Typed, Struct, SCHEMA], ids=lambda it: str(it)[:24]
)
def test_a_published_object_is_closed_names_its_draft_and_means_it(schema: Any) -> None:
    published = tool(schema).input.json_schema()
    assert published["type"] == "object"
    assert published["additionalProperties"] is False
    assert published["required"] == ["amount"]
    assert "$schema" in published
    outcome, _ = call(tool(schema), args={"amount": 5, "note": "x"})
    assert ending(outcome) == ("refused", "invalid_input", 0)
    assert [path for path, _ in issues(outcome)] == ["note"]


@requirement("D1")
def test_what_json_has_no_form_for_comes_as_text_and_leniency_has_to_be_asked_for() -> None:
    def year(visit: Visit) -> int:
        return visit.day.year

    assert call(tool(Visit, year), args={"day": "2026-03-01"})[0].unwrap() == 2026
    assert ending(call(tool(Visit), args={"day": 7})[0]) == ("refused", "invalid_input", 0)
    assert ending(call(tool(Payment), args={"amount": "7"})[0]) == ("refused", "invalid_input", 0)
    assert call(tool(Payment, Book(), lax=True), args={"amount": "7"})[0].unwrap() == "paid 7 to ada"


class LookupOrder(BaseModel):
    orderId: float  # noqa: N815


class TypedLookup(TypedDict):
    orderId: float


class StructLookup(msgspec.Struct):
    orderId: float  # noqa: N815


LOOKUP = raw({"orderId": {"type": "number"}}, required=["orderId"])


@requirement("seed.published", "seed.draft07", "D2")
@pytest.mark.parametrize("schema", [LookupOrder, TypedLookup, StructLookup, LOOKUP, {"$schema": DRAFT_07, **LOOKUP}])
def test_the_seeds_object_is_published_as_the_seed_shows_it(schema: Any) -> None:
    made = tool(schema).input
    published = made.json_schema("draft-07")
    published.pop("title", None)
    assert published == {
        "$schema": DRAFT_07,
        "type": "object",
        "properties": {"orderId": {"type": "number"}},
        "required": ["orderId"],
        "additionalProperties": False,
    }
    newest = made.json_schema()
    newest.pop("title", None)
    assert newest == {**published, "$schema": DRAFT_2020}


class Inner(BaseModel):
    n: int
    inner: Inner | None = None


class Nested(BaseModel):
    pair: tuple[int, str]
    inner: Inner


@requirement("seed.draft07", "D2")
def test_draft_07_is_really_made_of_what_has_no_form_in_it() -> None:
    published = tool(Nested).input.json_schema("draft-07")
    assert published["properties"]["pair"]["items"] == [{"type": "integer"}, {"type": "string"}]
    assert published["properties"]["inner"] == {"$ref": "#/definitions/Inner"}
    assert published["definitions"]["Inner"]["additionalProperties"] is False
    text = json.dumps(published)
    assert "prefixItems" not in text
    assert "$defs" not in text


# --- the pair ---


@requirement("D2", "W12", "seed.neutral", "seed.draft07")
@pytest.mark.parametrize("kind", [Pair, PatientPair])
def test_two_methods_are_a_schema_and_the_value_they_make_is_what_runs(kind: type[Pair]) -> None:
    schema = kind()
    made = tool(schema)
    assert ("draft-07", "input") in schema.asked
    assert schema.seen == []
    outcome, heard = call(made, args={"euros": "5"})
    assert (outcome.unwrap(), heard.types) == ({"cents": 500}, ["tool.called", "tool.completed"])
    assert schema.seen == [{"euros": "5"}]


@requirement("AC14", "D2")
@pytest.mark.parametrize("kind", [Pair, PatientPair])
def test_issues_of_such_a_schema_are_the_callers(kind: type[Pair]) -> None:
    outcome, heard = call(tool(kind(), approval="human", retries=2), args={"euros": "many"})
    assert (ending(outcome), heard.all_types) == (("refused", "invalid_input", 0), ["tool.rejected"])
    assert issues(outcome) == [("euros", "whole euros, please")]
    with pytest.raises(rf.ToolValidationError) as caught:
        outcome.unwrap()
    assert [issue["path"] for issue in caught.value.issues] == ["euros"]


class Answers(Pair):
    """Answers as it was told."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def validate(self, value: Any) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@requirement("AC15", "W35")
@pytest.mark.parametrize("answer", [{"issues": []}, {"issues": (), "value": {}}, {"value": {}, "issues": []}])
def test_an_empty_list_of_issues_is_a_failure(answer: Any) -> None:
    outcome, heard = call(tool(Answers(answer)))
    assert (ending(outcome), heard.types) == (("refused", "invalid_input", 0), [])


@requirement("D2", "W35")
@pytest.mark.parametrize(
    "answer", [None, {}, True, "fine", [], {"value": 1, "issues": "no"}, {"values": 1}, ValueError("x")]
)
def test_an_answer_that_is_neither_value_nor_issues_runs_nothing(answer: Any) -> None:
    ran: list[object] = []
    outcome, _ = call(tool(Answers(answer), ran.append))
    assert (ending(outcome), ran) == (("refused", "invalid_input", 0), [])


class Mute:
    """Publishes, and cannot validate."""

    json_schema = Pair.json_schema
    asked: list[Any]

    def __init__(self) -> None:
        self.asked = []


class Secretive:
    """Validates, and cannot publish."""

    def validate(self, value: Any) -> Any:
        return {"value": value}


class Publishes(Pair):
    """Publishes what it was told to."""

    def __init__(self, published: Any, mode: str = "both") -> None:
        super().__init__()
        self.published = published
        self.mode = mode

    def json_schema(self, target: str, *, mode: str) -> Any:
        if self.mode not in ("both", mode):
            return super().json_schema(target, mode=mode)
        if isinstance(self.published, BaseException):
            raise self.published
        return self.published


@requirement("AC06", "seed.eager")
def test_a_schema_that_cannot_validate_is_refused_while_registering() -> None:
    assert refused(lambda: tool(Mute())) == "bad_schema"


@requirement("AC07", "seed.eager")
def test_a_schema_that_cannot_be_published_is_refused_while_registering() -> None:
    assert refused(lambda: tool(Secretive())) == "bad_schema"
    assert refused(lambda: tool(Publishes(NotImplementedError("no draft-07 here")))) == "bad_schema"


@requirement("seed.eager", "seed.draft07")
def test_why_the_conversion_failed_is_the_errors_cause() -> None:
    failure = NotImplementedError("no draft-07 here")
    with pytest.raises(rf.ConfigError) as caught:
        tool(Publishes(failure))
    assert caught.value.__cause__ is failure


async def promised() -> dict[str, Any]:
    return {"type": "object"}


@requirement("W29", "W30")
@pytest.mark.parametrize(
    "published",
    [
        {"type": "string"},
        {"type": ["object", "null"]},
        [],
        "object",
        None,
        True,
        {"type": "object", "x": {1, 2}},
        {"type": "array"},
    ],
    ids=str,
)
def test_what_is_published_has_to_be_the_plain_schema_of_an_object(published: Any) -> None:
    assert refused(lambda: tool(Publishes(published, "input"))) == "bad_schema"


@requirement("W30")
def test_a_schema_that_is_promised_for_later_is_none() -> None:
    coroutine = promised()
    assert refused(lambda: tool(Publishes(coroutine))) == "bad_schema"
    coroutine.close()


@requirement("W30")
@pytest.mark.parametrize("published", [[], "integer", ValueError("no output here")], ids=str)
def test_the_other_direction_is_checked_too(published: Any) -> None:
    assert refused(lambda: tool(Publishes(published, "output"))) == "bad_schema"


@requirement("W29")
@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"type": "array", "items": {}}, {"enum": [1]}, int, list[int], str]
)
def test_a_root_that_is_no_object_is_refused(schema: Any) -> None:
    assert refused(lambda: tool(schema)) == "bad_schema"


# --- raw JSON Schema, hostile and rare ---


def bomb(levels: int) -> dict[str, Any]:
    """Each definition holds the next one twice."""
    definitions: dict[str, Any] = {
        f"d{n}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in "ab"}}
        for n in range(levels)
    }
    return raw({"root": {"$ref": "#/$defs/d0"}}, **{"$defs": {**definitions, f"d{levels}": {"type": "integer"}}})


@requirement("B8")
def test_a_schema_that_grows_without_bound_costs_little() -> None:
    began = time.process_time()
    made = registered(bomb(25))
    if made is not None:
        assert len(json.dumps(made.input.json_schema())) < 1_000_000
        assert ending(call(made, args={"root": {"a": {}}})[0]) == ("succeeded", None, 1)
        assert ending(call(made, args={"root": 7})[0]) == ("refused", "invalid_input", 0)
    assert time.process_time() - began < 2.0


@requirement("B8")
def test_a_schema_of_endless_depth_is_refused_and_breaks_nothing() -> None:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(5_000):
        deep = raw({"next": deep})
    assert refused(lambda: tool(deep)) == "bad_schema"


@requirement("B10")
def test_a_reference_into_the_middle_of_a_schema_is_followed_or_refused_by_name() -> None:
    node = raw(
        {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/properties/nodes/items"}}}
    )
    schema = raw({"nodes": {"type": "array", "items": node}})
    made = registered(schema, naming="$ref")
    if made is None:
        return
    fine = {"nodes": [{"name": "a", "children": [{"name": "b"}]}]}
    wrong = {"nodes": [{"name": "a", "children": [{"name": 7}]}]}
    assert ending(call(made, args=fine)[0]) == ("succeeded", None, 1)
    assert ending(call(made, args=wrong)[0]) == ("refused", "invalid_input", 0)


@requirement("B11")
def test_definitions_that_contain_each_other_are_refused_one_by_one() -> None:
    circle = {"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}}
    assert refused(lambda: tool(raw({"x": {"$ref": "#/$defs/A"}}, **{"$defs": circle}))) == "bad_schema"
    assert refused(lambda: tool({"$ref": "#/$defs/A", "type": "object", "$defs": circle})) == "bad_schema"
    assert ending(call(tool(SCHEMA))[0]) == ("succeeded", None, 1)


@requirement("B13")
@pytest.mark.parametrize(
    "name", ["$ref", "$defs", "properties", "type", "$schema", "additionalProperties", "items", "enum"]
)
def test_a_property_may_have_the_name_of_a_keyword(name: str) -> None:
    made = tool(raw({name: {"type": "string"}}, required=[name]))
    assert made.input.json_schema()["properties"] == {name: {"type": "string"}}
    assert call(made, args={name: "x"})[0].unwrap() == {name: "x"}
    assert issues(call(made, args={name: 7})[0])[0][0] == name


@requirement("B14")
def test_true_and_false_are_schemas() -> None:
    made = tool(raw({"any": True, "never": False}))
    values: list[Any] = [1, "x", None, [{}]]
    assert [call(made, args={"any": value})[0].status for value in values] == ["succeeded"] * 4
    outcome, _ = call(made, args={"never": 1})
    assert (ending(outcome), issues(outcome)[0][0]) == (("refused", "invalid_input", 0), "never")


@requirement("seed.draft07")
def test_both_drafts_are_read_and_what_they_mean_is_enforced() -> None:
    old = raw({"pair": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False}})
    new = raw({"pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}})
    for schema in (
        {"$schema": DRAFT_07, **old},
        {"$schema": DRAFT_2020, **new},
    ):
        made = tool(schema)
        assert call(made, args={"pair": [1, "a"]})[0].status == "succeeded"
        for wrong in ([1, 2], ["a", "a"], [1, "a", 3]):
            assert ending(call(made, args={"pair": wrong})[0]) == ("refused", "invalid_input", 0)


SLOW = r"^([a-z]+)*@corp[.]com$"
"""Linear in some engines, exponential in others."""


class Mail(BaseModel):
    to: str = Field(pattern=SLOW)


@requirement("B17")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["model", "raw"])
def test_no_pattern_makes_judging_an_argument_take_for_ever(kind: str) -> None:
    schema: Any = Mail if kind == "model" else raw({"to": {"type": "string", "pattern": SLOW}}, required=["to"])
    made = tool(schema)
    began = time.process_time()
    outcome, _ = call(made, args={"to": "a" * 30_000})
    assert (ending(outcome), time.process_time() - began < 2.0) == (("refused", "invalid_input", 0), True)
    assert ending(call(made, args={"to": "ada@corp.com"})[0]) == ("succeeded", None, 1)


@requirement("B8", "seed.eager")
@pytest.mark.parametrize(
    "schema",
    [
        raw({"x": {"$ref": "https://example.org/schema.json"}}),
        raw({"x": {"$ref": "#/$defs/absent"}}),
        raw({"x": {"type": "text"}}),
        raw({"x": {"pattern": "("}}),
        raw({"x": {"type": "string", "pattern": 7}}),
        raw({}, required="x"),
        {"type": "object", "properties": []},
        {"type": "object", "$schema": "https://example.org/my-own-draft"},
    ],
    ids=str,
)  # fmt: skip
def test_a_schema_that_nobody_could_enforce_is_refused(schema: dict[str, Any]) -> None:
    assert refused(lambda: tool(schema)) == "bad_schema"


@requirement("W31", "W13")
def test_tools_whose_schemas_share_an_id_are_each_judged_by_their_own() -> None:
    numbers = tool({"$id": "https://example.org/s", **raw({"a": {"type": "integer"}})})
    words = tool({"$id": "https://example.org/s", **raw({"a": {"type": "string"}})})
    assert [call(made, args={"a": value})[0].status for made in (numbers, words) for value in (1, "x")] == [
        "succeeded",
        "refused",
        "refused",
        "succeeded",
    ]


@requirement("W13", "AC11")
def test_a_raw_schema_that_changes_afterwards_changes_nothing() -> None:
    schema = raw({"a": {"type": "integer"}})
    made = tool(schema)
    schema["properties"]["a"]["type"] = "string"
    assert ending(call(made, args={"a": "x"})[0]) == ("refused", "invalid_input", 0)
    assert made.input.json_schema()["properties"] == {"a": {"type": "integer"}}


@requirement("W14", "D2")
def test_what_a_pairs_owner_keeps_of_its_answer_is_not_what_runs() -> None:
    kept: dict[str, int] = {"cents": 5}

    def changes(given: Any, info: rf.ApprovalInfo) -> bool:
        kept["cents"] = 9_000
        return True

    outcome, _ = call(tool(Answers({"value": kept}), approval=changes))
    assert outcome.unwrap() == {"cents": 5}


@requirement("D2", "W17")
def test_a_pair_that_never_answers_can_be_given_up() -> None:
    class Silent(Pair):
        def __init__(self) -> None:
            super().__init__()
            self.asked_once = asyncio.Event()

        async def validate(self, value: Any) -> Any:  # type: ignore[override]
            self.asked_once.set()
            await asyncio.Event().wait()

    async def body() -> None:
        schema, signal, ran = Silent(), rf.AbortSignal(), list[object]()
        async with door(tool(schema, ran.append)) as boundary:
            heard = Heard(boundary)
            task = asyncio.create_task(boundary.call("pay", {"euros": 5}, signal=signal))
            await schema.asked_once.wait()
            signal.abort()
            outcome = await task
            assert (outcome.status, outcome.attempts, ran, heard.types) == ("refused", 0, [], [])

    run(body)


# --- what a caller learns ---


@requirement("W32", "AC14")
def test_a_caller_learns_what_is_wrong_and_where_for_every_mistake_at_once() -> None:
    outcome, _ = call(tool(Payment), args={"amount": "five", "to": 7, "amout": 1})
    assert outcome.error is not None
    assert {path for path, _ in issues(outcome)} == {"amount", "to", "amout"}
    assert all(path in outcome.error.message for path in ("amount", "to", "amout"))
    assert outcome.error.hint is not None
    assert "five" not in str(outcome.error)


@requirement("W32")
def test_many_mistakes_are_bounded() -> None:
    outcome, _ = call(tool(Payment), args={f"k{n}": n for n in range(2_000)})
    assert outcome.error is not None
    assert len(outcome.error.message) < 4_096
    assert len(outcome.error.issues) <= 100


@requirement("W12")
def test_a_schema_that_changes_what_it_reads_is_asked_once_whatever_happens_later() -> None:
    schema, book = Pair(), Book(ConnectionError("a"), ConnectionError("b"))

    async def execute(value: dict[str, int], ctx: rf.ToolContext) -> str:
        return await book(Payment(amount=value["cents"]), ctx)

    def small(given: dict[str, int], info: rf.ApprovalInfo) -> bool:
        return given["cents"] == 500

    async def body() -> None:
        made = tool(schema, execute, retries=2, approval=small)
        async with door(made) as boundary:
            heard = Heard(boundary)
            outcome = await boundary.call("pay", {"euros": "5"})
            assert ending(outcome) == ("succeeded", None, 3)
            assert heard.types.count("tool.called") == 3

    run(body)
    assert (schema.seen, book.paid) == ([{"euros": "5"}], [(500, "ada")] * 3)
