"""Hostile scripts in the real jail: each ends with its code, in time, and leaves the host and the next run as they were.

Every script runs with the check of its level on and with it off, because the check is advice and the jail is the wall;
scripts that the stricter levels know beforehand are run there too. Keys of a case: `code` or `codes` (several where it
depends on the Python, or on where memory ends, how it fails) and facts of the result, at least one where it may succeed,
`checked` where the check, or the loops that it counts, end it with another code, `secure` and `strict` for those levels
(`secure` counts for both), `once` for what is slow and ends the same with and without the check.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.attacks.host import GLOBALS, MOST_AT_ONCE, NAMESPACES, TREASURE, furnish
from tests.enclave.cases import Case, load
from tests.enclave.kit import Stage, code

ATTACKS: Final = load(Path(__file__).parent / "python")
TIMEOUT: Final = 0.3
"""Seconds for an attack that ends by its timeout."""
PATIENCE: Final = 8.0
"""Seconds for an attack that ends otherwise."""
OVERSHOOT: Final = 1.0
"""Seconds that a run may outlive its timeout."""

LIMITS: Final[dict[str, Any]] = {
    "max_tool_calls": 20,
    "max_global_function_calls": 40,
    "memory_limit": "64MB",
    "max_output": "64KB",
    "globals": GLOBALS,
    "allow_functions_in_globals": True,
    "tool_namespaces": NAMESPACES,
    "screening": {},
}
MODES: Final[dict[str, dict[str, Any]]] = {
    "check": {"max_iterations": 10_000},
    "off": {"validate": False},
    "SECURE": {"security_level": "SECURE"},
    "STRICT": {"security_level": "STRICT"},
}
DIRECTIVES: Final = {"reference", "code", "codes", "checked", "secure", "strict", "once"}
"""Keys of a case that are no facts of its result."""

UNRUN: Final[dict[str, Any]] = {"calls": [], "count": 0, "output": "", "value": None}
"""Facts of a script that was refused before it ran."""
DONE_BEFORE: Final = {"calls", "count", "output"}
"""Facts that are the same however a run ends."""

UNFIXED: Final[dict[str, str]] = {}
"""Attacks that end with another code today, and why."""


class Trial(NamedTuple):
    """One attack in one mode."""

    case: Case
    mode: str
    codes: list[str | None]
    facts: dict[str, Any]
    """What else must be true of its result."""


def as_list(codes: Any) -> list[str | None]:
    return list(codes) if isinstance(codes, list) else [codes]  # type: ignore[reportUnknownArgumentType]


def trials(case: Case) -> list[Trial]:
    """Everything that one case says."""
    given = case.expected
    codes = given.get("codes", [given.get("code")])
    facts = {key: value for key, value in given.items() if key not in DIRECTIVES}
    found = [Trial(case, "off", codes, facts)]
    if "checked" in given:
        checked = as_list(given["checked"])
        kept = {key: value for key, value in facts.items() if key in DONE_BEFORE}
        found.append(Trial(case, "check", checked, UNRUN if checked == ["VALIDATION_ERROR"] else kept))
    elif not given.get("once"):
        found.append(Trial(case, "check", codes, facts))
    for mode, keys in {"SECURE": ["secure"], "STRICT": ["strict", "secure"]}.items():
        if (key := next((key for key in keys if key in given), None)) is not None:
            found.append(Trial(case, mode, as_list(given[key]), UNRUN if given[key] == "VALIDATION_ERROR" else {}))
    return found


def known(trial: Trial) -> Any:
    name = f"{trial.case.name}-{trial.mode}"
    marks = [pytest.mark.xfail(strict=True, reason=UNFIXED[name])] if name in UNFIXED else []
    return pytest.param(trial, id=name, marks=marks)


TRIALS: Final = [known(trial) for case in ATTACKS for trial in trials(case)]


def facts(result: rf.RunResult) -> dict[str, Any]:
    """What an attack may expect."""
    error = result.error or rf.ErrorInfo(code="", message="")
    return {
        "code": error.code or None,
        "detail": error.data.get("code"),
        "name": error.name,
        "message": error.message,
        "value": result.value,
        "type": type(result.value).__name__,
        "output": result.output,
        "calls": [[call.name, call.status] for call in result.calls],
        "count": result.stats.tool_call_count,
    }


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIALS)
def test_an_attack_ends_as_it_must_and_nothing_else_happens(trial: Trial, arena: Stage, canary: Canary) -> None:
    gauge = furnish(arena)
    timeout = TIMEOUT if "TIMEOUT" in trial.codes else PATIENCE
    enclave = arena.enclave(timeout=timeout, **LIMITS, **MODES[trial.mode])

    async def attack() -> tuple[rf.RunResult, rf.RunResult]:
        await enclave.warm()
        result = await enclave.run(trial.case.script, canary.inputs())
        return result, await enclave.run("sum(range(10))")

    result, after = arena.run(attack())
    actual = facts(result)
    assert code(result) in trial.codes
    expected = trial.facts if result.error is None or None not in trial.codes else {**trial.facts, "value": None}
    assert {key: actual[key] for key in expected} == expected
    assert result.error is None or result.value is None
    assert result.stats.duration <= timeout + OVERSHOOT
    assert gauge.most <= MOST_AT_ONCE
    assert canary.state() == canary.intact()
    assert not any(secret in repr(result) for secret in (Canary.SECRET, TREASURE["gold"]))
    assert not re.search(re.escape(sys.prefix) + r"|site-packages|/src/ringfence", repr(result.error))
    assert (after.error, after.value) == (None, 45)


def test_every_attack_has_a_number_of_its_own_and_says_where_it_comes_from() -> None:
    names = [case.name for case in ATTACKS]
    assert [name for name in names if not re.fullmatch(r"ATK-\d{3}-[a-z0-9-]+", name)] == []
    assert len({name[:7] for name in names}) == len(names)
    assert [case.name for case in ATTACKS if "reference" not in case.expected] == []
    assert [case.name for case in ATTACKS if len(case.expected.keys() & {"code", "codes"}) != 1] == []
    alone = [case for case in ATTACKS if not case.expected.keys() - DIRECTIVES]
    assert [case.name for case in alone if None in as_list(case.expected.get("codes", case.expected.get("code")))] == []


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
