"""Writes the parts of the documentation that are made from the source: errors, modules, limits, the gate's picture.

`make docs` runs it; tests/docs/test_generated.py fails when its result differs from what is in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import fill

from ringfence.enclave.engines.guest_world import MODULES
from ringfence.errors import CODES, Family
from ringfence.gate.machine import picture
from ringfence.limits import LEVELS

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
Three codes of a run rest on what the script's process says about itself: `MEMORY_LIMIT_EXCEEDED`, `VALIDATION_ERROR` (only
before any call was made) and `SERIALIZATION_LIMIT_EXCEEDED`. With a lie it makes its own run fail, and nothing else.

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


def with_block(page: Path, **blocks: str) -> str:
    """The page with each block between its two marks replaced."""
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        marked = re.compile(rf"(<!-- generated: {name} -->\n\n)```.*?```\n(\n<!-- /generated -->)", re.DOTALL)
        pieces = marked.split(text)
        if len(pieces) != 4:
            raise SystemExit(f"{page.name} needs exactly one block between `<!-- generated: {name} -->` and its end")
        text = f"{pieces[0]}{pieces[1]}{block}{pieces[2]}{pieces[3]}"
    return text


def module_names() -> str:
    return fenced("text", fill(" ".join(MODULES), width=100, break_long_words=False, break_on_hyphens=False))


def level_table() -> str:
    lines = [f"{'level':<12}{'timeout':>8}{'tool calls':>12}{'output':>10}"]
    lines += [
        f"{name:<12}{level.timeout:>6.0f} s{level.max_tool_calls:>12,}{level.output // 1024:>7,} KB"
        for name, level in LEVELS.items()
    ]
    return fenced("text", "\n".join(lines))


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def pages() -> dict[Path, str]:
    architecture, jail = ROOT / "ARCHITECTURE.md", ROOT / "docs" / "jail.md"
    return {
        ROOT / "docs" / "errors.md": errors_page(),
        architecture: with_block(architecture, gate=fenced("mermaid", picture())),
        jail: with_block(jail, modules=module_names(), levels=level_table()),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
