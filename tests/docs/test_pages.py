"""Every program and every console session in the documentation runs, and prints what the page says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, commands, matches

BLOCKS = [block for page in PAGES for block in blocks(page)]
FILES = [block for block in BLOCKS if "file" in block.options]
PROGRAMS = [block for block in BLOCKS if block.language == "python" and "only" not in block.options]
SESSIONS = [block for block in BLOCKS if block.language == "console"]
LANGUAGES = frozenset({"python", "console", "text", "toml", "sh", "mermaid"})
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "HOME": os.environ.get("HOME", "/"),
    "LANG": "C.UTF-8",
    "COLUMNS": "120",
    "NO_COLOR": "1",
}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that holds the files of the block's page, and the examples of the repository."""
    block: Block = request.getfixturevalue("block")
    for item in FILES:
        if item.page == block.page:
            target = tmp_path / item.options["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(item.body, encoding="utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", "*.db*"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_a_program_runs_and_prints_what_the_page_shows(block: Block, folder: Path) -> None:
    program = folder / block.options.get("file", "program.py")
    program.write_text(block.body, encoding="utf-8")
    done = run([sys.executable, "-W", "error", str(program)], folder)
    assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
    assert matches(block.shown or "", done.stdout), f"{block} printed:\n{done.stdout}"


@pytest.mark.slow
@pytest.mark.parametrize("block", SESSIONS, ids=str)
def test_a_console_session_prints_what_the_page_shows(block: Block, folder: Path) -> None:
    for command, shown in commands(block.body):
        if "only" in block.options:
            continue
        done = run(["sh", "-c", f"exec 2>&1; {command}"], folder, block.options.get("stdin", ""))
        assert done.returncode == int(block.options.get("exit", "0")), f"{block}: {command}\n{done.stdout}"
        assert matches(shown, done.stdout), f"{block}: {command}\n{done.stdout}"


@pytest.mark.slow
def test_every_program_and_every_file_of_tools_passes_strict_typing(tmp_path: Path) -> None:
    names: dict[str, Block] = {}
    for number, block in enumerate(block for block in BLOCKS if block.language == "python" and is_host_code(block)):
        names[f"program_{number}.py"] = block
        (tmp_path / f"program_{number}.py").write_text(block.body, encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT / "src")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = run([*command, "--outputjson"], tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    problems = [
        f"{names[Path(one['file']).name]}+{one['range']['start']['line']}: {one['message']}"
        for one in found
        if one["severity"] == "error"
    ]
    assert names
    assert not problems, "\n".join(problems)


def is_host_code(block: Block) -> bool:
    """Scripts of guests await at the top level, which no checker of whole programs accepts."""
    return block.body.startswith(("import ", "from "))


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_has_a_language_and_options_that_are_understood(block: Block) -> None:
    assert block.language in LANGUAGES
    assert set(block.options) <= {"file", "only", "stdin", "exit"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_of_the_repository_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


def run(command: list[str], folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )
