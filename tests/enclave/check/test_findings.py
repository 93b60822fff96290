"""Findings are what the table says of them, bounded, and in one order."""

from __future__ import annotations

from ringfence.enclave.agentscript.rules import RULES as JAVASCRIPT
from ringfence.enclave.check.findings import MAX_FINDINGS, Findings, Found, ordered


def test_the_table_decides_what_a_finding_is_at_each_level() -> None:
    severities: list[list[str]] = []
    for level in ("SECURE", "STANDARD", "PERMISSIVE", "off"):
        findings = Findings(level)
        findings.add_at("INTROSPECTION", 1, 1, "vars")
        severities.append([one.severity for one in findings.sorted()])
    assert severities == [["error"], ["warning"], [], []]


def test_a_long_name_is_cut_and_a_fix_can_be_given() -> None:
    findings = Findings("SECURE")
    findings.add_at("UNKNOWN_NAME", 2, 3, "x" * 500, "did you mean y?")
    (found,) = findings.sorted()
    assert found.message == f"nothing here is called {'x' * 59}…"
    assert found.fix == "did you mean y?"


def test_each_language_has_its_own_table() -> None:
    findings = Findings("SECURE", JAVASCRIPT)
    findings.add_at("NO_EVAL", 1, 1, "eval")
    assert [(one.code, one.message) for one in findings.sorted()] == [("NO_EVAL", "eval makes code at run time")]


def test_the_same_is_said_once() -> None:
    findings = Findings("SECURE")
    findings.add_at("DUNDER", 1, 1, "__x__")
    findings.add_at("DUNDER", 1, 1, "__x__")
    assert len(findings.sorted()) == 1


def one(line: int, severity: str) -> Found:
    assert severity in ("error", "warning")
    return Found(
        code="X", line=line, column=1, message="m", fix="f", severity="error" if severity == "error" else "warning"
    )


def test_errors_push_out_warnings_and_the_rest_stands_in_source_order() -> None:
    many = [one(line, "warning") for line in range(1, 100)] + [one(200, "error"), one(150, "error")]
    kept = ordered(many)
    assert len(kept) == MAX_FINDINGS
    assert [found.line for found in kept] == [*range(1, MAX_FINDINGS - 1), 150, 200]
    assert ordered(list(reversed(many))) == kept
