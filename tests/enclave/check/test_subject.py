"""What a level and a run have: names and modules."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.facts import Facts
from ringfence.enclave.check.findings import Findings
from ringfence.enclave.check.subject import Known, Subject
from ringfence.enclave.check.vocabulary import ALL_MODULES, SECURE_MODULES, STRICT_MODULES
from ringfence.enclave.modules import AMBIENT
from ringfence.enclave.source import parse
from tests.enclave.check.kit import KNOWN


def subject(level: str, known: Known = KNOWN) -> Subject:
    return Subject(Facts(parse("")), Findings(level), known)


@pytest.mark.parametrize(
    ("level", "modules"),
    [
        ("STRICT", STRICT_MODULES),
        ("SECURE", SECURE_MODULES),
        ("STANDARD", ALL_MODULES),
        ("PERMISSIVE", ALL_MODULES),
    ],
)
def test_a_level_has_its_modules_and_those_of_the_run(level: str, modules: frozenset[str]) -> None:
    assert subject(level).modules == modules | {"numpy"}


def test_a_script_has_the_names_of_its_run() -> None:
    assert subject("SECURE").ambient == AMBIENT | {"mail", "settings"}
    assert subject("SECURE").protected == {"call_tool", "ToolError", "tools", "mail"}
    assert "tools" not in subject("SECURE", Known(namespaces={})).ambient
