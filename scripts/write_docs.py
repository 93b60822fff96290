"""Writes the parts of the documentation that are made from the source: docs/errors.md and the gate's picture.

`make docs` runs it; tests/docs/test_generated.py fails when its result differs from what is in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path

from ringfence.errors import CODES, Family
from ringfence.gate.machine import picture

ROOT = Path(__file__).resolve().parents[1]

FAMILIES = {
    Family.CONFIG: (
        "The host's author",
        "Raised as `ConfigError` (a `TypeError` and a `ValueError`) while tools, boundaries and enclaves are built or "
        "started. Fix the program.",
    ),
    Family.CORRECTABLE: (
        "The caller, who may try again",
        "Nothing ran. A script sees an exception and may catch it, repair the call and go on.",
    ),
    Family.TERMINAL: (
        "The caller, and that is final",
        "Nothing ran. A script may see the exception, but its run has failed with this code whatever it does next.",
    ),
    Family.FAILURE: (
        "The tool, or the script",
        "Something ran and broke, or said no. A script may catch it, or ask for it as data with "
        "`throw_on_error=False`.",
    ),
    Family.FAULT: ("The place where code ran", "The jailed process, or the machine's ability to make one."),
}

HEAD = """# Errors

Every way in which ringfence says no. Codes are set by the host: nothing that a script or a tool raises can produce one.

`outcome.error.code` of a governed call is a code of the first column. `result.error.code` of a script's run is the
code of the second column. Both errors carry `message` and, where a small change helps, `hint`.

This page is written by `make docs` from `ringfence.errors.CODES`.
"""


def errors_page() -> str:
    parts = [HEAD]
    for family, (title, text) in FAMILIES.items():
        parts.append(f"\n## {title}\n\n{text}\n\n| code | code of the run | meaning |\n|---|---|---|\n")
        parts += [
            f"| `{code}` | `{spec.run_code}` | {spec.meaning} |\n"
            for code, spec in CODES.items()
            if spec.family is family
        ]
    return "".join(parts)


def with_picture(page: str) -> str:
    """The page with the block between the two marks replaced by the gate's own table."""
    marked = re.compile(r"(<!-- generated: gate -->\n\n)```mermaid\n.*?```\n(\n<!-- /generated -->)", re.DOTALL)
    replaced, count = marked.subn(lambda match: f"{match[1]}```mermaid\n{picture().rstrip()}\n```\n{match[2]}", page)
    if count != 1:
        raise SystemExit("ARCHITECTURE.md needs exactly one block between `<!-- generated: gate -->` and its end")
    return replaced


def pages() -> dict[Path, str]:
    architecture = ROOT / "ARCHITECTURE.md"
    return {
        ROOT / "docs" / "errors.md": errors_page(),
        architecture: with_picture(architecture.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
