"""The one way from objects to bytes and back."""

from __future__ import annotations

import enum
import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.limits import ValueBudget
from ringfence.values import ValueRefused, canonical, check_text, digest, footprint, parse, recode

BUDGET = ValueBudget()
SMALL = ValueBudget(size=64, depth=3, nodes=8)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


def test_canonical_text_is_sorted_and_compact() -> None:
    assert canonical({"b": [1, 2.5, None], "a": "é"}, BUDGET) == '{"a":"é","b":[1,2.5,null]}'.encode()


@given(JSON)
def test_what_is_written_reads_back_equal(value: Any) -> None:
    assert parse(canonical(value, BUDGET), BUDGET) == value


@given(JSON)
def test_canonical_text_of_a_parsed_value_is_the_same_text(value: Any) -> None:
    data = canonical(value, BUDGET)
    assert recode(parse(data, BUDGET), BUDGET) == data


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.nan, ""),
        ({"a": [1, math.inf]}, "a[1]"),
        ({"a": {1: 2}}, "a"),
        ([(1, 2)], "[0]"),
        ({"x": {1, 2}}, "x"),
        ({"x": b"1"}, "x"),
        (Number.ONE, ""),
        ({"n": Text("x")}, "n"),
        ([object()], "[0]"),
    ],
)
def test_only_exact_json_types_are_accepted(value: Any, path: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        canonical(value, BUDGET)
    assert (caught.value.path, caught.value.too_large) == (path, False)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueRefused, match="surrogate"):
        canonical({"a": "\ud835"}, BUDGET)


def test_a_cycle_is_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueRefused) as caught:
        canonical(cycle, BUDGET)
    assert caught.value.too_large


@pytest.mark.parametrize("value", ["x" * 80, [[[[1]]]], list(range(9))])
def test_a_value_over_budget_is_too_large(value: Any) -> None:
    with pytest.raises(ValueRefused) as caught:
        canonical(value, SMALL)
    assert caught.value.too_large


@pytest.mark.parametrize("data", [b'"' + b"x" * 80 + b'"', b"[[[[1]]]]", b"[1,2,3,4,5,6,7,8,9]"])
def test_text_over_budget_is_too_large(data: bytes) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse(data, SMALL)
    assert caught.value.too_large


def test_commas_in_text_are_not_counted_as_values() -> None:
    check_text(b'["' + b"," * 40 + b'"]', SMALL)


def test_many_empty_lists_are_refused_before_they_are_parsed() -> None:
    with pytest.raises(ValueRefused) as caught:
        check_text(b"[" + b"[]," * 1_000_000 + b"[]]", BUDGET)
    assert caught.value.reason == "more than 1000000 values"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"NaN", b"Infinity", b'"\\ud835"', b"\xff", b"[" * 100_000, b"1e999", b"01"]
)
def test_what_is_not_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueRefused):
        parse(data, BUDGET)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    try:
        value = parse(data, BUDGET)
    except ValueRefused:
        return
    assert canonical(value, BUDGET)


def test_integers_keep_every_digit() -> None:
    assert parse(b"2512292042121000001123456789", BUDGET) == 2512292042121000001123456789


def test_a_digest_names_its_algorithm() -> None:
    assert digest(b"{}") == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("kind", ["list", "object"])
def test_too_many_values_are_refused_before_a_path_is_made_for_each(kind: str) -> None:
    many = [0] * 1_100_000
    value = many if kind == "list" else {"a": many}
    tracemalloc.start()
    try:
        with pytest.raises(ValueRefused) as caught:
            canonical(value, ValueBudget())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (caught.value.too_large, peak < 1_000_000) == (True, True)


def test_a_number_of_more_digits_than_python_writes_is_refused() -> None:
    with pytest.raises(ValueRefused, match="a whole number of too many digits") as caught:
        canonical({"n": 10**5_000}, ValueBudget())
    assert caught.value.too_large


LONG = b"7" * 4_300


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (b",".join([LONG] * 25), False),
        (b",".join([LONG] * 26), True),
        (b",".join([b"-" + LONG] * 1_200), True),
        (b",".join([b"7" * 399] * 2_000), False),
        (b'"' + b"7" * 1_000_000 + b'"', False),
        (b'"' + b"7" * 1_000_000 + b'",' + b",".join([LONG] * 26), True),
    ],
)
def test_the_digits_of_long_whole_numbers_are_bounded_together(text: bytes, refused: bool) -> None:
    """Python reads and writes one of them in the square of its digits."""
    raw = b"[" + text + b"]"
    if not refused:
        check_text(raw, ValueBudget())
        return
    with pytest.raises(ValueRefused, match="more than 100000 digits in long whole numbers") as caught:
        check_text(raw, ValueBudget())
    assert caught.value.too_large


@pytest.mark.parametrize("count", [1, 100, 5_000])
def test_small_texts_are_held_for_what_they_hold_as_well(count: int) -> None:
    """A guest may send very many of them."""
    raw = b"[" + b",".join([b'{"":0.5}'] * count) + b"]"
    tracemalloc.start()
    try:
        value = parse(raw, ValueBudget())
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(value) == count
    assert held <= 1.3 * footprint(raw) + 1_000
