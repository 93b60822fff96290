"""The fix for a value that cannot cross."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import pytest

from ringfence.contract.advice import fix_for
from ringfence.contract.output import dump_plain
from ringfence.enclave.engines.guest_values import NotData, encode
from ringfence.values import ValueRefused

LOOP: list[Any] = []
LOOP.append(LOOP)

CASES: list[Any] = [
    pytest.param({"a": float("nan")}, "replace NaN and infinities, e.g. by None", id="NaN"),
    pytest.param([Decimal("Infinity")], "replace NaN and infinities, e.g. by None", id="infinity"),
    pytest.param(PurePosixPath("a"), "use str(path)", id="path"),
    pytest.param([ValueError("x")], "use str(error)", id="error"),
    pytest.param((n for n in "a"), "use list(...)", id="generator"),
    pytest.param(LOOP, "leave the way back out, or name what it leads to by an id", id="cycle"),
    pytest.param(["\ud800"], 'use text.encode("utf-8", "replace").decode()', id="surrogate"),
    pytest.param(fix_for, "call it, and use what it returns", id="function"),
]


@pytest.mark.parametrize(("value", "fix"), CASES)
def test_host_and_guest_give_the_same_fix(value: Any, fix: str) -> None:
    with pytest.raises(ValueRefused) as refused:
        dump_plain(value)
    with pytest.raises(NotData) as not_data:
        encode(value)
    assert (fix_for(str(refused.value)), fix_for(str(not_data.value))) == (fix, fix)


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ({1: 2}, "use text as keys: str(key)"),
        (Fraction(1, 3), "use float(...) or str(...)"),
        (range(3), "use list(...)"),
    ],
)
def test_what_only_the_host_refuses_has_a_fix_too(value: Any, fix: str) -> None:
    with pytest.raises(ValueRefused) as refused:
        dump_plain(value)
    assert fix_for(str(refused.value)) == fix


def test_a_fix_that_is_said_already_is_taken() -> None:
    with pytest.raises(NotData) as refused:
        encode({("a", 1): 2}, any_keys=True)
    assert fix_for(str(refused.value)) == "use str(key)"


def test_of_the_rest_nothing_is_said() -> None:
    assert fix_for("a Duck is not a JSON value") is None
