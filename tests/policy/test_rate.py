"""The window slides: any second holds at most so many calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ringfence.policy.rate import Rate


def test_as_many_calls_as_allowed_pass_in_one_second() -> None:
    rate = Rate(3)
    for _ in range(3):
        assert not rate.is_exceeded(5.0)
        rate.note(5.0)
    assert rate.is_exceeded(5.0)
    assert rate.is_exceeded(5.999)
    assert not rate.is_exceeded(6.0)


def test_asking_alone_counts_nothing() -> None:
    rate = Rate(1)
    assert [rate.is_exceeded(1.0) for _ in range(3)] == [False] * 3


def test_a_later_call_makes_room_only_for_as_many_as_have_left_the_window() -> None:
    rate = Rate(2)
    rate.note(0.0)
    rate.note(0.9)
    assert not rate.is_exceeded(1.0)
    rate.note(1.0)
    assert rate.is_exceeded(1.5)


@given(st.integers(1, 5), st.lists(st.floats(0, 3, allow_nan=False), max_size=40))
def test_no_second_ever_holds_more(most: int, times: list[float]) -> None:
    rate = Rate(most)
    passed: list[float] = []
    for now in sorted(times):
        if not rate.is_exceeded(now):
            rate.note(now)
            passed.append(now)
    assert all(sum(1 for other in passed if 0 <= other - now < 1.0) <= most for now in passed)
