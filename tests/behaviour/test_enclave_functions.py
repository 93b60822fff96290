"""Functions that the host puts beside a script (enclave catalogue 1.F and 4.9; second seed, "Custom Globals")."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from textwrap import dedent
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.test_enclave_globals import ALLOW, DATA, Held, Point, Record, generator
from tests.enclave.kit import Stage, code, detail
from tests.requirements import requirement

pytestmark = pytest.mark.slow

held = Held()


def format_date(when: datetime) -> str:
    return when.date().isoformat()


async def later(n: int) -> int:
    await asyncio.sleep(0)
    return n + 1


def show(*args: Any, **named: Any) -> Any:
    return [list(args), named, [type(one).__name__ for one in args]]


def fail(text: str) -> None:
    raise ValueError(text)


def answer(what: str) -> Any:
    return {
        "function": {"f": len},
        "class": Point,
        "object": Record(),
        "generator": generator(),
        "nan": [float("nan")],
        "large": "x" * 6_000_000,
        "deep": [[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]],
        "wide": {str(n): n for n in range(501)},
        "date": {"at": datetime(2024, 5, 1, tzinfo=UTC)},
        "point": Point(1, 2),
        "shared": held.seen,
    }[what]


FUNCTIONS: dict[str, Any] = {
    "globals": {
        "formatDate": format_date, "later": later, "show": show, "fail": fail, "answer": answer, "held": held,
        "utils": {"size": len, "name": "kit"},
    },
    ALLOW: True,
}  # fmt: skip


@requirement("T90", "T101", "dec.22", "dec.14")
def test_a_synchronous_function_takes_a_date_and_answers_with_text(stage: Stage) -> None:
    script = "from datetime import datetime, timezone\nreturn formatDate(datetime(2024, 5, 1, tzinfo=timezone.utc))"
    result = stage.script(script, **FUNCTIONS)
    assert result.value == "2024-05-01"
    assert (result.stats.global_call_count, result.stats.tool_call_count, result.calls) == (1, 0, ())


@requirement("T90", "T101", "dec.22")
def test_functions_are_called_as_what_they_are(stage: Stage) -> None:
    script = "return [await later(1), held.twice(4), held.limit, utils.size('four'), utils['size']([1]), utils.name, show(1, b=2)]"
    assert stage.script(script, **FUNCTIONS).value == [2, 8, 3, 4, 1, "kit", [[1], {"b": 2}, ["int"]]]


@requirement("T101")
def test_asynchronous_functions_run_side_by_side(stage: Stage) -> None:
    both = asyncio.Barrier(2)

    async def meet(n: int) -> int:
        await both.wait()
        return n

    async def body() -> Any:
        async with rf.Enclave(globals={"meet": meet}, allow_functions_in_globals=True) as enclave:
            return (await enclave.run("import asyncio\nreturn await asyncio.gather(meet(1), meet(2))")).value

    assert stage.run(body()) == [1, 2]


@requirement("T102", "rec.3", "T118")
def test_what_a_script_gives_a_function_arrives_as_a_copy_of_plain_data(stage: Stage) -> None:
    held.seen.clear()
    script = dedent("""
        mine = {'rows': [1]}
        held.keep(mine)
        mine['rows'].append(2)
        class Mine(dict):
            def __getitem__(self, key): return 'hooked'
            def items(self): return [('hooked', 1)]
        refused = 0
        for odd in (print, object(), (n for n in ()), lambda: 1, float('nan')):
            try:
                held.keep([odd])
            except TypeError:
                refused += 1
        return refused
    """)
    result = stage.script(script, **FUNCTIONS)
    assert (result.value, result.error) == (5, None)
    assert held.seen == [{"rows": [1]}]
    assert type(held.seen[0]) is dict


@requirement("T97", "seed2.plain")
@pytest.mark.parametrize("what", ["function", "class", "object", "generator", "nan", "large", "deep", "wide"])
def test_a_result_that_is_no_data_or_too_much_is_an_error(stage: Stage, what: str) -> None:
    script = f"try:\n    answer('{what}')\nexcept Exception as error:\n    return [error.name, str(error)]"
    result = stage.script(script, **FUNCTIONS)
    assert result.value is not None, result.error
    assert result.value[0] == "GlobalFunctionError"
    assert "the result was refused" in result.value[1]
    uncaught = stage.script(f"answer('{what}')", **FUNCTIONS)
    assert (code(uncaught), detail(uncaught)) == ("RUNTIME_ERROR", "global_raised")


@requirement("T97", "seed2.plain", "dec.14")
def test_a_result_is_a_plain_copy_in_which_dates_are_dates(stage: Stage) -> None:
    held.seen[:] = [1]
    script = "shared = answer('shared')\nshared.append('script')\nreturn [answer('date')['at'].year, answer('point'), shared, answer('shared')]"
    assert stage.script(script, **FUNCTIONS).value == [2024, {"x": 1, "y": 2}, [1, "script"], [1]]
    assert held.seen == [1]


@requirement("T98", "seed2.stackless", "rec.11")
def test_an_exception_is_its_name_and_message(stage: Stage) -> None:
    script = dedent("""
        try:
            fail('no such user')
        except Exception as error:
            trace = error.__traceback__
            files = []
            while trace:
                files.append(trace.tb_frame.f_code.co_filename)
                trace = trace.tb_next
            return [error.name, error.message, str(error), [name for name in files if 'behaviour' in name], error.__cause__]
    """)
    result = stage.script(script, validate=False, **FUNCTIONS)
    assert result.value == ["ValueError", "no such user", "no such user", [], None]
    uncaught = stage.script("x = 1\nfail('no such user')", validate=False, **FUNCTIONS)
    assert uncaught.error is not None
    assert (uncaught.error.code, detail(uncaught), uncaught.error.line) == ("RUNTIME_ERROR", "global_raised", 2)
    assert (uncaught.error.message, uncaught.error.name) == ("no such user", "ValueError")
    assert "test_enclave_globals" not in str(uncaught.error.data)


@requirement("T98", "seed2.new")
@pytest.mark.parametrize(
    "use",
    [
        "class Mine(formatDate): pass",
        "isinstance(1, formatDate)",
        "formatDate.__new__(formatDate, 1)",
        "type('X', (formatDate,), {})",
    ],
)
def test_a_function_is_no_class(stage: Stage, use: str) -> None:
    script = f"try:\n    {use}\nexcept Exception as error:\n    return type(error).__name__"
    result = stage.script(script, validate=False, **FUNCTIONS)
    assert result.value in ("TypeError", "AttributeError"), result
    assert result.stats.global_call_count == 0


@requirement("T117", "EW2")
@pytest.mark.parametrize(
    "attribute", ["__globals__", "__code__", "__closure__", "__self__", "__func__", "__wrapped__", "__defaults__"]
)
def test_a_function_leads_nowhere(stage: Stage, attribute: str) -> None:
    script = f"return [getattr(f, '{attribute}', 'none') for f in (formatDate, later, held.twice, utils.size)]"
    assert stage.script(script, validate=False, **FUNCTIONS).value == ["none"] * 4


@requirement("T94", "seed2.gated")
@pytest.mark.parametrize(("allowed", "passes"), [(3, 3), (0, 0)])
def test_functions_have_a_budget_of_their_own(stage: Stage, allowed: int, passes: int) -> None:
    calls: list[int] = []
    options: dict[str, Any] = {ALLOW: True, "max_global_function_calls": allowed}

    async def body() -> rf.RunResult:
        async with rf.Enclave(globals={"note": calls.append, "rows": [1, 2]}, **options) as enclave:
            return await enclave.run(
                "for n in range(9):\n    rows.index(2)\n    [*rows]\n    try:\n        note(n)\n    except Exception:\n        pass\nreturn 'fine'"
            )

    result = stage.run(body())
    assert (code(result), detail(result), result.value) == ("MAX_GLOBAL_CALLS", "global_limit", None)
    assert calls == list(range(passes))
    assert result.stats.tool_call_count == 0


@requirement("T94")
def test_that_budget_is_ten_times_that_of_tools_unless_it_is_given(stage: Stage) -> None:
    options: dict[str, Any] = {"globals": {"size": len}, ALLOW: True, "max_tool_calls": 2}
    assert stage.script("for n in range(20):\n    size('x')\nreturn 'fine'", **options).value == "fine"
    assert code(stage.script("for n in range(21):\n    size('x')\nreturn 'fine'", **options)) == "MAX_GLOBAL_CALLS"


@requirement("T94")
def test_data_has_no_budget(stage: Stage) -> None:
    options: dict[str, Any] = {**DATA, "max_global_function_calls": 0, "max_tool_calls": 0}
    script = "for n in range(50):\n    context.get('userId')\n    context.since.isoformat()\n    [r for r in rows]\n    rows[0].index(2)\nreturn 'fine'"
    assert stage.script(script, **options).value == "fine"


@requirement("T99", "seed2.gated", "dec.23")
def test_after_an_abort_no_function_is_called(stage: Stage) -> None:
    calls: list[int] = []
    enclave: rf.Enclave

    def stop() -> None:
        enclave.abort()

    async def body() -> rf.RunResult:
        nonlocal enclave
        async with rf.Enclave(globals={"stop": stop, "note": calls.append}, allow_functions_in_globals=True) as enclave:
            return await enclave.run(
                "note(1)\ntry:\n    stop()\nexcept BaseException:\n    pass\nnote(2)\nreturn 'fine'"
            )

    result = stage.run(body())
    assert (code(result), result.status, calls) == ("ABORTED", "interrupted", [1])


@requirement("T94", "rec.10")
def test_a_function_that_hangs_ends_with_the_run(stage: Stage) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def body() -> rf.RunResult:
        async with rf.Enclave(globals={"hang": hang}, allow_functions_in_globals=True, timeout=0.3) as enclave:
            return await enclave.run("await hang()")

    assert code(stage.run(body())) == "TIMEOUT"
