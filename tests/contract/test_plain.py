"""The table of values that may be dumped without a declaration."""

from __future__ import annotations

import dataclasses
import io
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from ringfence.contract.plain import check_finite, check_plain, is_plain, may_lose_numbers
from ringfence.limits import ValueBudget
from ringfence.values import ValueRefused


class Pair(NamedTuple):
    a: int
    b: int


class Color(Enum):
    RED = "red"
    ODD = object()


class Level(IntEnum):
    LOW = 1


class Name(StrEnum):
    ONE = "one"


@dataclasses.dataclass
class Record:
    a: Any


class Model(BaseModel):
    a: Any = None


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class Row:
    pass


def refused(value: object, check: Callable[[object], object] = check_plain) -> tuple[str, str]:
    with pytest.raises(ValueRefused) as caught:
        check(value)
    return caught.value.path, caught.value.reason


ADMITTED: list[Any] = [
        None, True, 0, 1.5, "text", [], {}, [1, "a", None], {"a": {"b": [True]}}, (1, (2,)), {1, 2}, frozenset({"a"}),
        deque([1]), Pair(1, 2), OrderedDict(a=1), Counter("aab"), defaultdict(list, a=[1]), Color.RED, Level.LOW, Name.ONE,
        {Name.ONE: 1}, Record(a=[Record(a=1)]), b"\xff", bytearray(b"x"), Decimal("1.10"), UUID(int=1), date(2024, 1, 1),
        datetime(2024, 1, 1, tzinfo=UTC), time(1), timedelta(1), 10**30,
]  # fmt: skip


@pytest.mark.parametrize("value", ADMITTED)
def test_the_table_admits_plain_values_and_a_few_kinds(value: object) -> None:
    assert check_plain(value).models is False


def test_a_model_is_admitted_told_about_and_not_looked_into() -> None:
    assert check_plain([{"a": Model(a=lambda: None)}]).models is True


REFUSED: list[Any] = [
    (lambda: None, "", "a function is not a JSON value"),
    ([1, {"a": (2, Row())}], "[1].a[1]", "a Row is not a JSON value"),
    ({"a": (n for n in [1])}, "a", "a generator is not a JSON value"),
    ([io.StringIO("x")], "[0]", "a StringIO is not a JSON value"),
    ([map(str, [1])], "[0]", "a map is not a JSON value"),
    ([range(3)], "[0]", "a range is not a JSON value"),
    ([Row], "[0]", "a type is not a JSON value"),
    ([ValueError("secret")], "[0]", "a ValueError is not a JSON value"),
    ([PurePosixPath("/x")], "[0]", "a PurePosixPath is not a JSON value"),
    ([MappingProxyType({})], "[0]", "a mappingproxy is not a JSON value"),
    ([1j], "[0]", "a complex is not a JSON value"),
    (Record(a=[Row()]), "a[0]", "a Row is not a JSON value"),
    ([Color.ODD], "[0]", "a object is not a JSON value"),
    ([{}, {"x": {1: 2}}], "[1].x", "an object key is a int, not text"),
    ({None: 1}, "", "an object key is a NoneType, not text"),
    ({"a": 1, (1, 2): 3}, "", "an object key is a tuple, not text"),
    ({True: 1}, "", "an object key is a bool, not text"),
    ([{"a": 1}, {b"a": 1}], "[1]", "an object key is a bytes, not text"),
    ([Decimal("NaN")], "[0]", "not a finite number"),
    ({"a": [1, Decimal("Infinity")]}, "a[1]", "not a finite number"),
]


@pytest.mark.parametrize(("value", "path", "reason"), REFUSED)
def test_everything_else_is_refused_with_its_path_and_class(value: object, path: str, reason: str) -> None:
    assert refused(value) == (path, reason)


def test_nothing_is_drained_before_it_is_refused() -> None:
    generator = (n for n in [1, 2])
    refused([generator])
    assert list(generator) == [1, 2]


def test_a_cycle_and_an_endless_nest_are_refused_as_too_deep() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    nest: Any = 1
    for _ in range(1_000):
        nest = {"a": nest}
    for value in (cycle, nest):
        with pytest.raises(ValueRefused) as caught:
            check_plain(value)
        assert caught.value.too_large


def test_an_offender_beside_a_cycle_is_found() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = [cycle]
    cycle["bad"] = Row()
    assert refused(cycle) == ("bad", "a Row is not a JSON value")


def test_the_deepest_value_allowed_is_as_deep_as_the_budget() -> None:
    nest: Any = 1
    for _ in range(ValueBudget().depth):
        nest = [nest]
    assert check_plain(nest).models is False
    with pytest.raises(ValueRefused):
        check_plain([nest])


def test_shared_parts_are_counted_as_often_as_they_are_dumped() -> None:
    value: Any = [0]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(ValueRefused) as caught:
        check_plain(value)
    assert caught.value.too_large


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_found_wherever_it_is(number: float) -> None:
    assert refused(number, check_finite) == ("", "not a finite number")
    assert refused({"a": [1, {"b": number}]}, check_finite) == ("a[1].b", "not a finite number")
    assert refused([(1.0, number)], check_finite) == ("[0][1]", "not a finite number")
    check_finite({"a": [1.5, 2, "NaN", None, float("1e308")]})


def test_numbers_may_be_lost_in_models_and_in_what_cannot_be_seen() -> None:
    assert may_lose_numbers([Model(a=1.5), Model(a=math.nan)])
    assert may_lose_numbers(Loose())
    assert may_lose_numbers([Row()])
    assert not may_lose_numbers([Model(a=1.5), {"a": Model(a=[2.5, None])}])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(JSON)
def test_every_json_value_is_plain_finite_and_complete(value: Any) -> None:
    assert check_plain(value).models is False
    assert may_lose_numbers(value) is False
    check_finite(value)


@pytest.mark.slow
@given(JSON, st.sampled_from([Row(), {1: 2}, lambda: None]))
def test_one_offender_anywhere_is_enough(value: Any, offender: object) -> None:
    for around in ([value, offender], {"a": value, "b": [offender]}, (offender, [value])):
        with pytest.raises(ValueRefused):
            check_plain(around)


@pytest.mark.parametrize(
    ("hint", "plain"),
    [
        (Any, True),
        (object, True),
        (dict, True),
        (list, True),
        (dict[str, Any], True),
        (list[dict[str, Any]], True),
        (dict[str, list[Any]] | None, True),
        (Mapping[str, Any], True),
        (Sequence[Any], True),
        (tuple[Any, ...], True),
        (list[int], False),
        (dict[int, Any], False),
        (dict[str, int], False),
        (Literal["a"], False),
        (Model, False),
        (list[Model | Any], False),
        (list[dict[str, Decimal | Any]], False),
        (int, False),
        (None, False),
    ],
)
def test_a_type_is_judged_by_the_table_only_when_it_says_nothing_itself(hint: object, plain: bool) -> None:
    assert is_plain(hint) is plain
