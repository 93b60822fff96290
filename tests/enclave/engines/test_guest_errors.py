"""The errors of calls: as the host's answers make them, and as scripts raise, derive and copy them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ringfence.enclave.engines.guest_errors import (
    CallError,
    GlobalArgumentError,
    GlobalFunctionError,
    ToolArgumentError,
    ToolError,
    ToolRefused,
    call_of,
    function_error,
    tool_error,
)

ANSWER = {"message": "no", "name": "Odd", "hint": "try", "id": 7, "tool": "t"}


class Quiet(ToolError):
    def __init__(self, text: str) -> None:
        self.text = text


class Odd(ToolError):
    @property
    def call_id(self) -> Any:
        return "7"


@pytest.mark.parametrize(
    ("terminal", "code", "tool", "function"),
    [
        (True, "limit_exceeded", ToolRefused, ToolRefused),
        (False, "invalid_input", ToolArgumentError, GlobalArgumentError),
        (False, "tool_raised", ToolError, GlobalFunctionError),
    ],
)
def test_an_answer_becomes_the_error_of_its_kind(terminal: bool, code: str, tool: type, function: type) -> None:
    made = [of({**ANSWER, "terminal": terminal, "code": code}) for of in (tool_error, function_error)]
    assert [type(one) for one in made] == [tool, function]
    for one in made:
        assert (one.message, one.code, one.name, one.hint, one.call_id) == ("no", code, "Odd", "try", 7)
        assert (str(one), call_of(one)) == ("no (try)", 7)


@pytest.mark.parametrize("kind", [ToolError, ToolArgumentError, GlobalFunctionError, GlobalArgumentError])
def test_a_script_raises_one_with_a_message_alone(kind: type[CallError]) -> None:
    error = kind("too small")
    assert (str(error), error.message, error.code, error.hint, error.call_id) == (
        "too small", "too small", "script_raised", None, None,
    )  # fmt: skip
    assert error.name in ("ToolError", "GlobalFunctionError")
    assert call_of(error) is None


def test_a_derived_class_need_not_call_ours() -> None:
    error = Quiet("mine")
    assert (str(error), error.text, error.message, error.code, error.tool_name) == (
        "mine", "mine", "", "script_raised", "",
    )  # fmt: skip
    assert (error.call_id, call_of(error), call_of(Odd("x")), call_of(ValueError())) == (None, None, None, None)


@pytest.mark.parametrize("error", [tool_error({**ANSWER, "terminal": False, "code": "tool_raised"}), ToolError("mine")])
def test_a_copy_says_the_same(error: CallError) -> None:
    again = copy.copy(error)
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert call_of(again) == call_of(error)
