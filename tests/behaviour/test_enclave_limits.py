"""What bounds a script, and the codes that say so (enclave catalogue 4.7)."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, answering, code, detail, echo, never, outcomes
from tests.requirements import requirement

# calls


@requirement("T62", "seed2.limit", "rec.1", "U3")
@pytest.mark.slow
def test_the_call_after_the_last_one_allowed_ends_the_run(stage: Stage) -> None:
    stage.tools["a"] = echo
    result = stage.script("for n in range(4):\n    await call_tool('a', {'n': n})\nreturn 'done'", max_tool_calls=3)
    assert result.error is not None
    assert (result.success, result.value, result.status) == (False, None, "failed")
    assert (result.error.code, detail(result), result.error.line) == ("MAX_TOOL_CALLS", "limit_exceeded", 2)
    assert (len(stage.seen), result.stats.tool_call_count) == (3, 4)
    assert outcomes(result) == [("a", "succeeded", None)] * 3 + [("a", "refused", "limit_exceeded")]


SWALLOW = {
    "except": "try:\n    await call_tool('a', {})\nexcept BaseException:\n    pass\nreturn 'fine'",
    "suppress": "import contextlib\nwith contextlib.suppress(BaseException):\n    await call_tool('a', {})\nreturn 'fine'",
    "as data": "await call_tool('a', {}, throw_on_error=False)\nreturn 'fine'",
    "gather": "import asyncio\nawait asyncio.gather(call_tool('a', {}), return_exceptions=True)\nreturn 'fine'",
    "task": "import asyncio\nasyncio.create_task(call_tool('a', {}))\nawait asyncio.sleep(0.01)\nreturn 'fine'",
    "finally": "try:\n    await call_tool('a', {})\nfinally:\n    return 'fine'",
    "another error": "try:\n    await call_tool('a', {})\nexcept ToolError:\n    raise ValueError('mine')",
    "another call": "for n in range(5):\n    try:\n        await call_tool('a', {})\n    except ToolError:\n        pass\nreturn 'fine'",
    "exit": "try:\n    await call_tool('a', {})\nexcept ToolError:\n    raise SystemExit(0)",
}


@requirement("T63", "rec.2", "EW6", "dec.15")
@pytest.mark.slow
@pytest.mark.parametrize("how", SWALLOW)
def test_a_script_that_catches_the_refusal_has_failed_all_the_same(stage: Stage, how: str) -> None:
    stage.tools["a"] = echo
    result = stage.script(SWALLOW[how], max_tool_calls=0)
    assert (code(result), detail(result), result.value) == ("MAX_TOOL_CALLS", "limit_exceeded", None)
    assert stage.seen == []


@requirement("T65")
@pytest.mark.slow
def test_the_budget_is_a_runs_own(stage: Stage) -> None:
    stage.tools["a"] = echo
    script = "for n in range(3):\n    await call_tool('a', {'n': n})\nreturn 'done'"
    results = [stage.script(script, max_tool_calls=3) for _ in range(3)]
    assert [(result.value, result.stats.tool_call_count) for result in results] == [("done", 3)] * 3


@requirement("T65", "dec.13")
@pytest.mark.slow
def test_calls_side_by_side_share_the_budget_and_ten_run_at_once(stage: Stage) -> None:
    running, most = 0, 0

    async def busy(args: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return args

    stage.tools["a"] = busy
    script = "import asyncio\nreturn len(await asyncio.gather(*(call_tool('a', {'n': n}) for n in range(50))))"
    limited = stage.script(script, max_tool_calls=10)
    assert (code(limited), len(stage.seen), limited.stats.tool_call_count) == ("MAX_TOOL_CALLS", 10, 50)
    stage.seen.clear()
    free = stage.script(script)
    assert (free.value, len(stage.seen), most) == (50, 50, 10)


# time

SPIN = {
    "at once": "while True: pass",
    "after an await": "await call_tool('a', {})\nwhile True: pass",
    "in a comprehension": "sum(1 for _ in iter(int, 1))",
    "in native code": "sum(range(10 ** 12))",
    "in a sort key": "sorted(range(10 ** 6), key=lambda x: sum(range(1_000)))",
    "in recursion": "def f(n):\n    return 1 if n == 0 else f(n - 1) + f(n - 1)\nf(60)",
    "in a pattern": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "in big numbers": "9 ** 9 ** 9",
    "in handlers": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "in a wait": "import asyncio\nawait asyncio.sleep(1000)",
    "in nothing": "import asyncio\nawait asyncio.Event().wait()",
}


@requirement("T66", "T67", "T71", "U4", "rec.4", "seed2.timeout", "EW8")
@pytest.mark.slow
@pytest.mark.parametrize("how", SPIN)
def test_a_script_that_spins_is_ended_when_its_time_is_up(stage: Stage, how: str) -> None:
    """Without the counting of turns, so that only time ends them."""
    stage.tools["a"] = echo
    result = stage.script(SPIN[how], validate=False, timeout=0.4)
    nothing_can_wake_it = how == "in nothing"  # which is said at once
    expected = ("RUNTIME_ERROR", "script_raised") if nothing_can_wake_it else ("TIMEOUT", "deadline_exceeded")
    assert (code(result), detail(result)) == expected
    assert result.stats.duration < 10
    assert stage.script("1 + 1", validate=False, timeout=0.4).value == 2


@requirement("T69", "U4", "rec.4", "EW4")
@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "await call_tool('a', {})",
        "await call_tool('a', {}, throw_on_error=False)",
        "import asyncio\nawait asyncio.gather(*(call_tool('a', {}) for _ in range(3)))",
    ],
)
def test_the_deadline_wins_over_a_tool_that_is_still_at_work(stage: Stage, call: str) -> None:
    cancelled: list[bool] = []

    async def hang(args: Any) -> None:
        try:
            await never(args)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    stage.tools["a"] = hang
    result = stage.script(f"{call}\nreturn 'late'", validate=False, timeout=0.4)
    assert (code(result), detail(result), result.value) == ("TIMEOUT", "deadline_exceeded", None)
    assert cancelled == [True] * len(result.calls)
    assert {record.status for record in result.calls} == {"unknown"}


@requirement("EW4", "EW1")
@pytest.mark.slow
def test_a_script_that_spins_holds_up_neither_the_loop_nor_another_script(stage: Stage) -> None:
    stage.tools["a"] = answering("quick")

    async def body() -> tuple[Any, bool, str | None]:
        enclave = stage.enclave(validate=False, timeout=2.0)
        spinning = asyncio.create_task(enclave.run("while True: pass"))
        quick = await enclave.run("await call_tool('a', {})")
        still = not spinning.done()
        enclave.abort()
        return quick.value, still, code(await spinning)

    assert stage.run(body()) == ("quick", True, "ABORTED")


# turns

LOOPS = {
    "for": "for n in range({n}):\n    total += 1",
    "while": "while total < {n}:\n    total += 1",
    "iterator": "import itertools\nfor n in itertools.islice(itertools.count(), {n}):\n    total += 1",
    "function": "def count():\n    made = 0\n    for n in range({n}):\n        made += 1\n    return made\ntotal = count()",
    "asynchronous": "async def numbers():\n    for n in range({n}):\n        yield n\nasync for n in numbers():\n    total += 1",
}
COMPREHENSIONS = {
    "comprehension": "total = len([n for n in range({n})])",
    "generator": "total = sum(1 for n in range({n}))",
    "set": "total = len({{n for n in range({n})}})",
    "dict": "total = len({{n: n for n in range({n})}})",
}


@requirement("T71", "dec.18")
@pytest.mark.slow
@pytest.mark.parametrize("how", COMPREHENSIONS)
def test_comprehensions_share_a_hundred_times_as_many_turns(stage: Stage, how: str) -> None:
    script = "{body}\nreturn total"
    exact = stage.script(script.format(body=COMPREHENSIONS[how].format(n=2_000)), max_iterations=20)
    assert (exact.value, exact.error) == (2_000, None)
    over = stage.script(script.format(body=COMPREHENSIONS[how].format(n=2_001)), max_iterations=20)
    assert (code(over), detail(over)) == ("MAX_ITERATIONS", "iteration_limit")


@requirement("T70", "dec.18", "U3")
@pytest.mark.slow
@pytest.mark.parametrize("how", LOOPS)
def test_a_loop_may_take_exactly_its_turns_and_not_one_more(stage: Stage, how: str) -> None:
    script = "total = 0\n{body}\nreturn total"
    exact = stage.script(script.format(body=LOOPS[how].format(n=200)), max_iterations=200)
    assert (exact.value, exact.error) == (200, None)
    over = stage.script(script.format(body=LOOPS[how].format(n=201)), max_iterations=200)
    assert (code(over), detail(over)) == ("MAX_ITERATIONS", "iteration_limit")


@requirement("T70", "rec.2")
@pytest.mark.slow
def test_the_limit_of_turns_cannot_be_caught(stage: Stage) -> None:
    script = "try:\n    while True: pass\nexcept BaseException:\n    pass\nfinally:\n    return 'fine'"
    result = stage.script(script, max_iterations=200)
    assert (code(result), result.value) == ("MAX_ITERATIONS", None)


@requirement("T71", "dec.18")
@pytest.mark.slow
def test_nested_loops_have_a_hundred_times_as_many_turns_in_all(stage: Stage) -> None:
    script = "total = 0\nfor a in range({n}):\n    for b in range(200):\n        total += 1\nreturn total"
    assert stage.script(script.format(n=99), max_iterations=200).value == 99 * 200
    assert code(stage.script(script.format(n=101), max_iterations=200)) == "MAX_ITERATIONS"


@requirement("T71", "U1")
@pytest.mark.slow
def test_recursion_ends_in_an_error_that_can_be_caught(stage: Stage) -> None:
    script = "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n    return 'deep'"
    assert stage.script(script).value == "deep"


# memory

BOMBS = [
    "'x' * 10 ** 10",
    "[0] * 10 ** 9",
    "bytearray(10 ** 10)",
    "list(range(10 ** 9))",
    "f'{1:{10 ** 10}}'",
    "' '.join(['x' * 10 ** 6] * 10 ** 4)",
]


@requirement("T73", "EW5", "U3")
@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_single_huge_allocation_ends_its_own_run_only(stage: Stage, bomb: str) -> None:
    result = stage.script(f"x = {bomb}\nreturn len(x)", memory_limit="64MB")
    assert (code(result), detail(result)) == ("MEMORY_LIMIT_EXCEEDED", "memory_limit")
    assert stage.script("'fine'", memory_limit="64MB").value == "fine"


@requirement("U5", "rec.9")
@pytest.mark.slow
def test_what_was_freed_does_not_count(stage: Stage) -> None:
    """Seven times the limit in all, never more than two fifths of it at once."""
    script = "total = 0\nfor n in range(40):\n    text = 'x' * (12 * 1024 * 1024) + str(n)\n    total += len(text)\nreturn total"
    assert stage.script(script, memory_limit="64MB").value == 40 * 12 * 1024 * 1024 + 70
    pieces = "text = ''\nfor n in range(1_000):\n    text += 'x' * 1_000\nreturn len(text)"
    assert stage.script(pieces, memory_limit="64MB").value == 1_000_000


# values and output


@requirement("T74", "rec.1", "U3")
@pytest.mark.slow
@pytest.mark.parametrize("value", ["'x' * 6_000_000", "['x' * 1_000] * 6_000", "{str(n): n for n in range(501)}"])
def test_a_value_beyond_the_limit_has_a_code_of_its_own(stage: Stage, value: str) -> None:
    result = stage.script(f"return {value}")
    assert (code(result), detail(result)) == ("SERIALIZATION_LIMIT_EXCEEDED", "result_too_large")


@requirement("T75", "U10")
@pytest.mark.slow
def test_what_is_printed_is_in_the_result(stage: Stage) -> None:
    result = stage.script(
        "print('one', 2, sep='-')\nimport sys\nprint('err', file=sys.stderr)\nprint('ä', end='')\nreturn 7"
    )
    assert (result.value, result.output) == (7, "one-2\nerr\nä")
    assert result.stats.output_bytes == len("one-2\nerr\nä".encode())


@requirement("T75", "rec.2", "U3")
@pytest.mark.slow
@pytest.mark.parametrize(
    "printing",
    ["print('x' * 5_000)", "for _ in range(500):\n    print('123456789')", "import sys\nsys.stdout.write('y' * 5_000)"],
)
def test_printing_more_than_allowed_ends_the_run_and_keeps_what_fits(stage: Stage, printing: str) -> None:
    result = stage.script(f"{printing}\nreturn 'fine'", max_output="2KB")
    assert (code(result), detail(result), result.value) == ("OUTPUT_LIMIT", "output_limit", None)
    assert len(result.output) == result.stats.output_bytes == 2048


# options

FIGURES: dict[str, dict[str, Any]] = {
    "STRICT": {
        "timeout": 5.0,
        "max_tool_calls": 10,
        "max_iterations": 1_000,
        "max_value_depth": 5,
        "max_value_members": 50,
        "max_output": 65_536,
        "allow_functions_in_globals": False,
        "sanitize_stack_traces": True,
    },
    "SECURE": {
        "timeout": 15.0,
        "max_tool_calls": 50,
        "max_iterations": 5_000,
        "max_value_depth": 10,
        "max_value_members": 100,
        "max_output": 262_144,
        "allow_functions_in_globals": False,
        "sanitize_stack_traces": True,
    },
    "STANDARD": {
        "timeout": 30.0,
        "max_tool_calls": 100,
        "max_iterations": 10_000,
        "max_value_depth": 20,
        "max_value_members": 500,
        "max_output": 1_048_576,
        "allow_functions_in_globals": False,
        "sanitize_stack_traces": False,
    },
    "PERMISSIVE": {
        "timeout": 60.0,
        "max_tool_calls": 1_000,
        "max_iterations": 100_000,
        "max_value_depth": 50,
        "max_value_members": 1_000,
        "max_output": 10_485_760,
        "allow_functions_in_globals": True,
        "sanitize_stack_traces": False,
    },
}
SHARED = {"language": "python", "max_concurrent_calls": 10, "memory_limit": 256 * 1024 * 1024, "validate": True}


@requirement("T77", "dec.13", "B88")
@pytest.mark.parametrize("level", FIGURES)
def test_each_level_sets_its_figures(level: rf.SecurityLevel) -> None:
    config = rf.Enclave(security_level=level).effective_config()
    expected: dict[str, Any] = FIGURES[level] | SHARED | {"security_level": level}
    expected["max_global_function_calls"] = FIGURES[level]["max_tool_calls"] * 10
    assert {name: getattr(config, name) for name in expected} == expected


@requirement("T77", "dec.13")
def test_standard_is_the_level_where_none_is_given() -> None:
    assert rf.Enclave().effective_config() == rf.Enclave(security_level="STANDARD").effective_config()


@requirement("T77", "U7", "rec.5")
@pytest.mark.parametrize("name", sorted(rf.EnclaveOptions.__annotations__))
def test_none_leaves_the_default(name: str) -> None:
    options: dict[str, Any] = {name: None}
    assert rf.Enclave(**options).effective_config() == rf.Enclave().effective_config()


@requirement("T77")
@pytest.mark.parametrize(
    ("name", "given", "holds"),
    [
        ("timeout", 2, 2.0), ("timeout", 0.5, 0.5), ("max_tool_calls", 0, 0), ("max_tool_calls", 7, 7), ("max_iterations", 5, 5),
        ("max_global_function_calls", 3, 3), ("max_global_function_calls", 0, 0), ("memory_limit", "64MB", 64 * 1024 * 1024),
        ("max_output", "1KB", 1024), ("max_value_depth", 3, 3), ("max_value_members", 9, 9), ("max_concurrent_calls", 1, 1),
        ("allow_functions_in_globals", True, True), ("sanitize_stack_traces", False, False),
    ],
)  # fmt: skip
def test_an_option_goes_before_its_level(name: str, given: Any, holds: Any) -> None:
    options: dict[str, Any] = {name: given, "security_level": "STRICT"}
    assert getattr(rf.Enclave(**options).effective_config(), name) == holds


NUMBERS = (
    "max_tool_calls",
    "max_global_function_calls",
    "max_iterations",
    "max_concurrent_calls",
    "max_value_depth",
    "max_value_members",
)
SIZES = ("memory_limit", "max_output")


@requirement("T78", "T95", "rec.5")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *itertools.product(NUMBERS, (-1, 1.5, float("nan"), float("inf"), True, "5", [5])),
        *itertools.product(SIZES, (-1, 0, 1.5, float("nan"), True, "5 apples", "-1MB", [5])),
        *itertools.product(("timeout",), (-1, 0, float("nan"), float("inf"), True, "5", [5])),
    ],
)
def test_a_limit_that_is_no_such_number_is_refused_by_name(name: str, value: Any) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(**options)
    assert isinstance(caught.value, TypeError)
    assert name in caught.value.message


@requirement("rec.5")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("security_level", "standard"), ("security_level", "PARANOID"), ("security_level", 3), ("language", "ruby"), ("validate", 1),
        ("sanitize_stack_traces", "no"), ("allow_functions_in_globals", "yes"), ("preload", "numpy"), ("preload", ["../x"]),
        ("clock", "2024-01-01"), ("seed", 1.5), ("globals", [1]), ("tool_namespaces", "mail"),
    ],
)  # fmt: skip
def test_any_other_option_is_judged_as_well(name: str, value: Any) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(**options)
    assert caught.value.code in ("bad_config", "bad_name")


@requirement("rec.5")
@pytest.mark.parametrize(
    ("name", "meant"), [("timeuot", "timeout"), ("max_toolcalls", "max_tool_calls"), ("nothing", None)]
)
def test_an_option_that_does_not_exist_is_a_type_error(name: str, meant: str | None) -> None:
    options: dict[str, Any] = {name: 1}
    with pytest.raises(TypeError) as caught:
        rf.Enclave(**options)
    assert name in str(caught.value)
    assert meant is None or meant in str(caught.value)


@requirement("B88")
@pytest.mark.slow
def test_a_runaway_script_meets_a_limit_without_any_option(stage: Stage) -> None:
    assert code(stage.script("for n in iter(int, 1): pass")) == "MAX_ITERATIONS"
    assert code(stage.script("x = []\nfor n in range(9_000):\n    x.append('x' * 10 ** 6)")) == "MEMORY_LIMIT_EXCEEDED"
    assert code(stage.script("print('x' * 2_000_000)")) == "OUTPUT_LIMIT"
    stage.tools["a"] = echo
    assert code(stage.script("for n in range(101):\n    await call_tool('a', {})")) == "MAX_TOOL_CALLS"
