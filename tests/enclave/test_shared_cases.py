"""What the languages have in common, each case in both of them from one file, and where they may differ."""

from __future__ import annotations

import copy
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cases.differences import DIFFERENCES, Difference
from tests.enclave import cases
from tests.enclave.cases import LANGUAGES, SharedCase, parse_shared
from tests.enclave.kit import Stage
from tests.enclave.observed import check_facts, facts
from tests.enclave.scenes import HAND, SCENES

CASES = cases.load_shared(Path(__file__).parents[1] / "cases" / "shared")
_SETTINGS = frozenset({"scene", "options", "inputs", "given", "check", "slow"})
"""Keys of a case that are not expectations: what is there, options, inputs, variables, that it is only checked, and that
it takes its time."""


def _param(case: SharedCase) -> Any:
    return pytest.param(case, id=case.name, marks=[pytest.mark.slow] if "slow" in case.expected else [])


def outcome(stage: Stage, case: SharedCase, language: str) -> dict[str, Any]:
    """Everything that there is to say about one language's script."""
    keys = case.expected
    options: dict[str, Any] = {"timeout": 5.0, "language": language, **SCENES[keys.get("scene", "hand")]()}
    options |= keys.get("options", {})
    if "clock" in options:
        options["clock"] = datetime.fromisoformat(options["clock"])
    enclave = stage.enclave(**options)
    HAND.reset(enclave)
    source = case.scripts[language]
    if keys.get("check"):
        return check_facts(stage.run(enclave.check(source)))
    result = stage.run(enclave.run(source, keys.get("inputs"), variables=copy.deepcopy(keys.get("given"))))
    return facts(result) | {"seen": HAND.seen}


def expectations(case: SharedCase, language: str) -> dict[str, Any]:
    """The case's own, with what this language has instead."""
    usual: dict[str, Any] = {} if case.expected.get("check") else {"code": None}
    expected = {key: value for key, value in case.expected.items() if key not in _SETTINGS}
    instead = {one.key: one.value for one in DIFFERENCES if (one.case, one.language) == (case.name, language)}
    return usual | expected | instead


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", [_param(case) for case in CASES])
def test_a_case_is_the_same_in_every_language(case: SharedCase, language: str, stage: Stage) -> None:
    actual = outcome(stage, case, language)
    expected = expectations(case, language)
    assert {key: actual[key] for key in expected} == expected


@pytest.mark.parametrize("one", [pytest.param(one, id=" ".join(one[:3])) for one in DIFFERENCES])
def test_a_difference_is_one(one: Difference) -> None:
    """Its value is what the test above compares, so that an entry for what does not differ has to be this one."""
    (expected,) = [case.expected for case in CASES if case.name == one.case]
    assert one.key in expected.keys() - _SETTINGS
    assert expected[one.key] != one.value
    assert one.language in LANGUAGES
    assert one.reason


def test_a_difference_is_listed_once() -> None:
    assert len({one[:3] for one in DIFFERENCES}) == len(DIFFERENCES)


def test_there_are_enough_cases_to_mean_something() -> None:
    assert len(CASES) >= 120
    assert all(case.expected.keys() - _SETTINGS for case in CASES)


@pytest.mark.parametrize(
    "text",
    [
        "--- python\n1\n--- javascript\n1\n--- expected\nvalue: 1\n",
        "about\n--- python\n1\n--- expected\nvalue: 1\n",
        "about\n--- javascript\n1\n--- python\n1\n--- expected\nvalue: 1\n",
        "about\n--- python\n1\n--- javascript\n1\n",
        "about\n--- python\n1\n--- javascript\n1\n--- expected\n",
        "about\n--- python\n1\n--- javascript\n1\n--- expected\nvalue 1\n",
    ],
)
def test_a_shared_case_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="broken"):
        parse_shared("broken", text)
