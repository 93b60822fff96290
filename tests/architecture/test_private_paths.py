"""Nothing in the repository belongs to one machine, and nothing is left half done."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.architecture.source import ROOT, report

HERE = "tests/architecture/test_private_paths.py"

FORBIDDEN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![\w.])/(work|root|Users)/\w"), "a path of one machine; fix: make it relative or use tmp_path"),
    (re.compile(r"(?<![\w.])/home/\w"), "a path of one machine; fix: make it relative or use tmp_path"),
    (
        re.compile(r"(pypi|pythonhosted|npmjs|crates|debian|ubuntu)\.(org|io|com)\b"),
        "a package registry's host; fix: name the package only",
    ),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished work; fix: do it, or file it in the tracker"),
)

ALLOWED: dict[tuple[str, str], str] = {}
"""(file, matched text) to the reason, where the text is data of a test."""


def tracked() -> list[str]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=30)
    return [name for name in listed.stdout.decode().split("\0") if name and name != HERE and (ROOT / name).is_file()]


def test_no_file_names_a_machine_a_registry_or_unfinished_work() -> None:
    problems: list[str] = []
    for name in tracked():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # binary data
        for number, line in enumerate(text.splitlines(), 1):
            problems += [
                f"{name}:{number}: {found[0]!r} is {why}"
                for pattern, why in FORBIDDEN
                if (found := pattern.search(line)) and (name, found[0]) not in ALLOWED
            ]
    assert not problems, report(problems)


def test_the_patterns_find_what_they_are_for() -> None:
    for text in ("see /ro" + "ot/x", "from /ho" + "me/me", "py" + "pi.org", "# TO" + "DO: later"):
        assert any(pattern.search(text) for pattern, _ in FORBIDDEN), text
    for text in ("https://example.org/home/page", "~/.cache", "/proc/self/status"):
        assert not any(pattern.search(text) for pattern, _ in FORBIDDEN), text
