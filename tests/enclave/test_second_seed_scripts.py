"""Every script that the second seed prints runs as printed, with the results that it documents.

The scripts are quoted from that document, section by section, as test data; the handlers, namespaces and globals around
them are its own in Python. Options that it counts in milliseconds are seconds here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, outcomes, run

NOON: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

BASIC: Final = """
  const users = await callTool('users:list', {});
  return users.items.length;
"""
"""Second seed, Basic Tool Handler."""

NAMESPACES: Final = """
  const inbox = await mail.list({ unread: true });
  return await users.get({ id: inbox[0].from });
"""
"""Second seed, Tool Namespaces."""

OPTIONS: Final = """
const r = await callTool('users:get', { id }, { throwOnError: false });
if (r.success) return r.data;
return { failed: r.error.message }; // r.error: { name, message, code?, toolName }
"""
"""Second seed, callTool Options."""

GLOBALS: Final = """
  const userId = context.userId;
  const timestamp = formatDate(new Date());
  return { userId, timestamp };
"""
"""Second seed, Custom Globals."""

ONE_SHOT: Final = """
  return Math.max(1, 2, 3);
"""
"""Second seed, One-Shot Execution."""

RISKY: Final = """
  const result = await callTool('risky:operation', {});
  if (result.error) {
    return { success: false, reason: result.message };
  }
  return { success: true, data: result };
"""
"""Second seed, Tool Error Handling."""


async def basic(tool_name: str, args: Any) -> Any:
    """Second seed, Basic Tool Handler."""
    match tool_name:
        case "users:list":
            return {"items": [{"id": 1, "name": "Alice"}]}
        case "users:get":
            return {"id": args["id"], "name": "Alice"}
        case _:
            raise Exception(f"Unknown tool: {tool_name}")


def play(stage: Stage, source: str, **options: Any) -> rf.RunResult:
    return stage.script(source, language="javascript", timeout=10.0, **options)


def test_basic_tool_handler(stage: Stage) -> None:
    result = play(stage, BASIC, tool_handler=basic)
    assert (result.success, result.value, outcomes(result)) == (True, 1, [("users:list", "succeeded", None)])


def test_an_unknown_tool_is_the_handlers_own_error(stage: Stage) -> None:
    result = play(stage, BASIC.replace("users:list", "users:lost"), tool_handler=basic)
    assert result.error is not None
    assert (result.error.code, result.error.message, result.error.line) == ("TOOL_ERROR", "Unknown tool: users:lost", 2)


@pytest.mark.parametrize("alias", ["", "const m = mail;", "const { list } = mail;"])
def test_tool_namespaces(stage: Stage, alias: str) -> None:
    """Also aliased and taken apart, as the section says."""
    seen: list[tuple[str, Any]] = []

    async def handle(name: str, args: Any) -> Any:
        seen.append((name, args))
        return [{"from": 7, "subject": "Hi"}] if name == "mail.list" else await basic(name, args)

    source = NAMESPACES
    if alias:
        source = alias + source.replace("mail.list", "m.list" if "m =" in alias else "list")
    namespaces = {"mail": ["list", "send"], "users": {"get": "users:get"}}
    result = play(stage, source, tool_handler=handle, tool_namespaces=namespaces)
    assert (code(result), result.value) == (None, {"id": 7, "name": "Alice"})
    assert seen == [("mail.list", {"unread": True}), ("users:get", {"id": 7})]
    assert (outcomes(result), result.stats.tool_call_count) == (
        [("mail.list", "succeeded", None), ("users:get", "succeeded", None)],
        2,
    )


def test_call_tool_options_when_the_tool_succeeds(stage: Stage) -> None:
    result = play(stage, OPTIONS, tool_handler=basic, globals={"id": 1})
    assert (code(result), result.value) == (None, {"id": 1, "name": "Alice"})


def test_call_tool_options_when_the_tool_fails(stage: Stage) -> None:
    async def handle(name: str, args: Any) -> Any:
        raise rf.ToolError(f"no user {args['id']}", code="NOT_FOUND")

    result = play(stage, OPTIONS, tool_handler=handle, globals={"id": 9})
    assert (code(result), result.value, outcomes(result)) == (
        None,
        {"failed": "no user 9"},
        [("users:get", "failed", "tool_raised")],
    )
    fields = play(
        stage,
        "return (await callTool('users:get', { id }, { throwOnError: false })).error",
        tool_handler=handle,
        globals={"id": 9},
    )
    assert fields.value == {"name": "ToolError", "message": "no user 9", "code": "NOT_FOUND", "toolName": "users:get"}


@pytest.mark.parametrize("call", ["callTool('users:get', {}, OPTIONS)", "users.get({}, OPTIONS)"])
def test_refusals_of_the_enclave_always_throw(stage: Stage, call: str) -> None:
    source = f"const r = await {call.replace('OPTIONS', '{ throwOnError: false }')};\nreturn r;"
    namespaces = {"users": {"get": "users:get"}}
    result = play(stage, source, tool_handler=basic, tool_namespaces=namespaces, max_tool_calls=0)
    assert (code(result), detail(result), result.value) == ("MAX_TOOL_CALLS", "limit_exceeded", None)


@pytest.mark.parametrize(("limit", "ends"), [(50, None), (49, "MAX_TOOL_CALLS")])
def test_tool_call_limits(stage: Stage, limit: int, ends: str | None) -> None:
    source = "for (let id = 0; id < 50; id++) await callTool('users:get', { id });\nreturn 'done';"
    result = play(stage, source, tool_handler=basic, max_tool_calls=limit, screening={"enabled": False})
    assert (code(result), result.value) == (ends, None if ends else "done")


def test_custom_globals(stage: Stage) -> None:
    seen: list[Any] = []

    def format_date(date: datetime) -> str:
        seen.append(date)
        return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    result = play(
        stage,
        GLOBALS,
        tool_handler=basic,
        globals={"context": {"userId": "user-123", "tenantId": "tenant-456"}, "formatDate": format_date},
        allow_functions_in_globals=True,
        clock=NOON,
    )
    assert (code(result), result.value) == (None, {"userId": "user-123", "timestamp": "2026-03-01T12:00:00.000Z"})
    assert (seen, result.stats.global_call_count, result.stats.tool_call_count) == ([NOON], 1, 0)


def test_errors_and_new_of_custom_globals(stage: Stage) -> None:
    """Second seed, Custom Globals: without the host's stack; `new` is refused."""

    def fail() -> None:
        raise ValueError("broken")

    def attempt(source: str) -> rf.RunResult:
        return play(stage, source, globals={"fail": fail}, allow_functions_in_globals=True)

    caught = attempt("try { fail() } catch (e) { return [e.name, e.message, /\\.py|Traceback/.test(e.stack)] }")
    assert caught.value == ["ValueError", "broken", False]
    refused = attempt("try { return new fail() } catch (e) { return e instanceof TypeError }")
    assert (refused.value, refused.stats.global_call_count) == (True, 0)


def test_one_shot_execution() -> None:
    result = run(rf.run_agent_script(ONE_SHOT, language="javascript", timeout=1.0))
    assert (result.success, result.value) == (True, 3)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"rows": 3}, {"success": True, "data": {"rows": 3}}),
        (
            {"error": True, "code": "TOOL_ERROR", "message": "not today"},
            {"success": False, "reason": "not today"},
        ),
    ],
)
def test_tool_error_handling(stage: Stage, answer: dict[str, Any], value: dict[str, Any]) -> None:
    async def execute_tool_safely(name: str, args: Any) -> Any:
        if "error" in answer:
            raise rf.ToolError(answer["message"])
        return answer

    async def handle(name: str, args: Any) -> Any:
        try:
            return await execute_tool_safely(name, args)
        except rf.ToolError as error:
            return {"error": True, "code": "TOOL_ERROR", "message": str(error)}

    result = play(stage, RISKY, tool_handler=handle)
    assert (code(result), result.value, outcomes(result)) == (None, value, [("risky:operation", "succeeded", None)])


def test_securing_tool_access(stage: Stage) -> None:
    async def handle(name: str, args: Any) -> Any:
        if name not in ("users:list", "users:get", "data:read"):
            raise Exception(f"Tool not allowed: {name}")
        return await basic(name, args)

    assert play(stage, BASIC, tool_handler=handle).value == 1
    refused = play(stage, RISKY, tool_handler=handle)
    assert refused.error is not None
    assert (refused.error.code, refused.error.message) == ("TOOL_ERROR", "Tool not allowed: risky:operation")


def test_tool_call_statistics(stage: Stage) -> None:
    stats = play(stage, NAMESPACES.replace("mail.list", "users.list").replace("[0].from", ".items[0].id"),
                 tool_handler=basic, tool_namespaces={"users": {"list": "users:list", "get": "users:get"}}).stats  # fmt: skip
    assert (stats.tool_call_count, 0 < stats.duration < 10) == (2, True)
