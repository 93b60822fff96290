"""Constants that ask for more than any limit allows, by AgentScript's bounds where it is tight."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript import sizes
from tests.enclave.agentscript.kit import codes, found
from tests.enclave.agentscript.test_subject import subject

TIGHT = [
    "2n ** 10001n",
    "const n = 20000n; 2n ** n",
    "let a = 2n; a **= 20000n",
    "1n << 20000n",
    "Array(1000001)",
    "new Array(10 * 1000 * 1000)",
    "Array.from({ length: 2e6 })",
    "new Uint8Array(2 ** 24)",
    "'x'.repeat(100001)",
    "'x'.padEnd(1e6)",
    "Array(100001).fill(0)",
    "new Array(200000).join('x')",
    "Array(150000).fill('x').join('')",
    "const a = Array(150000); a.fill(1)",
]
HUGE = [
    "2n ** 100000000n",
    "2n ** 2n ** 90n",
    "new Array(4294967295)",
    "'x'.repeat(2 ** 29)",
    "'x'.padStart(1e9)",
    "Array.from({ length: 1e9 })",
    "new ArrayBuffer(1e12)",
    "Array(1e8).fill(0)",
    "'x'.repeat(" + "9" * 300 + ")",
]
FINE = [
    "2n ** 64n",
    "2 ** 100000",
    "1n ** 100000n",
    "Array(1000)",
    "[1000000]",
    "Array(1e9, 2)",
    "'x'.repeat(80)",
    "'x'.repeat(inputs.n)",
    "Array(10).fill(0)",
    "mail.repeat(1e9)",
    "const repeat = (n) => n; repeat(1e9)",
    "Array.from([1, 2])",
    "Array.from({ length: inputs.n })",
    "['a'].join('x')",
    "1 / 0",
    "0 ** -1",
]


@pytest.mark.parametrize("source", TIGHT)
def test_agentscripts_bounds_hold_where_it_is_tight(source: str) -> None:
    assert "RESOURCE_EXHAUSTION" in codes(source, "STRICT")
    assert "RESOURCE_EXHAUSTION" in codes(source, "SECURE")
    assert "RESOURCE_EXHAUSTION" not in codes(source, "STANDARD")


@pytest.mark.parametrize("source", HUGE)
def test_what_fits_into_no_limit_is_said_everywhere(source: str) -> None:
    assert {(one.code, one.severity) for one in found(source, "PERMISSIVE")} == {("RESOURCE_EXHAUSTION", "warning")}
    assert "RESOURCE_EXHAUSTION" in codes(source, "SECURE")


@pytest.mark.parametrize("source", FINE)
def test_what_is_small_or_not_known_is_left_alone(source: str) -> None:
    assert "RESOURCE_EXHAUSTION" not in codes(source, "STRICT")


@pytest.mark.parametrize(
    ("expression", "size"),
    [
        ("-3", -3.0),
        ("2 ** 10", 1024.0),
        ("2n ** 99999n", float("inf")),
        ("10 - 3", 7.0),
        ("(-8) ** 0.5", None),
        ("1 << 3", 8.0),
        ("5 % 3", None),
        ("inputs.n", None),
    ],
)
def test_numbers_are_followed_as_far_as_they_are_constants(expression: str, size: float | None) -> None:
    made = subject("SECURE", f"({expression})")
    assert sizes.size(made, made.facts.tree.root.children[0].children[0]) == size
