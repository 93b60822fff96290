"""Runs the command as a program or a person would: with pipes, or at a terminal. Every wait is bounded."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

PATIENCE = 30.0
"""Seconds for anything: a machine with two busy cores is slow, not broken."""

COMMAND = [sys.executable, "-c", "import sys\nfrom ringfence.cli import main\nsys.exit(main())"]
AT_TERMINAL = [sys.executable, "-c", "import os, sys\nos.login_tty(0)\nos.execv(sys.argv[1], sys.argv[1:])"]

SHOP = '''
"""Tools for the tests of the command line."""
from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import ringfence as rf


@rf.tool(effect="read")
def stock(product: str) -> int:
    """How many are in store."""
    return {"lamp": 3, "chair": 0}.get(product, 0)


@rf.tool(effect="write", approval="human")
def order(product: str, count: int = 1) -> str:
    """Order more from the supplier."""
    with Path("ordered.txt").open("a") as file:
        file.write(f"{count} x {product}\\n")
    return f"{count} x {product}"


@rf.tool(effect="write")
def mail(to: str) -> str:
    """Write a mail."""
    return f"mail to {to}"


@rf.tool(effect="read")
async def nap(seconds: float) -> float:
    """Wait without blocking anybody."""
    await asyncio.sleep(seconds)
    return seconds


@rf.tool(effect="read")
async def hang_reading() -> None:
    """Never answer."""
    await asyncio.Event().wait()


@rf.tool
async def hang() -> None:
    """Never answer; what it has done by then, nobody knows."""
    await asyncio.Event().wait()


@rf.tool(effect="read")
async def block() -> None:
    """Hold the whole event loop, as no tool should."""
    time.sleep(60)


@rf.tool(effect="read")
def stuck() -> None:
    """Hold a thread that nobody can stop."""
    time.sleep(60)


@rf.tool(effect="read")
def noisy() -> str:
    """Print where it should not."""
    print("noise from Python")
    os.write(1, b"noise from a descriptor\\n")
    return "quiet"


@rf.tool(effect="read")
def broken(text: str) -> None:
    """Fail with a text of the caller's choice."""
    raise rf.ToolError(text)


@rf.tool(effect="read")
def lost(key: str) -> None:
    """Fail in a way that only its author shall read."""
    raise KeyError(f"no {key}")
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A command that has ended."""

    code: int
    """Exit code; minus the signal's number when a signal ended it."""
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.stdout)


def environment(**more: str) -> dict[str, str]:
    """Of this process, without what changes how rich draws."""
    drop = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    return {**kept, "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1", **more}


def command(*arguments: str, cwd: Path, stdin: str = "") -> Finished:
    """Run to the end, with pipes and no terminal."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=2 * PATIENCE,
        check=False,
        env=environment(),
    )
    return Finished(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def run(folder: Path, script: str, *options: str) -> Finished:
    """`ringfence run` of a script's text with the shop's tools."""
    (folder / "shop.py").write_text(SHOP)
    (folder / "script.py").write_text(script)
    return command("run", "script.py", "--tools", "shop.py", "--unsafe-local", *options, cwd=folder)


class Person:
    """Somebody at a terminal of 80 columns: reads what appears, types, presses keys."""

    def __init__(self, *arguments: str, cwd: Path, command: Sequence[str] = COMMAND) -> None:
        self._master, program = pty.openpty()
        self._seen = ""
        self._from = 0
        self.process = subprocess.Popen(
            [*AT_TERMINAL, *command, *arguments],
            cwd=cwd,
            stdin=program,
            stdout=program,
            stderr=program,
            env=environment(TERM="xterm", COLUMNS="80", LINES="24"),
        )
        os.close(program)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        os.close(self._master)

    @property
    def screen(self) -> str:
        """All text so far, without control sequences."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._seen).replace("\r\n", "\n").replace("\r", "\n")

    def expect(self, text: str, *, seconds: float = PATIENCE) -> None:
        """Wait until `text` appears after what was expected last."""
        deadline = time.monotonic() + seconds
        while (at := self.screen.find(text, self._from)) < 0:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} did not appear; the screen:\n{self.screen}")
        self._from = at + len(text)

    def type(self, text: str) -> None:
        """Press keys: `\\n` is Enter, `\\x03` Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self._master, text.encode())

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> int:
        """Read on to the end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(PATIENCE)

    def _read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self._seen += data.decode("utf-8", "replace")
        return bool(data)


def person(folder: Path, script: str, *options: str) -> Person:
    """Somebody who starts `ringfence run` with the shop's tools at a terminal."""
    (folder / "shop.py").write_text(SHOP)
    (folder / "script.py").write_text(script)
    return Person("run", "script.py", "--tools", "shop.py", "--unsafe-local", *options, cwd=folder)
