"""Every example of the second seed's document, in Python: it runs, prints what it says, and passes strict typing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import matches
from tests.docs.programs import check_strictly, expected
from tests.requirements import requirement

HERE = Path(__file__).parent / "second_seed"
PROGRAMS = sorted(HERE.glob("*.py"))

SECTIONS = {
    "Basic Tool Handler": "basic_tool_handler",
    "Tool Handler Signature": "tool_handler_signature",
    "Tool Namespaces": "tool_namespaces",
    "callTool Options": "call_tool_options",
    "Integrating with a Tool Registry": "tool_registry",
    "Tool Call Limits": "tool_call_limits",
    "Custom Globals": "custom_globals",
    "One-Shot Execution": "one_shot_execution",
    "Tool Error Handling": "tool_error_handling",
    "Securing Tool Access": "securing_tool_access",
    "Async Tool Calls": "async_tool_calls",
    "Tool Call Statistics": "tool_call_statistics",
}
"""Sections of the document that have an example, in its order, and the program that shows it."""


class Echo(BaseHTTPRequestHandler):
    """A server that answers with the path that was asked for."""

    def do_GET(self) -> None:
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Says nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


@requirement("T115", "seed2.handler", "seed2.signature", "seed2.methods", "seed2.data", "seed2.registry", "seed2.limit")
@requirement("seed2.context", "seed2.once", "seed2.structured", "seed2.list", "seed2.async", "seed2.stats")
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_an_example_of_the_second_seed_prints_what_it_says(program: Path, tmp_path: Path, server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program), server],
        cwd=tmp_path,
        env={"NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert matches(expected(program), done.stdout), done.stdout


@requirement("T115")
@pytest.mark.slow
def test_the_examples_pass_strict_typing_without_a_way_to_silence_it(tmp_path: Path) -> None:
    analyzed, problems = check_strictly(PROGRAMS, tmp_path)
    assert analyzed == len(PROGRAMS)
    assert problems == []


@requirement("T115")
def test_every_section_with_an_example_has_a_program_that_names_it() -> None:
    assert {program.stem for program in PROGRAMS} == set(SECTIONS.values())
    for section, stem in SECTIONS.items():
        heading = (HERE / f"{stem}.py").read_text(encoding="utf-8").partition("\n")[0]
        assert heading.startswith(f'# Second seed, "{section}": ')
