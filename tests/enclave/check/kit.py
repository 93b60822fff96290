"""What the tests of the check share: codes with their places, for one source at one level."""

from __future__ import annotations

from ringfence.enclave.check.script import rules
from ringfence.enclave.check.subject import Known
from ringfence.enclave.source import parse

KNOWN = Known(
    namespaces={"tools": {"get": "get", "list": "list"}, "mail": {"list": "mail.list", "send": "mail.send"}},
    names=("settings",),
    modules=("numpy",),
)


def codes(source: str, level: str = "SECURE") -> list[str]:
    """Codes of what the rules find, in source order."""
    return [found.code for found in rules(parse(source), level, KNOWN)]


def places(source: str, level: str = "SECURE") -> list[tuple[str, int, int]]:
    """Codes with line and column."""
    return [(found.code, found.line, found.column) for found in rules(parse(source), level, KNOWN)]
