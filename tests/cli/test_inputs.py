"""`--arg key=value` (`cli.inputs`)."""

from __future__ import annotations

import pytest

from ringfence.cli.inputs import parse_inputs
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
