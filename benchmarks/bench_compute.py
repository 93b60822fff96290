"""What the jail adds to work that calls nothing: a script's own loops, rows and text, in Python and in JavaScript.

The baseline is the same function in this process: in this interpreter, and in a fresh context of the bare JavaScript
engine. The difference is what our side of the language costs: the counting of loops, and what a kernel's filters make of
memory. Each is taken in turn with its baseline; neither compilation nor start is in either.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any, Final

import ringfence as rf
from benchmarks import Row, repetitions
from benchmarks.guest_scripts import LANGUAGES, Language

_LEVEL: Final = "STANDARD"
"""As an enclave is that nobody configures: loops are counted, `while True` is not."""


def measure() -> Iterable[Row]:
    """All rows, in milliseconds."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    return [await _work(language, what) for what in LANGUAGES[0].work for language in LANGUAGES]


async def _work(language: Language, what: str) -> Row:
    ours: list[float] = []
    bare: list[float] = []
    script = language.timed.replace("{work}", language.work[what])
    async with rf.Enclave(language=language.name, security_level=_LEVEL, max_iterations=10_000_000) as enclave:
        for _ in range(repetitions(15, 1)):
            result = await enclave.run(script)
            assert result.error is None, result.error
            ours.append(result.value)
            work = BARE[language.name](language.work[what])
            begin = time.perf_counter()
            work()
            bare.append(time.perf_counter() - begin)
    return Row(
        name=f"{language.title}: {what}",
        ours=median(ours) * 1e3,
        baseline=median(bare) * 1e3,
        baseline_name="in this process",
        unit="ms",
    )


def _python(body: str) -> Callable[[], Any]:
    names: dict[str, Any] = {}
    exec(f"def work():\n{body}", names)
    return names["work"]


def _javascript(body: str) -> Callable[[], Any]:
    engine: Any = importlib.import_module("_quickjs")
    return engine.Context().eval(f"(() => {{\n{body}\n}})")


BARE: Final[dict[str, Callable[[str], Callable[[], Any]]]] = {"python": _python, "javascript": _javascript}
"""The body of a function to that function, outside of any jail."""
