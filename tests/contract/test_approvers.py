"""Combinations of approval handlers are plain values, checked when they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ringfence.contract.approvers import all_of, any_of, veto
from ringfence.errors import ConfigError
from ringfence.ports import Combination


def yes(request: object) -> bool:
    del request
    return True


def test_combinations_may_be_nested() -> None:
    assert any_of(yes, all_of(yes, veto(yes))) == Combination(
        "any_of", (yes, Combination("all_of", (yes, Combination("veto", (yes,)))))
    )


@pytest.mark.parametrize("make", [any_of, all_of, veto])
def test_a_combination_of_nobody_is_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=f"{make.__name__} needs at least one"):
        make()


@pytest.mark.parametrize("member", [True, None, "human", [yes]])
def test_a_member_that_cannot_be_asked_is_named_by_its_position(member: Any) -> None:
    with pytest.raises(ConfigError, match="any_of: handler 1 must be callable"):
        any_of(yes, member)
