"""`ringfence run`: one script, the user's tools, a person or a file that approves.

Joins the parts of this package around a boundary and an enclave; decides nothing itself. Called by `cli.app`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import cast

from rich.text import Text

from ringfence.boundary import Boundary
from ringfence.cli import aftermath, exits, report
from ringfence.cli.approve import Approver, Decide, by_file, deny, nobody_there, read_decisions
from ringfence.cli.calls import SHOWN
from ringfence.cli.display import Display, choose
from ringfence.cli.inputs import parse_clock, parse_inputs, parse_seed
from ringfence.cli.interrupt import on_interrupt
from ringfence.cli.load import AnyTool, argument_names, load_tools
from ringfence.cli.prompt import Prompt
from ringfence.cli.script import language_of, read_script
from ringfence.cli.streams import MessageConsole, Results, results_only
from ringfence.cli.terminal import controlling_terminal
from ringfence.cli.text import brief, json_line
from ringfence.enclave.facade import LEAST_MEMORY, Enclave
from ringfence.enclave.results import RunResult
from ringfence.errors import ConfigError, Refusal, ToolSandboxRequiredError
from ringfence.limits import SecurityLevel, parse_count, parse_seconds, parse_size
from ringfence.sandbox.local_unsafe import local
from ringfence.values import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line of `ringfence run`."""

    script: str
    """Path, or `-` for standard input."""
    tools: str
    """MODULE[:NAME]."""
    unsafe_local: bool
    approve: str
    """`ask`, `deny`, or the path of a decision file."""
    args: Sequence[str]
    """`key=value`, for the script's `inputs`."""
    json: bool
    timeout: float | None
    """Seconds; None for the level's default. Time spent waiting for approval does not count."""
    max_tool_calls: int | None
    memory: str
    """Size of the guest's memory, such as `256MB`."""
    level: str
    """Security level: rules of the check, and the limits that are not given."""
    preload: Sequence[str]
    """Packages that the script may import besides."""
    language: str | None = None
    """None: what the script's name ends in says it."""
    max_iterations: int | None = None
    clock: str | None = None
    """A moment in ISO 8601, at which the script's time stands still; None for the host's time."""
    seed: str | None = None
    """Of the script's randomness; None for a fresh one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """Everything that was found out before anything starts."""

    options: Options
    source: str
    language: str
    inputs: dict[str, JSON]
    clock: datetime | None
    tools: Sequence[AnyTool]
    decide: Decide | None
    """None: a person decides, if there is a terminal to ask on."""


def run(options: Options) -> int:
    """Run the script and report; the exit code.

    Raises:
        RingfenceError: nothing has run, because the command line or the configuration is wrong.
    """
    with results_only() as results:
        result = asyncio.run(_execute(_prepare(options), MessageConsole(), results))
    return exits.for_run(
        succeeded=result.success,
        error_code=None if result.error is None else result.error.code,
        call_statuses=[call.status for call in result.calls],
    )


def _prepare(options: Options) -> _Job:
    if not options.unsafe_local:
        raise ToolSandboxRequiredError(
            "the tools would run in this process, without isolation; a jail for tools does not exist yet",
            hint="add --unsafe-local if you trust the tools (the script itself is jailed in any case)",
        )
    if options.script == "-" and options.approve == "ask" and sys.stdin.isatty():
        sys.stderr.write("reading the script from the terminal; end it with Ctrl-D\n")
    _check_limits(options)
    inputs = parse_inputs(options.args)
    clock = parse_clock(options.clock)
    language = language_of(options.script, options.language)
    source = read_script(options.script)
    tools = load_tools(options.tools)
    decide = _decide(options.approve, tools)
    return _Job(
        options=options, source=source, language=language, inputs=inputs, clock=clock, tools=tools, decide=decide
    )


def _check_limits(options: Options) -> None:
    """Find what the enclave would refuse, in the words of the command line."""
    checks: tuple[tuple[str, Callable[[], object]], ...] = (
        ("--memory 256MB", lambda: parse_size(options.memory, "--memory", least=LEAST_MEMORY)),
        ("--timeout 30", lambda: options.timeout is None or parse_seconds(options.timeout, "--timeout")),
        (
            "--max-tool-calls 100",
            lambda: options.max_tool_calls is None or parse_count(options.max_tool_calls, "--max-tool-calls"),
        ),
        (
            "--max-iterations 10000",
            lambda: options.max_iterations is None or parse_count(options.max_iterations, "--max-iterations", least=1),
        ),
    )
    for example, check in checks:
        try:
            check()
        except ConfigError as error:
            raise ConfigError(error.message, hint=f"write for example {example}") from None


def _decide(approve: str, tools: Sequence[AnyTool]) -> Decide | None:
    match approve:
        case "deny":
            return deny
        case "ask":
            return None
        case path:
            return by_file(read_decisions(Path(path), _asking(tools)))


def _asking(tools: Sequence[AnyTool]) -> dict[str, frozenset[str]]:
    """Tools that ask for approval, with the names of their arguments."""
    return {tool.name: argument_names(tool) for tool in tools if tool.approval == "human"}


async def _execute(job: _Job, console: MessageConsole, results: Results) -> RunResult:
    options = job.options
    reasons: dict[str, str] = {}
    advice: dict[str, str] = {}
    title = "<standard input>" if options.script == "-" else brief(options.script, 200)
    reads = {tool.name for tool in job.tools if tool.effect == "read"}
    display = choose(console, reasons, reads, title, max(len(tool.name) for tool in job.tools))
    approver = Approver(job.decide or _ask(job, console, display), _asking(job.tools), reasons=reasons, advice=advice)
    boundary = Boundary(tools=job.tools, sandbox=local(unsafe=True), approve=approver.decide)
    boundary.on(SHOWN, display.on_event)
    enclave = Enclave(
        tools=boundary,
        language=job.language,
        timeout=options.timeout,
        max_tool_calls=options.max_tool_calls,
        max_iterations=options.max_iterations,
        memory_limit=options.memory,
        preload=options.preload,
        clock=job.clock,
        seed=parse_seed(options.seed),
        security_level=cast("SecurityLevel", options.level),  # the enclave refuses what is none
    )
    asked = asyncio.Event()

    def stop() -> None:
        asked.set()
        enclave.abort()

    with on_interrupt(stop):
        async with display:
            async with boundary, enclave:
                if asked.is_set():  # there was no run yet that could be aborted
                    raise Refusal("interrupted before the script began", code="aborted")
                result = _in_our_words(job, await enclave.run(job.source, inputs=job.inputs), reasons)
            display.complete(result.calls)
        display.conclude(report.statistics(result))
        if options.json:
            results.write(json_line(report.document(result, reasons)) + "\n")
        else:
            results.write(report.result_text(result))
        _tell(job, result, advice, console)
    return result


def _in_our_words(job: _Job, result: RunResult, reasons: dict[str, str]) -> RunResult:
    """The result with what only the command line knows: why a call was denied, and how its options are typed."""
    if result.error is None:
        return result
    error = report.in_words_of_the_command(report.with_reason(result.error, reasons))
    return replace(result, error=report.with_missing_input(error, job.source.splitlines(), job.inputs))


def _ask(job: _Job, console: MessageConsole, display: Display) -> Decide:
    terminal = controlling_terminal()
    return Prompt(console, terminal, display, job.source).ask if terminal is not None else nobody_there


def _tell(job: _Job, result: RunResult, advice: dict[str, str], console: MessageConsole) -> None:
    """What went wrong, why, and what is left behind: on standard error."""
    aftermath.print_causes(console, result.calls)
    if result.error is None:
        aftermath.print_unknown(console, result.calls)
        return
    report.print_error(console, result.error, job.source.splitlines())
    for text in dict.fromkeys(advice.values()):
        console.print(Text.assemble(("  fix: ", "bold green"), text), soft_wrap=True)
    aftermath.print_already_ran(console, result.calls, {tool.name: tool.effect for tool in job.tools})
