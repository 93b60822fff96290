"""The value table: texts of the kinds that JSON lacks, back to values, and never anything else."""

from __future__ import annotations

import copy
import datetime
import decimal
import json
import uuid
from datetime import UTC, date, time, timedelta, timezone
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.enclave import protocol
from ringfence.enclave.table import READERS, REFUSED, ROWS, TYPES, BadTags, Unwritable, judge, restore, shown, write

KINDS = [
    pytest.param(datetime.datetime(2026, 1, 2, 3, 4, 5, 6), "datetime", "2026-01-02T03:04:05.000006", id="naive"),
    pytest.param(datetime.datetime(2026, 1, 2, tzinfo=UTC), "datetime", "2026-01-02T00:00:00+00:00", id="UTC"),
    pytest.param(
        datetime.datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
        "datetime",
        "2026-01-02T00:00:00-03:30",
        id="offset",
    ),
    pytest.param(date(2026, 1, 2), "date", "2026-01-02", id="date"),
    pytest.param(time(3, 4), "time", "03:04:00", id="time"),
    pytest.param(time(3, 4, tzinfo=UTC), "time", "03:04:00+00:00", id="time with offset"),
    pytest.param(timedelta(days=2), "timedelta", "P2D", id="days"),
    pytest.param(timedelta(0), "timedelta", "P0D", id="no time"),
    pytest.param(timedelta(days=1, seconds=90, microseconds=500_000), "timedelta", "P1DT90.5S", id="duration"),
    pytest.param(timedelta(microseconds=-1), "timedelta", "-PT0.000001S", id="negative duration"),
    pytest.param(timedelta.min, "timedelta", "-P999999999D", id="least duration"),
    pytest.param(timedelta.max, "timedelta", "P999999999DT86399.999999S", id="greatest duration"),
    pytest.param(Decimal("12.50"), "decimal", "12.50", id="decimal"),
    pytest.param(Decimal("-0"), "decimal", "-0", id="negative zero"),
    pytest.param(Decimal("1E+30"), "decimal", "1E+30", id="exponent"),
    pytest.param(uuid.UUID(int=1), "uuid", "00000000-0000-0000-0000-000000000001", id="uuid"),
    pytest.param(b"\xff\xfe", "bytes", "__4=", id="bytes"),
    pytest.param(b"", "bytes", "", id="no bytes"),
]


@pytest.mark.parametrize(("value", "kind", "text"), KINDS)
def test_a_value_of_a_kind_has_one_text_and_comes_back_from_it(value: Any, kind: str, text: str) -> None:
    assert write(value) == (kind, text)
    back = restore({"a": [text]}, {kind: [["a", 0]]})["a"][0]
    assert (back, type(back), str(back)) == (value, type(value), str(value))


@given(
    st.datetimes(timezones=st.none() | st.just(UTC))
    | st.dates()
    | st.times()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.uuids()
    | st.binary()
)
def test_every_value_of_a_kind_survives_the_way_there_and_back(value: Any) -> None:
    kind, text = write(value)
    back = restore(text, {kind: [[]]})
    assert (type(back), str(back)) == (type(value), str(value))


def test_a_bytearray_arrives_as_bytes() -> None:
    assert write(bytearray(b"x")) == write(b"x")


def test_what_a_subclass_writes_of_itself_is_not_believed() -> None:
    class Liar(datetime.date):
        def isoformat(self) -> str:
            return "never"

        def __str__(self) -> str:
            return "never"

    class Money(Decimal):
        def __str__(self) -> str:
            return "free"

    assert write(Liar(2026, 1, 2)) == ("date", "2026-01-02")
    assert write(Money("2.5")) == ("decimal", "2.5")


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-Infinity", "1E+10000", "1E-10000", "9" * 4_301])
def test_a_decimal_that_is_no_number_or_too_long_has_no_text(text: str) -> None:
    with pytest.raises(Unwritable):
        write(Decimal(text))
    with pytest.raises(BadTags):
        restore(text, {"decimal": [[]]})


def test_a_decimal_of_a_huge_exponent_is_refused_without_making_its_text() -> None:
    with pytest.raises(Unwritable):
        write(Decimal((0, (1,), decimal.MAX_EMAX)))


def test_a_date_that_is_none_is_refused() -> None:
    class NotATime(datetime.datetime):
        def __eq__(self, other: object) -> bool:
            return False

        def __ne__(self, other: object) -> bool:
            return True

        __hash__ = datetime.datetime.__hash__

    with pytest.raises(Unwritable, match="use None"):
        write(NotATime(1, 1, 1))


VALUE = {"items": [{"when": "2026-01-02"}, "x"], "n": 5, "flag": True, "none": None}


@pytest.mark.parametrize(
    ("kind", "path", "says"),
    [
        pytest.param("date", ["items", 3, "when"], "items[3].when: leads nowhere", id="position"),
        pytest.param("date", ["items", -1], "items[-1]: leads nowhere", id="negative position"),
        pytest.param("date", ["items", "0"], "items.0: leads nowhere", id="text as position"),
        pytest.param("date", ["other"], "other: leads nowhere", id="key"),
        pytest.param("date", [0], "[0]: leads nowhere", id="number as key"),
        pytest.param("date", ["n", 0], "n[0]: leads nowhere", id="into a number"),
        pytest.param("date", ["items", 1, 0], "items[1][0]: leads nowhere", id="into a text"),
        pytest.param("date", [], "value: not a text that could be a date", id="root that is no text"),
        pytest.param("date", ["n"], "n: not a text that could be a date", id="number"),
        pytest.param("date", ["none"], "none: not a text that could be a date", id="null"),
        pytest.param("date", ["items"], "items: not a text that could be a date", id="list"),
        pytest.param("time", ["items", 0, "when"], "items[0].when: not the text of a time", id="another kind"),
        pytest.param("uuid", ["items", 1], "items[1]: not the text of a uuid", id="no text of the kind"),
    ],
)
def test_a_tag_that_does_not_fit_is_refused_by_its_path(kind: str, path: list[str | int], says: str) -> None:
    with pytest.raises(BadTags) as caught:
        restore(copy.deepcopy(VALUE), {kind: [path]})
    assert str(caught.value) == says


def test_a_text_is_restored_once() -> None:
    with pytest.raises(BadTags, match="not a text"):
        restore({"a": "2026-01-02"}, {"date": [["a"], ["a"]]})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("datetime", "now"),
        ("datetime", "2026-13-01T00:00:00"),
        ("datetime", ""),
        ("date", "2026-02-30"),
        ("date", "٢٠٢٦-٠١-٠٢"),
        ("time", "25:00"),
        ("decimal", ""),
        ("decimal", " 1"),
        ("decimal", "1_0"),
        ("decimal", "١"),
        ("decimal", "1e"),
        ("uuid", "{00000000-0000-0000-0000-000000000001}"),
        ("uuid", "urn:uuid:00000000-0000-0000-0000-000000000001"),
        ("uuid", "0" * 32),
        ("bytes", "a"),
        ("bytes", "é"),
        ("bytes", "a b="),
    ],
)
def test_only_texts_of_a_kind_become_its_values(kind: str, text: str) -> None:
    with pytest.raises(BadTags):
        restore([text], {kind: [[0]]})


def test_a_long_path_makes_a_short_message() -> None:
    assert len(shown(["x" * 300] * 300)) == 200
    assert shown(["items", 3, "when"]) == "items[3].when"


def test_the_protocol_knows_the_same_kinds() -> None:
    assert tuple(READERS) == get_args(protocol.Kind)


# the table as documentation

NAMES = {name: __import__(name) for name in ("datetime", "decimal", "uuid", "fractions", "io", "pathlib")}
EXAMPLES = [pytest.param(row.example, row.text, id=row.value) for row in ROWS if row.example]


@pytest.mark.parametrize(("example", "text"), EXAMPLES)
def test_the_page_shows_values_that_are_there(example: str, text: str) -> None:
    value = eval(example, dict(NAMES))
    if isinstance(value, TYPES):
        kind, written = write(value)
        assert json.dumps(written) == text
        assert restore(written, {kind: [[]]}) == value


def test_every_sort_of_value_has_a_place_to_arrive() -> None:
    assert all(row.value and row.wire and (row.script or row.host) for row in ROWS)
    assert all(bool(row.script) == bool(row.javascript) for row in ROWS)
    assert all(row.value and row.wire and not (row.script or row.javascript or row.host) for row in REFUSED)


def test_tags_can_be_judged_without_changing_a_value() -> None:
    value = {"a": ["2026-01-02", "1.5"]}
    judge(value, {"date": [["a", 0]], "decimal": [["a", 1]]})
    assert value == {"a": ["2026-01-02", "1.5"]}
    with pytest.raises(BadTags):
        judge(value, {"date": [["a", 0], ["a", 0]]})
