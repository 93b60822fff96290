"""The words of a call's life are plain values."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from ringfence.gate import states
from ringfence.gate.states import Announce, Command, Done, Event, Plan, Run, State

WORDS: tuple[type, ...] = (*get_args(State), *get_args(Event), *get_args(Command), Plan)


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_frozen_slotted_and_documented(word: type) -> None:
    assert dataclasses.is_dataclass(word)
    assert word.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(word)
    assert not (word.__doc__ or f"{word.__name__}(").startswith(f"{word.__name__}(")


def test_every_dataclass_of_the_module_belongs_to_the_life_of_a_call() -> None:
    found = {thing for thing in vars(states).values() if isinstance(thing, type) and dataclasses.is_dataclass(thing)}
    assert found == set(WORDS)


def test_words_compare_by_value_so_that_a_journal_can_keep_them() -> None:
    assert Done("failed", "tool_raised", 2) == Done("failed", "tool_raised", 2)
    assert {Run(1), Run(1), Run(2)} == {Run(1), Run(2)}
    assert Announce("tool.called", 1) != Announce("tool.called", 2)
