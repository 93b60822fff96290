"""What the tree holds is what the engine runs: nothing hides in what the two could read differently."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.enclave.agentscript.script import admit
from ringfence.enclave.agentscript.syntax import Rejected, parse
from tests.enclave.agentscript.engine import QUICKJS, run, value
from tests.enclave.agentscript.kit import KNOWN, PARSER, tree

HIDDEN = "globalThis.hit = eval('6 * 7')"
AS_TEXT = f"/`/; {HIDDEN}; //` / 1"
"""A regular expression and a statement where a statement begins; a division by a template where one goes on."""
AS_CODE = f"/`/; 1; //` / {HIDDEN}"
"""The other way round."""

VECTORS = [
    f"let x = 1; x <!--`\n{HIDDEN}; x <!--`",
    f"let x = 1; (x\n--> `\n{HIDDEN} //`)",
    f"let x = 1; (x /* */ --> `\n{HIDDEN} //`)",
    *(
        f"const f = () => {{}}{gap}{AS_TEXT}"
        for gap in ("\n", "// c\n", "/*\n*/ ", "\u2028", "\r", "\n\u00a0", "\n\ufeff")
    ),
    f"const f = async () => {{}}\n{AS_TEXT}",
    f"const f = x => () => {{}}\n{AS_TEXT}",
    f"await {AS_TEXT}",
    f"const f = async () => {{ await {AS_TEXT} }}; f()",
    f"const f = () => {{ var await = 1; await\n{AS_CODE} }}; f()",
    f"const f = () => {{ var await = 1; await {AS_CODE} }}; f()",
    f"class A {{ static a = await {AS_TEXT} }}",
    f"let x = 1; x\n\u00a0{AS_CODE}",
    f"let x = 1; x\n\ufeff{AS_CODE}",
    f"let x = 1; x\n\u3000{AS_CODE}",
    f"let\nx\n{AS_TEXT}",
    f"let // c\nx\n{AS_TEXT}",
    f"let y = 1; /x//**/in {AS_TEXT}",
    f"let x = 1; x\n--> a comment\n{AS_CODE}",
    f"<!-- a comment \r{HIDDEN}",
    f"// a comment \u2028{HIDDEN}",
    f"#!/bin/x\r{HIDDEN}",
]


@pytest.mark.parametrize("source", VECTORS)
def test_nothing_hides_from_the_rules_in_another_reading(source: str) -> None:
    if not isinstance(admit(source, "STRICT", KNOWN, PARSER), list):
        outcome = run(f"{source}\n;return globalThis.hit ?? null")
        assert outcome.get("value") is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("const f = (x) => { return x } // double\n[1, 2].map(f)", [1, 2]),
        ("const f = () => {} /* c\n */ (async () => 3)()", 3),
        ("const f = () => {}\n\n`t`", "t"),
        ("const f = () => {}\n+1", 1),
        ("const f = () => {}\n// c\n/x/.test('x')", True),
        ("class A { f = () => {}\n[1] = 2 }\nnew A()[1]", 2),
        ("const f = () => {}\r\n(() => 4)()", 4),
        ("const f = () => {},\n  g = () => {}\n[f, g].length", 2),
        ("const a = [() => {}\n, 5]\na[1]", 5),
        ("const f = async () => {\n}\n(1)", 1),
    ],
)
def test_an_arrow_function_ends_its_line(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("const [a, b] = await [1, 2]; b", 2),
        ("const r = await (async () => ({ a: 1 }))(); r", {"a": 1}),
        ("(await (async () => [5])())[0]", 5),
        ("await(1)", 1),
        ("await\n(2)", 2),
        ("await /x/.test('x')", True),
        ("await `t`", "t"),
        ("await -1 + 2", 1),
        ("await (1), await [2][0]", 2),
        ("const o = { await: 3 }; o.await", 3),
    ],
)
def test_await_is_never_a_name(source: str, expected: Any) -> None:
    assert value(source, guarded=True, counted="all") == expected
    assert not any(node.kind == "identifier" and node.text == "await" for node in tree(source).nodes)


@pytest.mark.parametrize("source", ["await (x)", "await [x]", "await `t`", "await x"])
def test_await_is_the_same_node_however_the_grammar_came_to_it(source: str) -> None:
    node = next(one for one in tree(source).nodes if one.kind == "await_expression")
    assert (node.tokens, node.operator, node.text, len(node.children)) == (["await"], "", source, 1)


@pytest.mark.parametrize(
    ("source", "line", "column", "message"),
    [
        ("let x = 1\nx <!-- y", 2, 3, "<!-- begins a comment here"),
        ("let x = 1\n(x\n --> y)", 3, 2, "--> begins a comment here"),
        ("(x /* c */ --> y)", 1, 12, "--> begins a comment here"),
        ("const f = () => 1\nids.map((id) => await (g(id)))", 2, 17, "await in a function that is not async"),
        ("function f() { return await [1] }", 1, 23, "await in a function that is not async"),
        ("class A { static { await (1) } }", 1, 20, "await in a function that is not async"),
        ("let\nx\n/`/; 1 //` / 1", 1, 1, "let is no name"),
        ("let y = {}; /x//**/in y", 1, 16, "a comment right behind a regular expression"),
    ],
)
def test_what_nothing_settles_is_refused_where_it_stands(source: str, line: int, column: int, message: str) -> None:
    with pytest.raises(Rejected) as caught:
        parse(source, PARSER)
    found = caught.value
    assert (found.code, found.line, found.column, found.message) == ("SYNTAX", line, column, message)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("let n = 3; const seen = []; while (n --> 0) seen.push(n); seen", [2, 1, 0]),
        ("let n = 3; n-->0", True),
        ("'<!-- --> await ( \u2028'", "<!-- --> await ( \u2028"),
        ("`<!--\n--> \u00a0\u3000`", "<!--\n--> \u00a0\u3000"),
        ("// <!-- await (\n/* --> */ 1", 1),
        ("/<!-- --> \u00a0/.test('<!-- --> \u00a0')", True),
        ("<!-- a comment\n--> another\n1", 1),
        ("const\u00a0a\u3000=\ufeff1;\u2003a", 1),
        ("const let_ = 1; const o = { let: 2 }; o.let + let_", 3),
        ("const outlet = 1\noutlet\n+ 1", 2),
    ],
)
def test_texts_and_what_is_certain_stay_as_they_are(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u2029"])
@pytest.mark.parametrize("before", ["1;", "// c", "/* a", "<!-- c"])
def test_lines_are_the_engines(before: str, end: str) -> None:
    after = "*/" if before == "/* a" else ""
    script = parse(f"{before}{end}{after} null.x", PARSER)
    with pytest.raises(QUICKJS.JSException) as caught:
        QUICKJS.Context().eval(script.source)
    assert "<input>:2:" in str(caught.value)
    (place,) = (script.lines.line(node.start_byte) for node in script.root.children if node.type == "expression_statement" and script.text(node) == "null.x")  # fmt: skip
    assert place == 2


def test_settled_places_are_many_at_once() -> None:
    assert parse("x = () => {}\n[1];\n" * 200, PARSER).source == "x = () => {};\n[1];\n" * 200
