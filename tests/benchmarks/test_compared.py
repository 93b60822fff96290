"""What `make compare` measures runs on this version (`benchmarks.compared`); the figures are nobody's concern here."""

from __future__ import annotations

import subprocess
import sys

import pytest
from benchmarks.compare import ROOT, WORKER
from benchmarks.compared import MEASUREMENTS


def worker(*words: str) -> str:
    environment = {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, str(WORKER), *words], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_the_worker_lists_what_it_can_measure() -> None:
    assert worker("--list").split() == list(MEASUREMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["governed-call", "million-turns"])
def test_a_measurement_is_one_positive_number(name: str) -> None:
    assert float(worker(name)) > 0
