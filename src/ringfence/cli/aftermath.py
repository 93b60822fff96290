"""What a run leaves to look after: calls that changed something or may have, and why tools raised.

Everything here is for the terminal of whoever wrote the tools, so it goes to standard error only: what a tool's
exception says may be a secret to the model. Called by `cli.run` after the result has been told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from ringfence.cli import blame
from ringfence.cli.report import print_whole
from ringfence.cli.text import brief, counted, safe
from ringfence.enclave.results import CallRecord
from ringfence.ports import Effect

Effects = Mapping[str, Effect | None]
"""Declared effect by the name of the tool."""

_LEFT_BEHIND: Final = frozenset({"interrupted"})
"""Codes of calls that were cut off because the script did not wait for them."""

_RAN: Final = "bad_result"
"""The code of a tool that ran to its end, and whose result nobody could use."""


def print_causes(console: Console, calls: Sequence[CallRecord]) -> None:
    """One line per exception that a tool raised: place in the user's file, class, text. Equal ones are counted."""
    lines = Counter(line for call in calls if call.cause is not None and (line := _cause(call.cause)) is not None)
    for line, number in lines.items():
        times = f"  ({number} times)" if number > 1 else ""
        print_whole(console, Text(f"{safe(line)}{times}"))


def _cause(error: BaseException) -> str | None:
    """None for what ringfence itself raised about the call, a timeout for example: the error has said it."""
    place = blame.place(error)
    if place is None:
        return None if type(error).__module__.startswith("ringfence.") else blame.said(error)
    return f"{place}: {blame.said(error)}"


def print_already_ran(console: Console, calls: Sequence[CallRecord], effects: Effects) -> None:
    """What a failed run leaves behind: how many calls read, wrote or may have, and each that did not only read."""
    began = [call for call in calls if call.status != "refused"]
    if not began:
        console.print(Text("  already ran: nothing"))
        return
    doubtful = [call for call in began if call.status == "unknown" and call.code != _RAN]
    reads = [call for call in began if call.status != "unknown" and effects.get(call.name) == "read"]
    writes = len(began) - len(reads) - len(doubtful)
    counts = [
        counted(len(reads), "read") if reads else "no read",
        counted(writes, "write") if writes else "no write",
        *([f"{len(doubtful)} that may have happened"] if doubtful else []),
    ]
    console.print(Text(f"  already ran: {', '.join(counts)}"))
    for call in began:
        if call.status == "unknown" or effects.get(call.name) != "read":
            _print_call(console, call)


def print_unknown(console: Console, calls: Sequence[CallRecord]) -> None:
    """Why a run that succeeded still ends with exit code 4, by call."""
    unknown = [call for call in calls if call.status == "unknown"]
    if not unknown:
        return
    print_whole(console, Text("  exit code 4: the script succeeded, but of its calls"))
    for call in unknown:
        _print_call(console, call)
    if any(call.code in _LEFT_BEHIND for call in unknown):
        fix = "await every call before the script ends; one that still runs then is cut off"
        print_whole(console, Text.assemble(("  fix: ", "bold green"), fix))


def _print_call(console: Console, call: CallRecord) -> None:
    match call.status:
        case "unknown" if call.code == _RAN:
            done = Text("    done, its result was unusable, not undone  ", style="yellow")
        case "unknown":
            done = Text("    may have happened, check it before you run this again  ", style="bold red")
        case "failed":
            done = Text("    tried, failed  ", style="yellow")
        case _:
            done = Text("    done, not undone  ", style="yellow")
    print_whole(console, Text.assemble(done, f"{brief(call.name, 64)}  line {call.line}"))
