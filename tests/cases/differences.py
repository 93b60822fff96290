"""Where the two languages are allowed to differ in `tests/cases/shared`, one entry each, with the reason. Data only.

An entry that is not needed fails a test, and so does one for a case or key that does not exist.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple


class Difference(NamedTuple):
    """One expectation that one language does not meet."""

    case: str
    key: str
    language: Literal["python", "javascript"]
    value: Any
    """What it has instead."""
    reason: str


_WORDS: Final = "names and texts of the language's own errors are its own"
_KINDS: Final = "the message uses the language's own word for the kind of a value"
_PROMISE: Final = "a promise runs without being awaited, and is awaited where it is the result"
_NO_KIND: Final = "the language has no such kind; it keeps the text (docs/values.md)"
_ADVICE: Final = "the advice is written in the language of the script"


def _js(case: str, key: str, value: Any, reason: str) -> Difference:
    return Difference(case, key, "javascript", value, reason)


DIFFERENCES: Final[tuple[Difference, ...]] = (
    # calls
    _js("call_without_arguments_object", "value", ["invalid_input", "Tool arguments must be an object; pass an object, {} for none"], _KINDS),
    _js("call_with_a_list_as_arguments", "message", "Tool arguments must be an object, not an array; pass an object", _KINDS),
    _js("call_with_null_as_arguments", "message", "Tool arguments must be an object, not null; pass an object", _KINDS),
    _js("call_with_text_as_arguments", "message", "Tool arguments must be an object, not string; pass an object", _KINDS),
    _js("failure_as_data", "value", {"success": False, "error": {"name": "ToolError", "message": "no room", "code": "tool_raised", "toolName": "fail"}}, "names of members are written as the language writes them: toolName, tool_name"),
    _js("call_that_is_not_awaited", "code", None, _PROMISE),
    _js("call_that_is_not_awaited", "line", None, _PROMISE),
    _js("call_as_the_value", "code", None, _PROMISE),
    _js("call_as_the_value", "line", None, _PROMISE),
    _js("call_as_the_value", "calls", ["echo"], _PROMISE),
    _js("call_as_the_value", "value", {"n": 1}, _PROMISE),
    _js("calls_over_several_lines", "lines", [2], "the engine places a call at its first argument"),
    # errors
    _js("error_of_a_name_that_is_not_there", "name", "ReferenceError", _WORDS),
    _js("error_of_a_name_that_is_not_there", "message", "z is not defined", _WORDS),
    _js("globals_are_not_there", "message", "nothere is not defined", _WORDS),
    _js("error_wrapped_in_ones_own", "name", "Error", _WORDS),
    _js("error_of_a_member_of_nothing", "hint", "the value before .name is missing: test for it first, or write ?.name", _ADVICE),
    _js("deadlock", "line", None, "the engine does not say where a promise is waited for"),
    _js("deadlock", "hint", "await a tool call, or something that one completes", "scripts have no timers to wait for"),
    _js("variables_removed", "unkept", ["names"], "a variable cannot be deleted; one that is undefined is named"),
    # values
    _js("result_that_is_code", "message", "the result's rows[0].f: is a function; use what it returns", _WORDS),
    _js("result_that_is_not_a_number", "message", "the result's [1]: is NaN, which no JSON number says; use null", _WORDS),
    _js("result_that_is_not_a_number", "hint", "use null", _ADVICE),
    _js("value_table_calendar_days", "kinds", {}, _NO_KIND),
    _js("value_table_dates_without_an_offset", "kinds", {}, _NO_KIND),
    _js("value_table_decimals", "kinds", {}, _NO_KIND),
    _js("value_table_durations", "kinds", {}, _NO_KIND),
    _js("value_table_durations", "value", "PT1H30M", "the host's text stays as it is; a timedelta is written in seconds"),
    _js("value_table_ids", "kinds", {}, _NO_KIND),
    _js("value_table_times", "kinds", {}, _NO_KIND),
    _js("value_table_dates_with_an_offset", "value", ["2026-01-02T08:04:05+00:00", 8], "a Date is a point in time without an offset"),
    _js("value_table_whole_floats", "seen", [["echo", {"n": ["int", 5]}]], "there is one kind of number: 5.0 is 5"),
)  # fmt: skip
