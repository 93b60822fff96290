"""Must type-check under strict rules: what a host of scripts writes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, assert_type

import ringfence as rf


async def handle(name: str, args: dict[str, Any]) -> object:
    return {"name": name, **args}


def blocking(name: str, args: dict[str, Any]) -> list[int]:
    return [len(name), len(args)]


def detect(name: str, args: Mapping[str, Any], history: Sequence[rf.Past]) -> bool | rf.Ask:
    if any(entry.name == "secrets:read" for entry in history):
        return rf.Ask("a secret was read before")
    return name == "pay" and args.get("amount", 0) > 100


def answer(name: str, args: Mapping[str, Any], history: Sequence[rf.Past]) -> rf.Allow | rf.Refuse:
    return rf.Refuse("not today") if history else rf.Allow()


screening = rf.Screening(
    allowed_operation_pattern=r"users:.*",
    blocked_operation_patterns=(r"admin", r"root"),
    max_operations_per_second=20,
    rapid_enumeration_overrides={"pages:next": 100},
    suspicious_patterns=[rf.Detector("MINE", "pays too much", detect), rf.Detector("OURS", "says no", answer)],
    actions={"EXFIL_LIST_SEND": "ask", "MINE": "refuse", "names": "log", "rate": "off"},
)

enclave = rf.Enclave(
    tool_handler=handle,
    security_level="SECURE",
    timeout=5,
    max_tool_calls=10,
    max_global_function_calls=0,
    max_iterations=1_000,
    memory_limit="64MB",
    max_output=4096,
    max_value_depth=5,
    max_value_members=50,
    tool_namespaces={"mail": ["list", "send"], "users": {"get": "users:get"}},
    globals={"context": {"user": "ada"}, "size": len},
    allow_functions_in_globals=True,
    validate=False,
    sanitize_stack_traces=True,
    screening=screening,
    preload=["numpy"],
    clock=datetime(2024, 5, 1, tzinfo=UTC),
    seed="fixed",
)

options: rf.EnclaveOptions = {"security_level": "STRICT", "timeout": None, "double_vm": {"enabled": False}}
synchronous = rf.Enclave(tool_handler=blocking, **options)


async def main() -> None:
    result = await enclave.run("1", {"x": 1}, variables={"n": 1}, session_id="s", principal="ada")
    assert_type(result, rf.RunResult)
    assert_type(await rf.run_agent_script("1", tool_handler=handle, **options), rf.RunResult)
    assert_type(result.error, rf.ErrorInfo | None)
    assert_type(result.stats.tool_call_count, int)
    assert_type(result.variables, Mapping[str, Any] | None)
    assert_type([call.flags for call in result.calls], list[tuple[str, ...]])

    report = await enclave.check("1")
    assert_type(report, rf.CheckReport)
    assert_type(report.findings, tuple[rf.Finding, ...])
    assert_type([site.tool for site in report.reach], list[str | None])
    assert_type(enclave.effective_config().security_level, rf.SecurityLevel)
    await enclave.dispose()


with rf.Enclave() as plain:
    assert_type(plain.run_sync("1"), rf.RunResult)
    assert_type(plain.check_sync("1"), rf.CheckReport)

handler: rf.ToolHandler = handle
asyncio.run(main())
