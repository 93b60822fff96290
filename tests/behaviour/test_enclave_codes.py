"""Every code that a run can end with, each caused once (enclave catalogue B8 and B9, recommendations 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

import ringfence as rf
from ringfence.errors import CODES
from tests.enclave.kit import Stage, code, detail, echo, failing, never
from tests.requirements import requirement

pytestmark = pytest.mark.slow


@rf.tool(approval="human", effect="write")
def pay(amount: int) -> int:
    """Pay somebody."""
    return amount


def refuse(request: rf.ApprovalRequest) -> bool:
    return False


async def silent(request: rf.ApprovalRequest) -> bool:
    await never(request)
    return True


def broken() -> None:
    raise LookupError("gone")


GOVERNED: Final[dict[str, Any]] = {"tools": [pay], "sandbox": rf.local(unsafe=True)}
HIDDEN: Final = "import enum\nhidden = [enum][0].bltns\nhidden.eval('1')"
"""A list hides from the check which module this is; the guest notices."""

TIGHT: Final[dict[str, Any]] = {
    "max_tool_calls": 0,
    "max_global_function_calls": 0,
    "max_iterations": 10,
    "max_output": 10,
    "timeout": 1.0,
    "globals": {"size": len},
    "allow_functions_in_globals": True,
}
WATCHED: Final[dict[str, Any]] = {"screening": {"blocked_operation_patterns": ["^b$"], "max_operations_per_second": 1}}
DENIED: Final[dict[str, Any]] = {**GOVERNED, "approve": refuse}

ENDS: Final[Mapping[str, tuple[str, str, Mapping[str, Any]]]] = {
    "limit_exceeded": ("MAX_TOOL_CALLS", "await call_tool('a', {})", TIGHT),
    "global_limit": ("MAX_GLOBAL_CALLS", "size('x')", TIGHT),
    "iteration_limit": ("MAX_ITERATIONS", "for n in range(99): pass", TIGHT),
    "deadline_exceeded": ("TIMEOUT", "import time\ntime.sleep(9)", TIGHT),
    "output_limit": ("OUTPUT_LIMIT", "print('x' * 99)", TIGHT),
    "memory_limit": ("MEMORY_LIMIT_EXCEEDED", "'x' * 10 ** 11", {}),
    "result_too_large": ("SERIALIZATION_LIMIT_EXCEEDED", "'x' * 6_000_000", {}),
    "script_rejected": ("VALIDATION_ERROR", "x = (", {}),
    "script_raised": ("RUNTIME_ERROR", "1 / 0", {}),
    "script_violation": ("SECURITY_VIOLATION", HIDDEN, {"security_level": "SECURE"}),
    "name_refused": ("SECURITY_VIOLATION", "await call_tool('b', {})", WATCHED),
    "rate_limited": ("SECURITY_VIOLATION", "await call_tool('a', {})\nawait call_tool('a', {})", WATCHED),
    "suspicious_sequence": ("SECURITY_VIOLATION", "await call_tool('bulk:a', {})", WATCHED),
    "tool_raised": ("TOOL_ERROR", "await call_tool('bad', {})", {}),
    "bad_result": ("TOOL_ERROR", "await call_tool('odd', {})", {}),
    "invalid_input": ("TOOL_ERROR", "await call_tool('a', [])", {}),
    "no_tool_handler": ("TOOL_ERROR", "await call_tool('a', {})", {"tool_handler": None}),
    "unknown_tool": ("TOOL_ERROR", "await call_tool('nothing', {})", DENIED),
    "global_raised": (
        "RUNTIME_ERROR",
        "broken()",
        {"globals": {"broken": broken}, "allow_functions_in_globals": True},
    ),
    "approval_denied": ("APPROVAL_DENIED", "await tools.pay(amount=1)", DENIED),
    "approval_expired": (
        "APPROVAL_EXPIRED",
        "await tools.pay(amount=1)",
        {**GOVERNED, "approve": silent, "approval_timeout": 0.1},
    ),
    "sandbox_crashed": ("SANDBOX_CRASHED", "import os\nos._exit(1)", {"validate": False}),
}


@requirement("U3", "rec.1")
@pytest.mark.parametrize("finer", ENDS)
def test_each_end_has_the_seeds_code_and_the_finer_one_beside_it(stage: Stage, finer: str) -> None:
    run_code, script, options = ENDS[finer]
    stage.tools.update({"a": echo, "bulk:a": echo, "bad": failing(RuntimeError("no")), "odd": _odd})
    result = stage.script(script, **options)
    assert (code(result), detail(result), result.success, result.value) == (run_code, finer, False, None)
    assert CODES[finer].run_code == run_code
    assert result.stats.duration >= 0


async def _odd(args: Any) -> Any:
    return object()


@requirement("U3", "rec.1")
def test_no_other_code_of_a_run_exists_but_for_what_no_script_can_cause() -> None:
    caused = {run_code for run_code, _, _ in ENDS.values()}
    elsewhere = {"ABORTED", "INTERNAL", "SANDBOX_UNAVAILABLE"}
    assert {spec.run_code for spec in CODES.values()} == caused | elsewhere


FORGERIES: Final = {
    "class": "class ToolRefused(Exception):\n    code = 'MAX_TOOL_CALLS'\nraise ToolRefused('the run made more calls')",
    "text": "raise RuntimeError('MAX_TOOL_CALLS: the run made more calls than allowed')",
    "tool error": "try:\n    await call_tool('bad', {})\nexcept ToolError as error:\n    error.code = 'limit_exceeded'\n    raise",
    "made": "raise ToolError('x', 'limit_exceeded', 'n', 'a', None, 1)",
    "exit": "raise SystemExit('MAX_TOOL_CALLS')",
    "data": "return {'success': False, 'error': {'code': 'MAX_TOOL_CALLS'}}",
}


@requirement("rec.1", "EW6", "B89")
@pytest.mark.parametrize("how", FORGERIES)
def test_no_script_can_make_up_a_code_of_the_host(stage: Stage, how: str) -> None:
    stage.tools["bad"] = failing(RuntimeError("no"))
    result = stage.script(FORGERIES[how], validate=False)
    assert code(result) in (None, "RUNTIME_ERROR", "TOOL_ERROR")
    assert detail(result) in (None, "script_raised", "tool_raised")


@requirement("dec.17", "rec.2")
def test_what_the_check_cannot_see_ends_a_strict_run_and_cannot_be_caught(stage: Stage) -> None:
    script = HIDDEN.replace(
        "hidden.eval('1')", "try:\n    hidden.eval('1')\nexcept BaseException:\n    pass\nreturn 'fine'"
    )
    for level in ("SECURE", "STANDARD"):
        result = stage.script(script, security_level=level)
        expected = ("SECURITY_VIOLATION", None) if level == "SECURE" else (None, "fine")
        assert (code(result), result.value) == expected


@requirement("seed2.refusals", "dec.16")
def test_screening_may_be_given_under_the_second_seeds_name(stage: Stage) -> None:
    stage.tools["users:list"] = stage.tools["mail:send"] = echo
    script = "await call_tool('users:list', {})\nawait call_tool('mail:send', {})\nreturn 'sent'"
    off: dict[str, Any] = {"double_vm": {"blockSuspiciousSequences": False, "maxOperationsPerSecond": 50}}

    async def body() -> tuple[Any, str | None]:
        async with (
            rf.Enclave(tool_handler=stage.handle, **off) as enclave,
            rf.Enclave(tool_handler=stage.handle) as plain,
        ):
            return (await enclave.run(script)).value, detail(await plain.run(script))

    assert stage.run(body()) == ("sent", "suspicious_sequence")
    with pytest.raises(rf.ConfigError):
        rf.Enclave(screening={}, **off)


@requirement("T94", "rec.10")
def test_a_function_is_counted_however_it_is_called(stage: Stage) -> None:
    """As `call`, `apply` and `bind` are in the original (F10)."""
    calls: list[Any] = []
    options: dict[str, Any] = {"allow_functions_in_globals": True, "max_global_function_calls": 4}

    async def body() -> rf.RunResult:
        async with rf.Enclave(globals={"note": calls.append}, **options) as enclave:
            return await enclave.run(
                "from functools import partial, reduce\npartial(note, 1)()\nlist(map(note, [2]))\nf = note\nf(3)\n"
                "{'n': note}['n'](4)\nsorted([5], key=note)"
            )

    result = stage.run(body())
    assert (detail(result), calls, result.stats.global_call_count) == ("global_limit", [1, 2, 3, 4], 5)
