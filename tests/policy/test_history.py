"""A run's past: as long as the longest window, bounded, and without values."""

from __future__ import annotations

from typing import Any

from ringfence.policy.history import LONGEST_KEY, MOST, MOST_KEYS, History, Past, keys_of


def past(name: str, timestamp: float) -> Past:
    return Past(name=name, timestamp=timestamp, arg_keys=(), effect=None, tags=())


def test_calls_are_remembered_for_thirty_seconds_in_order() -> None:
    history = History()
    for at in range(3):
        history.note(past(f"call{at}", at * 10.0))
    assert [one.name for one in history.seen(29.9)] == ["call0", "call1", "call2"]
    assert [one.name for one in history.seen(30.0)] == ["call1", "call2"]
    assert history.seen(1_000.0) == ()


def test_a_flood_pushes_the_oldest_out() -> None:
    history = History()
    for at in range(MOST + 2):
        history.note(past(f"call{at}", 1.0))
    seen = history.seen(1.0)
    assert (len(seen), seen[0].name) == (MOST, "call2")


def test_of_arguments_a_bounded_number_of_bounded_names_is_kept() -> None:
    arguments: dict[str, Any] = {"secret": "value", "k" * 10_000: 1} | {f"a{at}": at for at in range(1_000)}
    keys = keys_of(arguments)
    assert len(keys) == MOST_KEYS
    assert keys[:2] == ("secret", "k" * LONGEST_KEY)
