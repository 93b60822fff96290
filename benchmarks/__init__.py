"""Measurements as ratios: ours against a bare baseline, taken alternately in one run, because machines are noisy.

Each `bench_*.py` beside this file has `measure() -> Iterable[Row]`; `bench.py` runs them and prints one table.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final, Literal

QUICK: Final = os.environ.get("BENCH_QUICK") == "1"
"""A smoke run: few repetitions, and bars are not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    name: str
    ours: float
    """In `unit`."""
    unit: Literal["us", "ms", "s", "MiB"] = "us"
    baseline: float | None = None
    """The same work without ringfence, in `unit`; None where only the absolute figure means something."""
    baseline_name: str = ""
    bar: float | None = None
    """Largest value that is still good; None for a figure that is only reported."""
    bar_on: Literal["ratio", "ours"] = "ratio"

    @property
    def ratio(self) -> float | None:
        return None if self.baseline is None else self.ours / self.baseline

    @property
    def judged(self) -> float | None:
        return self.ratio if self.bar_on == "ratio" else self.ours

    @property
    def ok(self) -> bool | None:
        if self.bar is None or self.judged is None:
            return None
        return self.judged <= self.bar


def repetitions(full: int, quick: int) -> int:
    return quick if QUICK else full


def alternated(ours: Callable[[], object], baseline: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median seconds of each, measured in turn so that a noisy moment hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for function, taken in zip((ours, baseline), times, strict=True):
            begin = perf_counter()
            function()
            taken.append(perf_counter() - begin)
    return median(times[0]), median(times[1])
