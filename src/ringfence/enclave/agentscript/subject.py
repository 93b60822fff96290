"""One script under check: its facts, where findings go, and the names that the run will have.

Pure, standard library only. Made by `script`, read by every file of rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ringfence.enclave.agentscript import vocabulary
from ringfence.enclave.agentscript.facts import Facts
from ringfence.enclave.agentscript.tree import Node
from ringfence.enclave.check.findings import Findings
from ringfence.enclave.check.known import Known


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

    def dotted(self, node: Node | None) -> str | None:
        return self.facts.dotted(node)

    def namespace(self, node: Node | None) -> str | None:
        """Name of the namespace that an expression stands for."""
        name = self.dotted(node)
        return name if name in self.known.namespaces else None
