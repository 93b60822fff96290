"""A script's calls on their way to the host and back: frames, answers, errors, and calls that nobody awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ringfence.enclave.engines.guest_errors import GlobalFunctionError, ToolArgumentError, ToolError, ToolRefused
from ringfence.enclave.engines.guest_names import AwaitedFunction, BlockingFunction, CallTool
from ringfence.errors import ErrorInfo
from tests.enclave.engines.guest import Guest, guest

DAY = date(2026, 1, 2)


class Odd(float):
    def __repr__(self) -> str:
        return "\udc00"


@pytest.fixture
def there() -> Iterator[Guest]:
    with guest() as made:
        yield made


@pytest.fixture
def call(there: Guest) -> CallTool:
    return CallTool(there.bridge)


def fmt(there: Guest) -> BlockingFunction:
    return BlockingFunction(there.bridge, 3, "fmt")


def test_a_call_is_a_frame_and_its_answer_the_value(there: Guest, call: CallTool) -> None:
    there.answer(1, {"a": 1})
    assert there.run(call("echo", {"x": "é"})) == {"a": 1}
    assert there.said() == [{"t": "call", "id": 1, "name": "echo", "args": {"x": "é"}}]


def test_dates_cross_both_ways(there: Guest, call: CallTool) -> None:
    there.answer(1, {"on": ["2026-01-02"], "sum": "1.50"}, {"date": [["on", 0]], "decimal": [["sum"]]})
    assert there.run(call("echo", {"from": DAY})) == {"on": [DAY], "sum": Decimal("1.50")}
    assert there.said() == [
        {"t": "call", "id": 1, "name": "echo", "args": {"from": "2026-01-02"}, "tags": {"date": [["from"]]}}
    ]


def test_answers_find_their_calls_in_any_order(there: Guest, call: CallTool) -> None:
    async def script() -> Any:
        calls = [asyncio.ensure_future(call("echo", {"n": n})) for n in range(3)]
        await asyncio.sleep(0)  # they are under way
        for number in (3, 1, 2):
            there.answer(number, number)
        return await asyncio.gather(*calls)

    assert there.run(script()) == [1, 2, 3]
    assert [one["args"]["n"] for one in there.said()] == [0, 1, 2]


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        pytest.param((), "Tool arguments must be an object; pass a dict, {} for none", id="missing"),
        pytest.param((None,), "Tool arguments must be an object, not NoneType; pass a dict", id="None"),
        pytest.param(("text",), "Tool arguments must be an object, not str; pass a dict", id="text"),
        pytest.param(([1],), "Tool arguments must be an object, not list; pass a dict", id="list"),
        pytest.param(({"a": [print]},), "argument a[0]: a value of type builtin_function_or_method is not data", id="function"),
        pytest.param(({"\ud800": 1},), "arguments: an object key is text with a lone surrogate, which is not Unicode", id="surrogate"),
        pytest.param(({"a": Odd("nan")},), "argument a: ? is not a finite number", id="surrogate in a message"),
        pytest.param(({"a": "x" * 70_000},), "arguments of 70008 bytes of JSON, more than 65536", id="large"),
        pytest.param(({"a": "é" * 40_000},), "arguments of 80008 bytes of JSON, more than 65536", id="bytes"),
        pytest.param(({"a": [DAY] * 600},), "arguments of too many dates, decimals, ids and bytes; send some of them as text", id="tags"),
    ],
)  # fmt: skip
def test_bad_arguments_are_left_to_the_host_to_refuse_and_count(
    there: Guest, call: CallTool, args: Any, fault: str
) -> None:
    """T11, T13."""
    there.fail(1, ErrorInfo(code="invalid_input", message="refused"))
    with pytest.raises(ToolArgumentError) as caught:
        there.run(call("echo", *args))
    assert isinstance(caught.value, TypeError)
    assert there.said() == [{"t": "call", "id": 1, "name": "echo", "args": None, "fault": fault}]


@pytest.mark.parametrize("name", ["", 5, None, b"echo"])
def test_a_name_that_is_no_text_is_refused_at_once(there: Guest, call: CallTool, name: Any) -> None:
    """T18."""
    with pytest.raises(TypeError, match="the tool's name must be text that is not empty"):
        call(name, {})
    assert (there.said(), there.bridge.unawaited()) == ([], None)


def test_a_failure_is_an_exception_with_what_the_host_said(there: Guest, call: CallTool) -> None:
    there.fail(1, ErrorInfo(code="tool_raised", message="broken", hint="try again"), "users:get", returnable=True)
    with pytest.raises(ToolError) as caught:
        there.run(call("users:get", {}))
    error = caught.value
    assert (error.message, error.code, error.name, error.tool_name, error.hint) == (
        "broken", "tool_raised", "ToolError", "users:get", "try again",
    )  # fmt: skip
    assert (type(error), str(error), error.call_id) == (ToolError, "broken (try again)", 1)


@pytest.mark.parametrize("option", [True, 0, None, "", "false", 5, []])
def test_only_false_asks_for_failures_as_data(there: Guest, call: CallTool, option: Any) -> None:
    """T30."""
    there.fail(1, ErrorInfo(code="tool_raised", message="broken"), returnable=True)
    with pytest.raises(ToolError):
        there.run(call("echo", {}, option))


def test_false_gives_the_failure_or_the_value_as_data(there: Guest, call: CallTool) -> None:
    """T27, C11."""
    there.fail(1, ErrorInfo(code="tool_raised", message="broken"), returnable=True)
    there.answer(2, "2026-01-02", {"date": [[]]})
    error = {"name": "ToolError", "message": "broken", "code": "tool_raised", "tool_name": "echo"}
    assert there.run(call("echo", {}, False)) == {"success": False, "error": error}
    assert there.run(call("echo", {}, throw_on_error=False)) == {"success": True, "data": DAY}


def test_what_may_not_be_returned_is_raised_all_the_same(there: Guest, call: CallTool) -> None:
    """T33."""
    there.fail(1, ErrorInfo(code="no_tool_handler", message="no"))
    with pytest.raises(ToolError):
        there.run(call("echo", {}, throw_on_error=False))


def test_after_a_terminal_refusal_no_call_leaves_the_guest(there: Guest, call: CallTool) -> None:
    there.fail(1, ErrorInfo(code="limit_exceeded", message="too many"), terminal=True)
    with pytest.raises(ToolRefused, match="too many"):
        there.run(call("echo", {}))
    assert len(there.said()) == 1
    later = [call("other", {}), call("other", {}, False), AwaitedFunction(there.bridge, 1, "f")()]
    for one in later:
        with pytest.raises(ToolRefused) as caught:
            there.run(one)
        assert (caught.value.code, caught.value.call_id) == ("limit_exceeded", 1)
    with pytest.raises(ToolRefused, match=r"^the run has already failed \(limit_exceeded\); no further call starts$"):
        fmt(there)(1)
    assert (there.said(), there.bridge.unawaited()) == ([], None)


def test_a_call_that_nobody_awaits_is_known_until_it_is_closed(there: Guest, call: CallTool) -> None:
    left = call("echo", {})
    also = AwaitedFunction(there.bridge, 1, "api.slow")()
    found = [there.bridge.unawaited()]
    for one in (left, also):
        one.close()
        found.append(there.bridge.unawaited())
    assert [one and one[0] for one in found] == ["echo", "api.slow", None]


@pytest.mark.parametrize("how", ["awaited", "closed"])
def test_a_call_that_has_ended_is_no_task_and_python_says_so(there: Guest, call: CallTool, how: str) -> None:
    there.answer(1, 5)

    async def script() -> Any:
        one = call("echo", {})
        if how == "awaited":
            await one
        else:
            one.close()
        await asyncio.create_task(one)

    with pytest.raises(RuntimeError, match=r"^cannot reuse already awaited coroutine$"):
        there.run(script())
    assert there.bridge.unawaited() is None


# functions in globals


def test_a_function_is_called_while_the_script_waits(there: Guest) -> None:
    """T90."""
    there.answer(1, "2026-01-02T00:00:00")
    assert fmt(there)(DAY, style={"iso": True}) == "2026-01-02T00:00:00"
    args = [["2026-01-02"], {"style": {"iso": True}}]
    assert there.said() == [{"t": "global", "id": 1, "function": 3, "args": args, "tags": {"date": [[0, 0]]}}]


def test_a_function_may_be_asynchronous(there: Guest) -> None:
    there.answer(1, ["2026-01-02"], {"date": [[0]]})
    assert there.run(AwaitedFunction(there.bridge, 4, "slow")(1)) == [DAY]
    assert there.said() == [{"t": "global", "id": 1, "function": 4, "args": [[1], {}]}]


def test_answers_that_come_while_the_script_waits_are_not_lost(there: Guest, call: CallTool) -> None:
    async def script() -> Any:
        calls = [asyncio.ensure_future(call(name, {})) for name in "ab"]
        await asyncio.sleep(0)  # both are under way
        there.answer(2, "b")
        there.answer(1, "a")
        there.answer(3, "now")
        return [fmt(there)("x"), fmt_later(), await asyncio.gather(*calls)]

    def fmt_later() -> Any:
        there.answer(4, "again")
        return fmt(there)("y")

    assert there.run(script()) == ["now", "again", ["a", "b"]]
    assert [one["t"] for one in there.said()] == ["call", "call", "global", "global"]


def test_a_function_works_where_the_library_calls_it(there: Guest) -> None:
    for number in (1, 2, 3):
        there.answer(number, 10 - number)
    assert sorted([1, 2, 3], key=fmt(there)) == [3, 2, 1]


def test_what_a_function_raises_keeps_name_and_text(there: Guest) -> None:
    """T98."""
    there.fail(1, ErrorInfo(code="global_raised", message="no date", name="ValueError"), "fmt")
    with pytest.raises(GlobalFunctionError) as caught:
        fmt(there)(1)
    error = caught.value
    assert (error.message, error.code, error.name, error.function_name) == (
        "no date",
        "global_raised",
        "ValueError",
        "fmt",
    )
    assert not isinstance(error, ToolError)


@pytest.mark.parametrize(
    ("args", "named", "fault"),
    [
        ((1, print), {}, "argument 2: a value of type builtin_function_or_method is not data"),
        ((1, [print]), {}, "argument 2[0]: a value of type builtin_function_or_method is not data"),
        ((), {"key": {"a": 1j}}, "argument key.a: a value of type complex is not data"),
        (("x" * 70_000,), {}, "arguments of 70009 bytes of JSON, more than 65536"),
    ],
)
def test_arguments_of_a_function_that_are_no_data_are_refused_by_their_place(
    there: Guest, args: Any, named: Any, fault: str
) -> None:
    there.fail(1, ErrorInfo(code="invalid_input", message="no"), "fmt")
    with pytest.raises(TypeError) as caught:
        fmt(there)(*args, **named)
    assert isinstance(caught.value, GlobalFunctionError)
    assert there.said() == [{"t": "global", "id": 1, "function": 3, "args": None, "fault": fault}]


def test_a_refusal_for_good_is_one_for_functions_too(there: Guest) -> None:
    there.fail(1, ErrorInfo(code="global_limit", message="no"), "fmt", terminal=True)
    with pytest.raises(ToolRefused):
        fmt(there)(1)
