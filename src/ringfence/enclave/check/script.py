"""The check of one script, in two lengths: what refuses a run, and all there is to say.

Before a run only what can refuse it is looked for, because every run pays: at STANDARD and PERMISSIVE that is the text
and calls that nobody awaits. The report adds the rules that only warn, and where the script reaches tools. Nothing
of the source is executed: no default argument, no decorator (B134). Pure, standard library only; the guest calls it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from ringfence.enclave.check import calls, constructs, imports, names, sizes
from ringfence.enclave.check.awaits import unawaited
from ringfence.enclave.check.facts import Facts
from ringfence.enclave.check.findings import Findings, Found, ordered
from ringfence.enclave.check.prescan import prescan
from ringfence.enclave.check.subject import Known, Subject
from ringfence.enclave.reach import Reached, reach
from ringfence.enclave.source import Compiler, Rejected, compile_script, parse, too_deep

_REFUSING: Final = frozenset({"STRICT", "SECURE"})
"""Levels at which rules about the tree can refuse a script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All there is to say about a source."""

    findings: list[Found]
    reach: list[Reached]


def admit(source: str, level: str, known: Known) -> ast.Module | list[Found]:
    """The tree of a source that may run at `level`, else what keeps it from running, in source order.

    `off` refuses only what is not Python.
    """
    found = [one for one in prescan(source, level) if one.severity == "error"]
    if found:
        return found
    try:
        tree = parse(source)
        found = _refusals(tree, level, known)
    except Rejected as rejected:
        return [as_found(rejected)]
    except RecursionError:
        return [as_found(too_deep())]
    return ordered(found) if found else tree


def report(source: str, level: str, known: Known, compiler: Compiler) -> Report:
    """Errors, warnings and the places that reach tools. `compiler` makes code that nobody runs, for its complaints."""
    found = prescan(source, level)
    if any(one.severity == "error" for one in found):  # a parser may not be fed this
        return Report(findings=found, reach=[])
    reached: list[Reached] = []
    try:
        tree = parse(source)
        if level != "off":
            found += unawaited(tree, known.namespaces) + rules(tree, level, known)
        reached = reach(tree, known)
        compile_script(tree, compiler)
    except Rejected as rejected:
        found.append(as_found(rejected))
    except RecursionError:
        found.append(as_found(too_deep()))
    return Report(findings=ordered(found), reach=reached)


def _refusals(tree: ast.Module, level: str, known: Known) -> list[Found]:
    if level == "off":
        return []
    found = unawaited(tree, known.namespaces)
    if level in _REFUSING:
        found += [one for one in rules(tree, level, known) if one.severity == "error"]
    return found


def rules(tree: ast.Module, level: str, known: Known) -> list[Found]:
    """What the rule table says about a tree, in source order."""
    findings = Findings(level)
    subject = Subject(Facts(tree), findings, known)
    for visit in subject.facts.visits:
        names.look(subject, visit)
        calls.look(subject, visit)
        imports.look(subject, visit)
        constructs.look(subject, visit)
        sizes.look(subject, visit)
    constructs.look_at_top(subject, tree)
    return findings.sorted()


def as_found(rejected: Rejected) -> Found:
    """What parser or compiler say, as a finding."""
    return Found(
        code=rejected.code, line=rejected.line, column=rejected.column, message=rejected.message, fix=rejected.fix
    )
