"""What the attacks of every language share: how a case file becomes trials, and what must hold after each.

Every script runs with the check of its level on and with it off, because the check is advice and the jail is the wall;
scripts that the stricter levels know beforehand are run there too. Keys of a case: `code` or `codes` (several where it
depends on the engine's version, or on where memory ends, how it fails) and facts of the result, at least one where it may
succeed, `checked` where the check, or the loops that it counts, end it with another code, `secure` and `strict` for those
levels (`secure` counts for both), `once` for what is slow and ends the same with and without the check.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.attacks.host import GLOBALS, MOST_AT_ONCE, NAMESPACES, TREASURE, furnish
from tests.enclave.cases import Case
from tests.enclave.kit import Stage, code

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


def parameters(cases: Sequence[Case], unfixed: dict[str, str]) -> list[Any]:
    """Every trial, for `parametrize`. `unfixed`: those that end otherwise today, and why."""
    return [_known(trial, unfixed) for case in cases for trial in trials(case)]


def _known(trial: Trial, unfixed: dict[str, str]) -> Any:
    name = f"{trial.case.name}-{trial.mode}"
    marks = [pytest.mark.xfail(strict=True, reason=unfixed[name])] if name in unfixed else []
    return pytest.param(trial, id=name, marks=marks)


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


def attempt(trial: Trial, arena: Stage, canary: Canary, *, benign: tuple[str, Any], **options: Any) -> None:
    """Run one trial, and the benign script after it; everything that must hold then.

    Args:
        benign: a script, and its value.
        options: of the enclave.
    """
    gauge = furnish(arena)
    timeout = TIMEOUT if "TIMEOUT" in trial.codes else PATIENCE
    enclave = arena.enclave(timeout=timeout, **LIMITS, **MODES[trial.mode], **options)

    async def attack() -> tuple[rf.RunResult, rf.RunResult]:
        await enclave.warm()
        result = await enclave.run(trial.case.script, canary.inputs())
        return result, await enclave.run(benign[0])

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
    assert (after.error, after.value) == (None, benign[1])


def misnamed(cases: Sequence[Case], pattern: str) -> list[str]:
    """Attacks whose files do not say what they must: a number, where they come from, how they end."""
    names = [case.name for case in cases]
    numbers = {name.split("-")[1] for name in names}
    wrong = [name for name in names if not re.fullmatch(pattern, name)]
    wrong += ["two of one number"] * (len(numbers) != len(names))
    wrong += [case.name for case in cases if "reference" not in case.expected]
    wrong += [case.name for case in cases if len(case.expected.keys() & {"code", "codes"}) != 1]
    alone = [case for case in cases if not case.expected.keys() - DIRECTIVES]
    return wrong + [
        case.name for case in alone if None in as_list(case.expected.get("codes", case.expected.get("code")))
    ]
