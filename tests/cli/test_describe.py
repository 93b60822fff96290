"""`ringfence describe` prints what a model needs (`cli.describe`)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.cli.commands import SHOP, command

pytestmark = pytest.mark.slow


def test_the_stubs_of_every_tool_are_printed_and_are_python(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP + "\nprint('noise')\n")
    done = command("describe", "--tools", "shop.py", cwd=tmp_path)
    assert done.code == 0
    names = {node.name for node in ast.walk(ast.parse(done.stdout)) if isinstance(node, ast.AsyncFunctionDef)}
    assert names == {
        "stock",
        "order",
        "mail",
        "nap",
        "hang_reading",
        "hang",
        "block",
        "stuck",
        "noisy",
        "broken",
        "lost",
    }
    assert "noise" not in done.stdout


def test_tools_that_are_not_there_are_exit_code_2(tmp_path: Path) -> None:
    done = command("describe", "--tools", "shop.py", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("error bad_config: there is no file 'shop.py'")
