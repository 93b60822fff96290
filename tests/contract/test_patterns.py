"""How many places a pattern has is known from its text."""

from __future__ import annotations

import pytest

from ringfence.contract.patterns import places


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc", 3),
        ("^abc$", 0),
        (r"\Aa{5}\z", 0),
        ("^[0-9a-f]{8}-[0-9a-f]{4}$", 0),
        ("^a|b", 2),
        ("^(a|b)$", 0),
        ("^a+$", 1),
        ("^a{3,}$", 3),
        ("[ab]*a[ab]{1000}c", 1003),
        ("(a{10}b){20}", 220),
        ("((ab){3}c?){2,4}", 28),
        (r"\w+@\w+\.[a-z]{2,}", 6),
        (r"[\]a]x[^]]y", 4),
        (r"\p{Lu}\u{61}\x41\u0041", 4),
        ("(?:a)(?P<n>b)(?i:c)(?<m>d)", 4),
        ("a{x}", 4),
        (r"\(\)\[", 3),
        ("", 1),
        (")a", 1),
        ("(((a", 1),
        ("a{999999999999}", 999_999_999),
    ],
)
def test_repetitions_are_written_out_and_what_stops_by_itself_has_none(pattern: str, expected: int) -> None:
    assert places(pattern) == expected
