"""Each module has its test file, at the same place under tests/."""

from __future__ import annotations

from tests.architecture.source import ROOT, Module, modules, report

_JAILED = "runs in the jail only; tests/enclave/test_guest_language.py and tests/cases drive it there"

ELSEWHERE: dict[str, str] = {
    "enclave.engines.guest_bridge": _JAILED,
    "enclave.engines.guest_loop": _JAILED,
    "enclave.engines.guest_values": _JAILED,
    "enclave.engines.guest_wire": _JAILED,
    "enclave.engines.guest_world": _JAILED,
    "enclave.engines.python_unsafe": _JAILED,
}
"""Module to where its behaviour is tested instead, and why. May only shrink."""


def homes(module: Module) -> list[str]:
    *folders, name = module.short.split(".")
    plain = name.removesuffix("_unsafe")
    return ["/".join(["tests", *folders, f"test_{stem}.py"]) for stem in dict.fromkeys((name, plain))]


def test_every_module_has_its_test_file() -> None:
    problems = [
        f"{module.at(1)}: no {' or '.join(homes(module))}; fix: write it, or list the module in ELSEWHERE with a reason"
        for module in modules()
        if not module.is_package and module.short not in ELSEWHERE
        if not any((ROOT / home).is_file() for home in homes(module))
    ]
    assert not problems, report(problems)


def test_every_exception_is_still_needed() -> None:
    known = {module.short: module for module in modules()}
    problems = [
        f"{short}: gone, or has its test file; fix: delete it from ELSEWHERE"
        for short in ELSEWHERE
        if short not in known or any((ROOT / home).is_file() for home in homes(known[short]))
    ]
    assert not problems, report(problems)
