"""The name of what was called, from the place that the engine tells."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript.blame import callee
from tests.enclave.agentscript.engine import QUICKJS
from tests.enclave.agentscript.kit import PARSER


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("a.b(1)", 1, 3, "a.b"),
        ("x\n  é.ö.list(1)", 2, 7, "é.ö.list"),
        ("new q.Foo()", 1, 5, "q.Foo"),
        ("a.b.c", 1, 5, None),
        ("f(2)", 1, 1, "f"),
        ("f(2)", 7, 1, None),
        ("f(2)", 1, 900, None),
        ("g(a.b)", 1, 5, None),
        (f"{'long.' * 20}f()", 1, 101, "…" + ("long." * 20 + "f")[-59:]),
    ],
)
def test_the_callee_at_a_place(text: str, line: int, column: int, expected: str | None) -> None:
    assert callee(text, line, column, PARSER) == expected


@pytest.mark.parametrize("text", ["const a = {};\n a.b.c; a.list(1)", "const p = [];\np\n.mapp(1)"])
def test_the_engine_tells_such_places(text: str) -> None:
    with pytest.raises(QUICKJS.JSException) as caught:
        QUICKJS.Context().eval(text)
    assert "TypeError" in str(caught.value)
