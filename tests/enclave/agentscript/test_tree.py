"""Nodes know their parts, their parents and where they stand, however deep the tree and whatever its characters."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript import tree as module
from tests.enclave.agentscript.kit import node, tree


def test_nodes_stand_in_source_order_with_parents_and_parts() -> None:
    made = tree("const total = items[0].price * 2; // a comment")
    assert [one.kind for one in made.nodes] == [
        "program",
        "lexical_declaration",
        "variable_declarator",
        "identifier",
        "binary_expression",
        "member_expression",
        "subscript_expression",
        "identifier",
        "number",
        "property_identifier",
        "number",
    ]
    product = made.nodes[4]
    assert (product.operator, product.parts["left"].text, product.parts["right"].text) == ("*", "items[0].price", "2")
    assert all(child.parent is one for one in made.nodes for child in one.children)
    assert made.nodes[1].tokens == ["const", ";"]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("x", (1, 0)),
        ("\n\n  x", (3, 2)),
        ("'é€😀'; x", (1, 7)),
        ("'é'\r\n  x", (2, 2)),
        ("'é'\u2028x", (2, 0)),
        ("1;\rx", (2, 0)),
    ],
)
def test_places_are_lines_and_characters(source: str, place: tuple[int, int]) -> None:
    found = node(source, "identifier")
    assert (found.lineno, found.col_offset) == place


def test_deep_trees_overflow_nothing() -> None:
    source = "x = " + " + ".join(["1"] * 500)
    assert sum(one.kind == "binary_expression" for one in tree(source).nodes) == 499
    assert len(list(tree(source).root.below())) == len(tree(source).nodes)


def test_brackets_around_an_expression_are_seen_through() -> None:
    name = node("((x))", "identifier")
    outside = module.outer(name)
    assert outside.text == "((x))"
    assert module.inner(outside) is name
    assert [one.kind for one in name.above()][:3] == [
        "parenthesized_expression",
        "parenthesized_expression",
        "expression_statement",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("1_000", 1000),
        ("1e3", 1000),
        ("0.5", 0.5),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("10n", 10),
        ("0xFFn", 255),
        ("9" * 401, None),
    ],
)
def test_number_literals_are_read(text: str, value: float | None) -> None:
    assert module.number(node(text, "number")) == value


def test_functions_say_what_they_are() -> None:
    assert module.is_async(node("async () => 1", "arrow_function"))
    assert not module.is_async(node("() => 1", "arrow_function"))
    assert module.is_generator(node("function* g() {}", "generator_function_declaration"))
    assert module.is_generator(node("({ *g() {} })", "method_definition"))
    assert not module.is_generator(node("({ g() {} })", "method_definition"))
    assert [one.text for one in module.arguments(node("f(a, ...b)", "call_expression"))] == ["a", "...b"]
    assert module.arguments(node("f`a`", "call_expression")) == []
