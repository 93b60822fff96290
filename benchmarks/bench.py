"""`make bench`: run every measurement, print one table. `--strict` exits 1 when a bar is missed; NAMES choose modules."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from benchmarks import QUICK, Row

HEADINGS = ("name", "ours", "baseline", "ratio", "bar", "ok")


def main() -> int:
    names = available()
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(names)}")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar is missed")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(names)):
        parser.error(f"no measurement {', '.join(unknown)}; there are {', '.join(names)}")
    rows: list[Row] = []
    for name in options.names or names:
        rows += measurements(name)
    print(f"Python {platform.python_version()}, {platform.machine()}{', quick: bars not judged' if QUICK else ''}")
    print_table(rows)
    missed = [row.name for row in rows if row.ok is False]
    return 1 if options.strict and missed and not QUICK else 0


def available() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def measurements(name: str) -> Iterable[Row]:
    return import_module(f"benchmarks.bench_{name}").measure()


def print_table(rows: Iterable[Row]) -> None:
    lines = [HEADINGS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    for line in lines:
        first, *others = line
        padded = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *padded]).rstrip())


def cells(row: Row) -> tuple[str, ...]:
    baseline = "" if row.baseline is None else f"{row.baseline:,.1f} {row.unit}"
    if row.baseline_name:
        baseline += f" ({row.baseline_name})"
    unit = "x" if row.bar_on == "ratio" else f" {row.unit}"
    verdict = {True: "yes", False: "NO", None: ""}[None if QUICK else row.ok]
    return (
        row.name,
        f"{row.ours:,.1f} {row.unit}",
        baseline,
        "" if row.ratio is None else f"{row.ratio:.2f}x",
        "" if row.bar is None else f"<= {row.bar:g}{unit}",
        verdict,
    )


if __name__ == "__main__":
    sys.exit(main())
