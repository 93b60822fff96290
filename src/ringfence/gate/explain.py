"""What a caller, often a model, is told about a call that did not succeed.

One function per code family turns facts into an `ErrorInfo`: code, one sentence, the smallest fix. Only `ToolError`
brings text of the tool's own; any other exception shows as its class and the call's id, under which the host finds
`Outcome.cause`. No argument value, path or frame gets in. Called by `gate.runner`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from ringfence.contract.advice import fix_for
from ringfence.contract.names import suggest
from ringfence.errors import CODES, ErrorInfo, Family, Issue, SandboxFault, Status, ToolError, ToolTimeoutError
from ringfence.limits import ValueBudget
from ringfence.values import ValueRefused, check_exact

BROKEN: Final = "validator_error"
"""Code of an issue that is the schema's own fault, as `contract.issues` writes it."""

MAX_TEXT: Final = 4_096
"""Characters of a tool's own text (second seed, "Error Handling in Tool Handlers")."""

_SHOWN_NAME: Final = 64
_SHOWN_CODE: Final = 128
_SHOWN_ISSUES: Final = 5
_SHOWN_TOOLS: Final = 20
_DATA: Final = ValueBudget(size=64 * 1024, depth=16, nodes=1_000)
_DOUBT: Final = "it may have taken effect: find out before calling it again"

_DENIALS: Final[Mapping[str, tuple[str, str | None]]] = {
    "denied": ("the call was not approved", None),
    "changed": ("the call was not approved: its arguments changed while a decision was waited for", None),
    "disagreed": ("the call was not approved: its approvers did not agree on what may run", None),
    "invalid_edit": ("the call was not approved: the arguments that an approver put in place do not fit", None),
    "invalid_response": ("the call was not approved: the answer that an approver gave in its place does not fit", None),
    "no_handler": (
        "the call needs approval, and nobody is there to give it",
        "pass approve= to the Boundary, or to the Enclave",
    ),
    "handler_failed": ("the call was not approved: the approval handler failed", None),
    "not_a_bool": ("the call was not approved: the approval handler answered neither True nor False", None),
}


def class_name(error: BaseException) -> str:
    """The exception's class, unless its name is not one that Python source could give."""
    return class_name_of(type(error), "Exception")


def class_name_of(kind: type[Any], otherwise: str = "object") -> str:
    """The same of any class."""
    name = kind.__name__
    return name if name.isidentifier() and len(name) <= _SHOWN_NAME else otherwise


def code_name(code: object) -> str:
    """The name of the host's own function or class, for logs: `Desk.approve`. No value of an attribute gets in."""
    inner = cast("object", code.func) if isinstance(code, functools.partial) else code  # type: ignore[reportUnknownMemberType]
    kinds: tuple[object, ...] = (inner, type(inner))
    for named in kinds:
        name = getattr(named, "__qualname__", None)
        if isinstance(name, str) and name and name.isprintable():
            return name[:_SHOWN_CODE]
    return "a handler"


def shown_name(name: object) -> str:
    """A requested name, fit for a message and for `Outcome.tool`."""
    if type(name) is not str:
        return f"<{type(name).__name__}>"
    short = name if len(name) <= _SHOWN_NAME else name[:_SHOWN_NAME] + "…"
    return short.encode("utf-8", "replace").decode()


def unknown_tool(name: object, known: Iterable[str]) -> ErrorInfo:
    """No tool has this name."""
    if type(name) is not str:
        return ErrorInfo(code="unknown_tool", message=f"a tool's name is text, not {type(name).__name__}")
    names = sorted(known)
    near = suggest(name, names)
    more = ", …" if len(names) > _SHOWN_TOOLS else ""
    listed = f"the tools are {', '.join(names[:_SHOWN_TOOLS])}{more}" if names else "there are no tools"
    return ErrorInfo(
        code="unknown_tool",
        message=f"no tool is named {shown_name(name)!r}",
        hint=f"did you mean {near!r}?" if near else listed,
    )


def invalid_input(tool: str, issues: Sequence[Issue]) -> ErrorInfo:
    """The arguments do not fit the schema, or the schema itself is broken, which no other arguments mend."""
    broken = next((issue for issue in issues if issue["code"] == BROKEN), None)
    if broken is not None:
        return ErrorInfo(
            code="invalid_input",
            message=f"{tool}: the arguments could not be checked: {broken['message']}",
            hint="the tool's schema failed; tell the tool's author",
            issues=tuple(issues),
        )
    shown = [f"{issue['path'] or 'arguments'}: {issue['message']}" for issue in issues[:_SHOWN_ISSUES]]
    more = f"; and {len(issues) - _SHOWN_ISSUES} more" if len(issues) > _SHOWN_ISSUES else ""
    places = ", ".join(dict.fromkeys(issue["path"] or "the arguments" for issue in issues[:_SHOWN_ISSUES]))
    return ErrorInfo(
        code="invalid_input",
        message=f"{tool}: the arguments do not fit: {'; '.join(shown) or 'no reason given'}{more}",
        hint=f"correct {places or 'the arguments'} and call again",
        issues=tuple(issues),
    )


def not_json(tool: str, refused: ValueRefused) -> ErrorInfo:
    """The arguments cannot even be written as JSON."""
    code = "too_large" if refused.too_large else "not_json"
    return invalid_input(tool, [Issue(path=refused.path, message=refused.reason, code=code)])


def no_sandbox(tool: str) -> ErrorInfo:
    """Nothing runs without an explicit sandbox."""
    return ErrorInfo(
        code="sandbox_required",
        message=f"tool {tool!r} has no sandbox, and nothing runs without one",
        hint="pass one to the tool, the Boundary or the Enclave: sandbox=rf.local(unsafe=True) for code that you trust",
    )


def would_deadlock(tool: str, limit: int | None) -> ErrorInfo:
    """It would wait for a call that waits for it."""
    return ErrorInfo(
        code="would_deadlock",
        message=f"{tool}: a call of {tool} has led to this one and cannot end before it, and all {limit} turns are taken"
        if limit != 1
        else f"{tool}: a call of {tool} has led to this one and cannot end before it, and only 1 may run at a time",
        hint=f"do not call {tool} from within itself, or raise its max_concurrency",
    )


def not_approved(tool: str, code: str, reason: str, said: str, timeout: float | None) -> ErrorInfo:
    """Nobody said in time that it may run. What an approver `said` is for the caller, as far as it is text."""
    if code == "approval_expired":
        text = f"{tool}: no decision came within {timeout:g} s"
        return ErrorInfo(code=code, message=text, data={"reason": "expired"})
    text, hint = _DENIALS[reason]
    if said:
        text = f"{text}: {_printable(said)}"
    return ErrorInfo(code=code, message=f"{tool}: {text}", hint=hint, data={"reason": reason})


def too_slow(tool: str, timeout: float | None, total: float | None) -> str:
    """Which time was up: that of one attempt, or (`timeout` is None) that of all of them."""
    if timeout is not None:
        return f"{tool} took longer than {timeout:g} s, the timeout of one attempt"
    return f"{tool} took longer than {total:g} s, the total_timeout of all its attempts"


def ended_by_total(error: ErrorInfo, total: float, attempts: int, most: int) -> ErrorInfo:
    """The same error, with what kept further attempts from being made."""
    late = f"total_timeout={total:g} ended it after {attempts} of {most} {'attempt' if most == 1 else 'attempts'}"
    return replace(error, hint=late if error.hint is None else f"{late}; {error.hint}")


def stopped(tool: str, code: str, status: Status) -> ErrorInfo:
    """Ended from outside: before it ran (`aborted`), or by its caller's end."""
    hint = _DOUBT if status == "unknown" else None
    match code:
        case "aborted":
            return ErrorInfo(code=code, message=f"{tool}: aborted by its caller before it ran")
        case _:
            return ErrorInfo(code=code, message=f"{tool} was interrupted", hint=hint)


def failed(tool: str, code: str, status: Status, cause: BaseException, call_id: str, attempts: int = 1) -> ErrorInfo:
    """The tool, its result, or its sandbox failed; `cause` is the exception behind it."""
    name = class_name(cause)
    hint = _DOUBT if status == "unknown" else None
    if code == "outcome_unknown":
        tried = "not retried" if attempts == 1 else f"after {attempts} attempts"
        text = f"{tool}: outcome unknown, {tried} ({name}, call {call_id})"
        return ErrorInfo(code=code, message=text, name=name, hint=hint)
    if code == "tool_timeout" and isinstance(cause, ToolTimeoutError):
        return ErrorInfo(code=code, message=cause.message, hint=hint)
    if isinstance(cause, SandboxFault) and CODES[code].family is Family.FAULT:
        return ErrorInfo(code=code, message=f"{tool}: {cause.message}", name=name, hint=cause.hint or hint)
    if code == "bad_result":
        return _bad_result(tool, status, cause)
    if isinstance(cause, ToolError):
        return ErrorInfo(code=code, message=_own_text(cause, tool), name=name, data=_own_data(cause), hint=hint)
    return ErrorInfo(code=code, message=f"{tool} raised {name} (call {call_id})", name=name, hint=hint)


def _bad_result(tool: str, status: Status, cause: BaseException) -> ErrorInfo:
    name = class_name(cause)
    is_refused = isinstance(cause, ValueRefused)
    reason = str(cause) if is_refused else f"its schema raised {name}"
    fix = fix_for(reason)
    hints = ["return less: filter or page in the tool"] if is_refused and cause.too_large else []
    if fix is not None and not hints:
        hints.append(f"in the tool: {fix}")
    if status == "unknown":
        hints.append("do not call it again for the same effect")
    text = f"{tool} ran to its end, and its result was refused: {reason}"
    return ErrorInfo(code="bad_result", message=text, name=name, hint="; ".join(hints) or None)


def bad_fallback(tool: str, cause: BaseException) -> ErrorInfo:
    """The answer of `on_error` cannot be handed on."""
    is_refused = isinstance(cause, ValueRefused)
    reason = str(cause) if is_refused else f"writing it raised {class_name(cause)}"
    text = f"{tool}: the tool failed, and the answer of its on_error was refused: {reason}"
    hint = "return less from on_error" if is_refused and cause.too_large else "return plain data from on_error"
    return ErrorInfo(code="bad_result", message=text, name=class_name(cause), hint=hint)


def _bounded(text: str) -> str:
    return text[:MAX_TEXT].encode("utf-8", "replace").decode()


def _printable(text: str) -> str:
    """Text that cannot move a terminal's cursor."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in _bounded(text))


def _own_text(error: ToolError, tool: str) -> str:
    text: object = getattr(error, "text", None)  # a subclass may have left it out
    written = _bounded(text) if type(text) is str else ""
    return written or f"{tool} failed"


def _own_data(error: ToolError) -> dict[str, Any]:
    """What the tool added, if it can be written as JSON; its own code under `code`."""
    added: object = getattr(error, "data", None)
    code: object = getattr(error, "code", None)
    try:
        data = dict(cast("Mapping[str, Any]", added)) if isinstance(added, Mapping) else {}
        if type(code) is str:
            data["code"] = code[:_SHOWN_CODE]
        check_exact(data, _DATA)
    except ValueRefused as refused:
        return {"omitted": str(refused)}
    except Exception as failure:  # noqa: BLE001  (a mapping of the tool's own may raise anything)
        return {"omitted": f"reading it raised {class_name(failure)}"}
    return data
