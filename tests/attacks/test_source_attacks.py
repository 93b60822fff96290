"""Sources that no case file can hold: NUL, half characters, and more of everything than anybody should read."""

from __future__ import annotations

import sys
from typing import Final

import pytest

from tests.attacks.host import furnish
from tests.enclave.kit import Stage, code

MIB: Final = 1024 * 1024
WRONG: Final = {
    "nul": "x = 1\0\n",
    "nul in a text": "x = 'a\0b'\n",
    "half a character": "x = '\ud800'\n",
    "half a character in a name": "x\ud800 = 1\n",
    "too many bytes": "#" + "x" * MIB,
    "too many bytes in few characters": "#" + "\U0001f600" * (MIB // 4),
    "brackets": "(" * 5000 + ")" * 5000,
    "brackets left open": "[" * 100_000,
    "braces": "{" * 300 + "}" * 300,
    "signs": "-" * 100_000 + "1",
    "nots": "not " * 50_000 + "1",
    "calls": "f" + "()" * 50_000,
    "attributes": "f" + ".a" * 50_000,
    "sums": "1" + "+1" * 50_000,
    "powers": "1" + "**1" * 5_000,
    "lambdas": "lambda: " * 5_000 + "1",
    "conditionals": "1 if 1 else " * 5_000 + "1",
    "elifs": "if 0: pass\n" + "elif 0: pass\n" * 5_000,
    "blocks": "".join(" " * n + "if 1:\n" for n in range(120)) + " " * 120 + "pass\n",
    "with items": "with " + ", ".join(["a"] * 5_000) + ": pass",
    "nested f-strings": "f'" + '{f"' * 60 + '"}' * 60 + "'",
    "pattern": "match 1:\n    case " + "[" * 500 + "]" * 500 + ": pass",
    "comprehensions": "x = " + "[" * 150 + "1" + " for x in [1]]" * 150,
    "decorators": "@f\n" * 10_000 + "def g(): pass",
    "awaits": "await " * 1_000 + "x",
    "stars": "f(" + "*" * 1000 + "a)",
    "line": "x = '" + "a" * 200_000 + "'",
    "lines": "\n" * 200_000,
    "byte order in the middle": "x = 1\n\ufeffy = 2\n",
    "unfinished": "x = '''",
    "dedent": "  x = 1\n y = 2\n",
    "tabs": "if 1:\n\tx = 1\n        y = 2\n",
    "coding": "# -*- coding: rot13 -*-\nevny('1')\n",
    "form feed": "\fx = 1\f\n" * 10,
    "yield": "yield 1",
    "nonlocal": "nonlocal x",
    "star import": "from os import *\nlistdir('/')",
    "huge number": "9" * 100_000,
    "huge hexadecimal": "0x" + "f" * 900_000,
    "escape": "'\\N{" + "A" * 100_000 + "}'",
    "backslashes": "\\\n" * 50_000,
    "names": "\n".join(f"n{n} = {n}" for n in range(60_000)),
    "constants": "x = [" + ",".join(str(n) for n in range(120_000)) + "]",
}
ENDS: Final = {"VALIDATION_ERROR", "RUNTIME_ERROR", "MEMORY_LIMIT_EXCEEDED", None}
"""Refused before it runs, or run as what it says; never a crash of the worker, never a wait."""
HARMLESS: Final = {
    "coding",
    "form feed",
    "byte order in the middle",
    "decorators",
    "elifs",
    "names",
    "constants",
    "backslashes",
} | ({"nested f-strings"} if sys.version_info >= (3, 12) else set[str]())
FATAL: Final = {"comprehensions"} if sys.version_info >= (3, 12) else set[str]()
"""What Python's own compiler dies of, in the jail, where no check stops it."""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["check", "off", "STRICT"])
def test_a_source_that_is_too_much_is_refused_before_it_is_read(mode: str, arena: Stage) -> None:
    furnish(arena)
    options = {"check": {}, "off": {"validate": False}, "STRICT": {"security_level": "STRICT"}}[mode]
    enclave = arena.enclave(timeout=10.0, memory_limit="256MB", **options)
    found = {name: code(arena.run(enclave.run(source))) for name, source in WRONG.items()}
    fatal = FATAL if mode == "off" else set[str]()
    assert {name: end for name, end in found.items() if end not in ENDS and name not in fatal} == {}
    early = [
        "nul",
        "half a character",
        "too many bytes",
        "brackets",
        "signs",
        "yield",
        "unfinished",
        "dedent",
        "nonlocal",
    ]
    assert {name: found[name] for name in early} == dict.fromkeys(early, "VALIDATION_ERROR")
    if mode == "STRICT":
        assert {name for name, end in found.items() if end != "VALIDATION_ERROR"} <= HARMLESS
    assert arena.run(enclave.run("1 + 1")).value == 2
