"""Each module has its test file, at the same place under tests/."""

from __future__ import annotations

from tests.architecture.source import ROOT, Module, modules, report

_LIFE = ("tests/enclave/test_lifecycle.py", "shows only when real workers come and go")
_GUEST = ("tests/enclave/test_guest_language.py", "runs in the jail only, so it is driven from outside")

ELSEWHERE: dict[str, tuple[str, str]] = {
    "enclave.engines.guest_loop": _GUEST,
    "enclave.engines.guest_wire": _GUEST,
    "enclave.engines.guest_rehearsal": _GUEST,
    "enclave.engines.guest_world": _GUEST,
    "enclave.engines.guest_modules": (
        "tests/enclave/test_preload.py",
        "runs in the jail only, so it is driven from outside",
    ),
    "enclave.engines.python_unsafe": _GUEST,
    "enclave.engines.javascript_unsafe": (
        "tests/enclave/test_javascript_cases.py",
        "runs in the jail only, so it is driven from outside",
    ),
    "enclave.description": ("tests/enclave/test_stubs_typescript.py", "only joins stubs and briefing"),
    "enclave.check.known": ("tests/enclave/check/test_names.py", "holds names and nothing else"),
    "enclave.channel": ("tests/attacks/test_python_attacks.py", "is there for guests that attack it"),
    "enclave.session": ("tests/enclave/test_limits.py", "means something only with a guest on its other side"),
    "enclave.deadline": ("tests/enclave/test_limits.py", "means something only where a run overstays its time"),
    "enclave.endings": ("tests/enclave/test_limits.py", "means something only where a guest dies"),
    "enclave.failures": ("tests/enclave/test_calls.py", "is what every handler's exception goes through"),
    "enclave.flight": _LIFE,
    "enclave.flights": ("tests/enclave/test_closing.py", "shows when somebody closes what still runs"),
    "enclave.facade": _LIFE,
    "enclave.loops": _LIFE,
    "enclave.pool": _LIFE,
    "enclave.workers": _LIFE,
    "testing.driver_claims": ("tests/testing/test_driver_checks.py", "is half of one list of checks"),
    "testing.probing": ("tests/testing/test_driver_checks.py", "is what every check is made of"),
    "testing.steps": ("tests/testing/test_approver.py", "means something only in a script that somebody plays"),
    "enclave.callers": ("tests/enclave/test_governed_calls.py", "means something only with a script on its other side"),
}
"""Module to the file that tests it instead, and why."""


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


def test_every_exception_is_still_needed_and_tested_where_it_says() -> None:
    known = {module.short: module for module in modules()}
    problems = [
        f"{short}: gone, has its own test file, or {file} is missing; fix: correct ELSEWHERE"
        for short, (file, _) in ELSEWHERE.items()
        if short not in known
        or any((ROOT / home).is_file() for home in homes(known[short]))
        or not (ROOT / file).is_file()
    ]
    assert not problems, report(problems)
