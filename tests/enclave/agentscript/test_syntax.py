"""Sources that are JavaScript, and where others stop being it."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript.syntax import DEEPEST, Lines, Rejected, parse
from tests.enclave.agentscript.kit import PARSER


@pytest.mark.parametrize(
    ("source", "code", "line", "column"),
    [
        ("const a = ;", "SYNTAX", 1, 11),
        ("let x = {", "SYNTAX", 1, 1),
        ("\n\nfoo(", "SYNTAX", 3, 1),
        ("const é = 1; <div/>", "SYNTAX", 1, 14),
        ("a\u2028b\r\nc\rconst = 1", "SYNTAX", 4, 7),
        ("}); evil(); (async () => {", "SYNTAX", 1, 1),
        ("[" * (DEEPEST + 5) + "]" * (DEEPEST + 5), "TOO_DEEP", 1, DEEPEST - 1),
    ],
)
def test_what_is_no_javascript_is_refused_with_its_place(source: str, code: str, line: int, column: int) -> None:
    with pytest.raises(Rejected) as caught:
        parse(source, PARSER)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert code != "TOO_DEEP" or caught.value.fix == "split long expressions into steps"


@pytest.mark.parametrize(
    "opening", ["(", "[", "{a:", "`${", "!", "f(", "() => ", "a ? b : ", "-", "new ", "if (1) ", "{"]
)
def test_any_depth_ends_as_a_refusal(opening: str) -> None:
    with pytest.raises(Rejected):
        parse(opening * 50_000, PARSER)


@pytest.mark.parametrize(
    ("data", "at", "expected"),
    [(b"abc", 0, (1, 1)), (b"a\nbc", 3, (2, 2)), ("é\nñx".encode(), 5, (2, 2)), (b"a\r\nbc", 4, (2, 2))],
)
def test_places_count_characters(data: bytes, at: int, expected: tuple[int, int]) -> None:
    assert Lines(data).place(at) == expected


@pytest.mark.parametrize("source", ["#!/bin/x\n1", "\ufeff1", "<!-- a comment\n1", "/* a */ 1", "", "\n"])
def test_what_engines_ignore_at_the_edges_is_accepted(source: str) -> None:
    assert parse(source, PARSER).tree.root_node.type == "program"
