"""Sources in other languages are told apart, so that the fix is about what was written."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript.dialects import guess
from ringfence.enclave.agentscript.script import admit
from tests.enclave.agentscript.kit import KNOWN, PARSER

TYPESCRIPT = [
    "const n: number = 1;",
    "let names: string[] = [];",
    "const { a }: { a: string } = inputs;",
    "function f(a: string, b?: number) { return a }",
    "const f = (a: string): string => a;",
    "interface User { name: string }",
    "type Id = string | number;",
    "enum Color { Red }",
    "const r = inputs as any;",
    "const r = inputs.x!.y;",
    "const m = new Map<string, number>();",
    "class A { private x = 1; public y: string }",
    "const r = inputs satisfies object;",
    "async function load(id: number): Promise<void> {}",
]
PYTHON = [
    "def f(x):\n    return x",
    "async def main():\n    return 1",
    "if x == 1:\n    y = 2",
    "for user in users:\n    print(user)",
    "from json import dumps",
    "# a comment\nx = 1",
    'print(f"{x}")',
    "x = [a for a in b]",
    "while True:\n    pass",
    "try:\n    x = 1\nexcept Exception as e:\n    pass",
    "f = lambda x: x",
]
BROKEN = ["const x = (", "const x = ;", "if (x {", "foo(", "return {a: 1", "let 1x = 2", "const x = 'a", "}"]


def refusal(source: str) -> tuple[str, str]:
    found = admit(source, "STANDARD", KNOWN, PARSER)
    assert isinstance(found, list)
    (one,) = found
    assert (one.code, one.severity) == ("SYNTAX", "error")
    return one.message, one.fix


@pytest.mark.parametrize("source", TYPESCRIPT)
def test_typescript_is_told(source: str) -> None:
    assert refusal(source)[1] == "plain JavaScript: remove the type annotations"


@pytest.mark.parametrize("source", PYTHON)
def test_python_is_told(source: str) -> None:
    assert refusal(source)[0] == "this reads as Python, and scripts are JavaScript here"


@pytest.mark.parametrize("source", BROKEN)
def test_broken_javascript_keeps_the_parsers_words(source: str) -> None:
    assert guess(source, 1) is None


def test_a_code_block_is_told() -> None:
    assert refusal("```js\nreturn 1\n```")[1] == "send the code alone, without ``` lines"


def test_only_what_is_near_is_looked_at() -> None:
    source = "const x = 1;\n" * 10 + "// const n: number = 1\n" + "const y = 2;\n" * 10 + "let z = (;"
    assert guess(source, 21 + 1) is None


def test_long_lines_are_read_in_a_moment() -> None:
    for text in ("a<" * 50_000, "):a" * 50_000, "(a:" * 50_000, "[a," * 50_000, "for a in " * 20_000):
        assert guess(text, 1) in (None, guess(text[:1000], 1))
