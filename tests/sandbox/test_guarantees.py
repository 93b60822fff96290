"""Drivers speak of the same guarantees."""

from __future__ import annotations

from ringfence.sandbox.guarantees import GUARANTEES, NONE, Guarantees


def test_every_guarantee_says_what_it_means() -> None:
    assert all(meaning.strip() for meaning in GUARANTEES.values())


def test_what_is_not_enforced_is_said_to_be_none() -> None:
    some = Guarantees({"time": "SIGKILL"})
    assert some.complete() == {**dict.fromkeys(GUARANTEES, NONE), "time": "SIGKILL"}
    assert some.missing() == tuple(name for name in GUARANTEES if name != "time")


def test_a_driver_that_enforces_everything_misses_nothing() -> None:
    assert Guarantees(dict.fromkeys(GUARANTEES, "kernel")).missing() == ()
