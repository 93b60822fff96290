"""Text that others wrote cannot move the cursor, forge lines or reverse the reading direction (`cli.text`)."""

from __future__ import annotations

import json
import unicodedata
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.cli.text import brief, counted, json_line, json_text, plain, safe, seconds

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Ünïcode, 漢字, 🎈", "plain, Ünïcode, 漢字, 🎈"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\x9b31m", "\\x9b31m"),
        ("\x07\x08\x7f\x00", "\\x07\\x08\\x7f\\x00"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u2028line", "\\u2028line"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("lone \ud800", "lone \\ud800"),
    ],
)
def test_hidden_characters_are_shown_and_others_stay(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_characters_to_keep_are_kept() -> None:
    assert safe("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


@given(st.text())
def test_nothing_that_a_terminal_obeys_survives(text: str) -> None:
    assert all(char.isprintable() or unicodedata.category(char) == "Zs" for char in safe(text))


def test_long_text_is_cut_with_a_mark() -> None:
    assert brief("abcdef", 6) == "abcdef"
    assert brief("abcdefg", 6) == "abcde…"
    assert brief("\x1b\x1b", 6) == "\\x1b\\…"


@given(JSON_VALUES)
def test_json_for_people_parses_to_the_same_value_and_hides_nothing(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert safe(text, keep="\n") == text


def test_json_for_people_keeps_on_one_line_what_fits_there() -> None:
    value = {"ids": list(range(12)), "rows": [{"name": "x" * 40, "tags": ["a", "b"]}], "none": []}
    assert json_text(value, width=60) == (
        '{\n  "ids": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],\n  "rows": [\n    {\n'
        f'      "name": "{"x" * 40}",\n      "tags": ["a", "b"]\n    }}\n  ],\n  "none": []\n}}'
    )


@given(JSON_VALUES)
def test_json_for_programs_is_one_line_of_ascii(value: object) -> None:
    line = json_line(value)
    assert json.loads(line) == value
    assert line.isascii()
    assert "\n" not in line


def test_values_that_json_lacks_are_written_by_a_documented_rule() -> None:
    value = {
        "when": datetime(2026, 3, 1, 12, 30),
        "day": date(2026, 3, 1),
        "at": time(12, 30),
        "amount": Decimal("10.50"),
        "id": UUID(int=7),
        "raw": b"\x00\xff",
        "pair": (1, 2),
    }
    assert plain(value) == {
        "when": "2026-03-01T12:30:00",
        "day": "2026-03-01",
        "at": "12:30:00",
        "amount": "10.50",
        "id": "00000000-0000-0000-0000-000000000007",
        "raw": "AP8=",
        "pair": [1, 2],
    }


def test_a_value_without_a_rule_is_an_error() -> None:
    with pytest.raises(TypeError, match="object"):
        plain(object())


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0.000_000_4, "0 µs"),
        (0.000_85, "850 µs"),
        (0.000_999_7, "1.0 ms"),
        (0.001_24, "1.2 ms"),
        (0.012_4, "12 ms"),
        (0.999_4, "999 ms"),
        (0.999_7, "1.0 s"),
        (3.44, "3.4 s"),
        (59.97, "1 min 00 s"),
        (125.2, "2 min 05 s"),
    ],
)
def test_durations_read_well(duration: float, text: str) -> None:
    assert seconds(duration) == text


def test_counts_have_a_plural() -> None:
    assert [counted(number, "call") for number in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
