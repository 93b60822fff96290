"""What a case file may say of a run or a check: one flat mapping of plain values, the same for every language."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import ringfence as rf
from ringfence.enclave.table import write


def facts(result: rf.RunResult) -> dict[str, Any]:
    """What a case may expect of a run."""
    error = result.error or rf.ErrorInfo(code="", message="")
    return {
        "value": plain(result.value),
        "kinds": kinds(result.value),
        "status": result.status,
        "code": error.code or None,
        "detail": error.data.get("code"),
        "line": error.line,
        "name": error.name,
        "message": error.message,
        "hint": error.hint,
        "tool": error.data.get("tool"),
        "function": error.data.get("function"),
        "tool_code": error.data.get("tool_code"),
        "pattern": error.data.get("pattern"),
        "issues": [[issue["path"], issue["code"]] for issue in error.issues],
        "findings": [[one["code"], one["line"]] for one in error.data.get("findings", ())],
        "output": result.output,
        "output_bytes": result.stats.output_bytes,
        "calls": [call.name for call in result.calls],
        "statuses": [call.status for call in result.calls],
        "call_codes": [call.code for call in result.calls],
        "lines": [call.line for call in result.calls],
        "flags": [list(call.flags) for call in result.calls],
        "tool_calls": result.stats.tool_call_count,
        "function_calls": result.stats.global_call_count,
        "variables": plain(result.variables),
        "variable_kinds": kinds(result.variables),
        "unkept": list(result.unkept),
    }


def check_facts(report: rf.CheckReport) -> dict[str, Any]:
    """What a case may expect of a check."""
    return {
        "ok": report.ok,
        "findings": [[one.code, one.line, one.severity] for one in report.findings],
        "reach": [
            [site.tool, site.line, site.loops, dict(site.arguments), list(site.dynamic)] for site in report.reach
        ],
    }


def plain(value: Any) -> Any:
    """The value as the script sent it: what was restored on this side, as JSON text has it."""
    match value:
        case dict():
            return {key: plain(child) for key, child in cast("dict[str, Any]", value).items()}
        case list():
            return [plain(child) for child in cast("list[Any]", value)]
        case date() | time():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
        case timedelta():
            return write(value)[1]
        case bytes():
            return base64.urlsafe_b64encode(value).decode()
        case _:
            return value


def kinds(value: Any) -> dict[str, str]:
    """What JSON lacks, by its place."""
    return {path: type(found).__name__ for path, found in _restored(value)}


def _restored(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    match value:
        case dict():
            for key, child in cast("dict[str, Any]", value).items():
                yield from _restored(child, f"{path}.{key}" if path else key)
        case list():
            for at, child in enumerate(cast("list[Any]", value)):
                yield from _restored(child, f"{path}[{at}]")
        case datetime() | date() | time() | timedelta() | Decimal() | UUID() | bytes():
            yield path, value
        case _:
            pass
