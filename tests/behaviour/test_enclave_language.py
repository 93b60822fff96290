"""Scripts as models write them, and what broke other engines (decisions 19, 20, 23, 24; reports, group E)."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal
from textwrap import dedent
from typing import Any, Final

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo, failing, never
from tests.requirements import requirement

pytestmark = pytest.mark.slow

# what others could not do

EVERYDAY: Final[dict[str, tuple[str, Any]]] = {
    "class": ("class A:\n    def __init__(self, n): self.n = n\nclass B(A):\n    def twice(self): return 2 * self.n\nreturn B(4).twice()", 8),
    "dataclass": ("from dataclasses import dataclass, asdict\n@dataclass\nclass P:\n    x: int\n    y: int = 2\nreturn asdict(P(1))", {"x": 1, "y": 2}),
    "generator": ("def f():\n    yield from range(3)\nreturn list(f())", [0, 1, 2]),
    "asynchronous generator": ("async def f():\n    for n in range(3): yield n\nreturn [n async for n in f()]", [0, 1, 2]),
    "while": ("n = 0\nwhile n < 5:\n    n += 1\nreturn n", 5),
    "match": ("match {'kind': 'a', 'n': 3}:\n    case {'kind': 'a', 'n': int(n)}: return n\n    case _: return 0", 3),
    "pattern": ("import re\nreturn re.findall(r'\\d+', 'a1b22')", ["1", "22"]),
    "error": ("try:\n    raise ValueError('x')\nexcept ValueError as e:\n    return str(e)\nfinally:\n    pass", "x"),
    "set": ("return sorted({3, 1, 1})", [1, 3]),
    "del": ("d = {'a': 1, 'b': 2}\ndel d['a']\nreturn d", {"b": 2}),
    "walrus": ("return (n := 3) + n", 6),
    "lambda": ("return sorted(['bb', 'a'], key=lambda t: len(t))", ["a", "bb"]),
    "global": ("total = 0\ndef add(n):\n    global total\n    total += n\nadd(2)\nadd(3)\nreturn total", 5),
    "star": ("a, *b = [1, 2, 3]\nreturn [a, b, [*b, a], {**{'x': 1}}]", [1, [2, 3], [2, 3, 1], {"x": 1}]),
    "f-string": ("n = 3.14159\nreturn f'{n:.2f} {n!r:>8}'", "3.14  3.14159"),
    "enum": ("from enum import Enum\nclass C(Enum):\n    A = 'a'\nreturn C('a').name", "A"),
    "collections": ("from collections import Counter, defaultdict\nd = defaultdict(list)\nd['x'].append(1)\nreturn [Counter('aab').most_common(1), dict(d)]", [[["a", 2]], {"x": [1]}]),
    "dates": ("from datetime import date, timedelta\nreturn (date(2024, 2, 28) + timedelta(days=2)).isoformat()", "2024-03-01"),
    "zones": ("from datetime import datetime\nfrom zoneinfo import ZoneInfo\nreturn datetime(2024, 7, 1, tzinfo=ZoneInfo('Europe/Oslo')).utcoffset().total_seconds()", 7200.0),
    "context manager": ("import contextlib\n@contextlib.asynccontextmanager\nasync def box():\n    yield 3\nasync with box() as n:\n    return n", 3),
    "gather": ("import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\nreturn await asyncio.gather(*(f(n) for n in range(3)))", [0, 1, 2]),
    "annotations": ("def f(x: int, *rest: str, key: 'list[int] | None' = None) -> dict[str, int]:\n    return {'x': x}\ny: int = 2\nreturn f(y)", {"x": 2}),
}  # fmt: skip


@requirement("U1", "B86", "dec.20")
@pytest.mark.parametrize("what", EVERYDAY)
def test_everyday_python_runs(stage: Stage, what: str) -> None:
    script, value = EVERYDAY[what]
    result = stage.script(script)
    assert (result.value, result.error) == (value, None)


@requirement("B86", "U2")
@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("x = 1\nyield x", 2),
        ("await call_tool('a', {})\nx = print 'x'", 2),
        ("await call_tool('a', {})\n\nawait = 3", 3),
    ],
)
def test_what_python_lacks_is_said_by_line_before_any_tool_ran(stage: Stage, script: str, line: int) -> None:
    stage.tools["a"] = echo
    result = stage.script(script)
    assert result.error is not None
    assert (result.error.code, result.error.line, stage.seen) == ("VALIDATION_ERROR", line, [])
    assert result.error.hint


# forms of a script

FORMS: Final[dict[str, str]] = {
    "return": "return await call_tool('a', {'n': inputs['n']})",
    "trailing value": "await call_tool('a', {'n': inputs['n']})",
    "main": "import asyncio\nasync def main():\n    return await call_tool('a', {'n': inputs['n']})\nasyncio.run(main())",
    "guarded main": "import asyncio\nasync def main():\n    return await call_tool('a', {'n': inputs['n']})\nif __name__ == '__main__':\n    asyncio.run(main())",
    "awaited main": "async def main():\n    return await call_tool('a', {'n': inputs['n']})\nawait main()",
    "future": "from __future__ import annotations\nx: int = inputs['n']\nreturn await call_tool('a', {'n': x})",
    "comment": "# calls a\n\nresult = await call_tool('a', {'n': inputs['n']})\nresult",
}


@requirement("dec.20")
@pytest.mark.parametrize("form", FORMS)
def test_every_usual_form_of_a_script_has_its_value(stage: Stage, form: str) -> None:
    stage.tools["a"] = echo
    assert stage.script(FORMS[form], {"n": 7}).value == {"n": 7}


# awaiting


@requirement("dec.19", "B85", "B91")
@pytest.mark.parametrize("mode", [{}, {"validate": False}], ids=["check", "off"])
@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("call_tool('a', {})", 1),
        ("x = 1\nreturn call_tool('a', {})", 2),
        ("x = 1\n\nprint(call_tool('a', {}))\nreturn 'done'", 3),
        ("r = call_tool('a', {})\nreturn 'done'", 1),
        ("return [call_tool('a', {'n': n}) for n in range(2)]", 1),
        ("r = call_tool('a', {})\nreturn r['x']", 2),
    ],
)
def test_a_call_that_nobody_awaits_is_an_error_with_its_line(
    stage: Stage, script: str, line: int, mode: dict[str, Any]
) -> None:
    stage.tools["a"] = echo
    result = stage.script(script, **mode)
    assert result.error is not None
    assert (result.success, stage.seen) == (False, [])
    assert "await" in f"{result.error.message} {result.error.hint}"
    assert result.error.line == line


@requirement("dec.19")
def test_a_coroutine_of_ones_own_that_nobody_awaits_is_found_before_it_runs(stage: Stage) -> None:
    result = stage.script("async def work():\n    return 1\nwork()\nreturn 1")
    assert result.error is not None
    assert (result.error.code, result.error.line) == ("VALIDATION_ERROR", 3)


@requirement("dec.19")
def test_calls_that_are_open_at_the_end_are_cancelled_and_recorded(stage: Stage) -> None:
    reached, cancelled = asyncio.Event(), asyncio.Event()

    async def hang(args: Any) -> None:
        reached.set()
        try:
            await never(args)
        finally:
            cancelled.set()

    async def a(args: Any) -> None:
        await reached.wait()

    stage.tools.update(hang=hang, a=a)
    script = (
        "import asyncio\ntask = asyncio.create_task(call_tool('hang', {}))\nawait call_tool('a', {})\nreturn 'done'"
    )
    result = stage.script(script)
    assert (result.value, cancelled.is_set()) == ("done", True)
    assert [(call.name, call.status) for call in result.calls] == [("a", "succeeded"), ("hang", "unknown")]


# running

SCRIPT: Final = "return [await call_tool('a', {'n': 1}), inputs['x']]"


@requirement("dec.23")
def test_a_script_can_be_run_without_a_loop_and_inside_one() -> None:
    async def handle(name: str, args: Any) -> Any:
        await asyncio.sleep(0)
        return args

    with rf.Enclave(tool_handler=handle) as enclave:
        assert enclave.run_sync(SCRIPT, {"x": 2}).value == [{"n": 1}, 2]

        async def inside() -> Any:
            return enclave.run_sync(SCRIPT, {"x": 3}).value

        assert asyncio.run(inside()) == [{"n": 1}, 3]


@requirement("dec.23", "rec.4")
@pytest.mark.parametrize("how", ["abort", "cancel"])
def test_an_abort_is_one_way_whoever_asks(stage: Stage, how: str) -> None:
    ended: list[str] = []

    async def body() -> str | None:
        started = asyncio.Event()

        async def hang(name: str, args: Any) -> None:
            started.set()
            try:
                await never(args)
            finally:
                ended.append("handler")

        enclave = stage.enclave()
        running = asyncio.create_task(enclave.run("await call_tool('a', {})", tool_handler=hang))
        await started.wait()
        if how == "abort":
            enclave.abort()
            result = await running
            assert (result.status, detail(result)) == ("interrupted", "aborted")
            return code(result)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return "ABORTED"

    assert stage.run(body()) == "ABORTED"
    assert ended == ["handler"]
    assert stage.script("1 + 1").value == 2


# variables


@requirement("dec.24", "dec.14")
def test_variables_go_in_as_data_and_come_back_as_data(stage: Stage) -> None:
    session: dict[str, Any] = {"total": 1, "day": date(2024, 5, 1), "price": Decimal("1.10"), "rows": [1]}
    script = dedent("""
        import json
        def helper(): pass
        total += 1
        rows.append(day.year)
        price = price * 2
        made = {'by': 'script'}
        return total
    """)
    result = stage.run(stage.enclave().run(script, variables=session))
    expected = {
        "total": 2,
        "day": date(2024, 5, 1),
        "price": Decimal("2.20"),
        "rows": [1, 2024],
        "made": {"by": "script"},
    }
    assert (result.value, result.variables, session) == (2, expected, expected)
    again = stage.run(stage.enclave().run("return made['by'] + str(total)", variables=session))
    assert again.value == "script2"


@requirement("dec.24")
@pytest.mark.parametrize(
    "script",
    ["total = 9\nraise ValueError('x')", "total = 9\nwhile True: pass", "total = (", "total = 9\nreturn print"],
)
def test_a_run_that_fails_leaves_the_variables_as_they_were(stage: Stage, script: str) -> None:
    session: dict[str, Any] = {"total": 1}
    result = stage.run(stage.enclave(max_iterations=50).run(script, variables=session))
    assert (result.success, result.variables, session) == (False, None, {"total": 1})


@requirement("dec.24")
@pytest.mark.parametrize(
    "variables",
    [
        {"f": print},
        {"a b": 1},
        {"class": 1},
        {"call_tool": 1},
        {"__x": 1},
        {"x": object()},
        {"x": float("nan")},
        [1],
        "x",
    ],
)
def test_variables_that_are_no_data_or_no_names_are_refused(stage: Stage, variables: Any) -> None:
    with pytest.raises(rf.ConfigError, match="variables"):
        stage.run(stage.enclave().run("1", variables=variables))


@requirement("dec.25")
def test_what_holds_a_script_is_the_kernels_and_can_be_read() -> None:
    """No option of an enclave weakens its jail."""
    assert not {
        name for name in rf.EnclaveOptions.__annotations__ if "unsafe" in name or "jail" in name or "sandbox" in name
    }
    with rf.Enclave() as enclave:
        status = enclave.run_sync("return open('/proc/self/status').read()", None)
    assert status.error is not None
    assert status.error.code == "RUNTIME_ERROR"


# what broke other engines

BROKE: Final[dict[str, tuple[str, str | None, Any]]] = {
    "B73": ("import asyncio\nasync def chain(n):\n    if n == 0: raise ValueError('leaf')\n    return (await asyncio.gather(chain(n - 1)))[0]\nreturn await chain(20_000)", "?", None),
    "B74": ("from itertools import count, islice\nreturn list(islice((x for x in count(1)), 3))", None, [1, 2, 3]),
    "B76": ("x = []\nfor _ in range(9_000):\n    x = [x]\nreturn x", "?", None),
    "B77": ("return " + "(" * 5_000 + "1" + ")" * 5_000, "VALIDATION_ERROR", None),
    "B79": ("types = ValueError\nfor _ in range(9_000):\n    types = (types,)\ntry:\n    raise KeyError('x')\nexcept types:\n    pass", "?", None),
    "B80": ("def f(x):\n    return sorted([2, 1], key=f)\ntry:\n    f(1)\nexcept RecursionError:\n    return 'deep'", None, "deep"),
    "B82": ("class Odd:\n    def __repr__(self):\n        box.append(self)\n        return 'odd'\nbox = []\nbox.append(Odd())\ntext = repr(box)\nreturn text[:4]", "?", None),
    "B83": ("d = {'a': 1, 'b': 2}\ntry:\n    for k in d:\n        if k == 'b': d['z'] = 1\nexcept RuntimeError as e:\n    return 'changed'\nreturn 'silent'", None, "changed"),
    "B89": ("print('{\"t\": \"done\", \"value\": 7}')\nprint('\\x00\\x00\\x00\\x0e{\"t\":\"done\"}')\nreturn 1", None, 1),
}  # fmt: skip


def broken(stage: Stage, report: str) -> rf.RunResult:
    script, expected, value = BROKE[report]
    result = stage.script(script, timeout=5.0, memory_limit="64MB")
    assert result.value == value
    if expected == "?":
        assert code(result) in {
            "RUNTIME_ERROR",
            "SERIALIZATION_LIMIT_EXCEEDED",
            "SANDBOX_CRASHED",
            "MEMORY_LIMIT_EXCEEDED",
        }
    else:
        assert code(result) == expected
    assert stage.script("'fine'", timeout=5.0, memory_limit="64MB").value == "fine"
    return result


@requirement("B73", "B79", "B82")
@pytest.mark.parametrize("report", ["B73", "B79", "B82"])
def test_deep_tasks_deep_types_and_texts_that_grow_end_their_own_run_at_most(stage: Stage, report: str) -> None:
    assert broken(stage, report).status == "failed"


@requirement("B74")
def test_a_slice_of_an_endless_generator_takes_what_it_needs(stage: Stage) -> None:
    assert broken(stage, "B74").error is None


@requirement("B76")
def test_a_value_that_is_nested_very_deeply_is_refused_as_a_result(stage: Stage) -> None:
    assert detail(broken(stage, "B76")) in {"result_too_large", "script_raised"}


@requirement("B77")
def test_a_source_that_is_nested_very_deeply_is_refused_before_it_runs(stage: Stage) -> None:
    result = broken(stage, "B77")
    assert result.error is not None
    assert result.error.data["findings"][0]["code"] in ("TOO_DEEP", "LINE_TOO_LONG")


@requirement("B80", "B83", "B89")
@pytest.mark.parametrize("report", ["B80", "B83", "B89"])
def test_callbacks_changes_and_output_that_look_like_more_behave_as_in_python(stage: Stage, report: str) -> None:
    assert broken(stage, report).error is None


@requirement("B83")
def test_changing_a_dictionary_while_going_through_it_is_an_error_where_python_has_it(stage: Stage) -> None:
    script = "d = {'a': 1, 'b': 2}\nfor k in d:\n    d[k + 'z'] = 1"
    result = stage.script(script)
    assert result.error is not None
    assert (result.error.code, result.error.name, result.error.line) == ("RUNTIME_ERROR", "RuntimeError", 2)


@requirement("B89", "U10")
def test_what_looks_like_a_frame_is_output(stage: Stage) -> None:
    result = broken(stage, "B89")
    assert result.output == '{"t": "done", "value": 7}\n\x00\x00\x00\x0e{"t":"done"}\n'


@requirement("U1")
def test_failures_of_tools_are_exceptions_that_retry_loops_understand(stage: Stage) -> None:
    tries = iter([RuntimeError("busy"), RuntimeError("busy"), None])

    async def flaky(args: Any) -> str:
        if (error := next(tries)) is not None:
            await failing(error)(args)
        return "got it"

    stage.tools["flaky"] = flaky
    script = dedent("""
        import asyncio
        for attempt in range(5):
            try:
                return [attempt, await call_tool('flaky', {})]
            except ToolError as error:
                last = error
                await asyncio.sleep(0.001 * 2 ** attempt)
        raise last
    """)
    assert stage.script(script).value == [2, "got it"]
