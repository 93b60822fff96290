"""One script under check: its facts, where findings go, and the names that the run will have.

Pure, standard library only. Made by `script`, read by every file of rules.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from ringfence.enclave.agentscript import vocabulary
from ringfence.enclave.agentscript.facts import Facts
from ringfence.enclave.agentscript.tree import Node
from ringfence.enclave.check.findings import Findings
from ringfence.enclave.check.known import Known

_MOST: Final = 40
"""Names for which similar ones are looked for: twice as many as findings are kept."""
_LONGEST: Final = 60
_FEW: Final = 300
"""Names that one is compared with; of more than these, those that begin with the same letter."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One script under check."""

    facts: Facts
    findings: Findings
    known: Known
    given: frozenset[str] = field(init=False)
    """Names that the run gives, besides those of the language."""
    ambient: frozenset[str] = field(init=False)
    """All names that a script of this level has without declaring them."""
    protected: frozenset[str] = field(init=False)
    """Names through which it reaches tools."""
    disallowed: frozenset[str] = field(init=False)
    _similar: dict[str, str | None] = field(init=False, default_factory=dict[str, "str | None"])

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        spaces = frozenset(self.known.namespaces)
        given = spaces | frozenset(self.known.names)
        language = vocabulary.STRICT_NAMES if self.level == "STRICT" else vocabulary.ALL_NAMES
        set_field(self, "given", given)
        set_field(self, "ambient", given | language)
        set_field(self, "protected", spaces | {"callTool", "ToolError"})
        set_field(self, "disallowed", vocabulary.DISALLOWED.get(self.level, frozenset[str]()))

    @property
    def level(self) -> str:
        return self.findings.level

    def add(self, code: str, node: Node, name: str, fix: str | None = None) -> None:
        """Report `name`, standing at `node`, as the rule `code` sees it."""
        self.findings.add(code, node, " ".join(name.split()), fix)

    def similar(self, name: str, names: Collection[str], cutoff: float, space: str = "") -> str | None:
        """The name most like one that is not there; None once this was asked often enough. `space`: whose `names` are."""
        key = f"{space}.{name}"
        if key not in self._similar:
            if len(self._similar) >= _MOST or len(name) > _LONGEST:
                return None
            near = [one for one in names if len(names) <= _FEW or one[:1] == name[:1]]
            found = difflib.get_close_matches(name, sorted(near)[:_FEW], n=1, cutoff=cutoff)
            self._similar[key] = found[0] if found else None
        return self._similar[key]

    def dotted(self, node: Node | None) -> str | None:
        return self.facts.dotted(node)

    def namespace(self, node: Node | None) -> str | None:
        """Name of the namespace that an expression stands for."""
        name = self.dotted(node)
        return name if name in self.known.namespaces else None
