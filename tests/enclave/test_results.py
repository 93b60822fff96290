"""How a run's error is named, and what of the host it may say."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.enclave.protocol import Failed, Finding
from ringfence.enclave.results import (
    RUN_CODES,
    CallFailure,
    Ending,
    RunStats,
    finished,
    from_call,
    from_guest,
    never_started,
    run_error,
    without_traces,
)
from ringfence.errors import CODES, ErrorInfo, Issue

STATS = RunStats(tool_call_count=0, duration=1.0, approval_wait=0.0, output_bytes=0, started_at=5.0)


def failed(kind: Any, *findings: Finding) -> Failed:
    return Failed(kind=kind, name="E", message="m", line=3, findings=findings)


@pytest.mark.parametrize(
    ("kind", "code", "finer"),
    [
        ("raised", "RUNTIME_ERROR", "script_raised"),
        ("memory", "MEMORY_LIMIT_EXCEEDED", "memory_limit"),
        ("unawaited", "RUNTIME_ERROR", "script_raised"),
        ("value", "RUNTIME_ERROR", "script_raised"),
        ("large", "SERIALIZATION_LIMIT_EXCEEDED", "result_too_large"),
        ("deadlock", "RUNTIME_ERROR", "script_raised"),
        ("iterations", "MAX_ITERATIONS", "iteration_limit"),
        ("violation", "SECURITY_VIOLATION", "script_violation"),
    ],
)
def test_what_a_guest_says_has_a_code_of_ours(kind: Any, code: str, finer: str) -> None:
    error = from_guest(failed(kind), None, calls_made=5, tools=())
    assert error is not None
    assert (error.code, error.data["code"]) == (code, finer)


def test_a_script_that_made_calls_was_not_rejected() -> None:
    found = Finding(code="X", line=2, column=1, message="bad", fix="mend")
    rejected = from_guest(failed("rejected", found), None, calls_made=0, tools=())
    assert rejected is not None
    assert (rejected.code, rejected.hint) == ("VALIDATION_ERROR", "mend")
    assert from_guest(failed("rejected", found), None, calls_made=1, tools=()) is None


def test_every_finding_is_told_with_its_fix() -> None:
    found = [Finding(code="X", line=at, column=1, message="bad", fix="mend" if at < 3 else "") for at in range(1, 13)]
    rejected = from_guest(failed("rejected", *found), None, calls_made=0, tools=())
    assert rejected is not None
    assert rejected.message.endswith(
        ": line 1: bad (mend); line 2: bad (mend); "
        + "; ".join(f"line {at}: bad" for at in range(3, 11))
        + "; and 2 more"
    )
    assert len(rejected.data["findings"]) == 12


@pytest.mark.parametrize(
    ("message", "said"), [("3", "the script left with the exit code 3"), ("no orders", "no orders"), ("", "SystemExit")]
)
def test_an_exit_code_is_called_one(message: str, said: str) -> None:
    error = from_guest(Failed(kind="raised", name="SystemExit", message=message), None, calls_made=0, tools=())
    assert error is not None
    assert error.message == said


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("the result's [1]: nan is not a finite number", "replace NaN and infinities, e.g. by None"),
        ("the result: a value of type NAType is not data; use None", "use None"),
        ("the result: a value of type Duck is not data", "return numbers, text, lists and dicts with text keys"),
    ],
)
def test_a_result_that_is_no_data_has_its_own_fix(message: str, hint: str) -> None:
    error = from_guest(Failed(kind="value", name="ResultError", message=message), None, calls_made=0, tools=())
    assert error is not None
    assert error.hint == hint


@pytest.mark.parametrize("kind", ["iterations", "violation"])
def test_a_limit_that_is_not_set_was_not_exceeded(kind: Any) -> None:
    assert from_guest(failed(kind), None, calls_made=0, tools=(), impossible=("iterations", "violation")) is None


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_functions_failure_is_the_scripts_and_a_tools_the_tools(code: str) -> None:
    error = ErrorInfo(code=code, message="m")
    tool = from_call(CallFailure(kind="tool", name="a", call_id="r.1", error=error), 2)
    function = from_call(CallFailure(kind="function", name="f", call_id="r.1", error=error), 2)
    assert (tool.code, tool.data) == (CODES[code].run_code, {"code": code, "tool": "a", "call_id": "r.1"})
    expected = "RUNTIME_ERROR" if tool.code == "TOOL_ERROR" else tool.code
    assert (function.code, function.data) == (expected, {"code": code, "function": "f", "call_id": "r.1"})
    assert {tool.code, function.code} <= RUN_CODES


def test_a_run_that_never_began_has_the_time_that_its_refusal_took() -> None:
    result = never_started(run_error("aborted", "stop"), "r_1", 5.0, 0.5)
    assert (result.success, result.status, result.stats.started_at) == (False, "interrupted", 4.5)
    assert result.stats.duration == 0.5
    assert finished(Ending(value=1, variables={"a": 1}), stats=STATS, run_id="r").variables == {"a": 1}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Errno 2] No such file or directory: '/opt/ada/keys.txt'", "[Errno 2] No such file or directory: '<path>'"),
        ('File "/usr/lib/python3/site-packages/x/y.py", line 3', 'File "<path>", line 3'),
        ("cannot import from /opt/app/tools (no module)", "cannot import from <path> (no module)"),
        ("file:///etc/passwd and C:\\Users\\ada\\x.txt", "<path> and <path>"),
        ("/tmp", "<path>"),
        ("GET /users/7 failed", "GET /users/7 failed"),
        ("https://example.org/home/x", "https://example.org/home/x"),
        ("2/3 of a/b/var/x", "2/3 of a/b/var/x"),
        ("Unknown tool: users:list", "Unknown tool: users:list"),
    ],
)
def test_without_traces_a_text_names_no_directory_of_the_host(text: str, shown: str) -> None:
    """T109."""
    error = ErrorInfo(code="TOOL_ERROR", message=text, hint=text, data={"code": "x", "traceback": "Traceback"})
    assert without_traces(error) == ErrorInfo(code="TOOL_ERROR", message=shown, hint=shown, data={"code": "x"})


def test_without_traces_no_part_of_an_error_names_a_directory_of_the_host() -> None:
    """T109."""
    path = "/opt/ada/x"
    error = ErrorInfo(
        code="TOOL_ERROR",
        message="m",
        name=path,
        issues=(Issue(path="a", message=path, code="x"),),
        data={"tool_code": path, "findings": [{"message": path, "line": 3}], "names": (path,)},
    )
    cleaned = without_traces(error)
    assert path not in repr(cleaned)
    assert cleaned.data == {
        "tool_code": "<path>",
        "findings": [{"message": "<path>", "line": 3}],
        "names": ["<path>"],
    }
    assert cleaned.issues == (Issue(path="a", message="<path>", code="x"),)
