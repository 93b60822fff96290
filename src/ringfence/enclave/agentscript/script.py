"""The check of one JavaScript source, in two lengths: what refuses a run, and all there is to say.

Before a run only what can refuse it is looked for, because every run pays: at STANDARD and PERMISSIVE that is the text,
the syntax, and what can never work. The report adds the rules that only warn, and where the script reaches tools.
Nothing of the source is executed. Pure, standard library only; the guest calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ringfence.enclave.agentscript import calls, constructs, dialects, names, patterns, promises, sizes, vocabulary
from ringfence.enclave.agentscript.facts import Facts
from ringfence.enclave.agentscript.prescan import prescan
from ringfence.enclave.agentscript.reach import reach
from ringfence.enclave.agentscript.rules import RULES
from ringfence.enclave.agentscript.subject import Subject
from ringfence.enclave.agentscript.suspects import suspicious
from ringfence.enclave.agentscript.syntax import Rejected, Script, parse
from ringfence.enclave.check.findings import Findings, Found, ordered
from ringfence.enclave.check.known import Known

if TYPE_CHECKING:
    from tree_sitter import Parser

    from ringfence.enclave.reach import Reached

_REFUSING: Final = frozenset({"STRICT", "SECURE"})
"""Levels at which every rule can refuse a script."""
_PARTS: Final = (
    (names.KINDS, names.look),
    (calls.KINDS, calls.look),
    (patterns.KINDS, patterns.look),
    (constructs.KINDS, constructs.look),
    (promises.KINDS, promises.look),
    (sizes.KINDS, sizes.look),
)
_LOOKS: Final = {kind: tuple(look for kinds, look in _PARTS if kind in kinds) for kind in vocabulary.KNOWN_KINDS}
_UNKNOWN: Final = (constructs.look_at_unknown,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All there is to say about a source."""

    findings: list[Found]
    reach: list[Reached]


def admit(source: str, level: str, known: Known, parser: Parser) -> Script | list[Found]:
    """A source that may run at `level`, else what keeps it from running, in source order.

    `off` refuses only what is not JavaScript.
    """
    found = [one for one in prescan(source, level) if one.severity == "error"]
    if found:
        return found
    script = _read(source, parser)
    if isinstance(script, list):
        return script
    if level in _REFUSING or (level != "off" and suspicious(script, known)):
        found = [one for one in rules(script, level, known) if one.severity == "error"]
    return ordered(found) if found else script


def report(
    source: str, level: str, known: Known, parser: Parser, complaint: Callable[[Script], Found | None]
) -> Report:
    """Errors, warnings and the places that reach tools. `complaint`: what the engine says of the source, if anything."""
    found = prescan(source, level)
    if any(one.severity == "error" for one in found):  # a parser may not be fed this
        return Report(findings=found, reach=[])
    script = _read(source, parser)
    if isinstance(script, list):
        return Report(findings=ordered(found + script), reach=[])
    facts = Facts(script)
    if level != "off":
        found += _judged(facts, level, known)
    said = complaint(script)
    if said is not None:
        found.append(said)
    return Report(findings=ordered(found), reach=reach(facts, known))


def _read(source: str, parser: Parser) -> Script | list[Found]:
    """The tree of a source, or why it has none."""
    if dialects.is_marked(source):
        return [_marked()]
    try:
        return parse(source, parser)
    except Rejected as rejected:
        return [as_found(rejected, source)]
    except UnicodeEncodeError as error:
        return [_unreadable(source, error.start)]


def rules(script: Script, level: str, known: Known) -> list[Found]:
    """What the rule table says about a tree, in source order."""
    return _judged(Facts(script), level, known)


def _judged(facts: Facts, level: str, known: Known) -> list[Found]:
    findings = Findings(level, RULES)
    subject = Subject(facts, findings, known)
    for node in subject.facts.nodes:
        for look in _LOOKS.get(node.kind, _UNKNOWN):
            look(subject, node)
    patterns.look_at_all(subject)
    return findings.sorted()


def _marked() -> Found:
    """Three backticks at the start: JavaScript by its grammar, and never by its meaning."""
    return Found(code="SYNTAX", line=1, column=1, message=dialects.MARKED[0], fix=dialects.MARKED[1])


def _unreadable(source: str, at: int) -> Found:
    """A lone surrogate, which no UTF-8 has."""
    line, column = source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)
    message = f"the character U+{ord(source[at]):04X} is half of a pair"
    return Found(code="SYNTAX", line=line, column=column, message=message, fix="write it as an escape in a string")


def as_found(rejected: Rejected, source: str) -> Found:
    """What a parser says, as a finding; in the words of the language that the source is really written in."""
    message, fix = rejected.message, rejected.fix
    if rejected.code == "SYNTAX" and (guess := dialects.guess(source, rejected.line)) is not None:
        message, fix = guess
    return Found(code=rejected.code, line=rejected.line, column=rejected.column, message=message, fix=fix)
