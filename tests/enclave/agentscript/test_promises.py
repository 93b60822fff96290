"""Promises that nobody awaits: used as if they were results an error everywhere, dropped a warning."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.findings import Found
from tests.enclave.agentscript.kit import codes, found

DATA = [
    "return callTool('a', {}).items",
    "return callTool('a', {})['items']",
    "return mail.list().length",
    "return mail.list()?.length",
    "return (mail.list()).length",
    "return `${mail.list()}`",
    "return mail.list() + 1",
    "return 'x' + mail.list()",
    "return mail.list() > 3",
    "return mail.list() === null",
    "return !mail.list()",
    "return typeof mail.list()",
    "return mail.list() && 1",
    "if (mail.list()) {}",
    "while (mail.list()) { break }",
    "return mail.list() ? 1 : 2",
    "return [...mail.list()]",
    "return { ...mail.list() }",
    "return Math.max(...mail.list())",
    "for (const a of mail.list()) {}",
    "for await (const a of mail.list()) {}",
    "const { items } = mail.list()",
    "const [first] = mail.list()",
    "let items; ({ items } = mail.list())",
    "switch (mail.list()) { default: }",
    "let n = 0; n += mail.list()",
    "console.log(mail.list())",
    "return JSON.stringify(mail.list())",
    "return Object.keys(mail.list())",
    "return new Set(mail.list())",
    "return new Map(mail.list())",
    "const users = callTool('a', {}); return users.items",
    "const users = callTool('a', {}); return `${users}`",
    "const users = callTool('a', {}); const { items } = users",
    "const c = callTool; return c('a').items",
    "const m = mail; return m.list().items",
    "const { list } = mail; return list().items",
    "async function load() { return 1 } return load().x",
    "const load = async () => ({}); return load().x",
]

AWAITED = [
    "return (await mail.list()).length",
    "return await mail.list()",
    "return mail.list()",
    "mail.list()",
    "const users = mail.list(); return (await users).items",
    "let users = mail.list(); users = await users; return users.items",
    "const [a, b] = await Promise.all([mail.list(), tools.get({})]); return [a, b]",
    "const a = mail.list(); const b = mail.list(); return await Promise.all([a, b])",
    "return await Promise.all([1].map((n) => mail.list({ n })))",
    "return mail.list().then((all) => all.length)",
    "return mail.list().then((all) => all.length).catch(() => 0).finally(() => 1)",
    "const later = () => mail.list(); return await later()",
    "const all = []; all.push(mail.list()); return await Promise.all(all)",
    "void mail.list(); return 1",
    "return await (mail.list() ?? 1)",
    "return mail.list() || 1",
    "return mail.list() instanceof Promise",
    "const one = { a: mail.list() }; return await one.a",
    "const f = (mail) => mail.list().length; return f({ list: () => [] })",
    "const load = () => ({ x: 1 }); return load().x",
    "async function* g() {} for await (const a of g()) {}",
    "return mail.list",
    "for (const a of await mail.list()) {}",
]

DROPPED = [
    "mail.list(); return 1",
    "callTool('a', {}); return 1",
    "mail.list().then((all) => all); return 1",
    "mail.list().then((all) => all).catch(() => 0); return 1",
    "if (inputs.x) { mail.list() } return 1",
    "const f = async () => { mail.list(); }; return await f()",
    "async function load() {} load(); return 1",
    "[1].forEach(async (n) => { await mail.list({ n }) }); return 1",
    "[1].forEach((n) => mail.list({ n })); return 1",
    "const each = async (n) => n; [1].forEach(each); return 1",
    "[1].map(async (n) => await mail.list({ n })); return 1",
    "for (const n of [1]) mail.list({ n })",
    "for (const n of [1]) { mail.list({ n }) }",
]

WAITED_FOR = [
    "mail.list();",
    "mail.list();;",
    "[1].forEach((n) => console.log(n)); return 1",
    "return await Promise.all([1].map(async (n) => await mail.list({ n })))",
    "const all = [1].map(async (n) => n); return await Promise.all(all)",
    "[1].forEach(inputs.f); return 1",
    "await mail.list(); return 1",
]


@pytest.mark.parametrize("source", DATA)
def test_a_promise_that_is_used_as_the_result_is_an_error_everywhere(source: str) -> None:
    for level in ("STRICT", "SECURE", "STANDARD", "PERMISSIVE"):
        assert ("UNAWAITED_CALL", "error") in [(one.code, one.severity) for one in found(source, level)]


@pytest.mark.parametrize("source", AWAITED)
def test_a_promise_that_is_awaited_or_passed_on_is_not(source: str) -> None:
    assert codes(source, "STANDARD") == []


@pytest.mark.parametrize("source", DROPPED)
def test_a_promise_that_nobody_waits_for_is_a_warning_everywhere(source: str) -> None:
    for level in ("STRICT", "SECURE", "STANDARD", "PERMISSIVE"):
        assert ("FLOATING_CALL", "warning") in [(one.code, one.severity) for one in found(source, level)]
    assert codes(source, "STANDARD") == ["FLOATING_CALL"]


@pytest.mark.parametrize("source", WAITED_FOR)
def test_what_is_waited_for_is_not(source: str) -> None:
    assert codes(source, "STANDARD") == []


def test_findings_carry_the_smallest_fix() -> None:
    assert found("const n = callTool('users:list', {}).items;", "STANDARD") == [
        Found(
            code="UNAWAITED_CALL",
            line=1,
            column=11,
            message="the promise of callTool(…) is used as if it were its result",
            fix="write: (await callTool('users:list', {}))",
        )
    ]
    assert [(one.line, one.fix) for one in found("const users = mail.list();\nusers.length", "STANDARD")] == [
        (2, "write await where it is set: users = await mail.list()")
    ]
    assert [one.fix for one in found("mail.list();\n1", "STANDARD")] == ["write: await mail.list()"]
    (long,) = found(f"return mail.list({{ a: '{'x' * 80}' }}).b", "STANDARD")
    assert long.fix == "write: (await mail.list(…))"


def test_the_fix_for_callbacks_is_one_that_the_level_has() -> None:
    source = "[1].forEach(async (n) => { await mail.list({ n }) }); return 1"
    fixes = [found(source, level)[0].fix for level in ("STRICT", "STANDARD")]
    assert ["parallel" in fix for fix in fixes] == [True, False]
    assert ["Promise" in fix for fix in fixes] == [False, True]
