"""Functions and data of `globals` as scripts find them, behind the one ledger of their run (seed, "Custom Globals"; 4.9)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import HANG, Stage, code, detail, echo, outcomes, run

SEEN: list[Any] = []


def format_date(value: datetime) -> str:
    SEEN.append(value)
    return value.isoformat()


async def slow(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


def fail(text: str) -> None:
    raise ValueError(text)


class Counter:
    """An object with methods."""

    def __init__(self) -> None:
        self.unit = "pieces"

    def double(self, value: int) -> int:
        return 2 * value


GLOBALS: dict[str, Any] = {
    "context": {"userId": "user-123", "tags": ["a", "b"], "since": datetime(2026, 1, 2)},
    "formatDate": format_date,
    "slow": slow,
    "fail": fail,
    "counter": Counter(),
    "api": {"v1": {"echo": lambda value: value}, "name": "api"},  # type: ignore[reportUnknownLambdaType]
}


def script(stage: Stage, source: str, **options: Any) -> rf.RunResult:
    SEEN.clear()
    return stage.script(source, globals=GLOBALS, allow_functions_in_globals=True, **options)


def test_the_seeds_example_works(stage: Stage) -> None:
    """T90."""
    result = script(
        stage,
        "from datetime import datetime\nuserId = context.userId\ntimestamp = formatDate(datetime(2026, 1, 2, 3))\n"
        "return {'userId': userId, 'timestamp': timestamp}",
    )
    assert (code(result), result.value) == (None, {"userId": "user-123", "timestamp": "2026-01-02T03:00:00"})
    assert [datetime(2026, 1, 2, 3)] == SEEN
    assert (result.stats.global_call_count, result.stats.tool_call_count, result.calls) == (1, 0, ())


def test_methods_and_values_of_mappings_are_called_like_functions(stage: Stage) -> None:
    result = script(
        stage,
        "[counter.double(4), counter.unit, api['v1'].echo([1]), api.v1.echo(x := {'a': 1}), api.name, await slow(5)]",
    )
    assert (code(result), result.value) == (None, [8, "pieces", [1], {"a": 1}, "api", 5])
    assert result.stats.global_call_count == 4


@pytest.mark.parametrize(
    ("limit", "calls", "ends"), [(3, 3, None), (3, 4, "MAX_GLOBAL_CALLS"), (0, 1, "MAX_GLOBAL_CALLS"), (0, 0, None)]
)
def test_calls_of_functions_are_counted(stage: Stage, limit: int, calls: int, ends: str | None) -> None:
    """T94."""
    result = script(stage, f"for n in range({calls}): counter.double(n)\n'done'", max_global_function_calls=limit)
    assert (code(result), result.stats.global_call_count) == (ends, calls)
    assert detail(result) == (None if ends is None else "global_limit")


def test_data_is_read_without_being_counted(stage: Stage) -> None:
    """T94, F10."""
    source = "[context['tags'].index('b'), context.userId.upper(), context.since.isoformat(), sorted(context.tags)]"
    result = script(stage, source, max_global_function_calls=0)
    assert (code(result), result.value) == (None, [1, "USER-123", "2026-01-02T00:00:00", ["a", "b"]])


def test_by_default_there_are_ten_for_each_tool_call(stage: Stage) -> None:
    """T94."""
    result = script(stage, "for n in range(21): counter.double(n)", max_tool_calls=2)
    assert (code(result), result.stats.global_call_count) == ("MAX_GLOBAL_CALLS", 21)


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    while True: counter.double(1)\nexcept BaseException: pass\n'fine'",
        "import asyncio\nawait asyncio.gather(*(slow(n) for n in range(9)), return_exceptions=True)\n'fine'",
    ],
)
def test_catching_the_refusal_does_not_save_the_run(stage: Stage, source: str) -> None:
    """D-2."""
    result = script(stage, source, max_global_function_calls=3)
    assert (code(result), result.value) == ("MAX_GLOBAL_CALLS", None)


def test_both_kinds_have_a_budget_of_their_own(stage: Stage) -> None:
    """F11."""
    stage.tools["n"] = echo
    source = "for n in range(3):\n    counter.double(n)\n    await call_tool('n', {'n': n})\n'done'"
    result = script(stage, source, max_tool_calls=3, max_global_function_calls=3)
    assert (result.value, result.stats.tool_call_count, result.stats.global_call_count) == ("done", 3, 3)
    assert outcomes(result) == [("n", "succeeded", None)] * 3
    assert [call.call_id.rpartition(".")[2] for call in result.calls] == ["2", "4", "6"]


def test_an_error_keeps_name_and_text_only(stage: Stage) -> None:
    """T98."""
    source = (
        "try:\n    fail('broken')\nexcept Exception as error:\n"
        "    return [str(error), error.name, error.__cause__, error.__context__, sorted(a for a in vars(error) if a[0] != '_')]"
    )
    result = script(stage, source)
    assert (code(result), result.value[:4]) == (None, ["broken", "ValueError", None, None])
    assert "/" not in str(result.value)


def test_an_uncaught_error_ends_the_run_and_names_the_function(stage: Stage) -> None:
    result = script(stage, "x = 1\napi.v1.echo(1)\nfail('broken')")
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], result.error.data["function"]) == (
        "RUNTIME_ERROR",
        "global_raised",
        "fail",
    )
    assert (result.error.message, result.error.name, result.error.line) == ("broken", "ValueError", 3)


@pytest.mark.parametrize(
    "source",
    [
        "counter.double = 1",
        "context.userId = 'x'",
        "context['userId'] = 1",
        "context.tags.append(1)",
        "del context.tags",
    ],
)
def test_globals_cannot_be_changed(stage: Stage, source: str) -> None:
    """F7."""
    result = script(stage, f"try:\n    {source}\nexcept Exception as error:\n    return type(error).__name__")
    assert (code(result), result.value in ("AttributeError", "TypeError")) == (None, True)


def test_after_an_abort_no_function_is_called(stage: Stage) -> None:
    """T99."""

    async def body() -> tuple[rf.RunResult, int]:
        called = 0
        begun = asyncio.Event()

        async def count() -> None:
            nonlocal called
            called += 1
            begun.set()
            await asyncio.Event().wait()

        enclave = rf.Enclave(globals={"count": count}, allow_functions_in_globals=True, timeout=HANG)
        async with enclave:
            task = asyncio.create_task(
                enclave.run("import asyncio\nawait asyncio.gather(*(count() for _ in range(15)))")
            )
            await begun.wait()
            enclave.abort()
            return await task, called

    result, called = run(body())
    assert (code(result), called <= 10) == ("ABORTED", True)


def test_a_function_that_blocks_does_not_outlive_the_run() -> None:
    """U4: it runs in a thread that nobody waits for any more."""
    release = __import__("threading").Event()

    async def body() -> rf.RunResult:
        enclave = rf.Enclave(globals={"block": release.wait}, allow_functions_in_globals=True, timeout=0.3)
        async with enclave:
            return await enclave.run("block()")

    result = run(body())
    release.set()
    assert (code(result), result.stats.duration < 2.0) == ("TIMEOUT", True)


def test_functions_need_the_option_or_the_permissive_level() -> None:
    """T89."""
    with pytest.raises(rf.ConfigError, match="'formatDate' at root is a function"):
        rf.Enclave(globals={"formatDate": format_date})
    rf.Enclave(globals={"formatDate": format_date}, security_level="PERMISSIVE")
