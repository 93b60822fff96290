"""Every example of the first seed document, in Python: it runs, prints what it says, and passes strict typing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.programs import check_strictly, expected
from tests.requirements import requirement

HERE = Path(__file__).parent / "first_seed"
PROGRAMS = sorted(HERE.glob("*.py"))


@requirement(
    "seed.tool", "seed.signal", "seed.neutral", "seed.draft07", "seed.published", "seed.callback", "seed.human"
)
@requirement(
    "seed.order", "seed.context", "seed.fallback", "seed.errors", "seed.driver", "seed.precedence", "seed.local"
)
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_an_example_of_the_first_seed_prints_what_it_says(program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, expected(program), "")


@requirement("seed.typed")
@pytest.mark.slow
def test_the_examples_pass_strict_typing_without_a_way_to_silence_it(tmp_path: Path) -> None:
    analyzed, problems = check_strictly(PROGRAMS, tmp_path)
    assert analyzed == len(PROGRAMS)
    assert problems == []


SECTIONS = {
    "Tools & Security": "define_a_tool",
    "Tool schemas": "schema_pair",
    "Required capabilities": "schema_pair",
    "Execution order": "execution_order",
    "Policy callback": "policy_callback",
    "Human approval": "human_approval",
    "Execution context": "execution_context",
    "Handle terminal errors": "terminal_errors",
    "Register a sandbox": "driver_contract",
    "Driver contract": "driver_contract",
    "Explicit local execution": "explicit_local_execution",
}
"""Sections of the document that have an example, and the program that shows it."""


def test_every_section_with_an_example_has_a_program_that_names_it() -> None:
    assert {program.stem for program in PROGRAMS} == set(SECTIONS.values())
    for section, stem in SECTIONS.items():
        heading = (HERE / f"{stem}.py").read_text(encoding="utf-8").partition("\n")[0]
        assert heading.startswith("# First seed, ")
        assert f'"{section}"' in heading
