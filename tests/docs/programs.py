"""What tests of a document's programs share: what one says that it prints, and strict types for all of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.docs.pages import ROOT

SETTINGS = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "enableTypeIgnoreComments": False,
    "extraPaths": [str(ROOT / "src")],
}


def expected(program: Path) -> str:
    """The comment at its end, without its signs."""
    _, _, shown = program.read_text(encoding="utf-8").partition("\n# prints:\n")
    assert shown, f"{program.name} does not say what it prints"
    return re.sub(r"^# ?", "", shown, flags=re.MULTILINE)


def check_strictly(programs: Sequence[Path], folder: Path) -> tuple[int, list[str]]:
    """How many of the programs were checked, without a way to silence the checker, and what it found."""
    for program in programs:
        (folder / program.name).write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    report = json.loads(subprocess.run(command, capture_output=True, timeout=120, check=False).stdout)
    problems = [
        f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}: {one['message']}"
        for one in report["generalDiagnostics"]
        if one["severity"] == "error"
    ]
    return report["summary"]["filesAnalyzed"], problems
