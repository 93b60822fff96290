"""What the rules look at and where they report: one script, one level, the names that its run will have.

Pure, standard library only. Made by `check.script`, read by every file of rules.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final

from ringfence.enclave.check.facts import Facts
from ringfence.enclave.check.findings import Findings
from ringfence.enclave.check.known import Known as Known
from ringfence.enclave.check.vocabulary import ALL_MODULES, SECURE_MODULES, STRICT_MODULES
from ringfence.enclave.modules import AMBIENT

_MODULES: Final = {"STRICT": STRICT_MODULES, "SECURE": SECURE_MODULES}


@dataclass(frozen=True, slots=True)
class Subject:
    """One script under check."""

    facts: Facts
    findings: Findings
    known: Known
    ambient: frozenset[str] = field(init=False)
    """Names that a script has without defining them."""
    protected: frozenset[str] = field(init=False)
    """Names through which it reaches tools."""
    modules: frozenset[str] = field(init=False)
    """Modules that it may import at its level."""

    def __post_init__(self) -> None:
        spaces = frozenset(self.known.namespaces)
        ambient = frozenset(AMBIENT - {"tools"})
        set_field = object.__setattr__
        set_field(self, "ambient", ambient | spaces | frozenset(self.known.names))
        set_field(self, "protected", spaces | {"call_tool", "ToolError"})
        modules = _MODULES.get(self.findings.level, ALL_MODULES)
        set_field(self, "modules", frozenset(modules) | frozenset(self.known.modules))

    @property
    def level(self) -> str:
        return self.findings.level

    def dotted(self, node: ast.AST) -> str | None:
        return self.facts.dotted(node)

    def text(self, node: ast.expr | None) -> str | None:
        return self.facts.text(node)

    def namespace(self, node: ast.AST) -> str | None:
        """Name of the namespace that an expression stands for."""
        name = self.dotted(node)
        return name if name in self.known.namespaces else None
