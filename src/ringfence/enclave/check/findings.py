"""What a check finds: one shape, a bounded number, always in the same order.

A rule table, one for each language, says at which level something counts as an error, as a warning, or not at all; this
file applies it. Pure, standard library only. Called by every part of `enclave.check` and `enclave.agentscript`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from ringfence.enclave.rules import RULES, Rule

MAX_FINDINGS: Final = 20
"""More than a model repairs at once."""
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One finding; `line` and `column` are 1-based, in the user's numbering."""

    code: str
    line: int
    column: int
    message: str
    fix: str
    severity: Literal["error", "warning"] = "error"


class Placed(Protocol):
    """A node that knows where it stands."""

    @property
    def lineno(self) -> int: ...
    @property
    def col_offset(self) -> int: ...


class Findings:
    """Collects what one check finds at one level. `rules`: the table of the script's language."""

    def __init__(self, level: str, rules: Mapping[str, Rule] = RULES) -> None:
        self.level = level
        self._rules = rules
        self._found: set[Found] = set()

    def add(self, code: str, node: Placed, name: str, fix: str | None = None) -> None:
        """Report `name`, standing at `node`, as the rule `code` sees it."""
        self.add_at(code, node.lineno, node.col_offset + 1, name, fix)

    def add_at(self, code: str, line: int, column: int, name: str, fix: str | None = None) -> None:
        rule = self._rules[code]
        verdict = rule.verdict(self.level)
        if verdict == "allowed":
            return
        shown = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        message = rule.message.replace("{name}", shown)
        self._found.add(
            Found(code=code, line=line, column=column, message=message, fix=fix or rule.fix, severity=verdict)
        )

    def sorted(self) -> list[Found]:
        return ordered(self._found)


def ordered(found: set[Found] | list[Found]) -> list[Found]:
    """The first `MAX_FINDINGS` in source order; where there are more, errors push out warnings."""
    kept = sorted(found, key=lambda one: (one.severity, one.line, one.column, one.code, one.message))[:MAX_FINDINGS]
    return sorted(kept, key=lambda one: (one.line, one.column, one.code, one.message))
