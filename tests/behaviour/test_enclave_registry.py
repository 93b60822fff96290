"""Registries and lists behind a handler, and names that reach none (enclave catalogue 4.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from textwrap import dedent
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo
from tests.requirements import requirement

TRY = dedent("""
    seen = []
    for call in ({calls}):
        try:
            seen.append(await call())
        except ToolError as error:
            seen.append(str(error))
    return seen
""")


class Fetch(BaseModel):
    id: int


class Registry:
    """Tools by name, each with a schema: what a host may have already."""

    def __init__(self) -> None:
        self.tools: dict[str, tuple[type[BaseModel], Callable[[Any], Awaitable[Any]]]] = {}

    async def handle(self, name: str, args: Any) -> Any:
        entry = self.tools.get(name)
        if entry is None:
            raise LookupError(f"Unknown tool: {name}")
        schema, execute = entry
        return await execute(schema.model_validate(args))


@requirement("T55", "seed2.registry")
@pytest.mark.slow
def test_a_registry_behind_the_handler_looks_up_validates_and_runs(stage: Stage) -> None:
    async def fetch(args: Fetch) -> dict[str, Any]:
        return {"id": args.id, "name": "Alice"}

    registry = Registry()
    registry.tools["users:get"] = (Fetch, fetch)

    async def body(script: str) -> rf.RunResult:
        return await stage.enclave().run(script, tool_handler=registry.handle)

    assert stage.run(body("await call_tool('users:get', {'id': 1})")).value == {"id": 1, "name": "Alice"}
    unknown = stage.run(body("await call_tool('users:drop', {'id': 1})"))
    assert unknown.error is not None
    assert (code(unknown), unknown.error.message) == ("TOOL_ERROR", "Unknown tool: users:drop")
    invalid = stage.run(body("await call_tool('users:get', {'id': 'one'})"))
    assert invalid.error is not None
    assert (invalid.error.name, isinstance(invalid.calls[0].cause, ValidationError)) == ("ValidationError", True)


ALLOWED = ("users:list", "users:get", "data:read")


@requirement("T57", "seed2.list")
@pytest.mark.slow
def test_a_handlers_list_of_what_is_allowed_holds_for_methods_too(stage: Stage) -> None:
    async def handle(name: str, args: Any) -> Any:
        if name not in ALLOWED:
            raise PermissionError(f"Tool not allowed: {name}")
        return name

    calls = (
        "lambda: call_tool('users:get', {})",
        "lambda: call_tool('users:drop', {})",
        "lambda: users.get()",
        "lambda: users.drop()",
    )
    enclave = stage.enclave(tool_namespaces={"users": {"get": "users:get", "drop": "users:drop"}})
    result = stage.run(enclave.run(TRY.replace("{calls}", ", ".join(calls)), tool_handler=handle))
    refused = "Tool not allowed: users:drop"
    assert result.value == ["users:get", refused, "users:get", refused]
    assert [call.status for call in result.calls] == ["succeeded", "failed"] * 2


@requirement("T59", "EW9", "rec.3")
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a\n", "a\x00b", "a b", "../a", "a/b", "/etc/passwd", "a;b", "a'b", '"a"', "\u202ea", "ä", "1a", "_a",
        "a\u200b", "${a}", "{a}", "a\\",
    ],
)  # fmt: skip
def test_names_that_no_adapter_carries_reach_no_handler(stage: Stage, name: str) -> None:
    stage.tools[name] = echo
    result = stage.script("await call_tool(inputs['name'], {}, throw_on_error=False)", {"name": name})
    assert (code(result), detail(result), stage.seen) == ("SECURITY_VIOLATION", "name_refused", [])
    assert [(call.status, call.code) for call in result.calls] == [("refused", "name_refused")]


@requirement("T59")
@pytest.mark.slow
def test_a_name_has_at_most_256_characters(stage: Stage) -> None:
    for name in ("a" * 256, "a" * 257):
        stage.tools[name] = echo
    assert stage.script("await call_tool('a' * 256, {})").value == {}
    stage.seen.clear()
    longer = stage.script("await call_tool('a' * 257, {})")
    assert (code(longer), detail(longer), stage.seen) == ("TOOL_ERROR", "invalid_input", [])


@requirement("T61")
@pytest.mark.slow
def test_a_governed_tool_is_registered_once_and_can_be_listed(stage: Stage) -> None:
    @rf.tool(effect="read")
    def find(text: str) -> str:
        """Find a text."""
        return f"found {text}"

    def words(text: str) -> str:
        return f"words {text}"

    options: dict[str, Any] = {"sandbox": rf.local(unsafe=True)}
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(tools=[find, find], **options)
    assert caught.value.code == "duplicate_name"

    async def body() -> tuple[str, Any]:
        replaced = find.replace(description="Find words.", execute=words)
        async with rf.Enclave(tools=rf.Toolset([replaced]), **options) as enclave:
            return enclave.describe(), (await enclave.run("await tools.find(text='x')")).value

    described, value = stage.run(body())
    assert "find" in described
    assert "Find words." in described
    assert value == "words x"
