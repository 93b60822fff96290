"""Statements: what can never work, what STRICT leaves out, loops without end, what nothing reaches."""

from __future__ import annotations

import pytest

from tests.enclave.agentscript.kit import codes, found

STRICT_SCRIPTS = [
    "const users = await callTool('users:list', {});\nreturn users.items.length;",
    "const inbox = await mail.list({ unread: true });\nreturn await tools.get({ id: inbox[0].from });",
    "const r = await callTool('users:get', { id: inputs.id }, { throwOnError: false });\n"
    "if (r.success) return r.data;\nreturn { failed: r.error.message };",
    "const totals = {};\nfor (const row of inputs.rows) {\n  const { team, score = 0, ...rest } = row;\n"
    "  totals[team] = (totals[team] ?? 0) + score;\n}\nreturn Object.entries(totals).map(([k, v]) => ({ k, v }));",
    "const go = async (n) => { try { return await mail.send({ n }) } catch (error) { return error.message } };\n"
    "const sent = await parallel([1, 2, 3], go);\nconsole.log(`${sent.length} sent`);\nreturn sent;",
    "let n = 0;\nfor (let i = 0; i < 10; i++) { if (i % 2) continue; n += i }\nswitch (n) { case 1: break; default: n = 2 }\n"
    "throw { message: 'x', n };",
    "class Point { x = 1; static y = 2 }\nreturn new Point().x;",
    "const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2));\nreturn [f(3), typeof f, void 0, delete inputs.x, 2 ** 3];",
]

STRICT_ONLY = [
    ("let n = 3; while (n) n--", "FORBIDDEN_LOOP"),
    ("let n = 3; do { n-- } while (n)", "FORBIDDEN_LOOP"),
    ("for (const k in inputs) {}", "FORBIDDEN_LOOP"),
    ("function f() {}", "NO_USER_FUNCTION_DECLARATION"),
    ("async function f() {}", "NO_USER_FUNCTION_DECLARATION"),
    ("function* g() { yield 1 }", "NO_USER_FUNCTION_DECLARATION"),
    ("const f = function () {}", "NO_USER_FUNCTION_EXPRESSION"),
    ("const f = function* () {}", "NO_USER_FUNCTION_EXPRESSION"),
    ("class A { m() {} }", "NO_USER_METHOD_DEFINITION"),
    ("class A { get m() { return 1 } }", "NO_USER_METHOD_DEFINITION"),
    ("class A { constructor() {} }", "NO_USER_METHOD_DEFINITION"),
    ("const o = { m() {} }", "NO_USER_METHOD_SHORTHAND"),
    ("const o = { set m(x) {} }", "NO_USER_METHOD_SHORTHAND"),
    ("for (;;) break", "INFINITE_LOOP"),
]


@pytest.mark.parametrize("source", STRICT_SCRIPTS)
def test_ordinary_scripts_pass_strict(source: str) -> None:
    assert codes(source, "STRICT") == []


@pytest.mark.parametrize(("source", "code"), STRICT_ONLY)
def test_strict_leaves_out_what_the_other_levels_have(source: str, code: str) -> None:
    assert codes(source, "STRICT") == [code]
    assert codes(source, "SECURE") == []


@pytest.mark.parametrize("level", ["STRICT", "SECURE", "STANDARD", "PERMISSIVE"])
@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import { a } from 'b'", "FORBIDDEN_IMPORT"),
        ("import 'b'", "FORBIDDEN_IMPORT"),
        ("export const a = 1", "FORBIDDEN_IMPORT"),
        ("export default 1", "FORBIDDEN_IMPORT"),
        ("const m = await import('a')", "FORBIDDEN_IMPORT"),
        ("import.meta", "FORBIDDEN_IMPORT"),
        ("with (inputs) {}", "NO_WITH"),
    ],
)
def test_what_can_never_work_is_an_error_at_every_level(source: str, code: str, level: str) -> None:
    assert [(one.code, one.severity) for one in found(source, level)] == [(code, "error")]


ENDLESS = [
    "while (true) {}",
    "while (1) {}",
    "while (!0) {}",
    "while (!undefined) {}",
    "while ('x') {}",
    "while ([]) {}",
    "while (1 === 1) {}",
    "while (((true))) {}",
    "const on = true; while (on) {}",
    "do {} while (true)",
    "for (;;) {}",
    "for (; true; ) {}",
    "for (let i = 0; ; i++) {}",
    "while (true) { for (const a of []) break }",
    "while (true) { const f = () => { return 1 } }",
    "while (true) { switch (1) { case 1: break } }",
    "outer: while (true) { inner: for (const a of []) { continue outer } }",
]
ENDING = [
    "while (true) break",
    "while (true) { if (inputs.x) break }",
    "const f = () => { while (true) { return 1 } }",
    "while (true) { throw 1 }",
    "while (true) { await mail.list() }",
    "for (;;) { for await (const a of []) {} }",
    "function* f() { while (true) yield 1 }",
    "outer: while (true) { for (const a of []) { break outer } }",
    "try { while (true) { inputs.next() } } catch (e) {}",
    "let on = true; while (on) { on = false }",
    "while (inputs.x) {}",
    "while (false) {}",
    "while ('') {}",
    "while (null) {}",
    "for (let i = 0; i < 3; i++) {}",
]


@pytest.mark.parametrize("source", ENDLESS)
def test_a_loop_without_end_is_found(source: str) -> None:
    assert codes(source, "SECURE") == ["INFINITE_LOOP"]
    assert [one.severity for one in found(source, "PERMISSIVE")] == ["warning"]


@pytest.mark.parametrize("source", ENDING)
def test_a_loop_that_can_end_is_left_alone(source: str) -> None:
    assert codes(source, "STANDARD") == []


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("const f = () => { return 1; mail.list }", "return"),
        ("for (const a of []) { continue; a }", "continue"),
        ("throw 1; inputs", "throw"),
        ("switch (1) { case 1: break; inputs }", "break"),
        ("return 1\ninputs", "return"),
    ],
)
def test_what_nothing_reaches_is_a_warning_everywhere(source: str, end: str) -> None:
    for level in ("STRICT", "SECURE", "STANDARD", "PERMISSIVE"):
        assert [(one.code, one.message) for one in found(source, level)] == [
            ("UNREACHABLE_CODE", f"nothing reaches what follows {end}")
        ]


@pytest.mark.parametrize("source", ["return f(); function f() {}", "return 1;;", "if (inputs.x) return 1; inputs.y"])
def test_what_something_reaches_is_not(source: str) -> None:
    assert codes(source, "STANDARD") == []


@pytest.mark.parametrize("source", ["@inputs class A {}", "using x = inputs"])
def test_a_construct_that_no_rule_knows_is_a_finding(source: str) -> None:
    assert codes(source) == ["UNSUPPORTED_SYNTAX"]
    assert [one.severity for one in found(source, "STANDARD")] == ["warning"]
