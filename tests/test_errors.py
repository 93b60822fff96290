"""Errors say whose fault it is, what to change, and nothing that they must not."""

from __future__ import annotations

import json
import pickle
from collections.abc import MutableMapping
from typing import Any, cast

import pytest

from ringfence.errors import (
    CODES,
    ConfigError,
    ErrorInfo,
    Family,
    Issue,
    Refusal,
    RingfenceError,
    SandboxFault,
    ToolApprovalError,
    ToolError,
    ToolFailure,
    ToolSandboxRequiredError,
    ToolTimeoutError,
    ToolValidationError,
    exception_for,
)

KINDS = {
    Family.CONFIG: ConfigError,
    Family.CORRECTABLE: Refusal,
    Family.TERMINAL: Refusal,
    Family.FAILURE: ToolFailure,
    Family.FAULT: SandboxFault,
}
ISSUE = Issue(path="order_id", message="Input should be a valid integer", code="int_type")


@pytest.mark.parametrize("code", sorted(CODES))
def test_the_class_of_an_exception_says_whose_fault_it_is(code: str) -> None:
    assert isinstance(exception_for(ErrorInfo(code=code, message="text")), KINDS[CODES[code].family])


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("invalid_input", ToolValidationError),
        ("approval_denied", ToolApprovalError),
        ("approval_expired", ToolApprovalError),
        ("tool_timeout", ToolTimeoutError),
        ("sandbox_required", ToolSandboxRequiredError),
    ],
)
def test_the_classes_of_the_seed_stand_for_their_codes(code: str, kind: type[RingfenceError]) -> None:
    assert type(exception_for(ErrorInfo(code=code, message="text"))) is kind


def test_the_table_of_codes_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        cast("MutableMapping[str, Any]", CODES)["mine"] = None


def test_the_fix_stands_below_the_message_and_stays_apart_as_data() -> None:
    error = Refusal("no tool is called 'lookup'", code="unknown_tool", hint="did you mean 'lookup_order'?")
    assert str(error) == "no tool is called 'lookup'\n  fix: did you mean 'lookup_order'?"
    assert error.info() == ErrorInfo(
        code="unknown_tool",
        message="no tool is called 'lookup'",
        hint="did you mean 'lookup_order'?",
        name="Refusal",
    )


def test_an_error_without_a_fix_is_its_message() -> None:
    assert str(SandboxFault("gone", code="sandbox_crashed")) == "gone"


def test_a_validation_error_carries_every_issue() -> None:
    error = exception_for(ErrorInfo(code="invalid_input", message="1 issue", issues=(ISSUE,)))
    assert isinstance(error, ToolValidationError)
    assert error.issues == (ISSUE,)


def test_a_mistake_of_the_program_is_also_a_type_error_and_a_value_error() -> None:
    error = ConfigError("timeout must be a number of seconds")
    assert (isinstance(error, TypeError), isinstance(error, ValueError), error.code) == (True, True, "bad_config")


def test_a_tools_own_error_keeps_text_code_and_data() -> None:
    error = ToolError("sold out", code="SOLD_OUT", data={"left": 0})
    assert (str(error), error.text, error.code, error.data) == ("sold out", "sold out", "SOLD_OUT", {"left": 0})
    assert not isinstance(error, RingfenceError)


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("wrong", hint="right"),
        ToolSandboxRequiredError("none", hint="give one"),
        ToolValidationError("no fit", [ISSUE]),
        ToolApprovalError("no", code="approval_denied"),
        ToolTimeoutError("late", code="tool_timeout"),
        SandboxFault("gone", code="sandbox_crashed"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_exception_travels_between_processes(error: RingfenceError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again), again.info()) == (type(error), str(error), vars(error), error.info())


def test_an_error_can_be_written_as_json() -> None:
    error = ErrorInfo(code="invalid_input", message="no fit", issues=(ISSUE,))
    assert json.loads(json.dumps(error.as_dict())) == {
        "code": "invalid_input",
        "message": "no fit",
        "hint": None,
        "name": None,
        "line": None,
        "issues": [dict(ISSUE)],
        "data": {},
    }
