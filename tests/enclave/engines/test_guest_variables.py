"""What a run keeps of a script's top level: data under its own names, within what the host will read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence import values
from ringfence.enclave.engines.guest_bounds import Bounds
from ringfence.enclave.engines.guest_globals import frozen
from ringfence.enclave.engines.guest_variables import keep
from ringfence.limits import ValueBudget

BOUNDS = Bounds(size=10_000, nodes=1_000, depth=6, members=10)
DAY = date(2026, 1, 2)


def kept(names: dict[str, Any], room: int = 10_000, bounds: Bounds = BOUNDS) -> Any:
    return json.loads(keep(names, {"inputs", "call_tool"}, bounds, room).data.text)


def left(names: dict[str, Any], room: int = 10_000, variables: tuple[str, ...] = ()) -> list[str]:
    return keep(names, {"inputs", "call_tool"}, BOUNDS, room, variables).left


@dataclass
class Row:
    n: int


class Raises:
    """No data, and says so in its own way."""

    @property
    def __dataclass_fields__(self) -> Any:
        raise OSError("no")


def test_data_is_kept_in_its_order() -> None:
    names = {"total": 5, "rows": [{"a": (1, 2)}], "a": None, "row": Row(3), "ctx": frozen({"u": [1]}, "ctx")}
    assert list(kept(names).items()) == [
        ("total", 5), ("rows", [{"a": [1, 2]}]), ("a", None), ("row", {"n": 3}), ("ctx", {"u": [1]}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [math, print, Row, lambda: 1, (n for n in ()), object(), Raises(), float("nan"), {1: 2}, [print], Decimal("NaN")],
)
def test_what_is_no_data_is_left_out(value: object) -> None:
    assert kept({"a": value, "b": 1}) == {"b": 1}


@pytest.mark.parametrize("name", ["_hidden", "__name__", "inputs", "call_tool", "not a name", "", "class", ".1"])
def test_names_that_are_not_the_script_s_own_are_left_out(name: str) -> None:
    assert kept({name: 1, "b": 1}) == {"b": 1}


def test_what_is_left_out_is_told_except_for_code() -> None:
    names = {
        "f": print,
        "C": Row,
        "m": math,
        "_x": float("nan"),
        "inputs": print,
        "a": float("nan"),
        "b": {1: 2},
        "c": 1,
    }
    assert left(names) == ["a", "b"]
    assert left({"g": (n for n in ()), "o": object(), "r": Raises()}) == ["g", "o", "r"]
    assert left({"a": "x" * 50, "b": "y" * 60, "c": 1}, room=80) == ["b"]
    assert left({f"n{number}": number for number in range(12)}) == ["n10", "n11"]


def test_a_variable_that_became_code_is_told_as_well() -> None:
    assert left({"f": print, "g": print}, variables=("g", "gone")) == ["g"]


def test_of_very_many_names_some_are_told() -> None:
    names = {"n" * 201: object(), **{f"n{number}": object() for number in range(600)}}
    assert left(names) == [f"n{number}" for number in range(500)]


def test_dates_are_tagged_below_their_names() -> None:
    made = keep({"day": DAY, "rows": [{"on": DAY, "sum": Decimal("1.5")}], "n": 1}, (), BOUNDS, 10_000).data
    assert json.loads(made.text) == {"day": "2026-01-02", "rows": [{"on": "2026-01-02", "sum": "1.5"}], "n": 1}
    assert json.loads(made.tags) == {"date": [["day"], ["rows", 0, "on"]], "decimal": [["rows", 0, "sum"]]}


def test_nothing_to_keep_is_an_empty_object() -> None:
    made = keep({}, (), BOUNDS, 0).data
    assert (made.text, made.tags) == ("{}", "")


def test_what_does_not_fit_is_left_out_and_what_follows_is_kept() -> None:
    assert kept({"a": "x" * 50, "b": "y" * 60, "c": 1}, room=80) == {"a": "x" * 50, "c": 1}
    assert kept({"a": 1, "deep": [[[[[[]]]]]], "b": [[[[[]]]]]}) == {"a": 1, "b": [[[[[]]]]]}
    assert kept({"wide": dict.fromkeys(map(str, range(11))), "b": 1}) == {"b": 1}
    assert kept({"many": [0] * 1_000, "b": [0] * 500, "c": [0] * 500, "d": 1}) == {"b": [0] * 500, "d": 1}
    assert list(kept({f"n{number}": number for number in range(12)})) == [f"n{number}" for number in range(10)]


def test_tags_take_room_as_well() -> None:
    days = [DAY] * 20
    made = keep({"a_long_name": days, "b": 1}, (), BOUNDS, 600).data
    assert (json.loads(made.text), made.tags) == ({"b": 1}, "")
    assert "a_long_name" in kept({"a_long_name": days}, room=1_000)
    few = Bounds(size=10_000, nodes=45, depth=6, members=None)
    assert kept({"a": days, "b": [1] * 20}, bounds=few) == {"b": [1] * 20}


DATA = st.recursive(
    st.none() | st.integers(0, 10**6) | st.text("a,[\"é", max_size=9) | st.dates(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text("a,:", max_size=3), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from("a b c d e f é".split()), DATA), st.integers(10, 200))
def test_the_host_reads_whatever_is_kept(names: dict[str, Any], room: int) -> None:
    bounds = Bounds(size=150, nodes=24, depth=4, members=4)
    budget = ValueBudget(size=room, nodes=24, depth=4, members=4)
    made = keep(names, (), bounds, room).data
    values.parse(made.text.encode(), budget)
    if made.tags:
        values.check_text(made.tags.encode(), budget)
    assert len(made.text.encode()) + len(made.tags.encode()) <= room
