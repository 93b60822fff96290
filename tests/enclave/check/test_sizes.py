"""Constants that ask for more than any limit allows are found without being computed."""

from __future__ import annotations

import pytest

from tests.enclave.check.kit import codes


@pytest.mark.parametrize(
    "source",
    [
        "'x' * 10**10",
        "10**10 * 'x'",
        "[0] * 1_000_000_000",
        "(0,) * 10**9",
        "b'x' * 2**40",
        "10**10**10",
        "2**2**2**2**2**2",
        "1 << 10**10",
        "1 << (1 << 40)",
        "n = 10**10\ns = 'x'\ns * n",
        "list(range(10**12))",
        "for i in range(10**12): pass",
        "[i for i in range(10**12)]",
        "sum(range(-10**12, 0))",
        "list(i for i in range(10**9))",
        "bytes(10**10)",
        "bytearray(10**10)",
        "'x'.ljust(10**10)",
        "'x'.zfill(10**10)",
        "x = 1\nf'{x:999999999}'",
        "format(1, '999999999d')",
        "'{:>999999999}'.format(1)",
        "'%999999999d' % 1",
        "import math\nmath.factorial(10**7)",
        "import random\nrandom.choices([1], k=10**10)",
        "pow(10, 10**10)",
    ],
)
def test_huge_constants_are_found(source: str) -> None:
    assert set(codes(source, "STANDARD")) == {"RESOURCE_EXHAUSTION"}


@pytest.mark.parametrize(
    "source",
    [
        "'-' * 80",
        "[0] * 1000",
        "10**18",
        "2**64 - 1",
        "1 << 20",
        "10**9 + 7",
        "x = pow(3, 10**18, 10**9 + 7)",
        "10**12 in range(10**13)",
        "for i in range(10**6): pass",
        "x = 2\nx **= 3",
        "0 << 10**12",
        "1 ** 10**12",
        "'x' * inputs['n']",
        "x = 1.5\nf'{x:>20,.2f}'",
        "'x'.ljust(20)",
        "1 // 0",
        "-(2**10)",
        "for i in range(0, 10**12, 10**11): pass",
    ],
)
def test_ordinary_numbers_are_left_alone(source: str) -> None:
    assert codes(source, "STANDARD") == []
