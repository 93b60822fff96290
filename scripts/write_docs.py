"""Writes the parts of the documentation that are made from the source: errors, modules, limits, rules, values, the
gate's picture.

`make docs` runs it; tests/docs/test_generated.py fails when its result differs from what is in the repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from ringfence.enclave.agentscript import rules as javascript_rules
from ringfence.enclave.agentscript import vocabulary as javascript_vocabulary
from ringfence.enclave.check import vocabulary
from ringfence.enclave.check.text_limits import TEXT
from ringfence.enclave.modules import MODULES
from ringfence.enclave.rules import GROUPS, RULED, Rule
from ringfence.enclave.table import REFUSED, ROWS
from ringfence.enclave.table_javascript import SENT, UNSENT
from ringfence.errors import CODES, Family
from ringfence.gate.machine import picture
from ringfence.limits import LEVELS
from ringfence.policy.sequences import PATTERNS

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


RULES_HEAD = """# Rules for Python scripts

What the static check says about a script at each security level. `error` refuses the script before anything runs
(`VALIDATION_ERROR`); `warning` refuses nothing and is shown by `enclave.check(source)` and `ringfence check`. With
`validate=False` nothing of this is looked for but Python's own syntax.

The check is advice for whoever writes scripts: early, with the line and the smallest fix. It is not the wall. The wall
is the kernel around the process, and the gate around every tool.

Nothing of a script is executed by the check: no default argument, no decorator, no annotation. It runs inside the jail.

This page is written by `make docs` from `ringfence.enclave.rules` and `ringfence.enclave.check.vocabulary`.
"""

RULES_COLUMNS = f"| code | what it is about | {' | '.join(RULED)} | fix | why |\n|{'---|' * (len(RULED) + 4)}\n"


def rules_page() -> str:
    """The whole page."""
    parts = [RULES_HEAD]
    for title, rules in GROUPS:
        parts += [f"\n## {title}\n\n", RULES_COLUMNS, *(row(rule) for rule in rules)]
    parts += [text_limits(), rule_names()]
    return "".join(parts)


JAVASCRIPT_RULES_HEAD = """# Rules for JavaScript scripts

What the static check says about a script at each security level. `error` refuses the script before anything runs
(`VALIDATION_ERROR`); `warning` refuses nothing and is shown by `enclave.check(source)` and `ringfence check`. With
`validate=False` nothing of this is looked for but JavaScript's own syntax. The rules for Python have
[a page of their own](rules.md).

STRICT is AgentScript: arrow functions, bounded loops and plain data. SECURE is the language without introspection and
without code made at run time; there, and at STRICT, computed keys (`object[key]`) are also looked at while the script
runs. STANDARD and PERMISSIVE refuse only what can never work.

The check is advice for whoever writes scripts: early, with the line and the smallest fix. It is not the wall. The wall
is the kernel around the process, and the gate around every tool. Nothing of a script is executed by the check, and it
runs inside the jail.

This page is written by `make docs` from `ringfence.enclave.agentscript.rules` and `ringfence.enclave.agentscript.vocabulary`.
"""


def javascript_rules_page() -> str:
    """The whole page."""
    parts = [JAVASCRIPT_RULES_HEAD]
    for title, rules in javascript_rules.GROUPS:
        parts += [f"\n## {title}\n\n", RULES_COLUMNS, *(row(rule) for rule in rules)]
    parts += [text_limits(), javascript_rule_names()]
    return "".join(parts)


def javascript_rule_names() -> str:
    names = javascript_vocabulary
    refused = names.DISALLOWED["SECURE"] | names.CODE | names.GLOBAL_OBJECT | {"Reflect"}
    return "".join(
        [
            "\n## Names\n",
            listed("Globals of STRICT", names.STRICT_NAMES),
            listed("Further globals of SECURE", names.ALL_NAMES - names.STRICT_NAMES - refused),
            listed("Names of `DISALLOWED_IDENTIFIER` at STRICT", names.DISALLOWED["STRICT"]),
            listed("At SECURE", names.DISALLOWED["SECURE"]),
            listed("At STANDARD and PERMISSIVE", names.DISALLOWED["STANDARD"]),
            listed("Names of `NO_EVAL`", names.CODE),
            listed("Members of `NO_DANGEROUS_DESTRUCTURING`", names.BEHIND),
        ]
    )


def row(rule: Rule) -> str:
    verdicts = " | ".join(rule.verdict(level) for level in RULED)
    return f"| `{rule.code}` | {cell(rule.matches)} | {verdicts} | {cell(rule.fix)} | {cell(rule.reason)} |\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def text_limits() -> str:
    lines = ["\n## Limits of the text\n\n", f"| | {' | '.join(RULED)} |\n|---|{'---|' * len(RULED)}\n"]
    for field, label in (
        ("size", "bytes"),
        ("lines", "lines"),
        ("line", "characters of one line"),
        ("nesting", "brackets inside brackets"),
        ("operators", "signs in a row"),
    ):
        lines.append(f"| {label} | {' | '.join(f'{getattr(TEXT[level], field):,}' for level in RULED)} |\n")
    return "".join(lines)


def rule_names() -> str:
    return "".join(
        [
            "\n## Names\n",
            listed("Double-underscore names that may be read", vocabulary.READABLE),
            listed(
                "Double-underscore names that may be assigned at the top level and in classes", vocabulary.CLASS_DATA
            ),
            listed("Methods that a class may define", vocabulary.PROTOCOL),
            listed("Of these, at STRICT", vocabulary.STRICT_METHODS),
            listed("Methods of `HOOK_METHOD`", vocabulary.HOOKS),
            listed("Attributes of `FRAME_ATTRIBUTE`", vocabulary.FRAMES),
            listed("Modules of STRICT", vocabulary.STRICT_MODULES),
            listed("Further modules of SECURE", vocabulary.SECURE_MODULES - vocabulary.STRICT_MODULES),
            "\nSTANDARD and PERMISSIVE have [every module there is](jail.md), and all levels those of `preload`.\n",
            listed("Decorators of STRICT", vocabulary.DECORATORS),
        ]
    )


def listed(title: str, values: Iterable[str]) -> str:
    return f"\n{title}: {', '.join(f'`{value}`' for value in sorted(values))}.\n"


VALUES_HEAD = """# Values

What crosses between a script and the host, both ways: arguments and results of tools, of functions in `globals`, `inputs`,
the data in `globals`, session variables and `result.value`. Everything is a copy; no object is shared.

A value is JSON text on its way. Six kinds that JSON lacks cross as texts, with tags beside the value that say which
texts stand for which kind; the other side turns these back. Governed tools (`tools=`) get the JSON form, because their
own schema says what each argument is. What a tool's result contract publishes is that form as well.

The text of a tagged value has to be one of its kind, and its path has to exist: a script's process that says otherwise
has broken the protocol (`SANDBOX_CRASHED`). Dates keep their offset and lose the name of their zone.

One value has at most 5 MiB of JSON, 1,000,000 values inside it, and the depth and members per object of the security level
(`max_value_depth`, `max_value_members`). Of it at most 100,000 values are restored, and whole numbers of more than a few
digits have at most 100,000 digits together. A value that appears twice is copied twice.

The first table is about values of Python, which scripts in that language and the host have. What a JavaScript script sends
has a table of its own.
"""

VALUES_TAIL = """
Each member and item is looked at once, so that a getter or a `toJSON` runs once, and built-ins that a script has replaced
change nothing. A number beyond 2^53 that is no `BigInt` crosses in the digits that `String` writes, which are not all its
own: large ids belong into a `BigInt` or a text. A `Date` has milliseconds, so the microseconds of a `datetime` do not come
back.

## In arguments, results and variables

* Arguments of a tool are an object whose keys are text. Arguments of a function in `globals` are positional and named.
* The keys of a script's result may be numbers, booleans, `None`, dates, ids or members of an `Enum`: they become text
  (`{1: "a"}` arrives as `{"1": "a"}`), and two that become the same text are refused.
* Variables (`run(..., variables=...)`) are the script's own top-level names that hold data. Functions, classes, modules,
  instances of other classes, names that begin with `_`, names of the host's, and objects whose keys are not text are left
  out; so is what no longer fits into 5 MiB together with the result. Tuples and sets come back as lists, dataclass
  instances as dictionaries.
* Variables of a JavaScript script are kept by the same rule; a `Map` comes back as an object, a `Set` as an array. Data in
  `globals` is frozen at any depth there, but for a `Date` and a `Uint8Array`, which the language does not freeze.
* Data in `globals` can be read by key and by attribute (`context["user"]`, `context.user`), and changed by nobody, at any
  depth: `copy.deepcopy(context)` is an ordinary value. Where a key has the name of a method of `dict` (`items`, `keys`,
  `get`), the attribute is the method, and the key is read as `context["items"]`.
* Arrays and numbers of numpy leave a script as lists and numbers. Frames and series of pandas have to be converted first
  (`.to_dict()`, `.tolist()`).

This page is written by `make docs` from `ringfence.enclave.table`.
"""


def values_page() -> str:
    """The whole page."""
    parts = [
        VALUES_HEAD,
        "\n## What crosses\n\n",
        "| value | crosses as | a Python script gets | a JavaScript script gets | a handler, a function, `result` get |\n",
        f"|{'---|' * 5}\n",
    ]
    for one in ROWS:
        cells = (one.value, one.wire, one.script or "–", one.javascript or "–", one.host or "–")
        parts.append(f"| {' | '.join(cell(text) for text in cells)} |\n")
    parts.append("\n## What does not\n\nThe error names the place (`items[3].price`).\n\n| value | why |\n|---|---|\n")
    parts += [f"| {cell(one.value)} | {cell(one.wire)} |\n" for one in REFUSED]
    parts.append("\n## What a JavaScript script sends\n\n")
    parts.append("| value | crosses as | a handler, a function, `result` get |\n|---|---|---|\n")
    parts += [f"| {cell(one.value)} | {cell(one.wire)} | {cell(one.host)} |\n" for one in SENT]
    parts.append("\nRefused, with the place and what to do instead:\n\n| value | why |\n|---|---|\n")
    parts += [f"| {cell(one.value)} | {cell(one.wire)} |\n" for one in UNSENT]
    parts.append(VALUES_TAIL)
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
    lines = [
        f"{'level':<12}{'timeout':>8}{'tool calls':>12}{'loop turns':>12}{'depth':>7}{'members':>9}{'output':>11}  functions"
    ]
    lines += [
        f"{name:<12}{level.timeout:>6.0f} s{level.max_tool_calls:>12,}{level.max_iterations:>12,}{level.depth:>7}"
        f"{level.members:>9,}{level.output // 1024:>8,} KB  {'allowed' if level.allow_functions_in_globals else 'no'}"
        for name, level in LEVELS.items()
    ]
    return fenced("text", "\n".join(lines))


def detector_table() -> str:
    """Each detector: what it looks for, how far back, and what is done where nobody says otherwise."""
    parts: list[str] = []
    for pattern in PATTERNS:
        window = f"within {pattern.window:g} s" if pattern.window else "each call alone"
        parts.append(f"{pattern.id} ({window})\n")
        for judge, rule, action in (
            ("names", pattern.by_names, "refuse"),
            ("declared", pattern.by_declarations, pattern.declared),
        ):
            text = fill(
                spaced(rule),
                width=92,
                initial_indent=f"  {judge:<9} ",
                subsequent_indent=" " * 12,
                break_on_hyphens=False,
            )
            parts.append(f"{text}: {action}\n")
    return fenced("text", "".join(parts))


def spaced(rule: str) -> str:
    """Alternatives with room to break a line."""
    return re.sub(r"(?<=\w)/(?=\w)", ", ", rule)


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def pages() -> dict[Path, str]:
    architecture, jail = ROOT / "ARCHITECTURE.md", ROOT / "docs" / "jail.md"
    enclave = ROOT / "docs" / "enclave.md"
    return {
        ROOT / "docs" / "errors.md": errors_page(),
        ROOT / "docs" / "rules.md": rules_page(),
        ROOT / "docs" / "rules-javascript.md": javascript_rules_page(),
        ROOT / "docs" / "values.md": values_page(),
        architecture: with_block(architecture, gate=fenced("mermaid", picture())),
        enclave: with_block(enclave, detectors=detector_table()),
        jail: with_block(jail, modules=module_names(), levels=level_table()),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
