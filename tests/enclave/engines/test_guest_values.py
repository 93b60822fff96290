"""From a script's values to JSON text and tags: the value table, its paths, and the bounds that the host has too."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import json
import pathlib
import types
import uuid
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import numpy
import pandas  # type: ignore[reportMissingTypeStubs]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.contract.output import dump_plain
from ringfence.contract.restorable import tags_of
from ringfence.enclave import table
from ringfence.enclave.engines.guest_names import BlockingFunction, namespace
from ringfence.enclave.engines.guest_values import NotData, encode
from ringfence.values import ValueRefused
from tests.enclave.engines.guest import guest

ID = uuid.UUID(int=1)
DAY = date(2026, 1, 2)
ROOT: list[str] = []


class Level(enum.Enum):
    HIGH = "high"
    DAY = DAY


class Number(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    A = "a"


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0


class Pair(NamedTuple):
    left: Any
    right: Any


TEXTS: list[Any] = [
    (None, "null"),
    (True, "true"),
    (2**64, "18446744073709551616"),
    (0.1, "0.1"),
    (-0.0, "-0.0"),
    ("é\u2028\0", '"é\u2028\\u0000"'),
    ((1, (2,)), "[1,[2]]"),
    ({"a": {"b": []}}, '{"a":{"b":[]}}'),
    ({5}, "[5]"),
    (frozenset(), "[]"),
    (range(3), "[0,1,2]"),
    (collections.deque([1]), "[1]"),
    ({"a": 1}.keys(), '["a"]'),
    ({"a": 1}.values(), "[1]"),
    ({"a": 1}.items(), '[["a",1]]'),
    (collections.ChainMap({"a": 1}).keys(), '["a"]'),
    (collections.OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
    (types.MappingProxyType({"a": 1}), '{"a":1}'),
    (fractions.Fraction(1, 3), '"1/3"'),
    (Level.HIGH, '"high"'),
    (Number.ONE, "1"),
    (Word.A, '"a"'),
    ({Word.A: 1}, '{"a":1}'),
    (Point(1, Point(2)), '{"x":1,"y":{"x":2,"y":0}}'),
    (Pair(1, [2]), "[1,[2]]"),
]


@pytest.mark.parametrize(
    ("value", "text"),
    TEXTS,
)
def test_values_become_json_text(value: object, text: str) -> None:
    made = encode(value)
    assert (made.text, made.tags, made.paths, made.size) == (text, "", None, len(text.encode()))


TAGGED: list[Any] = [
    pytest.param(DAY, '"2026-01-02"', {"date": [ROOT]}, id="alone"),
    pytest.param({"a": [1, DAY], "b": DAY}, '{"a":[1,"2026-01-02"],"b":"2026-01-02"}', {"date": [["a", 1], ["b"]]}, id="places"),
    pytest.param([Decimal("1.50"), ID], f'["1.50","{ID}"]', {"decimal": [[0]], "uuid": [[1]]}, id="kinds"),
    pytest.param({"b": b"\xff", "a": bytearray(b"x")}, '{"b":"_w==","a":"eA=="}', {"bytes": [["b"], ["a"]]}, id="bytes"),
    pytest.param([Point(DAY)], '[{"x":"2026-01-02","y":0}]', {"date": [[0, "x"]]}, id="in a dataclass"),
    pytest.param(collections.deque([DAY]), '["2026-01-02"]', {"date": [[0]]}, id="in a deque"),
    pytest.param({"a": DAY}.items(), '[["a","2026-01-02"]]', {"date": [[0, 1]]}, id="in a view"),
    pytest.param({DAY}, '["2026-01-02"]', {"date": [[0]]}, id="in a set"),
    pytest.param(Level.DAY, '"2026-01-02"', {"date": [ROOT]}, id="as a member of an enumeration"),
    pytest.param({"é,[{": [DAY]}, '{"é,[{":["2026-01-02"]}', {"date": [["é,[{", 0]]}, id="below a key like JSON"),
    pytest.param([datetime.datetime(2026, 1, 2), datetime.time(3)], '["2026-01-02T00:00:00","03:00:00"]', {"datetime": [[0]], "time": [[1]]}, id="times"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text", "tags"),
    TAGGED,
)
def test_values_that_json_lacks_are_tagged(value: object, text: str, tags: Any) -> None:
    made = encode(value)
    assert (made.text, json.loads(made.tags), made.paths) == (text, tags, tags)
    assert made.size == len(text.encode()) + len(made.tags.encode())
    assert made.member("tags") == f',"tags":{made.tags}'


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.dates() | st.datetimes().map(lambda when: when.replace(fold=0)) | st.decimals(allow_nan=False, allow_infinity=False) | st.uuids() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.slow
@given(DATA)
def test_what_leaves_a_script_is_restored_on_the_other_side(value: Any) -> None:
    made = encode(value)
    restored = table.restore(json.loads(made.text), json.loads(made.tags or "{}"))
    assert (restored, repr(restored)) == (value, repr(value))


class Hostile:
    """Says that it is anything."""

    __class__ = dict  # type: ignore[assignment]


class Mute:
    def __getattribute__(self, name: str) -> Any:
        raise AttributeError(name)


def cyclic() -> list[Any]:
    made: list[Any] = [1]
    made.append({"again": made})
    return made


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        pytest.param({"a": [1, float("nan")]}, "a[1]", "nan is not a finite number", id="NaN"),
        pytest.param({"a": [1, DAY, -float("inf")]}, "a[2]", "-inf is not a finite number", id="infinity beside a date"),
        pytest.param([Decimal("NaN")], "[0]", "NaN is not a finite number", id="decimal NaN"),
        pytest.param([Decimal("1e99999")], "[0]", "a Decimal of more than 4300 digits, or with an exponent beyond 9999", id="decimal"),
        pytest.param(10**4300, "", "a whole number of more than 4300 digits", id="digits"),
        pytest.param({"a": "\ud800"}, "a", "text with a lone surrogate, which is not Unicode", id="surrogate"),
        pytest.param({"a": {"\ud800": 1}}, "a", "an object key is text with a lone surrogate, which is not Unicode", id="key"),
        pytest.param({"a": {"\ud800": DAY}}, "a", "an object key is text with a lone surrogate, which is not Unicode", id="key of a date"),
        pytest.param({"a": {1: 2}}, "a", "an object key is of type int, not text; use str(key)", id="number as key"),
        pytest.param({"a": Point({1: 2})}, "a.x", "an object key is of type int, not text; use str(key)", id="number as key in a dataclass"),
        pytest.param([DAY, Point({1: 2})], "[1].x", "an object key is of type int, not text; use str(key)", id="number as key behind a date"),
        pytest.param(cyclic(), "[1].again", "contains itself", id="cycle"),
        pytest.param([DAY, cyclic()], "[1][1].again", "contains itself", id="cycle behind a date"),
        pytest.param({"a": print}, "a", "a value of type builtin_function_or_method is not data", id="function"),
        pytest.param({"a": int}, "a", "a value of type type is not data", id="class"),
        pytest.param({"a": Point}, "a", "a value of type type is not data", id="dataclass itself"),
        pytest.param(json, "", "a value of type module is not data", id="module"),
        pytest.param((n for n in ()), "", "a value of type generator is not data; use list(...)", id="generator"),
        pytest.param(io.StringIO(), "", "a value of type StringIO is not data", id="file"),
        pytest.param([DAY, io.StringIO()], "[1]", "a value of type StringIO is not data", id="file behind a date"),
        pytest.param(pathlib.PurePosixPath("a"), "", "a value of type PurePosixPath is not data; use str(path)", id="path"),
        pytest.param(1j, "", "a value of type complex is not data", id="complex"),
        pytest.param(object(), "", "a value of type object is not data", id="object"),
        pytest.param(Mute(), "", "a value of type Mute is not data", id="object without attributes"),
    ],
)  # fmt: skip
def test_what_is_not_data_is_refused_by_its_path(value: object, path: str, reason: str) -> None:
    with pytest.raises(NotData) as caught:
        encode(value)
    assert (caught.value.path, caught.value.reason) == (path, reason)
    assert str(caught.value) == (f"{path}: {reason}" if path else reason)


def test_what_is_the_hosts_is_refused_by_what_a_script_calls_it() -> None:
    with guest() as there:
        function = BlockingFunction(there.bridge, 0, "o.greet")
        space = namespace(there.bridge, "mail", {"list": "l"})
        for value, reason in (
            (function, "<function global o.greet> is not data; use what it returns"),
            (space, "<namespace mail: list> is not data; use its parts"),
        ):
            with pytest.raises(NotData) as caught:
                encode([value])
            assert (caught.value.path, caught.value.reason) == ("[0]", reason)


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        (numpy.datetime64("2026-01-02"), "use str(value)"),
        (numpy.array(["2026-01-02"], dtype="M8[D]"), "use .astype(str).tolist()"),
        (pandas.NA, "use None"),
        (pandas.Series([1]), "use .to_dict() or .tolist()"),
    ],
)
def test_what_is_no_data_of_numpy_and_pandas_has_its_fix(value: object, fix: str) -> None:
    with pytest.raises(NotData) as caught:
        encode({"a": value})
    assert caught.value.reason == f"a value of type {type(value).__name__} is not data; {fix}"


def test_a_value_that_only_says_what_it_is_is_refused() -> None:
    with pytest.raises(NotData):
        encode({"a": Hostile()})


def test_a_deep_value_ends_with_words() -> None:
    deep: list[Any] = []
    for _ in range(200_000):  # newer Pythons count other levels than these for the encoder
        deep = [deep]
    for value in (deep, [DAY, deep]):
        with pytest.raises(NotData, match="nested too deeply"):
            encode(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({1: "a", 2.5: "b", None: "c", False: "d"}, '{"1":"a","2.5":"b","null":"c","false":"d"}'),
        ({DAY: 1, ID: 2, Decimal("1.50"): 3}, f'{{"2026-01-02":1,"{ID}":2,"1.50":3}}'),
        ({Level.HIGH: 1, Number.ONE: 2, Level.DAY: 3}, '{"high":1,"1":2,"2026-01-02":3}'),
        ([Point({1: DAY})], '[{"x":{"1":"2026-01-02"},"y":0}]'),
        ([DAY, Point({1: 2})], '["2026-01-02",{"x":{"1":2},"y":0}]'),
        (collections.deque([{1: 2}]), '[{"1":2}]'),
        ({1: {2: collections.Counter("aa")}}, '{"1":{"2":{"a":2}}}'),
    ],
)
def test_keys_of_a_result_become_text(value: object, text: str) -> None:
    assert encode(value, any_keys=True).text == text


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({1: 1, "1": 2}, "two object keys become the text '1'; use keys that differ as text"),
        ({(1, 2): 1}, "an object key is of type tuple, not text; use str(key)"),
        ({float("nan"): 1}, "an object key is nan is not a finite number"),
        ({Decimal("NaN"): 1}, "an object key: NaN is not a finite number"),
        ({b"a": 1}, "an object key is of type bytes, not text; use str(key)"),
        ({1: print}, "1: a value of type builtin_function_or_method is not data"),
    ],
)
def test_keys_that_make_no_sense_as_text_are_refused(value: object, reason: str) -> None:
    with pytest.raises(NotData) as caught:
        encode(value, any_keys=True)
    assert str(caught.value) == reason


def test_numbered_keys_that_never_end_are_told_from_those_that_go_too_deep() -> None:
    deep: dict[Any, Any] = {}
    for _ in range(100_000):
        deep = {1: deep}
    circle: dict[Any, Any] = {1: {"a": []}}
    circle[1]["a"].append(circle)
    ends: list[tuple[str, bool]] = []
    for value in (deep, circle):
        with pytest.raises(NotData) as caught:
            encode(value, any_keys=True)
        ends.append((str(caught.value), caught.value.large))
    assert ends == [("is nested too deeply", True), ("1.a[0]: contains itself", False)]


def test_what_two_names_share_is_sent_twice_and_stays_the_script_s_own() -> None:
    row = {1: DAY}
    assert encode([row, row], any_keys=True).text == '[{"1":"2026-01-02"},{"1":"2026-01-02"}]'
    assert row == {1: DAY}


class NotATime(datetime.datetime):
    def __ne__(self, other: object) -> bool:
        return True


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(NotData, match="use None"):
        encode([NotATime(2026, 1, 1)])


@pytest.mark.slow
def test_arrays_and_their_numbers_are_lists_and_numbers() -> None:
    numpy: Any = pytest.importorskip("numpy")
    value = {
        "rows": numpy.arange(4).reshape(2, 2),
        "mean": numpy.float64(1.5),
        "n": numpy.int64(3),
        "b": numpy.bool_(True),
    }
    assert encode(value).text == '{"rows":[[0,1],[2,3]],"mean":1.5,"n":3,"b":true}'
    assert encode({numpy.int64(3): 1}, any_keys=True).text == '{"3":1}'
    with pytest.raises(NotData, match=r"a\[1\]: nan is not a finite number"):
        encode({"a": numpy.array([1.0, numpy.nan])})
    with pytest.raises(NotData, match="a value of type datetime64 is not data"):
        encode(numpy.datetime64("2026-01-02"))


@pytest.mark.slow
def test_frames_are_refused_with_the_way_out_and_their_dates_are_dates() -> None:
    pandas: Any = pytest.importorskip("pandas")
    with pytest.raises(NotData, match=r"is not data; use \.to_dict\(\) or \.tolist\(\)"):
        encode({"frame": pandas.DataFrame({"a": [1]})})
    assert json.loads(encode([pandas.Timestamp(2026, 1, 2)]).tags) == {"datetime": [[0]]}
    with pytest.raises(NotData, match="use None"):
        encode([pandas.NaT])


def test_decimals_of_any_context_are_written_alike() -> None:
    with decimal.localcontext(decimal.Context(prec=3, capitals=0)):
        assert encode(Decimal("1E+5")).text in ('"1e+5"', '"1E+5"')
        table.restore(json.loads(encode(Decimal("1E+5")).text), {"decimal": [[]]})


# the page


NAMES: dict[str, Any] = {
    "datetime": datetime, "decimal": decimal, "uuid": uuid, "fractions": fractions, "io": io, "pathlib": pathlib,
}  # fmt: skip


@pytest.mark.parametrize("row", [row for row in table.ROWS if row.example], ids=lambda row: row.value)
def test_a_script_s_value_crosses_as_the_page_says(row: table.Row) -> None:
    made = encode(eval(row.example, dict(NAMES)))
    assert (made.text, bool(made.tags)) == (row.text, "tagged" in row.wire)


@pytest.mark.parametrize("row", [row for row in table.ROWS if row.example and row.script], ids=lambda row: row.value)
def test_the_host_s_value_arrives_as_the_page_says(row: table.Row) -> None:
    value: Any = eval(row.example, dict(NAMES))
    data = dump_plain(value)
    tags: Any = tags_of(data) or {}
    arrived = table.restore(json.loads(data), tags)
    assert arrived == ([*value] if row.value.startswith("`list`") else value)
    assert type(arrived).__name__.removesuffix("Type") in row.script


@pytest.mark.parametrize("row", [row for row in table.REFUSED if row.example], ids=lambda row: row.value)
def test_both_sides_refuse_what_the_page_says(row: table.Row) -> None:
    value = eval(row.example, dict(NAMES))
    with pytest.raises(NotData):
        encode({"a": [value]})
    with pytest.raises(ValueRefused):
        dump_plain({"a": [value]})
