"""Calls from a script to a plain handler: side by side, budgeted, copied, and answered with data (seed, 1.C and 4.1–4.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

import ringfence as rf
from tests.enclave.kit import Stage, answering, code, detail, echo, failing, never, outcomes
from tests.requirements import requirement

# the handler


def test_the_seeds_first_example_works(stage: Stage) -> None:
    """T01."""
    stage.tools["users:list"] = answering({"items": [{"id": 1}]})
    result = stage.script("users = await call_tool('users:list', {})\nreturn len(users['items'])")
    assert (result.success, result.value, result.stats.tool_call_count) == (True, 1, 1)


def test_the_handler_gets_the_name_and_the_arguments_and_nothing_else(stage: Stage) -> None:
    """T02."""
    got: list[tuple[Any, ...]] = []

    async def handler(*args: Any, **named: Any) -> None:
        got.append((args, named))

    result = stage.script("await call_tool('users:get', {'id': 7}, throw_on_error=False)", tool_handler=handler)
    assert (result.value, got) == ({"success": True, "data": None}, [(("users:get", {"id": 7}), {})])


def test_a_handler_may_be_synchronous(stage: Stage) -> None:
    def handler(name: str, args: Any) -> Any:
        return [name, args]

    result = stage.script("await call_tool('a', {'n': 1})", tool_handler=handler)
    assert (code(result), result.value) == (None, ["a", {"n": 1}])


def test_without_a_handler_every_call_is_refused(stage: Stage) -> None:
    """T05."""
    result = stage.script("await call_tool('a', {}, throw_on_error=False)", tool_handler=None)
    assert (code(result), detail(result), outcomes(result)) == (
        "TOOL_ERROR",
        "no_tool_handler",
        [("a", "refused", "no_tool_handler")],
    )
    assert stage.script("1 + 1", tool_handler=None).value == 2


def test_a_handler_may_be_given_for_one_run(stage: Stage) -> None:
    """T06."""
    stage.tools["a"] = answering("of the enclave")

    async def other(name: str, args: Any) -> Any:
        return ["of the run", name, args]

    async def body() -> list[Any]:
        enclave = stage.enclave()
        source = "await call_tool('a', {'n': 1})"
        first = await enclave.run(source, tool_handler=other)
        return [first.value, (await enclave.run(source)).value]

    assert stage.run(body()) == [["of the run", "a", {"n": 1}], "of the enclave"]


@pytest.mark.parametrize("handler", [5, "handler", []])
def test_a_runs_handler_is_a_function(stage: Stage, handler: Any) -> None:
    async def body() -> None:
        with pytest.raises(rf.ConfigError, match="tool_handler"):
            await stage.enclave().run("1", tool_handler=handler)

    stage.run(body())


def test_a_runs_handler_does_not_stand_in_for_governed_tools() -> None:
    async def handler(name: str, args: Any) -> None: ...

    with Stage() as stage:
        enclave = stage.enclave(tools=[])
        with pytest.raises(rf.ConfigError, match="governed tools"):
            stage.run(enclave.run("1", tool_handler=handler))


def test_structured_errors_of_a_handler_are_results(stage: Stage) -> None:
    """T105."""
    stage.tools["risky:operation"] = answering({"error": True, "code": "TOOL_ERROR", "message": "broken"})
    result = stage.script(
        "result = await call_tool('risky:operation', {})\nif result['error']:\n"
        "    return {'success': False, 'reason': result['message']}\nreturn {'success': True}"
    )
    assert (code(result), result.value) == (None, {"success": False, "reason": "broken"})


@pytest.mark.parametrize(
    ("source", "ends"),
    [
        ("await call_tool('bad', {})", "TOOL_ERROR"),
        ("raise ValueError('of /opt/ada/x')", "RUNTIME_ERROR"),
        ("1 / 0", "RUNTIME_ERROR"),
        ("def f(): return f()\nf()", "RUNTIME_ERROR"),
        ("x = (", "VALIDATION_ERROR"),
        ("await call_tool('bad', 5)", "TOOL_ERROR"),
        ("for n in range(10 ** 9): pass", "MAX_ITERATIONS"),
        ("[0] * 10 ** 10", "MEMORY_LIMIT_EXCEEDED"),
    ],
)
@pytest.mark.parametrize("sanitized", [True, False])
def test_traces_and_paths_of_the_host_are_in_no_error_where_that_is_asked_for(
    stage: Stage, source: str, ends: str, sanitized: bool
) -> None:
    """T109, O2."""
    stage.tools["bad"] = failing(OSError(2, "No such file", "/opt/ada/keys.txt"))
    result = stage.script(source, sanitize_stack_traces=sanitized)
    assert result.error is not None
    shown = repr(result.error.as_dict())
    assert (result.error.code, "/opt/ada" in shown and sanitized) == (ends, False)
    assert ("traceback" in result.error.data) <= (not sanitized)
    assert result.stats.duration > 0


def test_neither_the_script_nor_its_result_sees_a_path_in_a_handlers_code(stage: Stage) -> None:
    """T109."""
    error = rf.ToolError("of /opt/ada/x", code="/opt/ada/x")
    stage.tools["bad"] = failing(error)
    caught = "try:\n    await call_tool('bad', {})\nexcept ToolError as error:\n    return [error.code, error.message]"
    assert stage.script(caught, sanitize_stack_traces=True).value == ["<path>", "of <path>"]
    assert stage.script(caught, sanitize_stack_traces=False).value == ["/opt/ada/x", "of /opt/ada/x"]
    ended = stage.script("await call_tool('bad', {})", sanitize_stack_traces=True).error
    assert ended is not None
    assert (ended.data["tool_code"], "/opt/ada" in repr(ended)) == ("<path>", False)


@requirement("D10")
@pytest.mark.parametrize(
    "name", ["a b", "a/b", "../a", "1a", "_a", "$a", "a\n", "é", "a\x00", "tools.list()", "\ud800"]
)
def test_a_name_that_no_adapter_could_carry_is_refused(stage: Stage, name: str) -> None:
    """T59, D4k."""
    result = stage.script(f"await call_tool({name!r}, {{}})")
    assert (code(result), detail(result), stage.seen) == ("SECURITY_VIOLATION", "name_refused", [])
    assert (result.stats.tool_call_count, [call.status for call in result.calls]) == (1, ["refused"])


def test_a_name_that_is_too_long_is_refused(stage: Stage) -> None:
    result = stage.script("await call_tool('a' * 257, {})")
    assert (code(result), detail(result), stage.seen) == ("TOOL_ERROR", "invalid_input", [])


@requirement("D10")
@pytest.mark.parametrize("name", ["a", "users:list", "mail.send", "a_b-c.d:e", "A1", "a" * 256])
def test_other_names_reach_the_handler(stage: Stage, name: str) -> None:
    stage.tools[name] = echo
    assert (code(stage.script(f"await call_tool({name!r}, {{}})")), stage.seen) == (None, [(name, {})])


@pytest.mark.parametrize("name", ["''", "None", "5", "['a']", "b'a'"])
def test_a_name_that_is_no_text_is_a_mistake_in_the_script(stage: Stage, name: str) -> None:
    """T18."""
    result = stage.script(f"await call_tool({name}, {{}})")
    assert result.error is not None
    assert (result.error.code, result.error.name, result.stats.tool_call_count) == ("RUNTIME_ERROR", "TypeError", 0)


# side by side


def test_two_calls_are_in_flight_at_once(stage: Stage) -> None:
    here, there = asyncio.Event(), asyncio.Event()

    async def left(_: Any) -> str:
        here.set()
        await there.wait()
        return "left"

    async def right(_: Any) -> str:
        there.set()
        await here.wait()
        return "right"

    stage.tools.update(left=left, right=right)
    result = stage.script("import asyncio\nawait asyncio.gather(call_tool('left', {}), call_tool('right', {}))")
    assert (code(result), result.value) == (None, ["left", "right"])


def test_a_call_runs_while_the_script_goes_on(stage: Stage) -> None:
    started = asyncio.Event()

    async def slow(_: Any) -> str:
        started.set()
        await poked.wait()
        return "slow"

    async def poke(_: Any) -> None:
        await started.wait()
        poked.set()

    poked = asyncio.Event()
    stage.tools.update(slow=slow, poke=poke)
    result = stage.script(
        "import asyncio\ntask = asyncio.create_task(call_tool('slow', {}))\nawait call_tool('poke', {})\nawait task"
    )
    assert (code(result), result.value, stage.seen) == (None, "slow", [("poke", {}), ("slow", {})])


def test_answers_may_come_in_any_order(stage: Stage) -> None:
    gates = {n: asyncio.Event() for n in range(3)}

    async def wait(args: Any) -> int:
        n = args["n"]
        if n == 2:
            gates[2].set()
        await gates[n].wait()
        if n:
            gates[n - 1].set()
        return n

    stage.tools["wait"] = wait
    result = stage.script(
        "import asyncio\ndone = []\nasync def one(n):\n    done.append(await call_tool('wait', {'n': n}))\n"
        "await asyncio.gather(*(one(n) for n in range(3)))\ndone"
    )
    assert (result.value, [call.name for call in result.calls]) == ([2, 1, 0], ["wait"] * 3)


def test_calls_in_turn_are_in_order(stage: Stage) -> None:
    """T07."""
    stage.tools["n"] = echo
    result = stage.script("[(await call_tool('n', {'n': n}))['n'] for n in range(20)]")
    assert (result.value, [args["n"] for _, args in stage.seen]) == (list(range(20)), list(range(20)))


def test_no_more_calls_run_at_once_than_allowed_and_the_others_wait_their_turn(stage: Stage) -> None:
    running, most = 0, 0
    full = asyncio.Event()

    async def count(args: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            full.set()
        await full.wait()
        await asyncio.sleep(0)
        running -= 1
        return args["n"]

    stage.tools["count"] = count
    source = "import asyncio\nawait asyncio.gather(*(call_tool('count', {'n': n}) for n in range(30)))"
    result = stage.script(source, max_concurrent_calls=3)
    assert (result.value, most, result.stats.tool_call_count) == (list(range(30)), 3, 30)


@pytest.mark.slow
def test_a_thousand_calls_at_once_are_all_served(stage: Stage) -> None:
    stage.tools["n"] = echo
    source = (
        "import asyncio\nsum(r['n'] for r in await asyncio.gather(*(call_tool('n', {'n': n}) for n in range(1000))))"
    )
    result = stage.script(source, max_tool_calls=1000, max_concurrent_calls=1000)
    assert (result.value, result.stats.tool_call_count, len(result.calls)) == (499500, 1000, 1000)


# the budget


@requirement("B34")
def test_the_budget_is_reserved_before_a_call_is_dispatched(stage: Stage) -> None:
    """B34, T65."""
    stage.tools["n"] = echo
    source = "import asyncio\nawait asyncio.gather(*(call_tool('n', {'n': n}) for n in range(60)))"
    result = stage.script(source, max_tool_calls=20)
    assert (code(result), detail(result), len(stage.seen)) == ("MAX_TOOL_CALLS", "limit_exceeded", 20)
    assert {status for _, status, _ in outcomes(result)[20:]} == {"refused"}
    assert (result.value, result.status) == (None, "failed")


def test_the_fourth_of_three_calls_is_refused(stage: Stage) -> None:
    """T62."""
    stage.tools["n"] = echo
    result = stage.script("for n in range(4):\n    await call_tool('n', {'n': n})", max_tool_calls=3)
    assert result.error is not None
    assert (result.error.code, result.error.line, len(stage.seen)) == ("MAX_TOOL_CALLS", 2, 3)
    assert outcomes(result) == [("n", "succeeded", None)] * 3 + [("n", "refused", "limit_exceeded")]
    assert result.stats.tool_call_count == 4


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("for n in range(5):\n    try:\n        await call_tool('n', {})\n    except Exception: pass\nreturn 'fine'", id="Exception"),
        pytest.param("for n in range(5):\n    try:\n        await call_tool('n', {})\n    except BaseException: pass\nreturn 'fine'", id="BaseException"),
        pytest.param("import asyncio\nawait asyncio.gather(*(call_tool('n', {}) for n in range(9)), return_exceptions=True)\nreturn 'fine'", id="gather"),
        pytest.param("for n in range(5):\n    await call_tool('n', {}, throw_on_error=False)", id="as data"),
        pytest.param("import asyncio\nasync def one():\n    try:\n        await call_tool('n', {})\n    finally:\n        return 'fine'\n[await one() for n in range(5)]", id="finally"),
        pytest.param("import asyncio\ntasks = [asyncio.create_task(call_tool('n', {})) for n in range(5)]\nawait asyncio.sleep(0.01)\nreturn 'fine'", id="tasks"),
    ],
)  # fmt: skip
def test_catching_the_refusal_does_not_save_the_run(stage: Stage, source: str) -> None:
    """T63, W6."""
    stage.tools["n"] = echo
    result = stage.script(source, max_tool_calls=3)
    assert (code(result), len(stage.seen), result.value) == ("MAX_TOOL_CALLS", 3, None)


@pytest.mark.slow
def test_after_the_refusal_a_script_has_no_second_chance(stage: Stage) -> None:
    stage.tools["n"] = echo
    source = "while True:\n    try:\n        await call_tool('n', {})\n    except Exception: pass"
    result = stage.script(source, max_tool_calls=3, timeout=20.0)
    assert (code(result), len(stage.seen)) == ("MAX_TOOL_CALLS", 3)
    assert result.stats.duration < 2.0


def test_no_call_is_allowed_where_the_budget_is_nothing(stage: Stage) -> None:
    """E1."""
    result = stage.script("await call_tool('n', {})", max_tool_calls=0)
    assert (code(result), stage.seen) == ("MAX_TOOL_CALLS", [])
    assert stage.script("5", max_tool_calls=0).value == 5


def test_every_run_has_its_own_budget(stage: Stage) -> None:
    """T65."""
    stage.tools["n"] = echo
    source = "for _ in range(3):\n    await call_tool('n', {})"
    assert [code(stage.script(source, max_tool_calls=3)) for _ in range(3)] == [None] * 3


def test_refused_and_malformed_calls_use_up_the_budget(stage: Stage) -> None:
    """T11, C3."""
    source = "for n in range(3):\n    try:\n        await call_tool('n', 'text')\n    except TypeError: pass\nawait call_tool('n', {})"
    result = stage.script(source, max_tool_calls=3)
    assert (code(result), stage.seen) == ("MAX_TOOL_CALLS", [])


@requirement("B35")
def test_a_hundred_calls_are_counted_as_a_hundred(stage: Stage) -> None:
    """B35."""
    stage.tools["n"] = echo
    source = "import asyncio\nawait asyncio.gather(*(call_tool('n', {}) for _ in range(100)))\nNone"
    assert stage.script(source).stats.tool_call_count == 100


# arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param(", 'text'", "Tool arguments must be an object, not str", id="text"),
        pytest.param(", ['a']", "Tool arguments must be an object, not list", id="list"),
        pytest.param(", 5", "Tool arguments must be an object, not int", id="number"),
        pytest.param(", None", "Tool arguments must be an object, not NoneType", id="None"),
        pytest.param(", {'a'}", "Tool arguments must be an object, not set", id="set"),
        pytest.param("", "Tool arguments must be an object", id="missing"),
        pytest.param(", {'a': float('nan')}", "argument a: nan is not a finite number", id="NaN"),
        pytest.param(", {'a': [1, -float('inf')]}", "argument a[1]: -inf is not a finite number", id="infinity"),
        pytest.param(", cycle", "contains itself", id="cycle"),
        pytest.param(", {'a': {1: 2}}", "argument a: an object key is of type int, not text; use str(key)", id="number as key"),
        pytest.param(", {None: 2}", "an object key is of type NoneType, not text", id="None as key"),
        pytest.param(", {'a': '\\ud800'}", "argument a: text with a lone surrogate", id="surrogate"),
        pytest.param(", {'\\udc00': 1}", "surrogate", id="surrogate as key"),
        pytest.param(", {'a': lambda: 1}", "argument a: a value of type function is not data", id="function"),
        pytest.param(", {'a': object()}", "argument a: a value of type object is not data", id="object"),
        pytest.param(", {'a': call_tool}", "argument a: <function call_tool> is not data; use what it returns", id="bridge"),
        pytest.param(", {'a': (n for n in [1])}", "argument a: a value of type generator is not data", id="generator"),
        pytest.param(", {'a': int}", "argument a: a value of type type is not data", id="class"),
        pytest.param(", {'a': 1j}", "argument a: a value of type complex is not data", id="complex"),
        pytest.param(", deep", "deep", id="deep"),
        pytest.param(", {'a': 10 ** 5000}", "argument", id="number of 5000 digits"),
        pytest.param(", {'a': 'x' * 5_300_000}", "bytes", id="large"),
        pytest.param(", {'a': 'x' * 7_000_000}", "bytes", id="larger"),
        pytest.param(", {'a': [0] * 1_000_001}", "more than 1000000 values", id="many"),
    ],
)  # fmt: skip
def test_arguments_that_are_no_object_of_data_are_refused_and_counted(stage: Stage, arguments: str, text: str) -> None:
    """T11, T13, T15, T17."""
    stage.tools["a"] = echo
    source = (
        "cycle = {}\ncycle['a'] = [cycle]\ndeep = {}\nfor _ in range(100): deep = {'a': deep}\n"
        f"try:\n    await call_tool('a'{arguments})\nexcept TypeError as error:\n    return [error.code, str(error)]"
    )
    result = stage.script(source)
    assert (code(result), result.value[0], stage.seen) == (None, "invalid_input", [])
    assert text in result.value[1]
    assert (outcomes(result), result.stats.tool_call_count) == ([("a", "refused", "invalid_input")], 1)


@pytest.mark.parametrize("throw", ["True", "False"])
def test_an_uncaught_refusal_of_arguments_ends_the_run(stage: Stage, throw: str) -> None:
    """C12: never as data."""
    result = stage.script(f"\nawait call_tool('a', ['x'], throw_on_error={throw})")
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], result.error.line) == ("TOOL_ERROR", "invalid_input", 2)
    assert result.error.data["tool"] == "a"


@pytest.mark.parametrize(
    ("argument", "seen"),
    [
        ("{'a': None, 'b': True, 'c': 1.5, 'd': 'é\\U0001f600\\0', 'e': [], 'f': {}}", {"a": None, "b": True, "c": 1.5, "d": "é\U0001f600\0", "e": [], "f": {}}),
        ("{'a': 2 ** 53 + 1, 'b': -10 ** 40}", {"a": 2**53 + 1, "b": -(10**40)}),
        ("{'a': (1, 2), 'b': {3}, 'c': frozenset()}", {"a": [1, 2], "b": [3], "c": []}),
        ("{'__class__': 1, '__proto__': 2, 'constructor': 3, '': 4, 'a b': 5}", {"__class__": 1, "__proto__": 2, "constructor": 3, "": 4, "a b": 5}),
        ("{'a': datetime.date(2026, 1, 2), 'b': datetime.datetime(2026, 1, 2, 3), 'c': datetime.timedelta(hours=1)}", {"a": date(2026, 1, 2), "b": datetime(2026, 1, 2, 3), "c": timedelta(hours=1)}),
        ("{'a': decimal.Decimal('1.10'), 'b': b'hi', 'c': range(2), 'd': uuid.UUID(int=1)}", {"a": Decimal("1.10"), "b": b"hi", "c": [0, 1], "d": UUID(int=1)}),
        ("collections.OrderedDict(b=1, a=2)", {"b": 1, "a": 2}),
        ("collections.ChainMap({'a': 1}, {'b': 2})", {"a": 1, "b": 2}),
        ("types.MappingProxyType({'a': {'b': collections.Counter('x')}})", {"a": {"b": {"x": 1}}}),
        ("{'a': enum.Enum('E', 'X')(1)}", {"a": 1}),
        ("{'row': row, 'again': row}", {"row": {"n": 1}, "again": {"n": 1}}),
        ("{'a': 'x' * 5_000_000}", {"a": "x" * 5_000_000}),
    ],
)  # fmt: skip
def test_the_handler_sees_arguments_by_the_table_of_values(stage: Stage, argument: str, seen: Any) -> None:
    """T14, T17."""
    stage.tools["a"] = answering(None)
    imports = "import collections, datetime, decimal, enum, types, uuid\nrow = {'n': 1}\n"
    result = stage.script(f"{imports}await call_tool('a', {argument})")
    assert (code(result), stage.seen) == (None, [("a", seen)])


def test_arguments_and_results_are_copies_on_both_sides(stage: Stage) -> None:
    """T10, T26."""
    kept: dict[str, Any] = {"rows": [1]}

    async def change(args: Any) -> Any:
        args["mine"].append("host")
        return kept

    stage.tools["change"] = change
    result = stage.script(
        "args = {'mine': ['guest']}\nanswer = await call_tool('change', args)\nanswer['rows'].append(2)\n[args, answer]"
    )
    assert (result.value, kept) == ([{"mine": ["guest"]}, {"rows": [1, 2]}], {"rows": [1]})


# results


class Level(Enum):
    HIGH = "high"


@dataclass
class Point:
    x: int
    at: date


class Row(BaseModel):
    id: int
    price: Decimal


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, None),
        (0, 0),
        (2**70, 2**70),
        ("", ""),
        ("é\U0001f600\u2028\0", "é\U0001f600\u2028\0"),
        ([1, [2, {"a": None}]], [1, [2, {"a": None}]]),
        ((1, 2), [1, 2]),
        ({3}, [3]),
        ({"b": 1, "a": 2}, {"b": 1, "a": 2}),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), datetime(2026, 1, 2, 3, tzinfo=UTC)),
        (date(2026, 1, 2), date(2026, 1, 2)),
        (Decimal("1.10"), Decimal("1.10")),
        (UUID(int=1), UUID(int=1)),
        (Level.HIGH, "high"),
        (Point(1, date(2026, 1, 2)), {"x": 1, "at": date(2026, 1, 2)}),
        (Row(id=1, price=Decimal("2.50")), {"id": 1, "price": Decimal("2.50")}),
        ([Row(id=1, price=Decimal(1))], [{"id": 1, "price": Decimal(1)}]),
        ({"x": "eval('1')", "__class__": "x", "then": "y"}, {"x": "eval('1')", "__class__": "x", "then": "y"}),
        ("x" * 5_000_000, "x" * 5_000_000),
    ],
)  # fmt: skip
def test_a_result_reaches_the_script_as_data(stage: Stage, value: Any, seen: Any) -> None:
    """T09, T21, and 3.13 number 93."""
    stage.tools["a"] = answering(value)
    result = stage.script("value = await call_tool('a', {})\nprint(type(value).__name__)\nvalue")
    assert (code(result), result.value, result.output.strip()) == (None, seen, type(seen).__name__)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(lambda: 1, id="function"),
        pytest.param(object(), id="object"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param({"a": [float("inf")]}, id="infinity"),
        pytest.param("\ud800", id="surrogate"),
        pytest.param({"a": {(1, 2): 3}}, id="tuple as key"),
        pytest.param("x" * 5_300_000, id="large"),
        pytest.param([0] * 1_000_001, id="many"),
        pytest.param(asyncio.Event(), id="event"),
        pytest.param(10**5000, id="number of 5000 digits"),
    ],
)
def test_a_result_that_is_no_data_is_the_tools_failure(stage: Stage, value: Any) -> None:
    """C7, T23, T25, T34."""
    stage.tools["a"] = answering(value)
    uncaught = stage.script("await call_tool('a', {})")
    assert (code(uncaught), detail(uncaught), outcomes(uncaught)) == (
        "TOOL_ERROR",
        "bad_result",
        [("a", "failed", "bad_result")],
    )
    returned = stage.script(
        "answer = await call_tool('a', {}, throw_on_error=False)\n[answer['success'], answer['error']['code'], answer['error']['tool_name']]"
    )
    assert returned.value == [False, "bad_result", "a"]


def test_a_cyclic_result_is_the_tools_failure(stage: Stage) -> None:
    value: list[Any] = []
    value.append(value)
    stage.tools["a"] = answering(value)
    result = stage.script("await call_tool('a', {})")
    assert (code(result), detail(result)) == ("TOOL_ERROR", "bad_result")


# failures


class Rude(Exception):
    """Every part of it raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    @property
    def code(self) -> str:
        raise RuntimeError("no code")


class Coded(Exception):
    code = "E42"


def test_an_uncaught_failure_ends_the_run_with_its_text(stage: Stage) -> None:
    """T03."""
    stage.tools["a"] = failing(KeyError("Unknown tool: x"))
    result = stage.script("x = 1\nawait call_tool('a', {})")
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], result.error.name) == (
        "TOOL_ERROR",
        "tool_raised",
        "KeyError",
    )
    assert (result.error.line, result.error.data["tool"]) == (2, "a")
    assert "Unknown tool: x" in result.error.message
    assert outcomes(result) == [("a", "failed", "tool_raised")]


@requirement("D8", "B43")
@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (ValueError("bad"), "ValueError", "bad"),
        (ValueError(), "ValueError", "Tool call failed"),
        (rf.ToolError("no such order"), "ToolError", "no such order"),
        (OSError(2, "No such file"), "FileNotFoundError", "[Errno 2] No such file"),
        (ValueError("m" * 10_000), "ValueError", "m" * 4095 + "…"),
        (ValueError("\ud800é"), "ValueError", "?é"),
        (ValueError({"a": 1}), "ValueError", "{'a': 1}"),
        (Rude(), "Rude", "Tool call failed"),
        (SystemExit(3), "SystemExit", "3"),
        (GeneratorExit("g"), "GeneratorExit", "g"),
        (asyncio.CancelledError("mine"), "CancelledError", "cancelled"),
        (TimeoutError("slow"), "TimeoutError", "slow"),
        (MemoryError("memory limit exceeded"), "MemoryError", "memory limit exceeded"),
        (ExceptionGroup("two", [ValueError("x")]), "ExceptionGroup", "two (1 sub-exception)"),
        (RecursionError(), "RecursionError", "Tool call failed"),
    ],
)
def test_what_a_handler_raises_is_data_for_the_script(
    stage: Stage, error: BaseException, name: str, message: str
) -> None:
    """C9, T35, T94, B43."""
    stage.tools["a"] = failing(error)
    result = stage.script(
        "try:\n    await call_tool('a', {})\nexcept ToolError as error:\n"
        "    return [error.name, error.message, error.code, error.tool_name, type(error).__name__]"
    )
    assert result.value == [name, message, "tool_raised", "a", "ToolError"]


def test_a_failure_carries_nothing_of_the_host(stage: Stage) -> None:
    """V1, B127."""
    stage.tools["a"] = failing(ValueError("bad"))
    result = stage.script(
        "try:\n    await call_tool('a', {})\nexcept ToolError as error:\n"
        "    return [error.__cause__, error.__context__, [type(a).__name__ for a in error.args], sorted(vars(error)), str(error)]"
    )
    assert result.value == [None, None, ["str"], ["_call_id", "code", "hint", "message", "name", "tool_name"], "bad"]


@pytest.mark.parametrize("own", [rf.ToolError("nope", code="NOT_FOUND"), Coded("nope")])
def test_the_handlers_own_code_reaches_the_host(stage: Stage, own: Exception) -> None:
    """D-1."""
    stage.tools["a"] = failing(own)
    result = stage.script("await call_tool('a', {})")
    assert result.error is not None
    assert (result.error.code, result.error.data["code"]) == ("TOOL_ERROR", "tool_raised")
    assert result.error.data["tool_code"] == own.code  # type: ignore[attr-defined]


@requirement("B40")
def test_one_failure_of_many_stops_the_others_before_the_result_is_there(stage: Stage) -> None:
    """B40."""
    late: list[str] = []
    begun = asyncio.Event()

    async def slow(_: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            late.append("stopped")

    async def fail(_: Any) -> None:
        await begun.wait()
        raise rf.ToolError("broken")

    stage.tools.update(slow=slow, fail=fail)
    result = stage.script("import asyncio\nawait asyncio.gather(call_tool('slow', {}), call_tool('fail', {}))")
    assert (code(result), late) == ("TOOL_ERROR", ["stopped"])
    assert outcomes(result) == [("slow", "unknown", "interrupted"), ("fail", "failed", "tool_raised")]


# throw_on_error


def test_without_throwing_success_and_failure_are_data(stage: Stage) -> None:
    """T27, T28, C11."""
    stage.tools.update(good=answering({"n": 1}), bad=failing(ValueError("broken")), nothing=answering(None))
    result = stage.script("[await call_tool(name, {}, throw_on_error=False) for name in ('good', 'bad', 'nothing')]")
    assert result.value == [
        {"success": True, "data": {"n": 1}},
        {
            "success": False,
            "error": {"name": "ValueError", "message": "broken", "code": "tool_raised", "tool_name": "bad"},
        },
        {"success": True, "data": None},
    ]


@pytest.mark.parametrize("option", ["True", "0", "None", "''", "'false'", "[]", "5"])
def test_only_the_boolean_false_turns_failures_into_data(stage: Stage, option: str) -> None:
    """T29, T30."""
    stage.tools["bad"] = failing(ValueError("broken"))
    result = stage.script(f"await call_tool('bad', {{}}, throw_on_error={option})")
    assert (code(result), detail(result)) == ("TOOL_ERROR", "tool_raised")


@pytest.mark.parametrize(
    "call",
    [
        "call_tool('a', {}, False, 5)",
        "call_tool('a', {}, options=5)",
        "call_tool('a', {}, {'throwOnError': False})",
        "call_tool()",
        "call_tool(name='a', arguments={})",
    ],
)
def test_a_call_that_python_cannot_bind_is_a_mistake_in_the_script(stage: Stage, call: str) -> None:
    """T31: before the budget is touched."""
    result = stage.script(f"await {call}")
    assert result.error is not None
    assert (result.error.code, result.error.name, result.stats.tool_call_count) == ("RUNTIME_ERROR", "TypeError", 0)


def test_the_calls_parts_may_be_named(stage: Stage) -> None:
    stage.tools["a"] = echo
    assert stage.script("await call_tool(name='a', args={'n': 1}, throw_on_error=False)").value == {
        "success": True,
        "data": {"n": 1},
    }


# calls that nobody waits for


def test_a_call_that_is_open_at_the_end_is_cancelled_and_recorded_as_unknown(stage: Stage) -> None:
    """Decision 19: a plain handler declares no effects."""
    stage.tools["never"] = never
    source = "import asyncio\ntask = asyncio.create_task(call_tool('never', {}))\nawait asyncio.sleep(0.01)\n'done'"
    result = stage.script(source)
    assert (result.value, outcomes(result)) == ("done", [("never", "unknown", "interrupted")])


def test_a_call_whose_turn_never_came_is_recorded_as_refused(stage: Stage) -> None:
    stage.tools["never"] = never
    source = (
        "import asyncio\ntasks = [asyncio.create_task(call_tool('never', {})) for _ in range(3)]\n"
        "await asyncio.sleep(0.01)\n'done'"
    )
    result = stage.script(source, max_concurrent_calls=1)
    assert (result.value, len(stage.seen)) == ("done", 1)
    assert outcomes(result) == [("never", "unknown", "interrupted")] + [("never", "refused", "interrupted")] * 2


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\ncalls = [call_tool('a', {})]\n", 2),
        ("def f():\n    return call_tool('a', {})\nf()\nNone", 2),
        ("call = call_tool\ncall('a', {})\nawait call('a', {})", 2),
        ("x = [call_tool('a', {}),\n     call_tool('a', {})]", 1),
        ("[call_tool('a', {})]", 1),
        ("{'rows': call_tool('a', {})}", 1),
    ],
)
def test_a_forgotten_await_is_an_error_with_its_line_and_the_fix(stage: Stage, source: str, line: int) -> None:
    """B85, B91, decision 19."""
    stage.tools["a"] = echo
    result = stage.script(source)
    assert result.error is not None
    assert (result.error.code, result.error.name, result.error.line) == ("RUNTIME_ERROR", "UnawaitedCall", line)
    assert result.error.hint == f"line {line}: write await before the call"


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio\nt = asyncio.create_task(call_tool('a', {}))\nt.cancel()\ntry:\n    await t\nexcept asyncio.CancelledError: pass\nreturn 5",
        "import asyncio\ntry:\n    await asyncio.wait_for(call_tool('a', {}), 0)\nexcept TimeoutError: pass\nreturn 5",
        "import asyncio\ntry:\n    async with asyncio.TaskGroup() as g:\n        g.create_task(call_tool('a', {}))\n        raise ValueError\nexcept* ValueError: pass\nreturn 5",
    ],
)  # fmt: skip
def test_a_call_that_was_cancelled_before_it_began_is_not_a_forgotten_one(stage: Stage, source: str) -> None:
    stage.tools["a"] = echo
    result = stage.script(source)
    assert (result.error, result.value, stage.seen) == (None, 5, [])


def test_a_script_may_give_up_waiting_and_go_on(stage: Stage) -> None:
    stage.tools.update(never=never, a=echo)
    source = "import asyncio\ntry:\n    await asyncio.wait_for(call_tool('never', {}), 0.02)\nexcept TimeoutError: pass\nawait call_tool('a', {'n': 1})"
    result = stage.script(source)
    assert (result.value, outcomes(result)) == (
        {"n": 1},
        [("never", "unknown", "interrupted"), ("a", "succeeded", None)],
    )


# the whole result


def shape(result: rf.RunResult, **times: Callable[[float], bool]) -> dict[str, Any]:
    """A result as one value, with times and ids judged instead of compared."""
    stats = result.stats
    assert stats.duration > 0
    assert stats.approval_wait == 0
    assert result.run_id.startswith("r_")
    assert [call.call_id for call in result.calls] == [f"{result.run_id}.{n}" for n in range(1, len(result.calls) + 1)]
    assert all(0 <= call.duration <= stats.duration for call in result.calls)
    return {
        "success": result.success,
        "status": result.status,
        "value": result.value,
        "error": result.error,
        "output": result.output,
        "calls": [(call.name, call.status, call.code, call.line) for call in result.calls],
        "counted": (stats.tool_call_count, stats.output_bytes),
    }


def test_a_result_tells_everything_about_a_run_that_succeeded(stage: Stage) -> None:
    stage.tools.update(get=answering([3, 4]), put=echo)
    result = stage.script(
        "rows = await call_tool('get', {})\nprint(len(rows))\n\nawait call_tool('put', {'n': sum(rows)})"
    )
    assert shape(result) == {
        "success": True,
        "status": "succeeded",
        "value": {"n": 7},
        "error": None,
        "output": "2\n",
        "calls": [("get", "succeeded", None, 1), ("put", "succeeded", None, 4)],
        "counted": (2, 2),
    }


def test_a_result_tells_everything_about_a_run_that_failed(stage: Stage) -> None:
    stage.tools.update(get=answering(1), put=failing(ValueError("full")))
    result = stage.script("await call_tool('get', {})\nprint('é')\nawait call_tool('put', {})\nprint('never')")
    assert result.error is not None
    assert shape(result) == {
        "success": False,
        "status": "failed",
        "value": None,
        "error": rf.ErrorInfo(
            code="TOOL_ERROR",
            message="full",
            name="ValueError",
            line=3,
            data={
                "code": "tool_raised",
                "tool": "put",
                "call_id": f"{result.run_id}.2",
                "traceback": result.error.data["traceback"],
            },
        ),
        "output": "é\n",
        "calls": [("get", "succeeded", None, 1), ("put", "failed", "tool_raised", 3)],
        "counted": (2, 3),
    }
