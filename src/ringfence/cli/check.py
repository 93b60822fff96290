"""`ringfence check`: what there is to say about a script without running it, and which tools it may reach.

The check itself runs in the jail, as before a run (`enclave.check`); this file shows what it found. Called by `cli.app`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from rich.console import Console
from rich.text import Text

from ringfence.cli import exits
from ringfence.cli.load import load_tools
from ringfence.cli.report import print_whole
from ringfence.cli.script import language_of, read_script
from ringfence.cli.streams import Results, results_only
from ringfence.cli.text import brief, counted, json_line, plain, safe
from ringfence.enclave.facade import Enclave
from ringfence.enclave.reports import CheckReport, Finding, ToolSite
from ringfence.limits import SecurityLevel
from ringfence.sandbox.local_unsafe import local

_LONGEST: Final = 60
"""Characters of one argument that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line of `ringfence check`."""

    script: str
    """Path, or `-` for standard input."""
    tools: str | None
    """MODULE[:NAME]: tools that the script may name; None when that is not to be judged."""
    level: str
    """Security level whose rules are applied."""
    preload: Sequence[str]
    """Packages that the script may import besides."""
    json: bool
    language: str | None = None
    """None: what the script's name ends in says it."""


def check(options: Options) -> int:
    """Check the script and report: 0 when nothing refuses it, else 1.

    Raises:
        RingfenceError: nothing was checked, because the command line or the configuration is wrong.
    """
    source = read_script(options.script)
    with results_only() as results:
        report = asyncio.run(_checked(options, source))
        if options.json:
            results.write(json_line(document(report)) + "\n")
        else:
            _print(results, report, source.splitlines(), options)
    return exits.SUCCESS if report.ok else exits.FAILED


async def _checked(options: Options, source: str) -> CheckReport:
    level = cast("SecurityLevel", options.level)  # the enclave refuses what is none
    language = language_of(options.script, options.language)
    if options.tools is None:
        enclave = Enclave(language=language, security_level=level, preload=options.preload, waiting=0)
    else:
        tools = load_tools(options.tools)
        enclave = Enclave(
            tools=tools,
            sandbox=local(unsafe=True),
            approve=_nobody,
            language=language,
            security_level=level,
            preload=options.preload,
            waiting=0,
        )
    async with enclave:
        return await enclave.check(source)


def _nobody(_: object) -> bool:
    """Nothing runs, so nobody is asked; the enclave need not warn of that."""
    return False


def document(report: CheckReport) -> dict[str, Any]:
    """The report for programs: `ok`, `findings`, `reach`, each entry with the fields of its class."""
    return {
        "ok": report.ok,
        "findings": [
            {
                "severity": one.severity,
                "code": one.code,
                "line": one.line,
                "column": one.column,
                "message": one.message,
                "fix": one.fix,
            }
            for one in report.findings
        ],
        "reach": [
            {
                "tool": site.tool,
                "line": site.line,
                "column": site.column,
                "loops": site.loops,
                "arguments": plain(dict(site.arguments)),
                "dynamic": list(site.dynamic),
            }
            for site in report.reach
        ],
    }


def _print(results: Results, report: CheckReport, source: Sequence[str], options: Options) -> None:
    with results.page() as console:
        for finding in report.findings:
            _print_finding(console, finding, source)
        for site in report.reach:
            print_whole(console, _site(site))
        print_whole(console, _verdict(report, options))


def _print_finding(console: Console, finding: Finding, source: Sequence[str]) -> None:
    style = "bold red" if finding.severity == "error" else "bold yellow"
    head = (f"{finding.severity} {safe(finding.code)}", style)
    place = f" at line {finding.line}, column {finding.column}"
    print_whole(console, Text.assemble(head, (place, "bold"), f": {safe(finding.message)}"))
    if 0 < finding.line <= len(source):
        excerpt = brief(source[finding.line - 1].strip(), 400)
        print_whole(console, Text.assemble((f"  {finding.line:>4} │ ", "dim"), (excerpt, "cyan")))
    print_whole(console, Text.assemble(("  fix: ", "bold green"), safe(finding.fix)))


def _site(site: ToolSite) -> Text:
    """`calls  users:get  line 4  in 1 loop  limit=50, id=…`."""
    name = "a tool named at run time" if site.tool is None else brief(site.tool, 120)
    facts = [f"line {site.line}"]
    if site.loops:
        facts.append(f"in {counted(site.loops, 'loop')}")
    arguments = [f"{key}={brief(repr(value), _LONGEST)}" for key, value in site.arguments.items()]
    arguments += ["…" if key == "*" else f"{key}=…" for key in site.dynamic]
    if arguments:
        facts.append(brief(", ".join(arguments), 400))
    return Text.assemble(("calls  ", "dim"), (name, "bold"), f"  {'  '.join(facts)}")


def _verdict(report: CheckReport, options: Options) -> Text:
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    word, style = ("passes", "bold green") if report.ok else ("refused", "bold red")
    script = "<standard input>" if options.script == "-" else brief(Path(options.script).name, 200)
    facts = f"  {counted(errors, 'error')} · {counted(warnings, 'warning')} · {options.level}"
    return Text.assemble((word, style), f"  {script}{facts}")
