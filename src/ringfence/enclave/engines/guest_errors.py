"""The errors of calls, as scripts catch them.

Runs inside the jail, standard library only. Made from the host's answer, which holds data only: no exception of the
host, no traceback. Knows answers as the dictionaries that frames become; `guest_bridge` raises them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_E = TypeVar("_E", bound="CallError")


class CallError(Exception):
    """The host answered a call with an error, or a script says that one did.

    `code` is the host's (docs/errors.md), or the tool's own; `name` the class of the exception behind it; `hint` a
    small change that helps, or None. All but the message have defaults, for the errors that scripts raise themselves.
    """

    # what a subclass has that never calls this class's `__init__`
    message: str = ""
    code: str = "script_raised"
    name: str = "ToolError"
    hint: str | None = None
    _call_id: int | None = None

    def __init__(
        self,
        message: str = "",
        code: str | None = None,
        name: str | None = None,
        hint: str | None = None,
        call_id: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self._call_id = call_id
        if code is not None:
            self.code = code
        if name is not None:
            self.name = name

    @property
    def call_id(self) -> int | None:
        """Number of the call, by which the host knows it again; None when there was none."""
        return self._call_id

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text} ({self.hint})" if self.hint else text


class ToolError(CallError):
    """A tool call failed. `tool_name` is the tool's name."""

    tool_name: str = ""

    def __init__(
        self,
        message: str = "",
        code: str | None = None,
        name: str | None = None,
        hint: str | None = None,
        call_id: int | None = None,
        tool_name: str = "",
    ) -> None:
        super().__init__(message, code, name, hint, call_id)
        self.tool_name = tool_name


class ToolArgumentError(ToolError, TypeError):
    """The arguments were refused; the tool did not run."""


class ToolRefused(ToolError):
    """The host refused a call for good: the run fails with this error, whatever the script does next."""


class GlobalFunctionError(CallError):
    """A function in globals raised, or gave something that is no data. `function_name` is the function's name."""

    name: str = "GlobalFunctionError"
    function_name: str = ""

    def __init__(
        self,
        message: str = "",
        code: str | None = None,
        name: str | None = None,
        hint: str | None = None,
        call_id: int | None = None,
        function_name: str = "",
    ) -> None:
        super().__init__(message, code, name, hint, call_id)
        self.function_name = function_name


class GlobalArgumentError(GlobalFunctionError, TypeError):
    """The arguments were refused; the function did not run."""


for _shown in (CallError, ToolError, ToolArgumentError, ToolRefused, GlobalFunctionError, GlobalArgumentError):
    _shown.__module__ = "builtins"  # a script's traceback names it as the script does


def tool_error(answer: dict[str, Any]) -> ToolError:
    """What a script gets for a tool call that failed."""
    kind = ToolRefused if answer["terminal"] else ToolArgumentError if answer["code"] == "invalid_input" else ToolError
    return _made(kind, answer)


def function_error(answer: dict[str, Any]) -> CallError:
    """What a script gets for a call of a function in globals that failed."""
    if answer["terminal"]:
        return _made(ToolRefused, answer)
    return _made(GlobalArgumentError if answer["code"] == "invalid_input" else GlobalFunctionError, answer)


def _made(kind: Callable[..., _E], answer: dict[str, Any]) -> _E:
    return kind(*(answer[part] for part in ("message", "code", "name", "hint", "id", "tool")))


def afterwards(answer: dict[str, Any], name: str) -> ToolRefused:
    """What every further call gets once the host has refused one for good. `answer` is that refusal."""
    text = f"the run has already failed ({answer['code']}); no further call starts"
    return ToolRefused(text, answer["code"], answer["name"], None, answer["id"], name)


def call_of(error: BaseException) -> int | None:
    """Number of the call that an error is about, where the error says one."""
    number: object = error.call_id if isinstance(error, CallError) else None
    return number if type(number) is int else None
