"""Rules about imports: which modules a level has, and what may be taken from them. Pure, standard library only."""

from __future__ import annotations

import ast

from ringfence.enclave.check import vocabulary
from ringfence.enclave.check.facts import Visit, is_dunder
from ringfence.enclave.check.names import reaches_host
from ringfence.enclave.check.subject import Subject

_SHOWN = 40
"""Names of modules in a fix; the rest can be read on the page."""


def look(subject: Subject, visit: Visit) -> None:
    """Report what is wrong with one import."""
    if id(visit.node) in subject.facts.unrun:
        return
    match visit.node:
        case ast.Import(names=names) as node:
            for alias in names:
                _module(subject, node, alias.name)
        case ast.ImportFrom(module=str(module), names=names, level=0) as node:
            for alias in names:
                if alias.name == "*":
                    subject.findings.add("STAR_IMPORT", node, module)
                _member(subject, node, module, alias.name)
        case ast.ImportFrom() as node:
            dots = "." * node.level + (node.module or "")
            subject.findings.add("FORBIDDEN_IMPORT", node, dots, "scripts are no packages: import by a full name")
        case _:
            pass


def _module(subject: Subject, node: ast.stmt, name: str) -> None:
    if _is_there(subject, name):
        return
    if name in subject.ambient | {"tools"}:
        subject.findings.add("FORBIDDEN_IMPORT", node, name, f"{name} is there without an import; delete this line")
    elif name in vocabulary.CODE_NAMES or name.partition(".")[0] in ("importlib", "builtins", "code", "codeop"):
        subject.findings.add("DYNAMIC_CODE", node, name)
    else:
        subject.findings.add("FORBIDDEN_IMPORT", node, name, _alternatives(subject))


def _is_there(subject: Subject, name: str) -> bool:
    """A listed module, a part of one, or a package above one."""
    return (
        name in subject.modules
        or name.rpartition(".")[0] in subject.modules
        or any(module.startswith(name + ".") for module in subject.modules)
    )


def _member(subject: Subject, node: ast.ImportFrom, module: str, name: str) -> None:
    if not _is_there(subject, module):
        _module(subject, node, module)
        return
    whole = f"{module}.{name}"
    if module not in subject.modules and module.rpartition(".")[0] not in subject.modules:
        _module(subject, node, whole)  # a package above a listed module: only that one is there
    elif (name.startswith("_") and not is_dunder(name)) or (name in vocabulary.PIVOTS and whole not in subject.modules):
        subject.findings.add("MODULE_PIVOT", node, whole)
    elif whole in vocabulary.CODE_NAMES:
        subject.findings.add("DYNAMIC_CODE", node, whole)
    elif reaches_host(whole):
        subject.findings.add("HOST_ACCESS", node, whole)


def _alternatives(subject: Subject) -> str:
    tops = sorted({name.partition(".")[0] for name in subject.modules} - {"__future__"})
    shown = ", ".join(tops[:_SHOWN]) + (" …" if len(tops) > _SHOWN else "")
    return f"call a tool, or use one of: {shown}"
