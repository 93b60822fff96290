"""The type checker accepts what users write, and marks exactly what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "src"


def complaints(file: str, workplace: Path) -> dict[int, list[str]]:
    """Line to messages of basedpyright's errors, under strict rules and without a way to silence them."""
    rules = {"typeCheckingMode": "strict", "enableTypeIgnoreComments": False, "extraPaths": [str(SOURCE)]}
    (workplace / "pyrightconfig.json").write_text(json.dumps({**rules, "include": [file]}))
    (workplace / file).write_text((HERE / file).read_text())
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "-p",
        str(workplace),
    ]
    report = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    found: dict[int, list[str]] = {}
    for item in report["generalDiagnostics"]:
        if item["severity"] == "error":
            found.setdefault(item["range"]["start"]["line"] + 1, []).append(item["message"])
    assert report["summary"]["filesAnalyzed"] == 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(path.name for path in HERE.glob("*_ok.py")))
def test_what_users_write_is_accepted(file: str, tmp_path: Path) -> None:
    assert complaints(file, tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(path.name for path in HERE.glob("*_bad.py")))
def test_every_mistake_is_found_and_nothing_else(file: str, tmp_path: Path) -> None:
    lines = (HERE / file).read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# error")}
    assert marked
    assert set(complaints(file, tmp_path)) == marked
