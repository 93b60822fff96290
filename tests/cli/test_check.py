"""`ringfence check` says what a script would meet and reach, and runs none of it (`cli.check`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import SHOP, Finished, command

pytestmark = pytest.mark.slow

HONEST = """\
for product in ("lamp", "chair"):
    if await tools.stock(product=product) < 2:
        await tools.order(product="chair", count=10)
"""
UNAWAITED = "stock = tools.stock(product='lamp') + 1\n"
DYNAMIC = "name = inputs['tool']\nawait call_tool(name, {'product': 'lamp'})\n"


def check(folder: Path, script: str, *options: str, stdin: str | None = None) -> Finished:
    (folder / "shop.py").write_text(SHOP)
    (folder / "script.py").write_text(script)
    name = "script.py" if stdin is None else "-"
    return command("check", name, *options, cwd=folder, stdin=stdin or "")


def test_an_honest_script_passes_and_its_calls_are_listed(tmp_path: Path) -> None:
    done = check(tmp_path, HONEST, "--tools", "shop.py")
    assert done.stdout == (
        "calls  stock  line 2  in 1 loop  product=…\n"
        "calls  order  line 3  in 1 loop  product='chair', count=10\n"
        "passes  script.py  0 errors · 0 warnings · STANDARD\n"
    )
    assert (done.code, done.stderr) == (0, "")  # `order` needs approval, and nobody will be asked


def test_an_error_is_shown_with_its_line_and_fix_and_nothing_ran(tmp_path: Path) -> None:
    done = check(tmp_path, UNAWAITED, "--tools", "shop.py")
    assert done.code == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("error UNAWAITED_CALL at line 1, column 9: ")
    assert lines[1] == "     1 │ stock = tools.stock(product='lamp') + 1"
    assert lines[2] == "  fix: write: (await tools.stock(product='lamp'))"
    assert lines[-1] == "refused  script.py  1 error · 0 warnings · STANDARD"


@pytest.mark.parametrize(("level", "severity", "code"), [("STANDARD", "warning", 0), ("SECURE", "error", 1)])
def test_the_level_decides_what_refuses(tmp_path: Path, level: str, severity: str, code: int) -> None:
    done = check(tmp_path, DYNAMIC, "--level", level, "--json")
    assert done.code == code
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["ok"] is (code == 0)
    assert [(one["code"], one["severity"], one["line"]) for one in document["findings"]] == [
        ("DYNAMIC_CALL_TARGET", severity, 2)
    ]
    assert document["reach"] == [
        {"tool": None, "line": 2, "column": 7, "loops": 0, "arguments": {"product": "lamp"}, "dynamic": []}
    ]


def test_the_script_may_come_from_standard_input(tmp_path: Path) -> None:
    done = check(tmp_path, "", stdin="print('never printed')\n")
    assert done.stdout == "passes  <standard input>  0 errors · 0 warnings · STANDARD\n"
    assert done.code == 0


def test_a_package_that_is_preloaded_may_be_imported(tmp_path: Path) -> None:
    script = "import sortedcontainers\nsortedcontainers.SortedList([3, 1])[0]\n"
    assert check(tmp_path, script, "--level", "SECURE").code == 1
    done = check(tmp_path, script, "--level", "SECURE", "--preload", "sortedcontainers")
    assert (done.code, done.stdout) == (0, "passes  script.py  0 errors · 0 warnings · SECURE\n")


def test_a_level_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    done = check(tmp_path, HONEST, "--level", "PARANOID")
    assert done.code == 2
    assert "security_level must be one of STRICT, SECURE, STANDARD, PERMISSIVE" in done.stderr
    assert done.stdout == ""
