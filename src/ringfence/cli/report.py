"""What a finished run is told as: text for a person, or one JSON document for a program.

Knows the result of a run and the script's source; writes nothing itself except through the console it is given.
Called by `cli.run`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from ringfence.cli.text import brief, counted, json_text, plain, safe, seconds
from ringfence.enclave.results import CallRecord, RunResult
from ringfence.errors import ErrorInfo
from ringfence.ports import Effect

WORTH_SAYING: Final = 0.1
"""Seconds of waiting for approval below which nobody waited: a file answered."""
_STYLES: Final = {"succeeded": "bold green", "failed": "bold red", "interrupted": "bold yellow"}
_TAB: Final = "\t"


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
        "calls": [{**dataclasses.asdict(call), "reason": reasons.get(call.call_id)} for call in result.calls],
    }


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
    failed has no value.
    """
    parts: list[str] = []
    if result.output:
        lines = result.output.removesuffix("\n").split("\n")
        parts.append("\n".join(f"│ {safe(line, keep=_TAB)}".rstrip() for line in lines))
    if result.success:
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
    message = safe(error.message, keep="\n")
    head = Text.assemble((f"error {safe(error.code)}", "bold red"), (place, "bold"), f": {message}")
    _print_whole(console, head)
    if error.line is not None and 0 < error.line <= len(source):
        excerpt = brief(source[error.line - 1].strip(), 400)
        _print_whole(console, Text.assemble((f"  {error.line:>4} │ ", "dim"), (excerpt, "cyan")))
    for issue in error.issues:
        if issue["message"] not in error.message:
            path = safe(issue["path"]) or "arguments"
            _print_whole(console, Text.assemble("       • ", (path, "bold"), f": {safe(issue['message'])}"))
    if error.hint:
        _print_whole(console, Text.assemble(("  fix: ", "bold green"), safe(error.hint, keep="\n")))


def _print_whole(console: Console, text: Text) -> None:
    """Wrapped between words on a terminal; elsewhere one line stays one line, for grep and for logs."""
    console.print(text, soft_wrap=not console.is_terminal)


def print_already_ran(console: Console, calls: Sequence[CallRecord], effects: Mapping[str, Effect | None]) -> None:
    """What a failed run leaves behind: each call that changed something or may have, and how many only read."""
    began = [call for call in calls if call.status != "refused"]
    if not began:
        console.print(Text("  already ran: nothing"))
        return
    reads = [call for call in began if effects.get(call.name) == "read"]
    console.print(
        Text(f"  already ran: {counted(len(reads), 'read')}" + ("" if len(reads) < len(began) else ", no write"))
    )
    for call in began:
        if effects.get(call.name) != "read":
            done = Text.assemble(("    done, not undone  ", "yellow"))
            if call.status == "unknown":
                done = Text.assemble(("    may have happened, check it before you run this again  ", "bold red"))
            elif call.status == "failed":
                done = Text.assemble(("    tried, failed  ", "yellow"))
            _print_whole(console, done.append(f"{brief(call.name, 64)}  line {call.line}"))
