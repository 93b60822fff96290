"""Loops that count their turns, whatever their form, and do what they did before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.enclave.agentscript.rewrite import rewrite
from ringfence.enclave.agentscript.syntax import parse
from tests.enclave.agentscript.engine import run, value
from tests.enclave.agentscript.kit import PARSER

FORMS = {
    "for": "for (let i = 0; i < N; i++) seen++;",
    "for in a block": "for (let i = 0; i < N; i++) { seen++; }",
    "for-of": "for (const x of Array(N)) seen++;",
    "for-in": "for (const x in Array(N).fill(0)) seen++;",
    "for-await": "for await (const x of Array(N)) seen++;",
    "while": "while (seen < N) seen++;",
    "do": "do seen++; while (seen < N);",
    "do in a block": "do { seen++ } while (seen < N)",
    "labelled": "outer: for (;seen < N;) { while (seen >= 0) { seen++; continue outer; } }",
    "in a function": "const f = () => { while (seen < N) seen++; }; f();",
    "in a method": "class A { run() { for (; seen < N; seen++); } } new A().run();",
    "in a generator": "function* g() { while (true) yield 1; } for (const x of g()) if (++seen === N) break;",
    "in a branch": "if (seen) throw 1; else for (; seen < N;) seen++;",
    "in a switch": "switch (1) { case 1: for (; seen < N;) seen++; }",
    "in another": "for (let a = 0; a < 2; a++) for (let b = 0; b < N / 2; b++) seen++;",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_loop_within_its_turns_does_what_it_did(form: str) -> None:
    source = f"const N = 50; let seen = 0; {FORMS[form]} seen"
    assert value(source, counted="all", turns=100) == value(source) == 50


@pytest.mark.parametrize("form", FORMS)
def test_a_loop_beyond_its_turns_stops_with_its_line(form: str) -> None:
    outcome = run(f"const N = 500; let seen = 0;\n{FORMS[form]}\nseen", counted="all", turns=100)
    assert (outcome["stopped"], outcome["error"]) == ([True, 2], "Error: stopped")


@pytest.mark.parametrize("source", ["while (true)", "for (;;)", "for (; true ;)", "while (1)", "while ((true))"])
def test_a_loop_that_says_it_has_no_end_counts_only_where_all_do(source: str) -> None:
    body = f"let n = 0; {source} {{ if (++n === 300) break; }} n"
    assert value(body, counted="bounded", turns=100) == 300
    assert run(body, counted="all", turns=100)["stopped"] == [True, 1]
    assert (
        run("let n = 0; do { if (++n === 300) break; } while (true); n", counted="bounded", turns=100)["value"] == 300
    )


def test_a_condition_that_may_end_is_counted() -> None:
    assert run("let on = true; while (on) ;", counted="bounded", turns=100)["stopped"] == [True, 1]
    assert run("while (0 || 1) ;", counted="bounded", turns=100)["stopped"] == [True, 1]


def test_each_run_of_a_loop_has_its_own_turns_and_all_together_a_hundred_times_as_many() -> None:
    twice = "let n = 0; for (let i = 0; i < 2; i++) for (let j = 0; j < 9; j++) n++; n"
    assert value(twice, counted="all", turns=10) == 18
    many = "const f = () => { for (let j = 0; j < 9; j++); };\nconst g = (n) => { f(); if (n) g(n - 1); }; g(200)"
    assert run(many, counted="all", turns=10)["stopped"] == [False, 1]


def test_a_stop_that_is_caught_stops_again() -> None:
    source = "for (;;) { try { for (let i = 0; ; i++) ; } catch { } }"
    assert run(source, counted="all", turns=10)["error"] == "Error: stopped"


def test_a_script_cannot_give_itself_turns() -> None:
    source = "\\u0024kt = 1e9; for (let i = 0; i < 50; i++) ;"
    assert run(source, counted="all", turns=100)["error"] == "ReferenceError: $kt is not defined"


def test_thousands_of_loops_are_counted_each_with_its_line() -> None:
    made = rewrite(parse("l: for (; é < 1;) é++;\n" * 3_000, PARSER), PARSER, counted="all", turns=9)
    assert made.text.count("$k.stop(") == 3_000
    assert "{let $k3000=0;l: for (; é < 1;) {if(++$k3000>9||--$kt<0)$k.stop($k3000>9,3000);é++;}}" in made.text


def test_closures_over_loop_variables_stay_their_own() -> None:
    source = "const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); fs.map((f) => f())"
    assert value(source, counted="all") == [0, 1, 2]


@pytest.mark.parametrize(
    "source",
    [
        "let s = 0; for (const x of [1, 2]) s += x // add\ns",
        "let s = 0; if (s === 0) for (const x of [1, 2]) s += x // add\nelse s = 9\ns",
        "let s = 0; for (const x of [1]) for (const y of [3]) s += y // add\n// more\ns",
        "let s = 0; do s++ /* one */\nwhile (s < 3) // until\ns",
        "let s = 0; switch (1) { case 1: for (const x of [3]) s += x // c\ndefault: s++ }\ns - 1",
        "let s = 0; a: for (const x of [3]) s += x /* c */ /* d */\ns",
    ],
)
def test_a_comment_behind_a_body_stays_behind_it(source: str) -> None:
    assert value(source, counted="all") == 3


STATEMENTS = st.recursive(
    st.sampled_from(["n++;", "n += 2;", "if (n % 7 === 0) { n += 3; }", "try { n++; } finally { n++; }", ";"]),
    lambda inner: st.one_of(
        inner.map(lambda s: f"for (let i = 0; i < 2; i++) {s}"),
        inner.map(lambda s: f"for (const x of [1, 2]) {{ {s} }}"),
        inner.map(lambda s: f"{{ let w = 0; while (w++ < 2) {s} }}"),
        inner.map(lambda s: f"{{ let w = 0; do {s} while (++w < 2) }}"),
        inner.map(lambda s: f"a{hash(s) % 97}: for (const k in {{ p: 1, q: 2 }}) {{ {s} continue a{hash(s) % 97}; }}"),
        inner.map(lambda s: f"if (n > 3) {s} else {{ {s} }}"),
        st.tuples(inner, inner).map(lambda pair: f"{{ {pair[0]} {pair[1]} }}"),
        inner.map(lambda s: f"(() => {{ {s} }})();"),
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=60)
@given(STATEMENTS)
def test_counting_changes_no_result(statement: str) -> None:
    source = f"let n = 0;\n{statement}\nn"
    plain: Any = value(source)
    assert value(source, counted="all", turns=1000, guarded=True, keep=True) == plain
