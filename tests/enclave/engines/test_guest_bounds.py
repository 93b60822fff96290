"""How large a value of a script may be: by the same measure as the host's."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringfence import values
from ringfence.enclave.engines.guest_bounds import Bounds
from ringfence.enclave.engines.guest_values import encode
from ringfence.limits import ValueBudget

DAY = date(2026, 1, 2)


BUDGET = ValueBudget(size=60, depth=3, nodes=12, members=3)
BOUNDS = Bounds(size=60, depth=3, nodes=12, members=3)


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.integers(-9, 99) | st.text('a,[{"\\é', max_size=6),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text("a,:", max_size=3), inner, max_size=5),
        max_leaves=14,
    )
)
@example([[[[]]]])
@example({"a": {"b": {"c": {}}}})
@example([0] * 11)
@example([0] * 12)
@example({"a": 1, "b": 2, "c": 3, "d": 4})
@example([",,,,,,,,,,,,,,,"])
def test_the_bounds_are_the_host_s(value: Any) -> None:
    made = encode(value)
    try:
        values.parse(made.text.encode(), BUDGET)
        fits = True
    except values.ValueRefused:
        fits = False
    assert BOUNDS.admits(made) == fits


def test_more_tags_than_the_host_reads_are_too_many() -> None:
    bounds = Bounds(size=10_000, depth=5, nodes=20, members=None)
    assert bounds.excess(encode([DAY] * 3)) is None
    assert bounds.excess(encode([DAY] * 15)) == "too many dates, decimals, ids and bytes; send some of them as text"
    assert bounds.excess(encode("x" * 10_000)) == "10002 bytes of JSON, more than 10000"
    assert bounds.excess(encode("é" * 5_000)) == "10002 bytes of JSON, more than 10000"
