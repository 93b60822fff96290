"""What methods and operators make of constants is what JavaScript makes of them, or None."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from ringfence.enclave.agentscript.methods import FUNCTIONS, OPERATORS, UNDEFINED, Value, call, item, to_text

CALLS: list[tuple[str, Value, tuple[Value, ...], Value | None]] = [
    ("concat", "a", ("b", 1), "ab1"),
    ("slice", "abcdef", (1, -1), "bcde"),
    ("slice", "abc", (), "abc"),
    ("substring", "abcdef", (4, 1), "bcd"),
    ("substring", "abc", (-1, 2), "ab"),
    ("substr", "abcdef", (-3, 2), "de"),
    ("charAt", "abc", (1,), "b"),
    ("at", "abc", (-1,), "c"),
    ("split", "a,b", (",",), ("a", "b")),
    ("split", "ab", ("",), ("a", "b")),
    ("replace", "aa", ("a", "b"), "ba"),
    ("replaceAll", "aa", ("a", "b"), "bb"),
    ("repeat", "ab", (2,), "abab"),
    ("toUpperCase", "a", (), "A"),
    ("trim", " a ", (), "a"),
    ("join", ("a", "b"), (), "a,b"),
    ("join", ("a", None, "b"), ("-",), "a--b"),
    ("reverse", ("a", "b"), (), ("b", "a")),
    ("concat", ("a",), (("b",), "c"), ("a", "b", "c")),
    ("slice", (1, 2, 3), (1,), (2, 3)),
    ("flat", ((1, 2), 3), (), (1, 2, 3)),
    ("at", (1, 2), (-1,), 2),
    ("toString", (1, (2, 3)), (), "1,2,3"),
    ("toString", 255, (16,), "ff"),
    ("toString", True, (), "true"),
]
UNKNOWN: list[tuple[str, Value, tuple[Value, ...]]] = [
    ("normalise", "a", ()),
    ("slice", "a", ("x",)),
    ("repeat", "a", (20_000,)),
    ("repeat", "a", ("x",)),
    ("charAt", "a", (9,)),
    ("toString", 5, (99,)),
    ("toFixed", 1.5, (1,)),
    ("pop", (), ()),
    ("join", UNDEFINED, ()),
]


@pytest.mark.parametrize(("name", "base", "given", "made"), CALLS)
def test_a_method_makes_what_javascript_makes(
    name: str, base: Value, given: tuple[Value, ...], made: Value | None
) -> None:
    assert call(name, base, *given) == made


@pytest.mark.skipif(shutil.which("node") is None, reason="compares with a JavaScript engine where there is one")
def test_the_expectations_are_those_of_an_engine() -> None:
    cases = json.dumps([[name, base, given] for name, base, given, _ in CALLS])
    program = f"console.log(JSON.stringify({cases}.map(([n, b, g]) => b[n](...g))))"
    node = shutil.which("node")
    assert node is not None
    told = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == json.loads(json.dumps([made for *_, made in CALLS]))


@pytest.mark.parametrize(("name", "base", "given"), UNKNOWN)
def test_what_is_not_known_is_none(name: str, base: Value, given: tuple[Value, ...]) -> None:
    assert call(name, base, *given) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (True, "true"), (None, "null"), (UNDEFINED, "undefined"), (1.0, "1"), (0.5, "0.5"), ((1, None), "1,")],
)
def test_values_become_text_as_in_javascript(value: Value, text: str) -> None:
    assert to_text(value) == text


def test_operators_and_items() -> None:
    assert OPERATORS["+"]("a", 1) == "a1"
    assert OPERATORS["+"](1, 2) == 3
    assert OPERATORS["^"](5, 1) == 4
    assert OPERATORS["/"](1, 0) is None
    assert OPERATORS["*"](2**52, 2**52) is None
    assert OPERATORS["-"]("a", 1) is None
    assert item("abc", "length") == 3
    assert item(("a",), "0") == "a"
    assert item(("a",), "1") is None
    assert item(5, "0") is None


def test_functions_that_decode() -> None:
    assert FUNCTIONS["String.fromCharCode"](97, 98) == "ab"
    assert FUNCTIONS["String.fromCharCode"](-1) is None
    assert FUNCTIONS["atob"]("YQ==") == "a"
    assert FUNCTIONS["atob"]("%") is None
    assert FUNCTIONS["unescape"]("%61") == "a"
