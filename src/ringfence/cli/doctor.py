"""`ringfence doctor`: what this machine can enforce on scripts, tried out, not looked up.

The trying is `sandbox.jail.probe_unsafe`, the judging `sandbox.jail.report`; this file shows both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ringfence.cli import exits
from ringfence.cli.streams import Results, results_only
from ringfence.cli.text import json_line, safe
from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Probe, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe
from ringfence.sandbox.jail.report import Row, State, doctor_rows

_MARKS: Final[Mapping[State, tuple[str, str]]] = {
    "enforced": ("yes", "green"),
    "partly": ("partly", "yellow"),
    "missing": ("no", "red"),
}


def doctor(*, as_json: bool) -> int:
    """Print what is enforced here; 0 when scripts can be jailed, else 2."""
    with results_only() as results:
        found = probe()
        rows = doctor_rows(found)
        can_jail = isinstance(plan_guest(found, GuestLimits()), JailPlan)
        if as_json:
            results.write(json_line(document(found, rows, can_jail=can_jail)) + "\n")
        else:
            _print(results, report(found, rows, can_jail=can_jail, wraps=results.is_terminal))
    return exits.SUCCESS if can_jail else exits.USAGE


def document(found: Probe, rows: Sequence[Row], *, can_jail: bool) -> dict[str, Any]:
    """The report for programs: `can_jail`, `machine` (what the probe found), `rows`."""
    return {
        "can_jail": can_jail,
        "machine": dataclasses.asdict(found),
        "rows": [dataclasses.asdict(row) for row in rows],
    }


def report(found: Probe, rows: Sequence[Row], *, can_jail: bool, wraps: bool = True) -> RenderableType:
    """The report for people; without `wraps`, a row stays on one line, for grep."""
    head = f"{found.system} {found.kernel} on {found.machine}, Python {found.python}, user id {found.uid}"
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", max_width=36 if wraps else None)
    table.add_column(overflow="fold")
    for row in rows:
        word, style = _MARKS[row.state]
        why = Text(safe(row.enforced_by))
        if row.remedy:
            why.append("\n" if wraps else "  ")
            why.append(f"fix: {safe(row.remedy)}", style="cyan")
        table.add_row(Text(word, style=style), Text(safe(row.what)), why)
    verdict = (
        Text("Scripts can be jailed here. Tools run without isolation (--unsafe-local).", style="bold green")
        if can_jail
        else Text("Scripts cannot be jailed here, so none will run. The fixes are above.", style="bold red")
    )
    return Group(
        Text(safe(head), style="bold"), Text("Held by the kernel or the host:"), Text(), table, Text(), verdict
    )


def _print(results: Results, what: RenderableType) -> None:
    with results.page() as console:
        console.print(what)
