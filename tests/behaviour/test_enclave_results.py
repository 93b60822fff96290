"""What a tool's result may be, and failures as data (enclave catalogue 4.3 and 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from textwrap import dedent
from typing import Any

import pytest
from pydantic import BaseModel

import ringfence as rf
from tests.enclave.kit import Stage, answering, code, detail, echo, failing, outcomes
from tests.requirements import requirement

pytestmark = pytest.mark.slow

RETURNED = "return await call_tool('a', {}, throw_on_error=False)"


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: int


class Row(BaseModel):
    id: int
    at: datetime


@requirement("T21", "dec.14")
def test_a_date_of_a_result_is_a_date_in_the_script(stage: Stage) -> None:
    stage.tools["a"] = answering({"when": datetime(2024, 5, 1, 12, tzinfo=UTC)})
    script = "when = (await call_tool('a', {}))['when']\nreturn [when.year, when.isoformat(), when]"
    assert stage.script(script).value == [2024, "2024-05-01T12:00:00+00:00", datetime(2024, 5, 1, 12, tzinfo=UTC)]


@requirement("T21", "dec.14", "U12")
@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (Point(1, 2), {"x": 1, "y": 2}),
        (Row(id=1, at=datetime(2024, 5, 1, tzinfo=UTC)), {"id": 1, "at": datetime(2024, 5, 1, tzinfo=UTC)}),
        (Colour.RED, "red"),
        ((1, 2), [1, 2]),
        ({1}, [1]),
        (2**70, 2**70),
        ([None, True, 1.5, "x"], [None, True, 1.5, "x"]),
    ],
)
def test_results_become_plain_values(stage: Stage, value: Any, seen: Any) -> None:
    stage.tools["a"] = answering(value)
    assert stage.script("await call_tool('a', {})").value == seen


@requirement("T21", "T34", "EW2", "seed2.own")
@pytest.mark.parametrize(
    "value",
    [ValueError("no"), print, Point, (n for n in ()), object(), float("nan"), float("inf"), "\ud800", lambda: 1, 1j],
    ids=repr,
)
def test_a_result_that_is_no_data_is_the_tools_failure(stage: Stage, value: Any) -> None:
    stage.tools["a"] = answering({"deep": [value]})
    result = stage.script(RETURNED)
    assert result.value["success"] is False
    assert {key: result.value["error"][key] for key in ("code", "tool_name")} == {
        "code": "bad_result",
        "tool_name": "a",
    }
    assert "refused" in result.value["error"]["message"]
    assert outcomes(result) == [("a", "failed", "bad_result")]


@requirement("T22")
@pytest.mark.parametrize("key", [1, 1.5, True, None, ("a", "b"), b"a"], ids=repr)
def test_keys_of_a_result_that_are_no_text_are_the_tools_failure(stage: Stage, key: Any) -> None:
    stage.tools["a"] = answering({"deep": {key: 1}})
    result = stage.script(RETURNED)
    assert (result.value["success"], result.value["error"]["code"]) == (False, "bad_result")
    assert "deep" in result.value["error"]["message"]


@requirement("T22")
def test_keys_of_arguments_that_are_no_text_are_refused_without_asking_them(stage: Stage) -> None:
    stage.tools["a"] = echo
    script = dedent("""
        asked = []
        class Key:
            def __str__(self): asked.append('str'); return 'k'
            def __repr__(self): asked.append('repr'); return 'k'
        try:
            await call_tool('a', {Key(): 1})
        except TypeError as error:
            return [error.code, asked]
    """)
    result = stage.script(script)
    assert (result.value, stage.seen) == (["invalid_input", []], [])


@requirement("T23", "T34", "dec.15")
def test_a_result_beyond_the_size_of_a_value_is_the_tools_failure(stage: Stage) -> None:
    stage.tools["a"] = answering("x" * (5 * 1024 * 1024))
    result = stage.script(RETURNED)
    assert result.value["success"] is False
    assert (result.value["error"]["code"], result.value["error"]["tool_name"]) == ("bad_result", "a")
    assert "bytes" in result.value["error"]["message"]
    stage.tools["a"] = answering("x" * (5 * 1024 * 1024 - 2))
    assert stage.script("return len(await call_tool('a', {}))").value == 5 * 1024 * 1024 - 2


@requirement("T25")
@pytest.mark.parametrize(
    ("value", "limit"),
    [({str(n): n for n in range(501)}, "500"), ([[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]], "20")],
    ids=["members", "levels"],
)
def test_too_many_members_or_levels_are_the_tools_failure(stage: Stage, value: Any, limit: str) -> None:
    stage.tools["a"] = answering(value)
    result = stage.script(RETURNED)
    assert (result.value["success"], result.value["error"]["code"]) == (False, "bad_result")
    assert limit in result.value["error"]["message"]
    uncaught = stage.script("await call_tool('a', {})")
    assert (code(uncaught), detail(uncaught)) == ("TOOL_ERROR", "bad_result")


@requirement("U11", "T25")
def test_a_list_of_rows_is_bounded_by_its_bytes_alone(stage: Stage) -> None:
    stage.tools["a"] = answering([{str(field): field for field in range(10)} for _ in range(3_000)])
    assert stage.script("len(await call_tool('a', {}))").value == 3_000


@requirement("T26")
def test_what_a_script_does_to_a_result_stays_in_the_script(stage: Stage) -> None:
    held = {"rows": [{"id": 1}]}
    stage.tools["a"] = answering(held)
    script = dedent("""
        first = await call_tool('a', {})
        first['rows'][0]['id'] = 'changed'
        first.clear()
        return [first, await call_tool('a', {})]
    """)
    assert stage.script(script).value == [{}, {"rows": [{"id": 1}]}]
    assert held == {"rows": [{"id": 1}]}


@requirement("U6", "dec.14")
def test_a_value_that_is_referred_to_twice_arrives_twice(stage: Stage) -> None:
    shared = {"id": 1}
    stage.tools["a"] = answering([shared, shared])
    assert stage.script("await call_tool('a', {})").value == [{"id": 1}, {"id": 1}]
    stage.tools["b"] = echo
    assert stage.script("s = {'id': 1}\nawait call_tool('b', {'x': s, 'y': [s, s]})").value == {
        "x": {"id": 1},
        "y": [{"id": 1}, {"id": 1}],
    }


# failures as data


@requirement("T27", "seed2.data")
@pytest.mark.parametrize("value", [None, 0, "", [], {"success": False, "error": "mine"}, {"deep": [1, {"x": None}]}])
def test_a_success_as_data_is_a_flag_and_the_whole_result(stage: Stage, value: Any) -> None:
    stage.tools["a"] = answering(value)
    assert stage.script(RETURNED).value == {"success": True, "data": value}


@requirement("T29", "T30", "seed2.data")
@pytest.mark.parametrize(
    "option", ["", ", throw_on_error=True", *(f", throw_on_error={v}" for v in ("0", "None", "''", "'false'", "[]"))]
)
def test_only_false_asks_for_failures_as_data(stage: Stage, option: str) -> None:
    stage.tools["a"] = failing(RuntimeError("no"))
    result = stage.script(f"await call_tool('a', {{}}{option})")
    assert (code(result), detail(result)) == ("TOOL_ERROR", "tool_raised")


@requirement("T31")
@pytest.mark.parametrize(
    "option", ["throwOnError=False", "timeout=5", "**{'retries': 1}", "{}", "{'throw_on_error': False}", "True, 1"]
)
def test_an_option_that_does_not_exist_is_a_type_error_before_the_budget_is_touched(stage: Stage, option: str) -> None:
    stage.tools["a"] = echo
    script = f"try:\n    await call_tool('a', {{}}, {option})\nexcept TypeError as error:\n    return 'refused'"
    result = stage.script(script)
    assert (result.value, result.stats.tool_call_count, stage.seen) == ("refused", 0, [])


@requirement("T33", "seed2.refusals", "rec.2")
@pytest.mark.parametrize(
    ("call", "options", "finer", "final"),
    [
        ("call_tool('a', {}, throw_on_error=False)", {"tool_handler": None}, "no_tool_handler", False),
        ("call_tool('a', {'x': 'x' * (6 * 1024 * 1024)}, throw_on_error=False)", {}, "invalid_input", False),
        ("call_tool('a', {'x': object()}, throw_on_error=False)", {}, "invalid_input", False),
        ("call_tool('a', [], throw_on_error=False)", {}, "invalid_input", False),
        ("call_tool('a b', {}, throw_on_error=False)", {}, "name_refused", True),
        ("call_tool('a', {}, throw_on_error=False)", {"max_tool_calls": 0}, "limit_exceeded", True),
    ],
)
def test_what_the_enclave_refuses_is_raised_whatever_the_option(
    stage: Stage, call: str, options: dict[str, Any], finer: str, final: bool
) -> None:
    stage.tools["a"] = echo
    script = f"try:\n    return await {call}\nexcept ToolError as error:\n    return ['raised', error.code]"
    result = stage.script(script, **options)
    assert stage.seen == []
    if final:
        assert (result.success, detail(result)) == (False, finer)
    else:
        assert result.value == ["raised", finer]


class Odd(Exception):
    """An exception of which every part raises."""

    @property
    def code(self) -> str:
        raise RuntimeError("no code")

    def __str__(self) -> str:
        raise RuntimeError("no text")


def _with_code() -> Exception:
    error = ConnectionError("gone")
    error.code = "E_GONE"  # type: ignore[attr-defined]
    return error


@requirement("T35", "seed2.own", "seed2.data")
@pytest.mark.parametrize(
    ("make", "name", "message", "finer"),
    [
        (lambda: ValueError("text"), "ValueError", "text", "tool_raised"),
        (lambda: ValueError(None), "ValueError", "None", "tool_raised"),
        (lambda: ValueError(7), "ValueError", "7", "tool_raised"),
        (ValueError, "ValueError", "Tool call failed", "tool_raised"),
        (Odd, "Odd", "Tool call failed", "tool_raised"),
        (_with_code, "ConnectionError", "gone", "E_GONE"),
        (lambda: rf.ToolError("sold out", code="SOLD_OUT"), "ToolError", "sold out", "SOLD_OUT"),
        (lambda: SystemExit(3), "SystemExit", "3", "tool_raised"),
    ],
)
def test_whatever_a_handler_raises_is_four_texts(
    stage: Stage, make: Callable[[], BaseException], name: str, message: str, finer: str
) -> None:
    stage.tools["a"] = failing(make())
    assert stage.script(RETURNED).value == {
        "success": False,
        "error": {"name": name, "message": message, "code": finer, "tool_name": "a"},
    }


@requirement("T35")
def test_a_huge_message_is_cut(stage: Stage) -> None:
    stage.tools["a"] = failing(ValueError("x" * 10_000))
    message = stage.script(RETURNED).value["error"]["message"]
    assert len(message) == 4096
    assert message.startswith("x" * 4000)


@requirement("T37", "seed2.second", "seed2.same", "dec.21")
@pytest.mark.parametrize("call", ["call_tool('mail.send', {'n': 1}%s)", "mail.send({'n': 1}%s)"])
def test_a_method_takes_the_option_as_call_tool_does(stage: Stage, call: str) -> None:
    options: dict[str, Any] = {"tool_namespaces": {"mail": ["send"]}}
    stage.tools["mail.send"] = failing(RuntimeError("down"))
    failed = stage.script(f"return await {call % ', throw_on_error=False'}", **options)
    assert failed.value == {
        "success": False,
        "error": {"name": "RuntimeError", "message": "down", "code": "tool_raised", "tool_name": "mail.send"},
    }
    assert detail(stage.script(f"return await {call % ''}", **options)) == "tool_raised"
    stage.tools["mail.send"] = echo
    assert stage.script(f"return await {call % ', throw_on_error=False'}", **options).value == {
        "success": True,
        "data": {"n": 1},
    }
