"""A script's names: those that the level gives, those of the run, those through which tools are reached."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript.facts import Facts
from ringfence.enclave.agentscript.rules import RULES
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.syntax import parse
from ringfence.enclave.check.findings import Findings
from tests.enclave.agentscript.kit import KNOWN, PARSER


def subject(level: str, source: str = "mail") -> Subject:
    return Subject(Facts(parse(source, PARSER)), Findings(level, RULES), KNOWN)


@pytest.mark.parametrize("level", ["STRICT", "SECURE", "STANDARD", "PERMISSIVE"])
def test_names_of_the_run_and_of_the_guest_are_ambient_everywhere(level: str) -> None:
    assert {"tools", "mail", "settings", "callTool", "inputs", "console", "parallel", "ToolError"} <= subject(
        level
    ).ambient


def test_strict_has_the_names_of_the_catalogue() -> None:
    assert "Map" not in subject("STRICT").ambient
    assert "Map" in subject("SECURE").ambient
    assert "Map" in subject("STRICT").disallowed
    assert "Map" not in subject("SECURE").disallowed


def test_what_reaches_tools_is_protected() -> None:
    assert subject("SECURE").protected == {"tools", "mail", "callTool", "ToolError"}


def test_a_level_that_is_not_ruled_disallows_nothing() -> None:
    assert subject("off").disallowed == frozenset()


def test_a_namespace_is_known_through_an_alias() -> None:
    made = subject("SECURE", "const m = mail; m")
    last = made.facts.tree.root.children[-1].children[0]
    assert made.namespace(last) == "mail"
    assert made.namespace(None) is None


def test_similar_names_are_looked_for_a_bounded_number_of_times() -> None:
    made = subject("SECURE")
    assert made.similar("toatl", ["total", "other"], 0.75) == "total"
    assert made.similar("x" * 61, ["x" * 60], 0.75) is None
    assert made.similar("zebra9", [f"name{n}" for n in range(1000)] + ["zebra"], 0.75) == "zebra"
    for n in range(100):
        made.similar(f"other{n}", ["other"], 0.75)
    assert made.similar("tota", ["total"], 0.75) is None
    assert made.similar("toatl", ["total"], 0.75) == "total"


def test_what_is_shown_stands_on_one_line() -> None:
    made = subject("SECURE")
    made.add("UNKNOWN_GLOBAL", made.facts.nodes[1], "a\n  b")
    assert [one.message for one in made.findings.sorted()] == ["nothing here is called a b"]
