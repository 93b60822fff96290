"""Hostile Python scripts in the real jail: each ends with its code, in time, and leaves the host and the next run as they
were. The format of a case, and what must hold, are in `trials`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.attacks.host import furnish
from tests.attacks.trials import LIMITS, OVERSHOOT, PATIENCE, TIMEOUT, Trial, attempt, misnamed, parameters
from tests.enclave.cases import load
from tests.enclave.kit import Stage, code

ATTACKS: Final = load(Path(__file__).parent / "python")
UNFIXED: Final[dict[str, str]] = {}
"""Attacks that end with another code today, and why."""
TRIALS: Final = parameters(ATTACKS, UNFIXED)


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIALS)
def test_an_attack_ends_as_it_must_and_nothing_else_happens(trial: Trial, arena: Stage, canary: Canary) -> None:
    attempt(trial, arena, canary, benign=("sum(range(10))", 45))


def test_every_attack_has_a_number_of_its_own_and_says_where_it_comes_from() -> None:
    assert misnamed(ATTACKS, r"ATK-\d{3}-[a-z0-9-]+") == []


def test_every_exception_is_still_an_attack() -> None:
    assert UNFIXED.keys() <= {param.id for param in TRIALS}


@pytest.mark.slow
def test_many_spinning_guests_at_once_still_end_in_time(arena: Stage) -> None:
    enclave = arena.enclave(timeout=TIMEOUT, **LIMITS, validate=False)

    async def crowd() -> list[rf.RunResult]:
        await enclave.warm()
        return await asyncio.gather(*(enclave.run("while True: pass") for _ in range(12)))

    results = arena.run(crowd())
    assert [code(result) for result in results] == ["TIMEOUT"] * 12
    assert max(result.stats.duration for result in results) <= TIMEOUT + OVERSHOOT


@pytest.mark.slow
def test_a_neighbour_is_not_hurt_by_an_attack(arena: Stage) -> None:
    furnish(arena)
    enclave = arena.enclave(timeout=PATIENCE, **LIMITS)
    good = "total = 0\nfor n in range(15):\n    total += (await call_tool('echo', {'n': n}))['n']\ntotal"
    attacks = [case.script for case in ATTACKS if case.expected.get("code") == "SANDBOX_CRASHED"][:8]

    async def together() -> list[rf.RunResult]:
        await enclave.warm()
        return await asyncio.gather(*(enclave.run(source, {"host": 1}) for source in [*attacks, good]))

    *hurt, fine = arena.run(together())
    assert {code(result) for result in hurt} == {"SANDBOX_CRASHED"}
    assert (fine.error, fine.value) == (None, 105)
