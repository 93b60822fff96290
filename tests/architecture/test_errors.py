"""One closed set of codes: each is used, each has an exception, and nothing invents another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from ringfence.errors import CODES, ErrorInfo, Family, RingfenceError, exception_for
from tests.architecture.source import Module, dotted, modules, report

RUN_CODES = frozenset(spec.run_code for spec in CODES.values())

RESERVED: dict[str, str] = {
    "permission_unenforceable": "a tool's own permissions",
    "policy_refused": "policies",
}
"""Codes that nothing raises yet, and the capability that will. May only shrink."""


def coded(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Every `code="…"` argument or default, except of findings and issues, which have names of their own."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=func, keywords=keywords) if (
                not (dotted(func) or "").lower().endswith(("finding", "found", "issue"))
            ):
                for keyword in keywords:
                    if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                        yield keyword.value, str(keyword.value.value)
            case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
                pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
                for argument, default in pairs:
                    if argument.arg == "code" and isinstance(default, ast.Constant) and isinstance(default.value, str):
                        yield default, default.value
            case _:
                pass


def test_every_code_in_the_source_exists() -> None:
    problems = [
        f"{module.at(node)}: {code!r} is not a code; fix: add it to CODES in errors.py, or use one that is there"
        for module in modules()
        for node, code in coded(module)
        if code not in CODES and code not in RUN_CODES
    ]
    assert not problems, report(problems)


def test_every_code_is_used_or_reserved() -> None:
    used = {
        node.value
        for module in modules()
        if module.short != "errors"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    } | {code for module in modules() if module.short == "errors" for _, code in coded(module)}
    idle = sorted(set(CODES) - used - set(RESERVED))
    assert not idle, f"nothing in src uses {idle}; fix: use it, delete it, or reserve it here with what will use it"
    taken = sorted(set(RESERVED) & used)
    assert not taken, f"in use, so no longer reserved: {taken}; fix: delete them from RESERVED"


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_an_exception_that_carries_it(code: str) -> None:
    error = exception_for(ErrorInfo(code=code, message="text", hint="change this"))
    assert isinstance(error, RingfenceError)
    assert (error.code, error.message, error.hint) == (code, "text", "change this")
    assert isinstance(error, TypeError) == (CODES[code].family is Family.CONFIG)
