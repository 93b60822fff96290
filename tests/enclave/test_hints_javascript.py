"""What a model is told after its JavaScript script raised: the texts are the engine's, so it is asked for them."""

from __future__ import annotations

import pytest

from tests.enclave.kit import Stage

TABLE = [
    ("setTimeout(() => 1, 5)", "there are no timers: call what should run, and await it"),
    ("fetch('https://x')", "there is no network: call a tool"),
    ("require('fs')", "there are no modules: use what the language has, or call a tool"),
    ("print('x')", "write console.log(...)"),
    ("consol.log(1)", "did you mean console?"),
    ("return x1y2", "declare it with const or let"),
    ("return tools", "write: await callTool('name', {...})"),
    ("null.price", "the value before .price is missing: test for it first, or write ?.price"),
    ("inputs.rows.length", "the value before .length is missing: test for it first, or write ?.length"),
    ("callTool('x', {}).map((x) => x)", "await a call before its result is used, and look up the method's name"),
    (
        "for (const x of { a: 1 });",
        "await a call before its result is used; of an object take the array inside, or Object.entries(...)",
    ),
    ("a; let a = 1", "declare it further up, before its first use"),
    ("const a = 1; a = 2", "declare it with let, or change a copy: { ...value }"),
    ("1n + 1", "convert one side: Number(big) or BigInt(number)"),
    ("JSON.stringify(1n)", "write String(value) for large whole numbers"),
    ("class A {} A()", "write new before the class"),
    ("[].reduce((a, b) => a)", "give reduce a start value"),
    ("JSON.parse('x')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("JSON.parse('{')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("function f() { f(); } f()", "use a loop"),
    ("new Date('x').toISOString()", "give Date a text such as 2026-01-31T12:00:00Z, or numbers"),
    ("BigInt(1.5)", "round first: BigInt(Math.round(value))"),
    ("let s = 'x'; while (true) s += s", "collect parts in an array, and less of them"),
    ("(1).toLocaleString('de-DE')", "use 'en-US' and 'UTC', or format with padStart and toFixed"),
    ("throw new Error('mine')", None),
]


@pytest.mark.parametrize(("source", "expected"), TABLE)
def test_a_common_mistake_has_its_fix(source: str, expected: str | None, stage: Stage) -> None:
    result = stage.script(source, language="javascript", validate=False)
    assert result.error is not None
    assert (result.error.code, result.error.hint) == ("RUNTIME_ERROR", expected)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("const p = callTool('x', {});\np.map((x) => x)", "p.map is not a function"),
        ("const o = { a: {} };\no.a.lookup(1)", "o.a.lookup is not a function"),
        ("const o = {}; new o.Thing()", "o.Thing is not a function"),
    ],
)
def test_what_is_no_function_is_named(source: str, message: str, stage: Stage) -> None:
    result = stage.script(source, language="javascript", validate=False)
    assert result.error is not None
    assert result.error.message == message
