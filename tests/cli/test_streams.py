"""Standard output carries results and nothing else (`cli.streams`)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PRINTS = """
import os, subprocess, sys
from ringfence.cli.streams import results_only
print("before")
kept = sys.stdout
with results_only() as results:
    print("from Python")
    kept.write("from a kept stream\\n")
    kept.flush()
    os.write(1, b"from a descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    results.write("result é\\n")
print("after")
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False, env=env, encoding="utf-8"
    )


@pytest.mark.slow
def test_whatever_else_is_printed_goes_to_standard_error() -> None:
    done = run(PRINTS)
    assert done.stdout == "before\nresult é\nafter\n"
    assert sorted(done.stderr.splitlines()) == [
        "from Python",
        "from a child",
        "from a descriptor",
        "from a kept stream",
    ]


@pytest.mark.slow
def test_a_reader_that_has_gone_is_no_error() -> None:
    code = (
        "import os\nfrom ringfence.cli.streams import MessageConsole, results_only\n"
        "read, write = os.pipe()\nos.close(read)\nos.dup2(write, 1)\nos.dup2(write, 2)\n"
        "with results_only() as results:\n    results.write('x' * 100000)\n"
        "console = MessageConsole()\nconsole.print('x')\nconsole.print('y')\n"
    )
    assert run(code).returncode == 0


@pytest.mark.slow
def test_streams_that_the_parent_closed_are_replaced() -> None:
    code = (
        "import os, sys\n"
        "from ringfence.cli.streams import open_missing_streams\n"
        "open_missing_streams()\n"
        "sys.stderr.write('x')\nprint('y')\nassert sys.stdin.read() == ''\n"
        "assert os.open(os.devnull, os.O_RDONLY) > 2\n"
    )
    script = 'exec "$0" -c "$1" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", script, sys.executable, code], timeout=30, check=False)
    assert done.returncode == 0
