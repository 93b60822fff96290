"""Hostile JavaScript scripts in the real jail: each ends with its code, in time, and leaves the host and the next run as
they were. The format of a case, and what must hold, are in `trials`.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.attacks.host import furnish
from tests.attacks.trials import LIMITS, OVERSHOOT, PATIENCE, TIMEOUT, Trial, attempt, misnamed, parameters
from tests.enclave.cases import load
from tests.enclave.kit import Stage, code

ATTACKS: Final = load(Path(__file__).parent / "javascript")
UNFIXED: Final[dict[str, str]] = {}
"""Attacks that end with another code today, and why."""
TRIALS: Final = parameters(ATTACKS, UNFIXED)
BENIGN: Final = ("[1, 2, 3].map((n) => n * n).reduce((a, b) => a + b, 0)", 14)


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIALS)
def test_an_attack_ends_as_it_must_and_nothing_else_happens(trial: Trial, arena: Stage, canary: Canary) -> None:
    attempt(trial, arena, canary, benign=BENIGN, language="javascript")


def test_every_attack_has_a_number_of_its_own_and_says_where_it_comes_from() -> None:
    assert misnamed(ATTACKS, r"ATK-J\d{3}-[a-z0-9-]+") == []


def test_every_exception_is_still_an_attack() -> None:
    assert UNFIXED.keys() <= {param.id for param in TRIALS}


@pytest.mark.slow
def test_many_spinning_guests_at_once_still_end_in_time(arena: Stage) -> None:
    enclave = arena.enclave(timeout=TIMEOUT, **LIMITS, validate=False, language="javascript")

    async def crowd() -> list[rf.RunResult]:
        await enclave.warm()
        return await asyncio.gather(*(enclave.run("while (true);") for _ in range(12)))

    results = arena.run(crowd())
    assert [code(result) for result in results] == ["TIMEOUT"] * 12
    assert max(result.stats.duration for result in results) <= TIMEOUT + OVERSHOOT


@pytest.mark.slow
def test_a_neighbour_is_not_hurt_by_an_attack(arena: Stage) -> None:
    furnish(arena)
    enclave = arena.enclave(timeout=PATIENCE, **LIMITS, validate=False, language="javascript")
    good = "let sum = 0; for (let n = 0; n < 15; n++) sum += (await callTool('echo', { n })).n; sum"
    attacks = [case.script for case in ATTACKS if case.expected.get("codes") == ["MEMORY_LIMIT_EXCEEDED"]][:8]

    async def together() -> list[rf.RunResult]:
        await enclave.warm()
        return await asyncio.gather(*(enclave.run(source, {"host": 1}) for source in [*attacks, good]))

    *hurt, fine = arena.run(together())
    assert {code(result) for result in hurt} == {"MEMORY_LIMIT_EXCEEDED"}
    assert (fine.error, fine.value) == (None, 105)


MATRIX: Final = re.compile(r"matrix ([0-9, -]+)")
EXCUSED: Final[dict[str, str]] = {}
"""Vectors of the matrix, and bug reports, without an attack, and why."""


def named() -> set[str]:
    """Vectors and bug reports that the attacks say they are of."""
    found: set[str] = set()
    for case in ATTACKS:
        reference = case.expected["reference"]
        for part in ",".join(MATRIX.findall(reference)).split(","):
            first, _, last = part.strip().partition("-")
            found |= {str(number) for number in range(int(first or 0), int(last or first or 0) + 1)}
        found |= set(re.findall(r"\bB\d+\b", reference))
    return found - {"0"}


def test_every_vector_of_the_matrix_and_every_bug_of_engines_and_escapes_has_an_attack() -> None:
    engines = "B92 B94 B95 B97 B98".split()
    escapes = "B100 B101 B103 B104 B106 B107 B109 B110 B112 B113 B115 B116".split()
    wanted = {*map(str, range(1, 111)), *engines, *escapes}
    assert (wanted - named() - EXCUSED.keys(), EXCUSED.keys() & named()) == (set(), set())
