"""What a static check found, as hosts and people read it: findings, and the tools that a script may reach.

Translates the guest's `Checked` frame, which is the word of a process that has read hostile source: everything in it
is bounded and advice. Knows frames; no channels. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from ringfence import values
from ringfence.enclave.protocol import Checked, WireViolation
from ringfence.limits import ValueBudget

MOST_FINDINGS: Final = 2_000
"""Of one source; the guest stops earlier."""
MOST_SITES: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something in the source that cannot work, or may not run at this security level."""

    code: str
    line: int
    """1-based, in the user's source."""
    column: int
    """1-based."""
    message: str
    fix: str
    """The smallest change that helps."""
    severity: Literal["error", "warning"]
    """A script with an error is refused before anything runs; a warning refuses nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSite:
    """One place in the source that calls a tool."""

    tool: str | None
    """None where the name is made at run time."""
    line: int
    column: int
    loops: int
    """Loops around it, comprehensions included."""
    arguments: Mapping[str, Any]
    """Those that are constants in the source."""
    dynamic: tuple[str, ...]
    """Names of the others; `*` where even the names are made at run time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What there is to say about a script without running it."""

    ok: bool
    """No finding is an error, so that `run` would run it."""
    findings: tuple[Finding, ...]
    """In order of the source."""
    reach: tuple[ToolSite, ...]
    """In order of the source; advice, since a script may call what nobody can see in its text."""


def report_of(frame: Checked, budget: ValueBudget) -> CheckReport:
    """The guest's frame as a report.

    Raises:
        WireViolation: more than an honest guest says, or arguments that are no object.
    """
    if len(frame.findings) > MOST_FINDINGS or len(frame.reach) > MOST_SITES:
        raise WireViolation("a flood of findings")
    findings = tuple(
        Finding(
            code=one.code,
            line=one.line,
            column=one.column,
            message=one.message,
            fix=one.fix,
            severity=one.severity,
        )
        for one in frame.findings
    )
    reach = tuple(
        ToolSite(
            tool=site.tool,
            line=site.line,
            column=site.column,
            loops=site.loops,
            arguments=_arguments(site.arguments, budget),
            dynamic=site.dynamic,
        )
        for site in frame.reach
    )
    return CheckReport(ok=all(one.severity != "error" for one in findings), findings=findings, reach=reach)


def refused(code: str, message: str, fix: str) -> CheckReport:
    """The report of a source that no guest needs to look at."""
    one = Finding(code=code, line=1, column=1, message=message, fix=fix, severity="error")
    return CheckReport(ok=False, findings=(one,), reach=())


def _arguments(raw: Any, budget: ValueBudget) -> Mapping[str, Any]:
    try:
        value = values.parse(raw, budget)
    except values.ValueRefused as refused_:
        raise WireViolation(f"arguments of a call that are refused ({refused_.reason})") from None
    if type(value) is not dict:
        raise WireViolation("arguments of a call that are no object")
    return MappingProxyType(value)  # type: ignore[reportUnknownArgumentType]
