"""The type checker accepts what users write, and marks exactly what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def complaints(file: str) -> dict[int, list[str]]:
    """Line to messages of basedpyright's errors."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", str(HERE / file)]
    report = json.loads(subprocess.run(command, cwd=HERE.parent.parent, capture_output=True, check=False).stdout)
    found: dict[int, list[str]] = {}
    for item in report["generalDiagnostics"]:
        if item["severity"] == "error":
            found.setdefault(item["range"]["start"]["line"] + 1, []).append(item["message"])
    assert report["summary"]["filesAnalyzed"] == 1
    return found


@pytest.mark.slow
def test_what_users_write_is_accepted() -> None:
    assert complaints("contract_ok.py") == {}


@pytest.mark.slow
def test_every_mistake_is_found_and_nothing_else() -> None:
    lines = (HERE / "contract_bad.py").read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# error")}
    assert marked
    assert set(complaints("contract_bad.py")) == marked
