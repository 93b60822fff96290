"""Attacks on tools that need a host of their own: rates, enumeration, name patterns, and what errors and logs tell."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any, Final

import pytest

import ringfence as rf
from tests.attacks.host import furnish
from tests.enclave.kit import Stage, code, detail

SECRET: Final = "sk-live-51c9-do-not-log"


@pytest.mark.slow
def test_a_flood_of_calls_is_refused_as_too_fast(arena: Stage) -> None:
    furnish(arena)
    script = "import asyncio\nawait asyncio.gather(*[call_tool('echo', {'n': n}) for n in range(15)])"
    result = arena.script(script, screening={"max_operations_per_second": 10}, validate=False)
    assert (code(result), detail(result)) == ("SECURITY_VIOLATION", "rate_limited")
    assert len(arena.seen) == 10


@pytest.mark.slow
def test_functions_of_the_host_share_the_rate(arena: Stage) -> None:
    furnish(arena)
    options: dict[str, Any] = {"globals": {"same": str}, "allow_functions_in_globals": True}
    script = "for n in range(8):\n    await call_tool('echo', {})\n    same(n)"
    options["globals"] = {"same": lambda value: value}  # type: ignore[reportUnknownLambdaType]
    result = arena.script(script, screening={"max_operations_per_second": 10}, **options)
    assert (code(result), detail(result)) == ("SECURITY_VIOLATION", "rate_limited")


@pytest.mark.slow
def test_an_enumeration_is_refused_and_pages_are_not(arena: Stage) -> None:
    furnish(arena)
    pages = "for page in range(31):\n    await call_tool('rows.load', {'page': page})\n'done'"
    options: dict[str, Any] = {"max_tool_calls": 1000, "screening": {"max_operations_per_second": 1000}}
    assert arena.script(pages, **options).value == "done"
    result = arena.script(pages.replace("31", "32"), **options)
    assert (code(result), detail(result)) == ("SECURITY_VIOLATION", "suspicious_sequence")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "admin.reset",
        "admin",
        "ADMIN.reset",
        "x.admin",
        "admin.echo",
        "echo.admin",
        "admin\u200b",
        "echo\nadmin",
        "echo ",
    ],
)
def test_no_spelling_goes_round_the_name_patterns(name: str, arena: Stage) -> None:
    furnish(arena)
    arena.tools[name] = arena.tools["echo"]
    patterns = {
        "allowed_operation_pattern": r"echo(\..*)?",
        "blocked_operation_patterns": [re.compile("admin", re.IGNORECASE)],
    }
    result = arena.script(f"await call_tool({name!r}, {{}})", screening=patterns, validate=False)
    assert code(result) in ("SECURITY_VIOLATION", "TOOL_ERROR")
    assert arena.seen == []


@pytest.mark.slow
def test_a_pattern_that_is_slow_on_hostile_names_costs_no_more_than_a_name(arena: Stage) -> None:
    furnish(arena)
    screening = {"blocked_operation_patterns": [re.compile(r"(a+)+b$")]}
    result = arena.script("await call_tool('a' * 24, {})", screening=screening, timeout=5.0)
    assert code(result) in ("SECURITY_VIOLATION", "TOOL_ERROR", None)


@rf.tool(effect="read")
async def log_in(user: str, password: str) -> str:
    """Log in.

    Args:
        user: Who.
        password: The password.
    """
    return f"{user}:{len(password)}"


@rf.tool(effect="read")
async def leaky(text: str) -> str:
    """Fail with a secret.

    Args:
        text: Any.
    """
    raise ValueError(f"connection refused: {SECRET} at /srv/app/db.py")


def told(result: rf.RunResult, logs: str) -> str:
    """Everything that a model, a log or an operator may see."""
    return f"{result.error} {result.error and result.error.as_dict()} {result.output} {result.calls!r} {result.value} {logs}"


@pytest.mark.slow
def test_refused_arguments_are_not_echoed(caplog: pytest.LogCaptureFixture) -> None:
    script = """
    secret = inputs["secret"]
    for args in ({"user": "u", "password": [secret]}, {"user": {"x": secret}, "password": "x"}, [secret], secret):
        try:
            await tools.log_in(args)
        except ToolError as error:
            print(error, error.message, error.hint)
    await tools.log_in({"user": "u", "password": {"x": secret}})
    """.replace("\n    ", "\n")
    with caplog.at_level(logging.DEBUG), rf.Enclave(tools=[log_in], sandbox=rf.local(unsafe=True)) as enclave:
        result = enclave.run_sync(script, {"secret": SECRET})
    assert (code(result), detail(result)) == ("TOOL_ERROR", "invalid_input")
    shown = told(result, caplog.text)
    assert "password" in shown
    assert SECRET not in shown


@pytest.mark.slow
def test_an_exception_of_a_tool_keeps_its_text(caplog: pytest.LogCaptureFixture) -> None:
    script = """
    answer = await tools.leaky({"text": "x"}, throw_on_error=False)
    print(answer)
    try:
        await tools.leaky(text="x")
    except ToolError as error:
        print(error, error.args, error.name, error.message, error.hint, repr(error))
    await tools.leaky(text="x")
    """.replace("\n    ", "\n")
    events: list[rf.Event] = []
    with caplog.at_level(logging.DEBUG), rf.Enclave(tools=[leaky], sandbox=rf.local(unsafe=True)) as enclave:
        enclave.on(None, events.append)
        result = enclave.run_sync(script)
    assert (code(result), detail(result)) == ("TOOL_ERROR", "tool_raised")
    shown = told(result, caplog.text) + repr(events)
    assert "ValueError" in shown
    assert SECRET not in shown
    assert "/srv/app" not in shown
    assert [SECRET in str(call.cause) for call in result.calls] == [True, True, True]  # for the host's author alone


@pytest.mark.slow
def test_the_text_of_a_huge_error_is_cut_in_linear_time(arena: Stage) -> None:
    furnish(arena)

    async def huge(_: Any) -> Any:
        raise rf.ToolError('File "/srv/app/x.py", line 1, in f\n' * 30_000)

    arena.tools["huge"] = huge
    result = arena.script("await call_tool('huge', {})", timeout=5.0)
    assert code(result) == "TOOL_ERROR"
    assert len(str(result.error)) < 10_000


@pytest.mark.slow
def test_a_script_cannot_reach_a_tool_that_it_was_not_given() -> None:
    script = """
    for name in ("leaky", "tools.leaky", "log_in.__call__", "log_in/../leaky", "log_in\\n", "LOG_IN", "log_in "):
        try:
            print(name, await call_tool(name, {"text": "x"}))
        except ToolError as error:
            print(error.code)
    """.replace("\n    ", "\n")
    with rf.Enclave(tools=[log_in], sandbox=rf.local(unsafe=True), validate=False) as enclave:
        result = enclave.run_sync(script)
    assert {call.status for call in result.calls} == {"refused"}
    assert result.error is None or result.error.code == "SECURITY_VIOLATION"


@pytest.mark.slow
def test_an_approver_is_asked_about_what_runs_and_cannot_be_flooded() -> None:
    asked: list[Any] = []

    async def approve(request: Any) -> bool:
        asked.append(request.input)
        await asyncio.sleep(0)
        return len(asked) < 3

    guarded = rf.Tool(
        name="guarded", description="Needs a person.", input={"type": "object", "properties": {"n": {"type": "integer"}}},
        execute=lambda args: args["n"], approval="human",
    )  # fmt: skip
    script = """
    import asyncio
    answers = await asyncio.gather(*[call_tool("guarded", {"n": n}) for n in range(50)], return_exceptions=True)
    "fine"
    """.replace("\n    ", "\n")
    with rf.Enclave(tools=[guarded], sandbox=rf.local(unsafe=True), approve=approve, max_concurrent_calls=2) as enclave:
        result = enclave.run_sync(script)
    assert code(result) == "APPROVAL_DENIED"
    assert len(asked) <= 5  # those that were being decided when one was denied
