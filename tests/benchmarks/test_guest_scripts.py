"""The measurements of both languages measure the same, and run (`bench_guest`, `bench_compute`, `guest_scripts`)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from benchmarks.bench_compute import BARE
from benchmarks.compare import ROOT
from benchmarks.guest_scripts import LANGUAGES


@pytest.mark.parametrize(
    ("what", "value"), [("10,000 rows grouped, sorted, as JSON", 97), ("a million turns of a loop", 511_213_536)]
)
def test_work_gives_the_same_in_both_languages(what: str, value: int) -> None:
    assert [BARE[language.name](language.work[what])() for language in LANGUAGES] == [value, value]


@pytest.mark.slow
def test_a_quick_run_has_each_row_for_each_language() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench", "guest", "compute"],
        cwd=ROOT,
        env={**os.environ, "BENCH_QUICK": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = [line.split("  ")[0] for line in done.stdout.splitlines()[2:]]
    assert len(names) >= 2 * 9
    python, javascript = names[::2], names[1::2]
    assert [name.removeprefix("Python: ") for name in python] == [
        name.removeprefix("JavaScript: ") for name in javascript
    ]
