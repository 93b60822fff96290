"""Every check finds the fault that it is there for, and no other check does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ringfence.testing.battery import DriverCheckFailed, check_driver
from ringfence.testing.driver_checks import CHECKS
from ringfence.testing.driver_claims import CLAIMS
from tests.testing.broken import BROKEN, Good, LeavesThread

SECONDS = 0.3


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    LeavesThread.over.clear()
    yield
    LeavesThread.over.set()


def test_the_driver_that_the_broken_ones_are_made_from_is_good() -> None:
    asyncio.run(check_driver(Good))


def test_every_check_has_a_driver_that_it_alone_finds() -> None:
    assert {check for _, check, _ in BROKEN} == {check.id for check in (*CHECKS, *CLAIMS)}


@pytest.mark.slow
@pytest.mark.parametrize(("make", "check", "found"), BROKEN)
def test_a_broken_driver_is_found_by_the_check_meant_for_it_and_by_no_other(
    make: Callable[[], Any], check: str, found: str
) -> None:
    with pytest.raises(DriverCheckFailed) as caught:
        asyncio.run(check_driver(make, seconds=SECONDS))
    assert [(fault.check, found in fault.found) for fault in caught.value.faults] == [(check, True)], caught.value
