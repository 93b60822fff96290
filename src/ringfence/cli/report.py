"""What a finished run is told as: text for a person, or one JSON document for a program.

Knows the result of a run and the script's source; writes nothing itself except through the console it is given.
Called by `cli.run`.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from ringfence.cli.text import brief, counted, json_text, plain, safe, seconds
from ringfence.enclave.results import CallRecord, RunResult
from ringfence.errors import ErrorInfo

WORTH_SAYING: Final = 0.1
"""Seconds of waiting for approval below which nobody waited: a file answered."""
_STYLES: Final = {"succeeded": "bold green", "failed": "bold red", "interrupted": "bold yellow"}
_TAB: Final = "\t"
_INPUT: Final = re.compile(r"\binputs\[(['\"])(\w+)\1\]")
_OPTIONS: Final = {
    "MEMORY_LIMIT_EXCEEDED": ("memory_limit", "--memory"),
    "MAX_TOOL_CALLS": ("max_tool_calls", "--max-tool-calls"),
    "TIMEOUT": ("timeout", "--timeout"),
}
"""Code of a run to the enclave's option and how the command line spells it."""


def document(result: RunResult, reasons: Mapping[str, str]) -> dict[str, Any]:
    """The JSON document of a run: `status`, `value`, `error`, `stats`, `output`, `calls`.

    A call has the fields of `CallRecord` and `reason`: why it was approved or denied, null when nobody was asked.
    """
    return {
        "status": result.status,
        "value": plain(result.value),
        "error": None if result.error is None else error_fields(result.error),
        "stats": dataclasses.asdict(result.stats),
        "output": result.output,
        "calls": [{**_call_fields(call), "reason": reasons.get(call.call_id)} for call in result.calls],
    }


def _call_fields(call: CallRecord) -> dict[str, Any]:
    """All but `cause`: a tool's own exception is for the terminal of whoever wrote the tool."""
    names = [field.name for field in dataclasses.fields(call) if field.name != "cause"]
    return {name: getattr(call, name) for name in names}


def with_reason(error: ErrorInfo, reasons: Mapping[str, str]) -> ErrorInfo:
    """The error of a denied run with why it was denied, in `message` and in `data["reason"]`."""
    reason = reasons.get(str(error.data.get("call_id")))
    if error.code != "APPROVAL_DENIED" or reason is None:
        return error
    return dataclasses.replace(error, message=f"{error.message}: {reason}", data={**error.data, "reason": reason})


def in_words_of_the_command(error: ErrorInfo) -> ErrorInfo:
    """The error of a run that a limit ended, its fix naming the option as it is typed."""
    option = _OPTIONS.get(error.code)
    if option is None or error.hint is None:
        return error
    name, typed = option
    return dataclasses.replace(error, hint=error.hint.replace(f"raise {name}", f"raise {typed}"))


def with_missing_input(error: ErrorInfo, source: Sequence[str], inputs: Collection[str]) -> ErrorInfo:
    """The error of a script that asked for an input which nobody gave, its fix naming the option that gives it."""
    if error.name != "KeyError" or error.line is None or not 0 < error.line <= len(source):
        return error
    wanted = _INPUT.search(source[error.line - 1])
    if wanted is None or wanted[2] in inputs or repr(wanted[2]) not in error.message:
        return error
    given = f"there is {', '.join(inputs)}" if inputs else "there are none"
    return dataclasses.replace(error, hint=f"pass --arg {shlex.quote(wanted[2])}=VALUE; of inputs {given}")


def error_fields(error: ErrorInfo) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "name": error.name,
        "line": error.line,
        "issues": [dict(issue) for issue in error.issues],
        "data": plain(error.data),
    }


def refused_document(error: ErrorInfo) -> dict[str, Any]:
    """The JSON document of a command that could not start a run."""
    return {
        "status": "failed",
        "value": None,
        "error": error_fields(error),
        "stats": None,
        "output": "",
        "calls": [],
    }


def result_text(result: RunResult) -> str:
    """What goes to standard output: the printed text, each line behind a bar, then the value as JSON.

    The bar keeps printed text from passing for the value. Without printed text it is the JSON alone; a run that
    failed has no value, and the null of a script that only prints is left out.
    """
    parts: list[str] = []
    if result.output:
        lines = result.output.removesuffix("\n").split("\n")
        parts.append("\n".join(f"│ {safe(line, keep=_TAB)}".rstrip() for line in lines))
    if result.success and not (result.output and result.value is None):
        parts.append(json_text(result.value))
    return "".join(f"{part}\n" for part in parts)


def statistics(result: RunResult) -> Text:
    """One line: how it ended, calls, time, and how long a person thought."""
    stats = result.stats
    facts = [counted(stats.tool_call_count, "call"), seconds(stats.duration)]
    if stats.approval_wait >= WORTH_SAYING:
        facts.append(f"{seconds(stats.approval_wait)} of it waiting for approval")
    others = Counter(call.status for call in result.calls if call.status != "succeeded")
    facts += [f"{number} {status}" for status, number in sorted(others.items())]
    return Text.assemble((result.status, _STYLES[result.status]), f"  {' · '.join(facts)}")


def print_error(console: Console, error: ErrorInfo, source: Sequence[str] = ()) -> None:
    """Code, place, message, the line of the script, the issues that the message leaves out, and the smallest fix."""
    place = f" at line {error.line}" if error.line is not None else ""
    message = safe(_with_class(error), keep="\n")
    head = Text.assemble((f"error {safe(error.code)}", "bold red"), (place, "bold"), f": {message}")
    print_whole(console, head)
    if error.line is not None and 0 < error.line <= len(source):
        excerpt = brief(source[error.line - 1].strip(), 400)
        print_whole(console, Text.assemble((f"  {error.line:>4} │ ", "dim"), (excerpt, "cyan")))
    for issue in error.issues:
        if issue["message"] not in error.message:
            path = safe(issue["path"]) or "arguments"
            print_whole(console, Text.assemble("       • ", (path, "bold"), f": {safe(issue['message'])}"))
    if error.hint:
        print_whole(console, Text.assemble(("  fix: ", "bold green"), safe(error.hint, keep="\n")))


def _with_class(error: ErrorInfo) -> str:
    """`IndexError: list index out of range`: what a script's own exception says is little without its class."""
    name = error.name
    if error.code != "RUNTIME_ERROR" or not name or error.message.startswith(name):
        return error.message
    return f"{name}: {error.message}"


def print_whole(console: Console, text: Text) -> None:
    """Wrapped between words on a terminal; elsewhere one line stays one line, for grep and for logs."""
    console.print(text, soft_wrap=not console.is_terminal)
