"""One function answers a script's calls (enclave catalogue 4.1)."""

from __future__ import annotations

import asyncio
from textwrap import dedent
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, answering, code, detail, echo, failing, outcomes
from tests.requirements import requirement

pytestmark = pytest.mark.slow


@requirement("T01", "seed2.handler", "seed2.stats")
def test_a_script_counts_what_the_handler_answered(stage: Stage) -> None:
    stage.tools["users:list"] = answering({"items": [{"id": 1, "name": "Alice"}]})
    result = stage.script("users = await call_tool('users:list', {})\nreturn len(users['items'])")
    assert (result.success, result.status, result.value, result.error) == (True, "succeeded", 1, None)
    assert result.stats.tool_call_count == 1
    assert outcomes(result) == [("users:list", "succeeded", None)]


@requirement("T02", "seed2.signature")
@pytest.mark.parametrize("option", ["", ", throw_on_error=False", ", throw_on_error=True"])
def test_the_handler_gets_name_and_plain_arguments_whatever_the_options(stage: Stage, option: str) -> None:
    got: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    async def handler(*positional: Any, **named: Any) -> None:
        got.append((positional, named))

    result = stage.run(stage.enclave().run(f"await call_tool('users:get', {{'id': 7}}{option})", tool_handler=handler))
    assert result.success
    assert got == [(("users:get", {"id": 7}), {})]
    assert type(got[0][0][1]) is dict


@requirement("T03")
def test_a_failure_that_is_not_caught_ends_the_run_with_the_handlers_words(stage: Stage) -> None:
    stage.tools["x"] = failing(ValueError("Unknown tool: x"))
    result = stage.script("a = 1\nawait call_tool('x', {})")
    assert result.error is not None
    assert (result.success, result.status, result.value) == (False, "failed", None)
    assert (result.error.code, result.error.message, result.error.name) == (
        "TOOL_ERROR",
        "Unknown tool: x",
        "ValueError",
    )
    assert (result.error.line, detail(result), result.error.data["tool"]) == (2, "tool_raised", "x")


@requirement("T03")
def test_a_failure_that_is_caught_is_an_ordinary_exception(stage: Stage) -> None:
    stage.tools["x"] = failing(rf.ToolError("sold out", code="SOLD_OUT"))
    script = dedent("""
        try:
            await call_tool('x', {})
        except ToolError as error:
            return [error.name, error.message, error.code, error.tool_name, str(error)]
    """)
    result = stage.script(script)
    assert result.value == ["ToolError", "sold out", "SOLD_OUT", "x", "sold out"]


@requirement("T05")
@pytest.mark.parametrize("option", ["", ", throw_on_error=False"])
def test_without_a_handler_every_call_is_refused(stage: Stage, option: str) -> None:
    script = dedent(f"""
        try:
            await call_tool('a', {{}}{option})
        except ToolError as error:
            return error.code, str(error)
    """)
    caught = stage.script(script, tool_handler=None)
    assert caught.value == ["no_tool_handler", "this enclave has no tools (pass tools= or tool_handler=)"]
    uncaught = stage.script(f"await call_tool('a', {{}}{option})", tool_handler=None)
    assert (code(uncaught), detail(uncaught)) == ("TOOL_ERROR", "no_tool_handler")
    assert outcomes(uncaught) == [("a", "refused", "no_tool_handler")]


@requirement("T06")
def test_a_runs_own_handler_serves_that_run_only(stage: Stage) -> None:
    async def other(name: str, args: Any) -> str:
        return "B"

    stage.tools["who"] = answering("A")
    enclave = stage.enclave()

    async def body() -> list[Any]:
        first = await enclave.run("await call_tool('who', {})", tool_handler=other)
        second = await enclave.run("await call_tool('who', {})")
        return [first.value, second.value]

    assert stage.run(body()) == ["B", "A"]


@requirement("T06")
def test_runs_side_by_side_keep_their_handlers_apart(stage: Stage) -> None:
    both = asyncio.Barrier(2)

    def handler(answer: str) -> rf.ToolHandler:
        async def handle(name: str, args: Any) -> str:
            await both.wait()
            return answer

        return handle

    async def body() -> list[Any]:
        script = "await call_tool('who', {})"
        runs = (stage.enclave().run(script, tool_handler=handler(name)) for name in "AB")
        return [result.value for result in await asyncio.gather(*runs)]

    assert stage.run(body()) == ["A", "B"]


@requirement("T07", "seed2.async")
def test_calls_awaited_in_turn_answer_in_turn(stage: Stage) -> None:
    order: list[str] = []

    async def slow(args: Any) -> Any:
        order.append(f"begin {args['n']}")
        await asyncio.sleep(0.05)
        order.append(f"end {args['n']}")
        return args["n"]

    stage.tools["slow"] = slow
    result = stage.script("return [await call_tool('slow', {'n': 1}), await call_tool('slow', {'n': 2})]")
    assert result.value == [1, 2]
    assert order == ["begin 1", "end 1", "begin 2", "end 2"]
    assert result.stats.duration >= 0.1
    assert all(call.duration >= 0.05 for call in result.calls)


@requirement("T09")
def test_a_handler_that_returns_nothing_gives_none(stage: Stage) -> None:
    stage.tools["quiet"] = answering(None)
    assert stage.script("x = await call_tool('quiet', {})\nreturn [x, x is None]").value == [None, True]


@requirement("T10", "T26", "rec.3")
def test_each_side_keeps_a_copy_of_its_own(stage: Stage) -> None:
    held: dict[str, Any] = {"rows": [1, 2]}

    async def change(args: Any) -> Any:
        args["rows"].append("host")
        return held

    stage.tools["change"] = change
    stage.tools["echo"] = echo
    script = dedent("""
        mine = {'rows': [0]}
        got = await call_tool('change', mine)
        await call_tool('echo', {})
        before = list(got['rows'])
        got['rows'].append('script')
        return [mine, before, got, await call_tool('change', {'rows': []})]
    """)

    async def body() -> rf.RunResult:
        async def handler(name: str, args: Any) -> Any:
            if name == "echo":
                held["rows"].append(3)  # after it was returned once
            return await stage.handle(name, args)

        return await stage.enclave().run(script, tool_handler=handler)

    result = stage.run(body())
    assert result.value == [{"rows": [0]}, [1, 2], {"rows": [1, 2, "script"]}, {"rows": [1, 2, 3]}]
    assert held == {"rows": [1, 2, 3]}


@requirement("seed2.door")
def test_without_tools_a_script_only_computes(stage: Stage) -> None:
    script = dedent("""
        doors = []
        for attempt in (lambda: open('/etc/hostname'), lambda: __import__('socket').socket().connect(('127.0.0.1', 9))):
            try:
                attempt()
                doors.append('open')
            except Exception as error:
                doors.append('closed')
        return [sum(range(10)), doors]
    """)
    assert stage.script(script, tool_handler=None).value == [45, ["closed", "closed"]]
