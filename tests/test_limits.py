"""How users write sizes, times and counts."""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Any

import pytest

from ringfence.errors import ConfigError
from ringfence.limits import LEVELS, MIB, parse_count, parse_seconds, parse_size, parse_text


@pytest.mark.parametrize(
    ("text", "size"),
    [("256MB", 256 * MIB), ("1 GiB", 1024 * MIB), ("1.5kb", 1536), ("12", 12), (7, 7), ("3b", 3)],
)
def test_sizes_are_bytes_or_text_with_powers_of_1024(text: Any, size: int) -> None:
    assert parse_size(text, "memory_limit") == size


@pytest.mark.parametrize("value", [True, 1.5, "", "MB", "-1MB", "1TB", None, math.nan, "١MB", 0])
def test_what_is_not_a_size_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ConfigError, match="memory_limit") as caught:
        parse_size(value, "memory_limit")
    assert caught.value.code == "bad_config"


@pytest.mark.parametrize("value", [0.5, 5000, 1])
def test_seconds_are_finite_and_above_zero(value: float) -> None:
    assert parse_seconds(value, "timeout") == float(value)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "5", True, None, 10**400])
def test_other_times_are_refused_by_name(value: Any) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        parse_seconds(value, "timeout")


@pytest.mark.parametrize("value", [-1, 1.0, True, "3", None, math.nan])
def test_counts_are_whole_numbers(value: Any) -> None:
    with pytest.raises(ConfigError, match="max_tool_calls"):
        parse_count(value, "max_tool_calls")
    assert parse_count(0, "max_tool_calls") == 0


def test_levels_are_those_of_the_catalogue() -> None:
    assert {name: astuple(level) for name, level in LEVELS.items()} == {
        "STRICT": (5.0, 10, 1_000, 5, 50, 64 * 1024, False, False),
        "SECURE": (15.0, 50, 5_000, 10, 100, 256 * 1024, False, False),
        "STANDARD": (30.0, 100, 10_000, 20, 500, 1024 * 1024, False, True),
        "PERMISSIVE": (60.0, 1_000, 100_000, 50, 1_000, 10 * 1024 * 1024, True, True),
    }


@pytest.mark.parametrize("value", ["", None, 5, b"s", True])
def test_what_is_no_text_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ConfigError, match="session_id must be text that is not empty"):
        parse_text(value, "session_id")
    assert parse_text("s", "session_id") == "s"
