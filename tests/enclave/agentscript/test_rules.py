"""The table of JavaScript rules is whole: every row says something, and no level is wider than the one above it."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript.rules import GROUPS, RULES
from ringfence.enclave.rules import RULED, Rule
from tests.architecture.source import ROOT

ORDER = {"error": 2, "warning": 1, "allowed": 0}


def test_every_code_stands_once() -> None:
    codes = [rule.code for _, rules in GROUPS for rule in rules]
    assert sorted(codes) == sorted(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_row_is_whole_and_never_tighter_at_a_wider_level(rule: Rule) -> None:
    assert len(rule.verdicts) == len(RULED)
    weights = [ORDER[rule.verdict(level)] for level in RULED]
    assert weights == sorted(weights, reverse=True)
    assert all((rule.matches, rule.message, rule.fix, rule.reason))


def test_a_level_without_rules_allows_everything() -> None:
    assert RULES["NO_EVAL"].verdict("off") == "allowed"


def test_every_rule_is_looked_for_somewhere() -> None:
    enclave = ROOT / "src" / "ringfence" / "enclave"
    files = [enclave / "check" / "prescan.py", *(enclave / "agentscript").glob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.name != "rules.py"]
    assert [code for code in RULES if not any(f'"{code}"' in text for text in texts)] == []
