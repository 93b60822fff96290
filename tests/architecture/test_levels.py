"""Imports only point down (ARCHITECTURE.md, "Levels")."""

from __future__ import annotations

from fnmatch import fnmatchcase

from tests.architecture.source import PACKAGE, Import, Module, modules, own_imports, report

# first match wins; names are below `ringfence`
LEVELS: tuple[tuple[str, int], ...] = (
    ("errors", 0),
    ("events", 0),
    ("limits", 0),
    ("values", 0),
    ("ports", 0),
    ("contract", 1),
    ("contract.*", 1),
    ("policy", 1),
    ("policy.*", 1),
    ("gate", 1),
    ("gate.states", 1),
    ("gate.machine", 1),
    ("gate.retry", 1),
    ("gate.decisions", 1),
    ("gate.explain", 1),
    ("gate.shown", 1),
    ("enclave", 1),
    ("enclave.protocol", 1),
    ("enclave.source", 1),
    ("enclave.check", 1),
    ("enclave.check.*", 1),
    ("enclave.stubs", 1),
    ("enclave.stubs_typescript", 1),
    ("enclave.description", 1),
    ("enclave.briefing", 1),
    ("enclave.results", 1),
    ("enclave.hints", 1),
    ("enclave.hints_javascript", 1),
    ("enclave.modules", 1),
    ("enclave.table", 1),
    ("enclave.table_javascript", 1),
    ("enclave.globals", 1),
    ("enclave.languages", 1),
    ("enclave.namespaces", 1),
    ("enclave.ledger", 1),
    ("enclave.options", 1),
    ("enclave.received", 1),
    ("enclave.reports", 1),
    ("enclave.requests", 1),
    ("enclave.failures", 1),
    ("enclave.rules", 1),
    ("enclave.variables", 1),
    ("enclave.reach", 1),
    ("enclave.guards", 1),
    ("enclave.agentscript", 1),
    ("enclave.agentscript.*", 1),
    ("sandbox", 1),
    ("sandbox.jail", 1),
    ("sandbox.guarantees", 1),
    ("sandbox.jail.plan", 1),
    ("sandbox.jail.seccomp", 1),
    ("sandbox.jail.syscalls", 1),
    ("sandbox.jail.wire", 1),
    ("sandbox.jail.report", 1),
    ("threads", 2),
    ("gate.*", 2),
    ("sandbox.*", 2),
    ("enclave.*", 3),
    ("boundary", 4),
    ("", 4),
    ("testing", 5),
    ("testing.*", 5),
    ("cli", 5),
    ("cli.*", 5),
    ("__main__", 5),
)

# (importer, imported): not even where the levels would allow it
STRANGERS: tuple[tuple[str, str, str], ...] = (
    ("gate.*", "sandbox.*", "meet through ports.Driver"),
    ("sandbox.*", "gate.*", "meet through ports.Driver"),
    ("policy.*", "gate.*", "a policy judges what it is shown"),
    ("policy.*", "enclave.*", "a policy judges what it is shown"),
    ("policy.*", "contract.*", "a policy judges what it is shown"),
    ("contract.*", "gate.*", "a contract does not know how calls are run"),
    ("contract.*", "enclave.*", "a contract does not know who calls"),
    ("contract.*", "sandbox.*", "a contract names a driver only as ports.Driver"),
    ("enclave.*", "gate.*", "a script reaches tools through ports.ToolCaller"),
)

BRIDGES: dict[tuple[str, str], str] = {
    ("contract.restorable", "enclave.table"): "tags a text only where the other side will read it so",
    ("enclave.callers", "gate.runner"): "turns a script's call into a governed one",
    ("enclave.callers", "gate.consent"): "has flagged calls approved where no gate does it",
    ("enclave.callers", "gate.explain"): "and says in its words that an approver's answer does not fit a script",
    ("enclave.facade", "gate.runner"): "builds the gate of the tools that an enclave was given",
    ("enclave.facade", "gate.consent"): "or names who approves where it was given none",
    ("enclave.facade", "gate.hub"): "and the events of that gate",
}
"""Exceptions to STRANGERS, each with its reason."""

WIRING: dict[str, str] = {
    "": "only re-exports the public names, so it wires nothing",
    "enclave.facade": "wires the gate of an enclave's own tools, and the jail of its scripts",
}
"""The files that know both a gate and a place where code runs."""


LAZY: dict[tuple[str, str], str] = {
    ("", "testing"): "`rf.testing` is a public name, which is loaded when it is first used",
}
"""(importer, imported) for type checkers only, although it points up."""


def level(short: str) -> int | None:
    return next((at for pattern, at in LEVELS if fnmatchcase(short, pattern)), None)


def short_name(target: str) -> str:
    return target[len(PACKAGE) + 1 :]


def test_every_module_has_a_level() -> None:
    problems = [
        f"{module.at(1)}: fix: give {module.short!r} a level in tests/architecture/test_levels.py"
        for module in modules()
        if level(module.short) is None
    ]
    assert not problems, report(problems)


def test_imports_only_point_down() -> None:
    problems: list[str] = []
    for module in modules():
        for item in own_imports(module):
            own, other = level(module.short), level(short_name(item.target))
            if is_lazy(module, item):
                continue
            if own is not None and other is not None and other > own:
                problems.append(
                    f"{module.at(item.line)}: level {own} imports {item.target} of level {other}; "
                    "fix: pass it in, or go through ports.py"
                )
    assert not problems, report(problems)


def test_parts_that_meet_through_ports_do_not_import_each_other() -> None:
    problems = [
        f"{module.at(item.line)}: {module.name} imports {item.target}; fix: {reason}"
        for module in modules()
        for item in own_imports(module)
        for importer, imported, reason in STRANGERS
        if fnmatchcase(module.short, importer) and fnmatchcase(short_name(item.target), imported)
        if (module.short, short_name(item.target)) not in BRIDGES
    ]
    assert not problems, report(problems)


def test_nobody_imports_the_top_level() -> None:
    problems = [
        f"{module.at(item.line)}: imports {item.target}; fix: move what is shared down"
        for module in modules()
        for item in own_imports(module)
        if level(short_name(item.target)) == 5 and top(module.short) != top(short_name(item.target))
        if not is_lazy(module, item)
    ]
    assert not problems, report(problems)


def test_packages_below_the_top_hold_only_a_docstring() -> None:
    problems = [
        f"{module.at(node)}: a package that imports is loaded by everybody below it; fix: move this into a module"
        for module in modules()
        if module.is_package and module.short and not module.short.startswith(("cli", "testing"))  # both are doors
        for node in module.tree.body[1:]
    ]
    assert not problems, report(problems)


def test_every_bridge_is_still_used() -> None:
    used = {(module.short, short_name(item.target)) for module in modules() for item in own_imports(module)}
    assert set(BRIDGES) <= used, f"fix: delete from BRIDGES {set(BRIDGES) - used}"


def test_only_the_wiring_files_know_both_a_gate_and_a_sandbox() -> None:
    wiring = {module.short for module in modules() if level(module.short) != 5 and wires(module)}
    assert wiring <= set(WIRING), f"{wiring - set(WIRING)}: fix: take the gate or the driver as an argument"


def wires(module: Module) -> bool:
    targets = {short_name(item.target) for item in own_imports(module)}
    return any(name.startswith("gate.") and level(name) == 2 for name in targets) and any(
        name.startswith("sandbox.") and level(name) == 2 for name in targets
    )


def is_lazy(module: Module, item: Import) -> bool:
    return item.typing_only and (module.short, short_name(item.target)) in LAZY


def top(short: str) -> str:
    return short.partition(".")[0]
