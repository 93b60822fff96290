"""Computed keys are handed to whoever looks at them, once, and nothing else changes."""

from __future__ import annotations

import pytest

from tests.enclave.agentscript.engine import run, value


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ("const a = { x: 1 }, k = 'x'; a[k]", ["x"]),
        ("const a = [5]; a[0]", []),
        ("const a = { x: 1 }; a['x']", []),
        ("const a = { x: 1 }, k = 'x'; a[k] = 2; a.x", ["x"]),
        ("const a = { x: 1 }, k = 'x'; delete a[k]; a.x", ["x"]),
        ("const a = { f() { return this.v }, v: 3 }, k = 'f'; a[k]()", ["f"]),
        ("const a = { x: { y: 1 } }, k = 'x', j = 'y'; a[k][j]", ["x", "y"]),
        ("const a = { x: 1 }, k = 'x'; a?.[k]", ["x"]),
        ("const k = 'x', { [k]: v } = { x: 4 }; v", ["x"]),
        ("const a = { x: 'y', y: 2 }; a[a[`x`]]", ["x", "y"]),
        ("let i = 0; const a = [1, 2]; a[i++] + a[i]", ["0", "1"]),
        ("const a = { x: 1, y: 2 }, k = 'x'; a[k, 'y']", ["y"]),
        ("const a = { x: 1 }, k = 'x'; a[k]++; a[k] += 2; a.x", ["x", "x"]),
    ],
)
def test_each_key_is_looked_at_once(source: str, keys: list[str]) -> None:
    outcome = run(source, guarded=True)
    assert outcome["keys"] == keys
    assert outcome.get("value") == value(source)


def test_a_key_becomes_text_once() -> None:
    source = "let n = 0; const key = { toString() { n++; return 'x' } }; const a = { x: 7 }; [a[key], n]"
    assert run(source, guarded=True)["value"] == [7, 1]


def test_a_script_cannot_put_its_own_look_in_the_place_of_ours() -> None:
    source = (
        "const \\u0024k = { key: () => 'other' }, \\u{24}k$ = \\u0024k; const a = { x: 1, other: 2 }, k = 'x'; a[k]"
    )
    assert run(source, guarded=True)["value"] == 1
