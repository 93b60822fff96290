"""What a name stands for is what JavaScript says: blocks, functions, hoisting, shadowing."""

from __future__ import annotations

import pytest

from tests.enclave.agentscript.kit import tree


def reads(source: str, name: str = "x") -> list[int | None]:
    """For each use of a name that does not declare it: line of its declaration, or None."""
    return [
        one.binding.node.lineno if one.binding is not None else None
        for one in tree(source).nodes
        if one.kind in ("identifier", "shorthand_property_identifier") and one.text == name
        if one.binding is None or one.binding.node is not one
    ]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x", [None]),
        ("const x = 1;\nx", [1]),
        ("{\nconst x = 1;\n}\nx", [None]),
        ("{\nvar x = 1;\n}\nx", [2]),
        ("function f() {\nvar x;\n}\nx", [None]),
        ("function f() {\nif (1) { var x }\nreturn x }", [2]),
        ("x();\nfunction x() {}", [2]),
        ("{\nfunction x() {}\n}\nx()", [None]),
        ("const f = function x() {\nx() };\nx()", [1, None]),
        ("class x {\nm() { return x }\n}\nx", [1, 1]),
        ("const f = class x {\nm() { return x } };\nx", [1, None]),
        ("(x) =>\nx;\nx", [1, None]),
        ("x => {\nx };\nx", [1, None]),
        ("(a, { b: [x = 1] }, ...c) =>\nx", [1]),
        ("try {} catch (x) {\nx }\nx", [1, None]),
        ("try {} catch ({ x }) {\nx }", [1]),
        ("for (const x of y) {\nx }\nx", [1, None]),
        ("for (var x of y) {}\nx", [1]),
        ("for (let x = 0; x < 1; x++) {}\nx", [1, 1, None]),
        ("switch (1) { case 1: let x; default:\nx }\nx", [1, None]),
        ("const { a: x, ...r } = o;\nx", [1]),
        ("const [x] = o;\n({ x })", [1]),
        ("let x;\n({ x } = o);\nx", [1]),
        ("const x = 1;\n{\nconst x = 2;\nx\n}", [3]),
        ("class A { static {\nvar x; x }\n}\nx", [2, None]),
        ("import x from 'y';\nx", [1]),
        ("x: for (;;) break x", []),
        ("o.x; ({ x: 1 })", []),
    ],
)
def test_a_name_stands_for_its_innermost_declaration(source: str, lines: list[int | None]) -> None:
    assert reads(source) == lines


@pytest.mark.parametrize(
    ("source", "constant"),
    [
        ("const x = 1", "1"),
        ("let x = 1", "1"),
        ("function x() {}", "function x() {}"),
        ("let x = 1; x = 2", None),
        ("let x = 1; x += 2", None),
        ("let x = 1; x++", None),
        ("let x = 1; ({ x } = o)", None),
        ("let x = 1; ([x] = o)", None),
        ("let x = 1; for (x of y) {}", None),
        ("let x; x = 1", None),
        ("var x = 1; var x = 2", None),
        ("const { x } = o", None),
        ("for (const x of y) {}", None),
        ("(x) => x", None),
    ],
)
def test_a_name_that_is_set_once_is_a_constant(source: str, constant: str | None) -> None:
    binding = next(one.binding for one in tree(source).nodes if one.binding is not None and one.text == "x")
    value = binding.constant
    assert (value.text if value is not None else None) == constant


def test_reads_of_a_name_are_kept() -> None:
    made = tree("const x = 1; x; () => x; { const x = 2; }")
    binding = made.nodes[3].binding
    assert binding is not None
    assert [(one.lineno, one.col_offset) for one in binding.reads] == [(1, 13), (1, 22)]
