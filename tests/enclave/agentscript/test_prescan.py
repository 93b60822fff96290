"""What is said of a JavaScript text before anything parses it."""

from __future__ import annotations

import time

import pytest

from ringfence.enclave.agentscript.prescan import prescan

Said = list[tuple[str, int, int]]


def said(source: str, level: str = "STANDARD") -> Said:
    return [(one.code, one.line, one.column) for one in prescan(source, level)]


TABLE: list[tuple[str, str, Said]] = [
    ("const a = [1, { b: (2) }];", "STRICT", []),
    ("x\n" + "[" * 31, "STRICT", [("TOO_DEEP", 2, 31)]),
    ("/[(]/.test(a);" * 40 + "\n" + "const re = /[([{]\\(/g;" * 40, "STRICT", []),
    ("'[[[[" * 9 + "'", "STRICT", []),
    ("// " + "(" * 40, "STRICT", []),
    ("/* " + "(" * 40 + " */", "STRICT", []),
    ("`" + "(" * 40 + "`", "STRICT", []),
    ("a / b; " + "(" * 31, "STRICT", [("TOO_DEEP", 1, 38)]),
    ("a\0b", "PERMISSIVE", [("NULL_BYTE", 1, 2)]),
    ("x = - - - - - - 1", "STRICT", [("OPERATOR_SPAM", 1, 5)]),
    ("i++; j--; a - -b", "STRICT", []),
    ("const a = '\u202ex'", "SECURE", [("BIDI_CONTROL", 1, 12)]),
    ("const a = '\u202ax\u202c'", "STANDARD", []),
    ("// \u202e", "STANDARD", [("BIDI_CONTROL", 1, 4)]),
    ("const a\u200bb = 1", "STANDARD", [("INVISIBLE_CHARACTER", 1, 8)]),
    ("\u0430bc()", "STRICT", [("CONFUSABLE_NAME", 1, 1)]),
    ("const naïve = 1, 名前 = 2", "STRICT", []),
    ("x" * 5001, "STRICT", [("LINE_TOO_LONG", 1, 1)]),
    ("\n" * 2001, "STRICT", [("TOO_MANY_LINES", 2001, 1)]),
    ("x" * 5001, "off", []),
]


@pytest.mark.parametrize(("source", "level", "expected"), TABLE)
def test_the_text_is_judged(source: str, level: str, expected: Said) -> None:
    assert said(source, level) == expected


@pytest.mark.parametrize("piece", ["/", "`", "'", "/*", "//", "(/", "[/[", "\\", "- ", "/[", "= /a"])
def test_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    short, long = piece * 2_000, piece * 64_000
    said("é" + short, "PERMISSIVE")
    begin = time.perf_counter()
    said("é" + short, "PERMISSIVE")
    middle = time.perf_counter()
    said("é" + long, "PERMISSIVE")
    assert time.perf_counter() - middle < 32 * (middle - begin) * 8 + 0.25
