"""Which part may use which package, and what may be loaded into a jailed process."""

from __future__ import annotations

import re
import sys
import tomllib
from fnmatch import fnmatchcase

from tests.architecture.source import PACKAGE, ROOT, imports, modules, report
from tests.architecture.test_levels import short_name

USERS: dict[str, tuple[str, ...]] = {
    "pydantic": ("contract.*", "gate.shown", "gate.copies"),
    "pydantic_core": ("contract.*",),
    "griffe": ("contract.docstrings",),
    "msgspec": (
        "values",
        "events",
        "ports",
        "gate.entries",
        "policy.screen",
        "enclave.calls",
        "enclave.ledger",
        "enclave.received",
        "enclave.protocol",
        "contract.*",
    ),
    "jsonschema_rs": ("contract.publishing", "contract.check", "contract.complaints"),
    "typing_extensions": ("contract.*",),
    "tzdata": ("enclave.supplies",),
    "opentelemetry": ("gate.tracing", "boundary"),
    "tree_sitter": ("enclave.agentscript.*",),
    "typer": ("cli.*",),
    "rich": ("cli.*",),
}
"""Imported package to the modules that may import it. Whatever is not here is nobody's."""

DISTRIBUTIONS: dict[str, str] = {"griffe": "griffelib", "opentelemetry": "opentelemetry-api"}
"""Imported name to the name it is installed by, where they differ."""

JAILED: tuple[str, ...] = (
    "enclave.engines.*",
    "enclave.agentscript",
    "enclave.agentscript.*",
    "enclave.check",
    "enclave.check.*",
    "enclave.rules",
    "enclave.reach",
    "enclave.guards",
    "enclave.source",
    "enclave.modules",
    "enclave.table",
    "sandbox.jail.launch_unsafe",
    "sandbox.jail.forget",
    "sandbox.jail.zygote_unsafe",
    "sandbox.jail.child_unsafe",
    "sandbox.jail.kernel_unsafe",
    "sandbox.jail.landlock_unsafe",
    "sandbox.jail.seccomp",
    "sandbox.jail.syscalls",
    "sandbox.jail.wire",
    "sandbox.jail.plan",
    "errors",
    "limits",
)
"""What a jailed process may hold of ours: an import outside this list would bring the host's code in with it."""


LOCATED: dict[str, str] = {
    "quickjs-ng": "enclave.supplies",
    "tree-sitter": "enclave.supplies",
    "tree-sitter-javascript": "enclave.supplies",
}
"""Distributions that the host finds and a jail loads, to the module that finds them."""


def distribution(package: str) -> str:
    return DISTRIBUTIONS.get(package, package).replace("_", "-")


def is_foreign(target: str) -> bool:
    top = target.partition(".")[0]
    return top != PACKAGE and top not in sys.stdlib_module_names


def test_each_package_is_used_only_where_it_is_meant_to_be() -> None:
    problems = [
        f"{module.at(item.line)}: imports {item.target}; fix: go through the module that owns it, or extend USERS"
        for module in modules()
        for item in imports(module)
        if is_foreign(item.target)
        if not any(fnmatchcase(module.short, user) for user in USERS.get(item.target.partition(".")[0], ()))
    ]
    assert not problems, report(problems)


def test_dependencies_are_exactly_what_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[<>=!~\[; ]", line)[0] for line in project["dependencies"]}
    imported = {item.target.partition(".")[0] for module in modules() for item in imports(module)}
    used = {distribution(name) for name in imported if is_foreign(name)}
    assert declared == used | LOCATED.keys()


def test_a_jailed_process_loads_the_standard_library_and_its_own_files_only() -> None:
    jailed = [module for module in modules() if any(fnmatchcase(module.short, name) for name in JAILED)]
    problems = [
        f"{module.at(item.line)}: brings {item.target} into the jail; fix: the guest gets it in a frame, or not at all"
        for module in jailed
        for item in imports(module)
        if not item.typing_only
        if is_foreign(item.target)
        or (
            item.target.startswith(PACKAGE + ".")
            and not any(fnmatchcase(short_name(item.target), name) for name in JAILED)
        )
    ]
    assert jailed
    assert not problems, report(problems)


def test_every_version_installed_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[<>=!~\[; ]", line)[0].lower().replace("_", "-") for line in wanted}
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in pins if "==" in line}
    assert names <= pinned
