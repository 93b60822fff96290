"""The check of one script: what refuses it at which level, and what is only said about it. Nothing of it ever runs."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

import pytest

from ringfence.enclave.check.findings import MAX_FINDINGS, Found
from ringfence.enclave.check.script import admit, report
from ringfence.enclave.rules import RULED
from ringfence.enclave.source import FILENAME
from tests.enclave.check.kit import KNOWN


def compiler(module: ast.Module, flags: int) -> CodeType:
    return compile(module, FILENAME, "exec", flags=flags, dont_inherit=True)


def refused(source: str, level: str) -> list[str]:
    found = admit(source, level, KNOWN)
    return [one.code for one in found] if isinstance(found, list) else []


def told(source: str, level: str) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in report(source, level, KNOWN, compiler).findings]


ALWAYS = {
    "x = (": "SYNTAX",
    "yield 1": "YIELD",
    "tools.list()": "UNAWAITED_CALL",
    "x = " + "(" * 160 + ")" * 160: "TOO_DEEP",
    "x = (" + "\n+".join(["+".join(["1"] * 900)] * 50) + ")": "TOO_DEEP",
    "x\u200b = 1": "INVISIBLE_CHARACTER",
    "x = 1 # \u202e": "BIDI_CONTROL",
    "x = 1\0": "NULL_BYTE",
}


@pytest.mark.parametrize(("source", "code"), ALWAYS.items(), ids=ALWAYS.values())
@pytest.mark.parametrize("level", RULED)
def test_what_cannot_run_or_hides_is_an_error_at_every_level(source: str, code: str, level: str) -> None:
    assert (code, "error") in told(source, level)


@pytest.mark.parametrize(("source", "code"), [item for item in ALWAYS.items() if item[1] not in ("TOO_DEEP", "YIELD")])
@pytest.mark.parametrize("level", RULED)
def test_and_refuses_the_run(source: str, code: str, level: str) -> None:
    assert refused(source, level) == [code]


def test_off_refuses_only_what_is_not_python() -> None:
    assert refused("tools.list()\n().__class__\nx = '\u202e'", "off") == []
    assert refused("x = (", "off") == ["SYNTAX"]
    assert told("tools.list()\n().__class__", "off") == []


def test_rules_refuse_at_the_tight_levels_and_are_said_at_the_others() -> None:
    source = "x = ().__class__"
    assert [refused(source, level) for level in RULED] == [["DUNDER"], ["DUNDER"], [], []]
    assert [told(source, level) for level in RULED] == [
        [("DUNDER", "error")],
        [("DUNDER", "error")],
        [("DUNDER", "warning")],
        [("DUNDER", "warning")],
    ]


def test_warnings_refuse_nothing_at_any_level() -> None:
    source = "def f():\n    return 1\n    print(2)\nf()"
    assert [refused(source, level) for level in RULED] == [[], [], [], []]


def test_a_finding_is_whole() -> None:
    assert report("x = 1\ny = getattr(x, '__class__')", "STANDARD", KNOWN, compiler).findings == [
        Found(
            code="DUNDER",
            line=2,
            column=5,
            message="__class__ reaches into Python's own machinery",
            fix="use type(x), a plain attribute, or a function for it",
            severity="warning",
        )
    ]


def test_syntax_that_only_the_compiler_refuses_is_told_beside_the_rest() -> None:
    assert told("x = ().__class__\nreturn = 1", "SECURE") == [("SYNTAX", "error")]
    assert told("x = ().__class__\nbreak", "SECURE") == [("DUNDER", "error"), ("SYNTAX", "error")]


def test_findings_are_bounded_ordered_and_errors_come_through() -> None:
    source = "\n".join([f"x{n} = ().__class__" for n in range(50)] + ["tools.list()"])
    found = report(source, "STANDARD", KNOWN, compiler).findings
    assert len(found) == MAX_FINDINGS
    assert [one.line for one in found] == sorted(one.line for one in found)
    assert found[-1].code == "UNAWAITED_CALL"
    assert found == report(source, "STANDARD", KNOWN, compiler).findings


@pytest.mark.parametrize("level", [*RULED, "off"])
def test_a_check_executes_nothing(level: str) -> None:
    ran: list[Any] = []

    def trap(module: ast.Module, flags: int) -> CodeType:
        return compiler(module, flags)

    source = (
        "import json\ndef f(x=json.dumps(ran.append(1))): pass\n@ran.append\ndef g(): pass\n"
        "class A(ran.append(2) or object): y = ran.append(3)\nlambda x=ran.append(4): 1\nawait tools.get(x=ran.append(5))"
    )
    admit(source, level, KNOWN)
    report(source, level, KNOWN, trap)
    assert ran == []


def test_names_of_the_run_are_known() -> None:
    assert refused("settings, inputs, mail, numpy", "SECURE") == ["UNKNOWN_NAME"]  # numpy is a module, not a name


def test_a_source_that_overflows_the_walk_is_too_deep() -> None:
    for lines in (15, 200):  # newer Pythons go deeper, and none goes that deep
        deep = "x = (" + ("-1 if x else " * 100 + "\n") * lines + "1)"
        assert told(deep, "SECURE") in ([], [("TOO_DEEP", "error")])
        assert refused(deep, "SECURE") in ([], ["TOO_DEEP"])  # else the compiler refuses what the walk could do
    assert told(deep, "SECURE") == [("TOO_DEEP", "error")]
