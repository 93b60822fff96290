"""Arguments that ask for everything at once, and arguments that only look so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.policy.bulk import MOST, asks_for_all


@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 10000},
        {"limit": 1000},
        {"limit": 1000.0},
        {"limit": "5000"},
        {"rowLimit": 5000},
        {"max_limit": 10**40},
        {"limit": "9" * 5000},
        {"page_size": 1000},
        {"pageSize": 2000},
        {"perPage": 2000},
        {"count": 10001},
        {"max": 10**6},
        {"top": 20000},
        {"take": "20000"},
        {"ids": "*"},
        {"ids": ["*"]},
        {"result_limit": 5000},
        {"ops": {"fields": "*"}},
        {"junk": [0] * 10_000, "q": {"limit": 10**6}},
        {"where": {"id": {"in": ["a", "*"]}}},
        {"*": 1},
        {"no_limit": True},
        {"noLimit": 1},
        {"no-limit": "true"},
        {"unlimited": True},
        {"mode": "no_limit"},
        {"mode": "NO-LIMIT"},
        {"query": {"page": [{"limit": 5000}]}},
    ],
)
def test_without_a_bound(arguments: dict[str, Any]) -> None:
    assert asks_for_all(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"limit": 10, "id": 12345},
        {"limit": 999},
        {"credit_limit": 5000},
        {"timeLimit": 3600},
        {"op": "*"},
        {"filter": {"mathOperator": "*"}},
        {"limit": None},
        {"limit": True},
        {"limit": "many"},
        {"limits": 5000},
        {"delimiter": 5000},
        {"count": 2024},
        {"max": 5000},
        {"size": 1024},
        {"max_price": 50000},
        {"page": 5000},
        {"id": 12345},
        {"text": "limit 5000"},
        {"text": "a * b"},
        {"text": "**"},
        {"no_limit": False},
        {"unlimited": False},
        {"unlimited": 0},
        {"plan": "unlimited"},
        {"knows_limits": 1},
        {"x" * 1_000 + "_limit": 5000},
    ],
)
def test_with_a_bound_or_about_something_else(arguments: dict[str, Any]) -> None:
    assert not asks_for_all(arguments)


def test_depth_costs_no_stack() -> None:
    deep: Any = "*"
    for _ in range(MOST // 2 - 2):
        deep = [deep]
    assert asks_for_all({"a": deep})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["limit", "size", "no_limit", "*"]) | st.text(max_size=9), JSON, max_size=4))
def test_every_object_is_judged(arguments: dict[str, Any]) -> None:
    assert asks_for_all(arguments) in (True, False)
    assert asks_for_all({"inside": arguments}) == asks_for_all(arguments)


def test_only_the_outermost_values_are_looked_at() -> None:
    rows = [{"id": at, "limit": 5_000} for at in range(MOST)]
    assert not asks_for_all({"rows": rows})
    assert asks_for_all({"rows": [*range(100), {"limit": 5_000}]})
    assert asks_for_all({"rows": rows, "limit": 5_000})
    assert not asks_for_all(dict.fromkeys(map(str, range(MOST)), 0) | {"limit": 5_000})
