"""The check of one JavaScript source, in two lengths: what refuses a run, and all there is to say.

Nothing of the source is executed. Pure, standard library only; the guest calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringfence.enclave.agentscript.syntax import Rejected, Script, parse
from ringfence.enclave.check.findings import Found, ordered
from ringfence.enclave.check.known import Known

if TYPE_CHECKING:
    from tree_sitter import Parser

    from ringfence.enclave.reach import Reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All there is to say about a source."""

    findings: list[Found]
    reach: list[Reached]


def admit(source: str, level: str, known: Known, parser: Parser) -> Script | list[Found]:
    """A source that may run at `level`, else what keeps it from running, in source order."""
    try:
        return parse(source, parser)
    except Rejected as rejected:
        return [as_found(rejected)]


def report(
    source: str, level: str, known: Known, parser: Parser, complaint: Callable[[Script], Found | None]
) -> Report:
    """Errors, warnings and the places that reach tools. `complaint`: what the engine says of the source, if anything."""
    admitted = admit(source, level, known, parser)
    if isinstance(admitted, list):
        return Report(findings=admitted, reach=[])
    found = complaint(admitted)
    return Report(findings=ordered([found] if found else []), reach=[])


def as_found(rejected: Rejected) -> Found:
    """What a parser says, as a finding."""
    return Found(
        code=rejected.code, line=rejected.line, column=rejected.column, message=rejected.message, fix=rejected.fix
    )
