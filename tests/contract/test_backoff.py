"""Pauses between attempts: grow, stay below a bound, and leave a share to chance."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ringfence.contract.backoff import Backoff
from ringfence.errors import ConfigError


def test_pauses_grow_by_the_factor_until_the_longest() -> None:
    backoff = Backoff(first=1.0, factor=3.0, longest=10.0, jitter=0.0)
    assert [backoff.pause(attempt, 0.9) for attempt in (1, 2, 3, 4)] == [1.0, 3.0, 9.0, 10.0]


def test_a_pause_never_overflows() -> None:
    assert Backoff(first=1.0, factor=10.0, longest=5.0, jitter=0.0).pause(10_000, 0.0) == 5.0


def test_chance_shortens_a_pause_by_at_most_the_jitter() -> None:
    backoff = Backoff(first=2.0, jitter=0.5)
    assert [backoff.pause(1, chance) for chance in (0.0, 0.5, 1.0)] == [2.0, 1.5, 1.0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("first", 0),
        ("first", True),
        ("first", math.nan),
        ("longest", math.inf),
        ("longest", "1"),
        ("factor", 0.5),
        ("factor", True),
        ("factor", math.nan),
        ("jitter", -0.1),
        ("jitter", 1.1),
        ("jitter", None),
    ],
)
def test_a_wrong_number_is_named(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"backoff: {field} must be") as caught:
        Backoff(**{field: value})
    assert caught.value.code == "bad_config"
