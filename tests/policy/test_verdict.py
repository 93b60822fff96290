"""Verdicts are plain values: equal when they say the same, and frozen."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import ringfence as rf
from ringfence.policy.verdict import Allow, Ask, Refuse


def test_equal_words_are_equal_verdicts() -> None:
    assert (Allow(), Ask("a"), Refuse("a")) == (Allow(), Ask("a"), Refuse("a"))
    assert len({Ask("a"), Refuse("a"), Ask("b")}) == 3
    assert Ask() == Ask("")


def test_a_verdict_cannot_be_changed() -> None:
    verdict: Any = Refuse("a")
    with pytest.raises(FrozenInstanceError):
        verdict.reason = "b"


def test_the_verdicts_are_public() -> None:
    assert (rf.Allow, rf.Ask, rf.Refuse) == (Allow, Ask, Refuse)
