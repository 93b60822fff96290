"""What the engine runs in the place of a source does what the source says: the last value, names, lines."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.enclave.agentscript.rewrite import rewrite
from ringfence.enclave.agentscript.syntax import Rejected, parse
from tests.enclave.agentscript.engine import QUICKJS, run, value
from tests.enclave.agentscript.kit import PARSER


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 1", 2),
        ("1 + 1;", 2),
        ("1 + 1 // sum", 2),
        ("1 + 1; // sum\n/* the end */\n", 2),
        ("1 + 1;;", 2),
        ("return 3", 3),
        ("if (true) { return 4 }\n5", 4),
        ("const a = 1\na", 1),
        ("const f = (x) => x * 2\nf(4)", 8),
        ("async function main() { return 7 }\nmain()", 7),
        ("(async () => 8)()", 8),
        ("await Promise.resolve(9)", 9),
        ("let x; x = 5", 5),
        ("1, 2", 2),
        ("'text'", "text"),
        ("`a${1}b`", "a1b"),
        ("[1, 2].map((n) => n * 2)", [2, 4]),
        ("({ a: 1 })", {"a": 1}),
        ("const total = 1, count = 2; { total, count }", {"total": 1, "count": 2}),
        ("{ a: 1, b: [2] }", {"a": 1, "b": [2]}),
        ("const a = 1; ({ a, b: { ...{ c: 2 } } })", {"a": 1, "b": {"c": 2}}),
        ("{ const a = 1; a }", None),
        ("if (true) { 5 }", None),
        ("for (const n of [1]) { n }", None),
        ("function f() {}", None),
        ("const a = 1", None),
        ("", None),
        ("// nothing", None),
        ("'use strict'\n6", 6),
        ("(function () { return this === undefined })()", True),
        ("this === globalThis", True),
        ("x = 1 ? 'a'\n: 'b'; var x", None),
        ("const o = { get a() { return 1 } }; o.a", 1),
        ("class A { static b = 2 }\nA.b", 2),
        ("#!/usr/bin/env node\n1", 1),
        ("\ufeff2", 2),
        ("\ufeff#!/usr/bin/env node\n3", 3),
        ("a: 5", None),
        ("const a = 1\rconst b = 2\r\na + b", 3),
        ("`x\r\ny`.length", 3),
        ("const f = (x) => { return x }\n[f(1)].concat(2)", [1, 2]),
        ("const f = async () => {}\n(async () => 3)()", 3),
        ("const o = { a: [7] }\n;[o.a[0]]", [7]),
        ("/x/.test('x')", True),
        ("async () => 1, 2", 2),
        ("new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_the_last_value_is_the_scripts(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize("source", ["arguments", "new.target", "super.x", "yield 1", "x = 5", "with (a) b", "010"])
def test_a_script_is_a_file_of_its_own_in_strict_mode(source: str) -> None:
    try:
        outcome = run(source)
    except QUICKJS.JSException:
        return
    assert outcome["error"].startswith("ReferenceError")


def test_lines_stay_and_columns_of_the_first_are_told() -> None:
    made = rewrite(parse("const a = 1;\nb", PARSER), PARSER, counted="all", turns=5, keep=True)
    assert made.text[made.prefix :].startswith("const a = 1;\nreturn (b\n)")


def test_hidden_names_are_none_of_the_sources() -> None:
    made = rewrite(parse("const $k = 1, $k$ = 2; for (;;) break; $k + $k$", PARSER), PARSER, counted="all", turns=5)
    assert made.text.startswith("(($k$$) => async () => {'use strict';let $k$$t=500;")
    assert value("const $k = 1, $k$ = 2; for (;;) break; $k + $k$", counted="all") == 3


@pytest.mark.parametrize("name", ["$k", "$kt", "$k1", "a$k"])
def test_hidden_names_are_no_session_variables(name: str) -> None:
    outcome = run("let n = 0; for (const x of [1, 2]) n += x; n", counted="all", variables={name: 7}, keep=True)
    assert (outcome["value"], outcome["kept"]) == (3, {name: 7, "n": 3})


def test_session_variables_are_found_changed_and_declared_anew() -> None:
    assert run("a += 1; b", variables={"a": 1, "b": [2]}, keep=True)["kept"] == {"a": 2, "b": [2]}
    assert run("const a = 5; a", variables={"a": 1}, keep=True)["kept"] == {"a": 5}


def test_every_name_of_the_top_level_is_told() -> None:
    source = (
        "const a = 1, { b, c: [d, ...e], f: { g = 7 } = {}, ...h } = { b: 2, c: [3, 4], i: 8 };"
        "let j; var k = 9; if (true) { const hidden = 1 } function l() {} class M {} async function n() {}"
    )
    kept = run(source, keep=True)["kept"]
    assert kept == {"a": 1, "b": 2, "d": 3, "e": [4], "g": 7, "h": {"i": 8}, "k": 9}


def test_a_name_that_was_never_reached_is_told_as_such() -> None:
    assert run("throw new Error('x'); const a = 1", keep=True)["kept"] == {"a": "not yet"}


@pytest.mark.parametrize(
    "source",
    [
        "}); evil(); (async () => {",
        "}}); evil(); (() => async () => {",
        "1 } , () => { 2",
        "return 1 }) + (() => { ",
        "/* */ } /*",
        "`${",
        "'",
        "/[",
    ],
)
def test_no_text_gets_out_of_its_function(source: str) -> None:
    with pytest.raises(Rejected):
        parse(source, PARSER)
