"""The verbs, their options, and how every error of the command line looks. Each verb's work is in its own file.

Loads only the verb that was asked for. Called by `ringfence.cli.main`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Final, Protocol, runtime_checkable

import typer
from typer.main import get_command

from ringfence.cli import exits
from ringfence.cli.streams import MessageConsole, Results, open_missing_streams
from ringfence.errors import ErrorInfo, RingfenceError

app = typer.Typer(
    name="ringfence",
    help="One door for every action of an AI agent.",
    epilog="Exit codes: 0 done, 1 the script failed or was refused, 2 usage, configuration or no sandbox, "
    "4 an effect is unknown.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_PARSER_INTERRUPTED: Final = 130
"""What the parser makes of Ctrl-C that nobody below caught, because nothing ran yet. No verb returns it."""
_TOOLS_HELP = (
    "Where the tools are: a module that can be imported (the current folder is on the path) or the path of a .py file; "
    "NAME is a Tool, a Toolset or an iterable of tools. Without NAME: every tool of the module."
)
Tools = Annotated[str, typer.Option("--tools", metavar="MODULE[:NAME]", help=_TOOLS_HELP)]
Level = Annotated[
    str,
    typer.Option("--level", metavar="LEVEL", help="Whose rules and limits: STRICT, SECURE, STANDARD or PERMISSIVE."),
]
Preload = Annotated[
    list[str] | None,
    typer.Option(
        "--preload", metavar="PACKAGE", help="A package that Python scripts may import besides; may be repeated."
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="python|javascript",
        help="What scripts are written in. Without it, files that end in .js, .mjs or .cjs are JavaScript; files that end "
        "in .py, and standard input, are Python.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write exactly one JSON document to standard output.")]

# of `run` alone
Approve = Annotated[
    str,
    typer.Option(
        "--approve",
        metavar="ask|deny|FILE",
        help="Who decides calls that need approval: you at the terminal, nobody, or a TOML file of decisions.",
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option(
        "--arg", metavar="KEY=VALUE", help="An entry of the script's inputs. JSON when it parses as such, else text."
    ),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Without the time spent waiting for approval.")
]
Calls = Annotated[int | None, typer.Option("--max-tool-calls", metavar="N", help="Calls in all.")]
Turns = Annotated[
    int | None, typer.Option("--max-iterations", metavar="N", help="Turns of one loop, endless ones included.")
]
Memory = Annotated[str, typer.Option("--memory", metavar="SIZE", help="Memory of the script, such as 256MB.")]
Clock = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="TIME",
        help="Where the script's clock stands still, such as 2026-03-01T12:00:00Z. Without it: the time that it is.",
    ),
]
Seed = Annotated[
    str | None,
    typer.Option("--seed", metavar="SEED", help="Of the script's randomness and ids. Without it: a fresh one."),
]


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if show_version:
        typer.echo(f"ringfence {version('ringfence')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(exits.USAGE)


@app.command(
    "run",
    epilog="Printed text of the script is shown with its value, after the run. Exit codes: 0 done; 1 the script failed, "
    "was refused or was interrupted; 2 usage, configuration or no sandbox, and nothing ran; 4 an effect may or may not "
    "have happened, whatever else did. 3 is kept for runs that wait for a person.",
)
def _run(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="Path of a script; - reads standard input.")],
    tools: Tools,
    unsafe_local: Annotated[
        bool, typer.Option("--unsafe-local", help="Run the tools in this process, without isolation.")
    ] = False,
    approve: Approve = "ask",
    arg: Arguments = None,
    as_json: Json = False,
    timeout: Timeout = None,
    max_tool_calls: Calls = None,
    max_iterations: Turns = None,
    memory: Memory = "256MB",
    level: Level = "STANDARD",
    preload: Preload = None,
    language: Language = None,
    clock: Clock = None,
    seed: Seed = None,
) -> int:
    """Run a script that calls tools. The script is jailed; its only way out is the tools."""
    from ringfence.cli.run import Options, run

    return run(
        Options(
            script=script,
            tools=tools,
            unsafe_local=unsafe_local,
            approve=approve,
            args=arg or [],
            json=as_json,
            timeout=timeout,
            max_tool_calls=max_tool_calls,
            memory=memory,
            level=level,
            preload=preload or [],
            language=language,
            max_iterations=max_iterations,
            clock=clock,
            seed=seed,
        )
    )


@app.command("check", epilog="Exit codes: 0 nothing refuses the script; 1 something does; 2 usage, or no sandbox.")
def _check(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="Path of a script; - reads standard input.")],
    tools: Annotated[
        str | None,
        typer.Option("--tools", metavar="MODULE[:NAME]", help="Tools that the script may call, as for run."),
    ] = None,
    level: Level = "STANDARD",
    preload: Preload = None,
    language: Language = None,
    as_json: Json = False,
) -> int:
    """Say what is wrong with a script and which tools it may reach, without running any of it."""
    from ringfence.cli.check import Options, check

    return check(
        Options(script=script, tools=tools, level=level, preload=preload or [], json=as_json, language=language)
    )


@app.command(
    "describe", short_help="Print the tools as a model needs them.", epilog="Exit codes: 0 done, 2 no such tools."
)
def _describe(tools: Tools, language: Language = None) -> int:
    """Print what a model needs to write scripts: the exact signature of every tool."""
    from ringfence.cli.describe import describe

    return describe(tools, language)


@app.command("doctor", epilog="Exit codes: 0 scripts can be jailed here, 2 they cannot.")
def _doctor(as_json: Json = False) -> int:
    """Try out what this machine can enforce, and say what is missing."""
    from ringfence.cli.doctor import doctor

    return doctor(as_json=as_json)


@runtime_checkable
class _UsageProblem(Protocol):
    """What the parser raises. Its class has moved between versions of typer; its shape has not."""

    exit_code: int

    def format_message(self) -> str: ...


def dispatch(argv: Sequence[str] | None) -> int:
    """Run the verb that `argv` names. Every error is one message on standard error, and an exit code."""
    open_missing_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = get_command(app).main(args=arguments, prog_name="ringfence", standalone_mode=False)
    except RingfenceError as error:
        return _refuse(error.info(), arguments)
    except Exception as error:
        if not isinstance(error, _UsageProblem):
            raise
        hint = "ringfence --help lists the commands, ringfence COMMAND --help their options"
        return _refuse(ErrorInfo(code="bad_config", message=error.format_message(), hint=hint), arguments)
    if code == _PARSER_INTERRUPTED:
        return _refuse(ErrorInfo(code="aborted", message="interrupted"), arguments)
    return code if isinstance(code, int) else exits.SUCCESS


def _refuse(error: ErrorInfo, arguments: Sequence[str]) -> int:
    from ringfence.cli import report
    from ringfence.cli.text import json_line

    report.print_error(MessageConsole(), error)
    if "--json" in arguments:
        Results(1).write(json_line(report.refused_document(error)) + "\n")
    return exits.FAILED if error.code == "aborted" else exits.USAGE
