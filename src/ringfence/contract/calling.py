"""How a tool's function is called with validated arguments: decided once, at registration, from its signature.

Knows signatures and the context type; not schemas, gates or drivers. `contract.tool` asks it for a `Convention` and
keeps the result. Pure: nothing here calls the function before the gate does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any

from ringfence.contract.context import ToolContext
from ringfence.contract.hints import Declared, is_context, resolve_each
from ringfence.errors import ConfigError

Call = Callable[[Any, ToolContext | None], Any]
"""`(validated arguments, context)` to whatever the tool returns: a value, or an awaitable of it."""


@dataclass(frozen=True, slots=True)
class Convention:
    """How one function is called."""

    call: Call
    takes_context: bool
    """Otherwise nobody looks at the context, and there need not be one."""


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def spread(function: Callable[..., Any], declared: Declared) -> Convention:
    """For a decorated function: its parameters by name, from `Arguments` or the one model it takes."""
    context, whole = declared.context, declared.whole
    if whole is not None and context is not None:
        return Convention(lambda value, ctx: function(**{whole: value, context: ctx}), takes_context=True)
    if whole is not None:
        return Convention(lambda value, ctx: function(**{whole: value}), takes_context=False)
    if context is not None:
        return Convention(lambda value, ctx: function(**value.__dict__, **{context: ctx}), takes_context=True)
    return Convention(lambda value, ctx: function(**value.__dict__), takes_context=False)


def whole(execute: Callable[..., Any], label: str) -> Convention:
    """For `Tool(input=..., execute=...)`: the validated value, and the context where a second parameter takes it.

    Raises:
        ConfigError: `execute` cannot be called so.
    """
    try:
        parameters = list(inspect.signature(execute).parameters.values())
    except (ValueError, TypeError):
        return _alone(execute)  # a builtin without a readable signature
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    named = [parameter for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    takes_any = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
    hints = _hints(execute)
    if not positional and not takes_any:
        raise ConfigError(f"{label} takes no positional parameter", hint="write `def execute(args): ...`")
    wants = [one for one in positional[1:2] if _required(one) or _is_context(one, hints)]
    by_name = [one.name for one in named if _is_context(one, hints)]
    missing = [one.name for one in positional[1 + len(wants) :] if _required(one)]
    missing += [one.name for one in named if _required(one) and one.name not in by_name]
    if missing:
        raise ConfigError(
            f"{label} requires a parameter {missing[0]!r} that nobody supplies",
            hint="take the arguments object, and after it a ToolContext if needed",
        )
    if wants:
        return Convention(execute, takes_context=True)
    if by_name:
        name = by_name[0]
        return Convention(lambda value, ctx: execute(value, **{name: ctx}), takes_context=True)
    return _alone(execute)


def _alone(execute: Callable[..., Any]) -> Convention:
    return Convention(lambda value, ctx: execute(value), takes_context=False)


def is_async(execute: Callable[..., Any]) -> bool:
    """Whether calling it starts a coroutine, so that it needs no thread."""
    code = getattr(execute, "__code__", None)  # the usual case first: `inspect` takes several times as long
    if type(code) is CodeType and code.co_flags & inspect.CO_COROUTINE:
        return True
    return inspect.iscoroutinefunction(execute) or inspect.iscoroutinefunction(getattr(execute, "__call__", None))  # noqa: B004


def is_same(one: object, other: object) -> bool:
    """By identity, since equality is whatever a handler's class says; a bound method is made anew at every access."""
    if isinstance(one, MethodType) and isinstance(other, MethodType):
        return one.__self__ is other.__self__ and one.__func__ is other.__func__
    if isinstance(one, BuiltinMethodType) and isinstance(other, BuiltinMethodType):
        return one.__self__ is other.__self__ and one.__name__ == other.__name__
    return one is other


def _required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def _is_context(parameter: inspect.Parameter, hints: dict[str, Any]) -> bool:
    hint = hints.get(parameter.name)
    if isinstance(hint, str):
        return "ToolContext" in hint  # imported for type checkers only: the text must do
    return is_context(hint)


def _hints(execute: Callable[..., Any]) -> dict[str, Any]:
    """Hints, each resolved as far as it can be: here they only serve to recognise the context."""
    target: Any = execute
    while isinstance(target, functools.partial):
        target = target.func  # type: ignore[reportUnknownMemberType]
    if not inspect.isroutine(target):
        target = getattr(target, "__call__", target)  # noqa: B004 - its hints are wanted, not whether it is callable
    return resolve_each(target, {})
