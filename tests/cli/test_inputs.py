"""What the command line gives a script: `--arg`, `--clock`, `--seed` (`cli.inputs`)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ringfence.cli.inputs import parse_clock, parse_inputs, parse_seed
from ringfence.errors import ConfigError


def test_values_are_json_when_they_parse_and_text_otherwise() -> None:
    pairs = [
        "n=7",
        "f=1.5",
        "yes=true",
        "none=null",
        'quoted="7"',
        'list=["a", 1]',
        "since=2026-03-01",
        "empty=",
        "k=a=b",
    ]
    assert parse_inputs(pairs) == {
        "n": 7,
        "f": 1.5,
        "yes": True,
        "none": None,
        "quoted": "7",
        "list": ["a", 1],
        "since": "2026-03-01",
        "empty": "",
        "k": "a=b",
    }


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "{", "[1,]", "True", "'a'"])
def test_what_json_does_not_know_is_text(text: str) -> None:
    assert parse_inputs([f"v={text}"]) == {"v": text}


@pytest.mark.parametrize(
    "pairs", [["noequals"], ["=value"], ["a=1", "a=2"], ["a=\udcff"], ["a=" + "[" * 70 + "]" * 70]]
)
def test_a_wrong_pair_is_refused_with_a_fix(pairs: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_inputs(pairs)
    assert caught.value.code == "bad_config"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00.5+02:00", datetime(2026, 3, 1, 12, 0, 0, 500_000, timezone(timedelta(hours=2)))),
    ],
)
def test_a_clock_is_a_moment(text: str | None, expected: datetime | None) -> None:
    assert parse_clock(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("noon", "--clock 'noon' is not a moment in ISO 8601"),
        ("", "--clock '' is not a moment in ISO 8601"),
        ("2026-03-01T12:00:00", "--clock '2026-03-01T12:00:00' has no time zone"),
        ("2026-03-01", "--clock '2026-03-01' has no time zone"),
    ],
)
def test_a_clock_that_is_no_moment_is_refused_with_a_fix(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_clock(text)
    assert (caught.value.message, caught.value.hint) == (message, "write for example --clock 2026-03-01T12:00:00Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("7", 7),
        ("-7", -7),
        ("", ""),
        ("7.0", "7.0"),
        ("9" * 19, "9" * 19),
        ("\u0667", "\u0667"),
        ("7\n", "7\n"),
    ],
)
def test_a_seed_is_a_number_where_it_looks_like_one(text: str | None, expected: int | str | None) -> None:
    assert parse_seed(text) == expected
