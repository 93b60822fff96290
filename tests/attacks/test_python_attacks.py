"""Hostile scripts in the real jail: each ends with its code, in time, and leaves the host and the next run as they were."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.enclave.cases import Case, load
from tests.enclave.kit import Stage, code, echo, never

ATTACKS = load(Path(__file__).parent / "python")
TIMEOUT = 0.3
"""Seconds for an attack that ends by its timeout."""
PATIENCE = 8.0
"""Seconds for an attack that ends otherwise."""
OVERSHOOT = 1.0
"""Seconds that a run may outlive its timeout."""

LIMITS: dict[str, Any] = {"max_tool_calls": 20, "memory_limit": "64MB", "max_output": "64KB"}

UNFIXED: dict[str, str] = {}
"""Attacks that end with another code today, and why."""


def known(case: Case) -> Any:
    marks = [pytest.mark.xfail(strict=True, reason=UNFIXED[case.name])] if case.name in UNFIXED else []
    return pytest.param(case, id=case.name, marks=marks)


async def boom(_: Any) -> Any:
    raise rf.ToolError("boom")


def facts(result: rf.RunResult) -> dict[str, Any]:
    """What an attack may expect."""
    error = result.error or rf.ErrorInfo(code="", message="")
    return {
        "code": error.code or None,
        "detail": error.data.get("code"),
        "name": error.name,
        "message": error.message,
        "value": result.value,
        "output": result.output,
        "calls": [[call.name, call.status] for call in result.calls],
        "count": result.stats.tool_call_count,
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", [known(case) for case in ATTACKS])
def test_an_attack_ends_as_it_must_and_nothing_else_happens(case: Case, arena: Stage, canary: Canary) -> None:
    arena.reset()
    arena.tools.update(echo=echo, never=never, boom=boom)
    codes = case.expected.get("codes", [case.expected.get("code")])
    expected = {key: value for key, value in case.expected.items() if key not in ("reference", "codes")}
    timeout = TIMEOUT if codes == ["TIMEOUT"] else PATIENCE
    enclave = arena.enclave(timeout=timeout, **LIMITS)

    async def attack() -> tuple[rf.RunResult, rf.RunResult]:
        await enclave.warm()
        result = await enclave.run(case.script, canary.inputs())
        return result, await enclave.run("sum(range(10))")

    result, after = arena.run(attack())
    actual = facts(result)
    assert code(result) in codes  # several where it depends on the Python, or on where memory ends, how it fails
    assert {key: actual[key] for key in expected} == expected
    assert result.stats.duration <= timeout + OVERSHOOT
    assert canary.state() == canary.intact()
    assert Canary.SECRET not in repr(result)
    assert not re.search(re.escape(sys.prefix) + r"|site-packages|/src/ringfence", repr(result.error))
    assert (after.error, after.value) == (None, 45)


def test_every_attack_has_a_number_of_its_own_and_says_where_it_comes_from() -> None:
    names = [case.name for case in ATTACKS]
    assert [name for name in names if not re.fullmatch(r"ATK-\d{3}-[a-z0-9-]+", name)] == []
    assert len({name[:7] for name in names}) == len(names)
    assert [case.name for case in ATTACKS if "reference" not in case.expected] == []
    assert [case.name for case in ATTACKS if not case.expected.keys() & {"code", "codes"}] == []
    assert sum("codes" in case.expected for case in ATTACKS) <= 4


def test_every_exception_is_still_an_attack() -> None:
    assert UNFIXED.keys() <= {case.name for case in ATTACKS}


@pytest.mark.slow
def test_many_spinning_guests_at_once_still_end_in_time(arena: Stage) -> None:
    enclave = arena.enclave(timeout=TIMEOUT, **LIMITS)

    async def crowd() -> list[rf.RunResult]:
        await enclave.warm()
        return await asyncio.gather(*(enclave.run("while True: pass") for _ in range(12)))

    results = arena.run(crowd())
    assert [code(result) for result in results] == ["TIMEOUT"] * 12
    assert max(result.stats.duration for result in results) <= TIMEOUT + OVERSHOOT


@pytest.mark.slow
def test_a_neighbour_is_not_hurt_by_an_attack(arena: Stage) -> None:
    arena.reset()
    arena.tools.update(echo=echo)
    enclave = arena.enclave(timeout=PATIENCE, **LIMITS)
    good = "total = 0\nfor n in range(15):\n    total += (await call_tool('echo', {'n': n}))['n']\ntotal"
    attacks = [case.script for case in ATTACKS if case.expected.get("code") == "SANDBOX_CRASHED"][:8]

    async def together() -> list[rf.RunResult]:
        await enclave.warm()
        return await asyncio.gather(*(enclave.run(source, {"host": 1}) for source in [*attacks, good]))

    *hurt, fine = arena.run(together())
    assert {code(result) for result in hurt} == {"SANDBOX_CRASHED"}
    assert (fine.error, fine.value) == (None, 105)
