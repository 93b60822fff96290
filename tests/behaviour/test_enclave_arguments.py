"""What a script may hand to a tool, and as what it arrives (enclave catalogue 4.2)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from textwrap import dedent
from typing import Any
from uuid import UUID

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo, outcomes
from tests.requirements import requirement

pytestmark = pytest.mark.slow

KINDS = """
from datetime import date, datetime, time, timezone
from decimal import Decimal
from uuid import UUID
"""


@requirement("T11", "rec.6", "U9")
@pytest.mark.parametrize("args", ["'text'", "7", "[1]", "None", "True", "", "{1, 2}", "object()"])
def test_arguments_that_are_no_object_are_a_type_error_and_use_up_one_call(stage: Stage, args: str) -> None:
    stage.tools["a"] = echo
    script = dedent(f"""
        try:
            await call_tool('a'{", " if args else ""}{args})
        except TypeError as error:
            return error.code, 'Tool arguments must be an object' in str(error), isinstance(error, ToolError)
    """)
    result = stage.script(script)
    assert result.value == ["invalid_input", True, True]
    assert stage.seen == []
    assert result.stats.tool_call_count == 1
    assert outcomes(result) == [("a", "refused", "invalid_input")]


@requirement("T11", "U9")
def test_a_script_may_correct_its_arguments_and_go_on(stage: Stage) -> None:
    stage.tools["a"] = echo
    script = dedent("""
        try:
            await call_tool('a', [1])
        except TypeError:
            return await call_tool('a', {'items': [1]})
    """)
    result = stage.script(script)
    assert (result.value, result.stats.tool_call_count) == ({"items": [1]}, 2)


@requirement("T13")
@pytest.mark.parametrize(
    "knot", ["a = {}; a['a'] = a", "a = {'l': []}; a['l'].append(a)", "b = []; b.append(b); a = {'b': b}"]
)
def test_arguments_that_contain_themselves_are_refused(stage: Stage, knot: str) -> None:
    stage.tools["a"] = echo
    result = stage.script(f"{knot}\nawait call_tool('a', a)")
    assert (code(result), detail(result), stage.seen) == ("TOOL_ERROR", "invalid_input", [])
    assert result.error is not None
    assert "itself" in result.error.message


@requirement("T14", "EW2")
def test_keys_with_two_underscores_are_text_like_any_other(stage: Stage) -> None:
    class Untouched:
        pass

    before = dict(vars(Untouched))
    stage.tools["a"] = echo
    sent = {
        "__class__": "x",
        "__dict__": {"polluted": True},
        "__proto__": {"polluted": True},
        "constructor": {"prototype": {"polluted": True}},
        "__init__": None,
    }
    result = stage.script("await call_tool('a', inputs['sent'])", {"sent": sent})
    assert (result.value, stage.seen) == (sent, [("a", sent)])
    assert dict(vars(Untouched)) == before
    assert not hasattr(object(), "polluted")


@requirement("T15", "dec.14")
@pytest.mark.parametrize(
    ("level", "deepest", "widest"),
    [("STRICT", 5, 50), ("SECURE", 10, 100), ("STANDARD", 20, 500), ("PERMISSIVE", 50, 1000)],
)
def test_arguments_deeper_or_wider_than_the_level_reach_no_handler(
    stage: Stage, level: rf.SecurityLevel, deepest: int, widest: int
) -> None:
    """As deep and as wide as the level says is fine; one more is not, and the message says which limit it was."""
    stage.tools["a"] = echo

    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = {"n": value}
        return value

    def members(number: int) -> Any:
        return {str(one): one for one in range(number)}

    enclave = stage.enclave(security_level=level)
    script = "return await call_tool('a', inputs['given'])"

    async def sent(value: Any) -> tuple[str | None, str]:
        result = await enclave.run(script, {"given": value})
        return detail(result), "" if result.error is None else result.error.message

    assert stage.run(sent(nested(deepest))) == (None, "")
    assert stage.run(sent(members(widest))) == (None, "")
    seen = len(stage.seen)
    for value, limit in ((nested(deepest + 1), str(deepest)), (members(widest + 1), str(widest))):
        refused, message = stage.run(sent(value))
        assert refused == "invalid_input"
        assert limit in message
    assert len(stage.seen) == seen


@requirement("T15", "U11")
def test_a_table_of_many_rows_is_within_every_limit(stage: Stage) -> None:
    stage.tools["a"] = echo
    script = "rows = [{str(f): f for f in range(10)} for _ in range(2_000)]\ngot = await call_tool('a', {'rows': rows})\nreturn len(got['rows'])"
    assert stage.script(script).value == 2_000


@requirement("T17", "T21", "dec.14", "U12")
@pytest.mark.parametrize(
    ("written", "arrives"),
    [
        ("datetime(2024, 5, 1, 12, 30, tzinfo=timezone.utc)", datetime(2024, 5, 1, 12, 30, tzinfo=UTC)),
        ("datetime(2024, 5, 1, 12, 30, 15, 250000)", datetime(2024, 5, 1, 12, 30, 15, 250000)),
        ("date(2024, 5, 1)", date(2024, 5, 1)),
        ("time(12, 30)", time(12, 30)),
        ("Decimal('1.10')", Decimal("1.10")),
        ("UUID(int=7)", UUID(int=7)),
        ("b'\\x00\\xff'", b"\x00\xff"),
        ("2 ** 80", 2**80),
        ("-(2 ** 53) - 1", -(2**53) - 1),
        ("0.1", 0.1),
        ("1.0", 1.0),
        ("True", True),
        ("None", None),
        ("(1, (2,))", [1, [2]]),
        ("{3}", [3]),
        ("{'a': [date(2024, 5, 1), {'b': Decimal(2)}]}", {"a": [date(2024, 5, 1), {"b": Decimal(2)}]}),
        ("'2024-05-01'", "2024-05-01"),
    ],
)
def test_values_arrive_as_what_they_are_and_come_back_so(stage: Stage, written: str, arrives: Any) -> None:
    stage.tools["a"] = echo
    result = stage.script(
        f"{KINDS}\nv = {written}\ngot = await call_tool('a', {{'v': v}})\nreturn [type(got['v']).__name__, got['v']]"
    )
    assert stage.seen == [("a", {"v": arrives})]
    assert type(stage.seen[0][1]["v"]) is type(arrives)
    assert result.value == [type(arrives).__name__, arrives]
    assert type(result.value[1]) is type(arrives)


@requirement("T17", "EW2", "rec.3")
@pytest.mark.parametrize(
    "written",
    [
        "float('nan')",
        "float('inf')",
        "-float('inf')",
        "'\\ud800'",
        "print",
        "int",
        "(n for n in ())",
        "lambda: 1",
        "object()",
        "1j",
        "call_tool",
    ],
)
def test_what_is_no_data_is_refused_with_its_path(stage: Stage, written: str) -> None:
    stage.tools["a"] = echo
    result = stage.script(f"await call_tool('a', {{'list': [1, {written}]}})")
    assert (code(result), detail(result), stage.seen) == ("TOOL_ERROR", "invalid_input", [])
    assert result.error is not None
    assert "list[1]" in result.error.message


@requirement("T18")
@pytest.mark.parametrize("name", ["''", "None", "7", "['a']", "b'a'"])
def test_a_tool_name_that_is_no_text_is_refused(stage: Stage, name: str) -> None:
    stage.tools["a"] = echo
    result = stage.script(f"await call_tool({name}, {{}})", validate=False)
    assert (result.success, stage.seen) == (False, [])
    assert result.error is not None
    assert "name" in result.error.message


@requirement("T19", "dec.17")
@pytest.mark.parametrize("level", ["STRICT", "SECURE"])
@pytest.mark.parametrize("name", ["name", "'a' + suffix", "f'a{suffix}'", "names[0]", "str(7)"])
def test_a_name_that_the_source_does_not_show_is_refused_before_anything_runs(
    stage: Stage, level: rf.SecurityLevel, name: str
) -> None:
    stage.tools["a"] = echo
    script = f"name = suffix = 'a'\nnames = ['a']\nawait call_tool('a', {{}})\nawait call_tool({name}, {{}})"
    result = stage.script(script, security_level=level)
    assert (code(result), stage.seen, result.calls) == ("VALIDATION_ERROR", [], ())
    assert result.error is not None
    assert [(one["code"], one["line"]) for one in result.error.data["findings"]] == [("DYNAMIC_CALL_TARGET", 4)]


@requirement("T19")
@pytest.mark.parametrize("level", ["STRICT", "SECURE", "STANDARD", "PERMISSIVE"])
@pytest.mark.parametrize("name", ["'a'", '"a"', "f'a'", "('a')"])
def test_a_name_that_the_source_shows_is_accepted(stage: Stage, level: rf.SecurityLevel, name: str) -> None:
    stage.tools["a"] = echo
    assert stage.script(f"await call_tool({name}, {{'n': 1}})", security_level=level).value == {"n": 1}


@requirement("T19", "dec.17")
@pytest.mark.parametrize("level", ["STANDARD", "PERMISSIVE"])
def test_elsewhere_such_a_name_is_reported_and_runs(stage: Stage, level: rf.SecurityLevel) -> None:
    stage.tools["a"] = echo
    script = "for name in ['a']:\n    x = await call_tool(name, {})\nreturn x"
    assert stage.script(script, security_level=level).value == {}
    report = stage.run(stage.enclave(security_level=level).check(script))
    found = [(one.code, one.severity, one.line) for one in report.findings]
    assert report.ok
    assert found == ([("DYNAMIC_CALL_TARGET", "warning", 2)] if level == "STANDARD" else [])
