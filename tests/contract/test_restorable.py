"""Texts of a dump that stand for something else are found where the value holds that, and nowhere else."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PlainSerializer, RootModel, computed_field
from typing_extensions import TypedDict

from ringfence.contract.hints import UNDECLARED
from ringfence.contract.output import PydanticOutput, dump_plain
from ringfence.contract.raw import RawOutput
from ringfence.contract.restorable import Restorable, tags_of

NOWHERE: list[str | int] = []
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
DAY = date(2026, 1, 2)


class Priority(Enum):
    FIRST = DAY


@dataclass
class Point:
    at: datetime
    x: int = 0


class Line(BaseModel):
    price: Decimal
    sku: str = "2026-01-02"


class Order(BaseModel):
    id: uuid.UUID
    created: datetime = Field(serialization_alias="createdAt")
    due: date | None = None
    lines: list[Line] = []
    note: Annotated[date, PlainSerializer(lambda value: f"on {value}", return_type=str)] = DAY


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Shade(Enum):
    RED = "red"


class Counted(BaseModel):
    day: date

    @computed_field
    def next(self) -> date:
        return self.day + timedelta(days=1)

    @computed_field(alias="theDayAfter")
    def after(self) -> date:
        return self.day + timedelta(days=2)


class Days(RootModel[list[date]]):
    pass


class Row(TypedDict):
    when: time
    n: int


def found(value: object, hint: Any = UNDECLARED) -> dict[str, list[list[str | int]]]:
    return {kind: sorted(paths) for kind, paths in (tags_of(PydanticOutput(hint, "x").dump(value)) or {}).items()}


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (NOON, {"datetime": [NOWHERE]}),
        (datetime(2026, 1, 2, 3, 4, 5, 6), {"datetime": [NOWHERE]}),
        (datetime(2026, 7, 2, tzinfo=ZoneInfo("Europe/Paris")), {"datetime": [NOWHERE]}),
        (datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Paris")), {"datetime": [NOWHERE]}),
        (datetime(2026, 3, 29, 2, 30, tzinfo=ZoneInfo("Europe/Paris")), {"datetime": [NOWHERE]}),
        (DAY, {"date": [NOWHERE]}),
        (time(1, 2), {"time": [NOWHERE]}),
        ([timedelta(days=800, microseconds=5), -timedelta(hours=1)], {"timedelta": [[0], [1]]}),
        (Decimal("1.10"), {"decimal": [NOWHERE]}),
        (Decimal("1E+3"), {"decimal": [NOWHERE]}),
        (uuid.UUID(int=5), {"uuid": [NOWHERE]}),
        (b"\xff\xfe>?", {"bytes": [NOWHERE]}),
        (bytearray(b"hi"), {"bytes": [NOWHERE]}),
        (Priority.FIRST, {"date": [NOWHERE]}),
        ([1, DAY, "2026-01-02", [DAY]], {"date": [[1], [3, 0]]}),
        ({"a": {"b": (DAY, None)}, "c": {Decimal(1)}}, {"date": [["a", "b", 0]], "decimal": [["c", 0]]}),
        ([Point(at=NOON)], {"datetime": [[0, "at"]]}),
        ([Line(price=Decimal(1))], {"decimal": [[0, "price"]]}),
        ({"days": Days([DAY])}, {"date": [["days", 0]]}),
        (Open.model_validate({"when": DAY}), {"date": [["when"]]}),
        (Counted(day=DAY), {"date": [["day"], ["next"], ["theDayAfter"]]}),
        (OrderedDict({"a": [DAY]}), {"date": [["a", 0]]}),
    ],
)  # fmt: skip
def test_an_undeclared_result_says_where_its_values_are(value: object, tags: dict[str, Any]) -> None:
    assert found(value) == tags


@pytest.mark.parametrize(
    "value",
    [None, 1, "2026-01-02", [], {}, {"a": "1.10"}, [{"a": [1, "x"]}] * 3, {"a": {1, 2}}],
)
def test_a_result_of_plain_values_is_not_looked_at_twice(value: object) -> None:
    data = dump_plain(value)
    assert (type(data) is bytes, tags_of(data)) == (True, None)


def test_a_text_that_a_script_would_not_read_back_stays_a_text() -> None:
    class Bare(BaseModel):
        id: Annotated[uuid.UUID, PlainSerializer(lambda value: value.hex, return_type=str)] = uuid.UUID(int=1)
        sum: Annotated[Decimal, PlainSerializer(lambda value: f" {value}", return_type=str)] = Decimal(1)

    assert (found(Bare()), found(Decimal("1E+10000")), found(Decimal("9" * 4_301))) == ({}, {}, {})


def test_a_declared_result_is_judged_as_what_was_declared() -> None:
    given = {"id": str(uuid.UUID(int=1)), "created": NOON.isoformat(), "lines": [{"price": "1.50"}]}
    assert found(given, Order) == {
        "uuid": [["id"]],
        "datetime": [["createdAt"]],
        "decimal": [["lines", 0, "price"]],
    }
    assert found({"when": "01:02:03", "n": 1}, Row) == {"time": [["when"]]}
    assert found([DAY], list[date]) == {"date": [[0]]}
    assert found([b"hi"], list[bytes]) == {"bytes": [[0]]}
    assert found({1: DAY, 2: None}, dict[int, date | None]) == {"date": [["1"]]}
    assert found({DAY: {uuid.UUID(int=1): DAY}}, dict[date, dict[uuid.UUID, date]]) == {
        "date": [["2026-01-02", str(uuid.UUID(int=1))]]
    }


@pytest.mark.parametrize(
    ("key", "hint", "text"),
    [
        (NOON, datetime, "2026-01-02T12:00:00Z"),
        (time(1, 2), time, "01:02:00"),
        (Shade.RED, Shade, "red"),
        (Priority.FIRST, Priority, "2026-01-02"),
        (1.5, float, "1.5"),
        (True, bool, "true"),
        (None, None, "None"),
        (Decimal("1.0"), Decimal, "1.0"),
        (timedelta(hours=1), timedelta, "PT1H"),
    ],
)
def test_values_under_keys_of_every_kind_are_found(key: object, hint: Any, text: str) -> None:
    assert found({key: DAY}, dict[hint, date]) == {"date": [[text]]}
    assert found(OrderedDict({key: [DAY]}), OrderedDict[hint, list[date]]) == {"date": [[text, 0]]}


def test_where_two_keys_become_one_text_only_texts_are_believed() -> None:
    assert found({1: DAY, "1": None, "a": DAY}, dict[int | str, date | None]) == {"date": [["a"]]}


def test_a_contract_that_cannot_hold_such_values_costs_nothing() -> None:
    assert type(PydanticOutput(list[dict[str, int | str]], "x").dump([{"a": "2026-01-02"}])) is bytes
    assert type(PydanticOutput(Order, "x").dump(Order(id=uuid.UUID(int=1), created=NOON))) is Restorable


def test_what_a_serialiser_of_the_users_own_writes_is_believed() -> None:
    class Odd(BaseModel):
        when: Annotated[datetime, PlainSerializer(lambda value: "2020-01-01T00:00:00", return_type=str)]
        both: date = Field(validation_alias=AliasChoices("both", "either"), default=DAY)

    assert found(Odd(when=NOON), Odd) == {"date": [["both"]]}


def test_a_computed_field_that_fails_the_second_time_stays_a_text() -> None:
    class Once(BaseModel):
        times: list[int] = Field(default=[], exclude=True)

        @computed_field
        def day(self) -> date:
            if self.times:
                raise ValueError
            self.times.append(1)
            return DAY

    assert found(Once(), Once) == {}


def test_a_json_schema_declares_text_and_text_stays() -> None:
    schema = {"type": "object", "properties": {"when": {"type": "string", "format": "date"}}}
    data = RawOutput(schema, "x").dump({"when": DAY})
    assert (type(data), data) == (bytes, b'{"when":"2026-01-02"}')


def test_a_value_that_changed_meanwhile_is_tagged_where_it_still_fits() -> None:
    value = {"a": DAY, "b": DAY}
    data = dump_plain(value)
    value["a"] = date(2020, 1, 1)
    del value["b"]
    assert tags_of(data) is None
