"""What a run may use, and what ends it: time, processor, memory, output, size, and an abort from anywhere (seed 1.H, 4.7)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, answering, code, detail, echo, failing, never, outcomes

OVERSHOOT = 1.0
"""Seconds that a run may outlive its timeout."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "def f(n): return n and f(n - 1)\nwhile True: f(50)",
        "import asyncio\nawait asyncio.sleep(9)",
        "await call_tool('never', {})",
    ],
)
def test_a_run_ends_when_its_time_is_up(stage: Stage, source: str) -> None:
    """T66, T67, T69, D-4."""
    stage.tools["never"] = never
    result = stage.script(source, timeout=0.3, validate=False)  # else loops are counted
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], result.status) == ("TIMEOUT", "deadline_exceeded", "failed")
    assert (result.error.message, result.error.hint) == (
        "the script ran longer than 0.3 s",
        "do less in one script, or raise timeout",
    )
    assert 0.3 <= result.stats.duration <= 0.3 + OVERSHOOT


@pytest.mark.slow
def test_a_tool_that_runs_when_time_is_up_is_cancelled_and_waited_for(stage: Stage) -> None:
    ended: list[str] = []

    async def slow(_: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("unwound")

    stage.tools["slow"] = slow
    result = stage.script("await call_tool('slow', {})", timeout=0.3)
    assert (code(result), ended, outcomes(result)) == ("TIMEOUT", ["unwound"], [("slow", "unknown", "interrupted")])


@pytest.mark.slow
def test_a_handler_that_will_not_be_cancelled_is_left_behind_and_recorded(stage: Stage) -> None:
    """B41."""
    released: list[asyncio.Event] = []

    async def stubborn(_: Any) -> None:
        released.append(asyncio.Event())
        while True:
            try:
                await released[0].wait()
                return
            except asyncio.CancelledError:
                continue

    async def body() -> rf.RunResult:
        result = await stage.enclave(timeout=0.3).run("await call_tool('stubborn', {})")
        released[0].set()
        return result

    stage.tools["stubborn"] = stubborn
    result = stage.run(body())
    assert (code(result), outcomes(result)) == ("TIMEOUT", [("stubborn", "unknown", "interrupted")])
    assert result.stats.duration < 0.3 + 4


@pytest.mark.parametrize(
    ("source", "ends"),
    [
        ("for n in range(10): pass\n'done'", None),
        ("for n in range(11): pass\n'done'", "MAX_ITERATIONS"),
        ("n = 0\nwhile n < 10: n += 1\n'done'", None),
        ("while True: pass", "MAX_ITERATIONS"),
        ("for a in range(9):\n    for b in range(9): pass\n'done'", None),
        ("[n for n in range(1_000)]\n'done'", None),
        ("[n for n in range(1_001)]\n'done'", "MAX_ITERATIONS"),
        ("try:\n    while True: pass\nexcept BaseException: pass\n'done'", "MAX_ITERATIONS"),
    ],
)
def test_turns_of_a_loop_are_counted(stage: Stage, source: str, ends: str | None) -> None:
    """T70."""
    result = stage.script(source, max_iterations=10)
    assert (code(result), detail(result), result.value) == (
        ends,
        None if ends is None else "iteration_limit",
        "done" if ends is None else None,
    )


def test_a_level_counts_as_it_says_and_none_counts_without_validation(stage: Stage) -> None:
    source = "for n in range(1_001): pass\n'done'"
    assert code(stage.script(source, security_level="STRICT")) == "MAX_ITERATIONS"
    assert stage.script(source, security_level="STRICT", validate=False).value == "done"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 1\nfor _ in range(21): x = [x]\nx", "nested deeper than 20 levels"),
        ("{str(n): n for n in range(501)}", "members"),
    ],
)
def test_a_value_beyond_the_levels_shape_names_the_limit(stage: Stage, source: str, text: str) -> None:
    """B7."""
    result = stage.script(source)
    assert result.error is not None
    assert (result.error.code, text in result.error.message) == ("SERIALIZATION_LIMIT_EXCEEDED", True)
    assert stage.script(source, max_value_depth=30, max_value_members=600).success


@pytest.mark.parametrize(
    "source",
    [
        "rows = []\nwhile True: rows.append('x' * 100)",
        "import asyncio\nasync def f(): await asyncio.sleep(9)\ntasks = []\nwhile True: tasks.append(asyncio.create_task(f()))",
        "x = {}\nn = 0\nwhile True:\n    x[n] = [n]\n    n += 1",
        "try:\n    x = []\n    while True: x.append([1] * 100)\nfinally:\n    y = [1] * 10_000_000",
    ],
)
def test_memory_that_is_used_up_little_by_little_is_named_too(stage: Stage, source: str) -> None:
    """Also where the guest cannot say so any more."""
    result = stage.script(source, memory_limit="32MB", timeout=20.0, validate=False)
    assert (code(result), detail(result)) == ("MEMORY_LIMIT_EXCEEDED", "memory_limit")


def test_a_run_may_use_its_time_to_the_full(stage: Stage) -> None:
    result = stage.script("import asyncio\nawait asyncio.sleep(0.1)\n'done'", timeout=0.3)
    assert (code(result), result.value) == (None, "done")


@pytest.mark.parametrize(
    "source",
    [
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
        "'x' * 10 ** 10",
        "[0] * 10 ** 9",
        "x = 'x'\nwhile True: x += x",
    ],
)
def test_memory_beyond_the_limit_ends_the_run(stage: Stage, source: str) -> None:
    """T73."""
    result = stage.script(source, memory_limit="32MB", timeout=5.0)
    assert (code(result), detail(result)) == ("MEMORY_LIMIT_EXCEEDED", "memory_limit")


def test_memory_comes_back_and_a_run_within_the_limit_passes(stage: Stage) -> None:
    """H4, U5, D-9: garbage does not count."""
    source = "for _ in range(50):\n    x = bytearray(12 << 20)\nlen(x)"
    assert stage.script(source, memory_limit="32MB", timeout=5.0).value == 12 << 20


def test_a_script_may_catch_its_memory_error_and_go_on(stage: Stage) -> None:
    source = "try:\n    x = bytearray(1 << 30)\nexcept MemoryError:\n    x = 'smaller'\nx"
    assert stage.script(source, memory_limit="32MB", timeout=5.0).value == "smaller"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("print('x' * 99, end='')", "x" * 99),
        ("print('x' * 99)", "x" * 99 + "\n"),
        ("print('é' * 50, end='')", "é" * 50),
    ],
)
def test_output_up_to_the_limit_passes(stage: Stage, source: str, text: str) -> None:
    result = stage.script(source, max_output=100)
    assert (code(result), result.output) == (None, text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("print('x' * 100)", "x" * 100),
        ("print('x' * 99)\nprint('y')", "x" * 99 + "\n"),
        ("print('é' * 51)", "é" * 50),
        ("print('x' + 'é' * 50)", "x" + "é" * 49),
        ("while True: print('x' * 9)", ("x" * 9 + "\n") * 10),
        ("import asyncio\nfor _ in range(99):\n    print('x' * 9)\n    await asyncio.sleep(0)", ("x" * 9 + "\n") * 10),
    ],
)
def test_output_beyond_the_limit_ends_the_run_and_what_fits_is_kept(stage: Stage, source: str, text: str) -> None:
    """T75."""
    result = stage.script(source, max_output=100)
    assert (code(result), detail(result), result.output) == ("OUTPUT_LIMIT", "output_limit", text)
    assert result.stats.output_bytes == 100


@pytest.mark.parametrize(
    "source",
    ["'x' * 5_250_000", "'x' * 8_000_000", "[0] * 1_000_001", "x = 0\nfor _ in range(70): x = [x]\nx"],
)
def test_a_value_that_is_too_large_ends_the_run(stage: Stage, source: str) -> None:
    """T74."""
    result = stage.script(source, timeout=5.0)
    assert (code(result), detail(result)) == ("SERIALIZATION_LIMIT_EXCEEDED", "result_too_large")


def test_a_large_value_within_the_limit_arrives(stage: Stage) -> None:
    result = stage.script("{'rows': [{'n': n, 'name': f'row {n}'} for n in range(10_000)]}", timeout=5.0)
    assert (code(result), len(result.value["rows"]), result.value["rows"][-1]) == (
        None,
        10_000,
        {"n": 9999, "name": "row 9999"},
    )


def test_a_source_that_is_too_long_is_refused_without_a_worker(stage: Stage) -> None:
    result = stage.script("x = '" + "x" * (1 << 20) + "'")
    assert (code(result), detail(result), result.stats.tool_call_count) == ("VALIDATION_ERROR", "script_rejected", 0)
    assert result.stats.duration > 0  # T106


def test_a_source_that_is_no_unicode_is_refused(stage: Stage) -> None:
    result = stage.script("x = '\ud800'")
    assert (code(result), detail(result)) == ("VALIDATION_ERROR", "script_rejected")


def test_what_failed_calls_hold_is_bounded(stage: Stage) -> None:
    """An exception keeps the arguments of its call."""
    error = ValueError("no")
    stage.tools["bad"] = failing(error)
    source = "for n in range(12):\n    await call_tool('bad', {'a': 'x' * 1_500_000}, throw_on_error=False)"
    result = stage.script(source)
    assert code(result) is None
    assert [call.cause for call in result.calls] == [error] * 6 + [None] * 6


# abort


def test_an_abort_from_the_same_loop_ends_the_run(stage: Stage) -> None:
    enclave = stage.enclave(timeout=5.0)

    async def abort(_: Any) -> None:
        enclave.abort()
        await asyncio.Event().wait()

    stage.tools["abort"] = abort
    result = stage.run(enclave.run("await call_tool('abort', {})"))
    assert (code(result), detail(result), result.status) == ("ABORTED", "aborted", "interrupted")
    assert outcomes(result) == [("abort", "unknown", "interrupted")]


def test_an_abort_from_another_thread_ends_a_run_that_spins(stage: Stage) -> None:
    enclave = stage.enclave(timeout=5.0)

    async def go(_: Any) -> None:
        thread = threading.Thread(target=enclave.abort)
        thread.start()
        thread.join()

    stage.tools["go"] = go
    result = stage.run(enclave.run("await call_tool('go', {})\nwhile True: pass"))
    assert (code(result), result.status) == ("ABORTED", "interrupted")


def test_an_abort_ends_every_run_and_none_that_comes_later(stage: Stage) -> None:
    enclave = stage.enclave(timeout=5.0)
    begun = 0

    async def count(_: Any) -> None:
        nonlocal begun
        begun += 1
        if begun == 3:
            enclave.abort()
        await asyncio.Event().wait()

    async def body() -> tuple[list[rf.RunResult], rf.RunResult]:
        results = await asyncio.gather(*(enclave.run("await call_tool('count', {})") for _ in range(3)))
        return results, await enclave.run("5")

    stage.tools["count"] = count
    results, after = stage.run(body())
    assert ([code(result) for result in results], after.value) == (["ABORTED"] * 3, 5)


def test_an_abort_without_a_run_does_nothing(stage: Stage) -> None:
    enclave = stage.enclave(timeout=5.0)
    enclave.abort()
    assert stage.run(enclave.run("1")).value == 1


def test_an_abort_while_somebody_decides_withdraws_the_question(stage: Stage) -> None:
    withdrawn: list[str] = []

    async def decide(_: rf.ApprovalRequest) -> bool:
        enclave.abort()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.append("yes")
        return True

    @rf.tool(approval="human", effect="write")
    async def pay() -> None:
        """Pay."""
        raise AssertionError("ran")

    async def body() -> rf.RunResult:
        nonlocal enclave
        async with rf.Enclave(tools=[pay], sandbox=rf.local(unsafe=True), approve=decide, timeout=5.0) as enclave:
            return await enclave.run("await tools.pay()")

    enclave: rf.Enclave
    result = stage.run(body())
    assert (code(result), withdrawn, outcomes(result)) == ("ABORTED", ["yes"], [("pay", "refused", "interrupted")])


def test_cancelling_the_caller_kills_the_script_and_unwinds_its_calls(stage: Stage) -> None:
    """Decision 23."""
    unwound: list[str] = []
    begun = asyncio.Event()

    async def slow(_: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            unwound.append("yes")

    async def body() -> None:
        enclave = stage.enclave(timeout=5.0)
        task = asyncio.create_task(enclave.run("await call_tool('slow', {})"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert unwound == ["yes"]
        assert (await enclave.run("6")).value == 6

    stage.tools["slow"] = slow
    stage.run(body())


def test_a_budget_is_per_run_even_for_runs_at_once(stage: Stage) -> None:
    stage.tools.update(n=echo, one=answering(1))
    enclave = stage.enclave(timeout=5.0, max_tool_calls=5)

    async def body() -> list[rf.RunResult]:
        return await asyncio.gather(
            *(enclave.run("for n in range(5):\n    await call_tool('n', {'n': n})") for _ in range(4))
        )

    assert [(code(result), result.stats.tool_call_count) for result in stage.run(body())] == [(None, 5)] * 4
