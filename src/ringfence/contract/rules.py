"""The rules that may be written beside a tool, and the checks of each.

Every check answers with the value to keep, or raises a `ConfigError` that names tool and field. Knows the ports that
approvers and drivers satisfy, not tools or gates. `contract.tool` calls the checks at registration. Pure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast

from typing_extensions import TypedDict

from ringfence.contract.backoff import Backoff
from ringfence.contract.calling import is_async
from ringfence.contract.names import suggest
from ringfence.errors import ConfigError
from ringfence.limits import KIB, parse_count, parse_seconds, parse_size, shown
from ringfence.ports import Approval, ApprovalHandler, Combination, Driver, Effect

MAX_DESCRIPTION: Final = 16 * KIB
"""Characters. A description is read by a model with every request."""


OnError = Callable[[Exception], Any]
"""Makes a result out of the last exception; sync or async."""

RetryOn = type[BaseException] | tuple[type[BaseException], ...] | Callable[[BaseException], bool]
"""Exceptions after which another attempt may help: classes, or a question that True answers."""


_Check = Callable[[object, str], Any]
"""`(value given, how errors name the tool)` to the value to keep."""


class Rules(TypedDict, total=False):
    """Options that `Tool`, `@tool` and `Tool.from_function` share; what they mean is said at `Tool`."""

    output: Any
    timeout: float | None
    retries: int
    retry_on: RetryOn | None
    backoff: Backoff | float | None
    total_timeout: float | None
    approval: Approval
    on_error: OnError | None
    sandbox: Driver | None
    effect: Effect | None
    idempotent: bool | None
    lax: bool
    max_concurrency: int | None
    max_result: int | str | None
    tags: Iterable[str]


def checked(options: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Every rule by name: the value given, checked, or else what holds without it. `output` is a schema, not a rule.

    Raises:
        ConfigError: the first rule that is wrong, or an option that there is not.
    """
    for option in options:
        if option not in _CHECKS:
            near = suggest(option, _CHECKS)
            raise ConfigError(f"{label} has no option {option!r}", hint=f"use {near!r}" if near else None)
    return {rule: check(options.get(rule, default), label) for rule, (check, default) in _CHECKS.items()}


def check_description(value: object, label: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{label}: description must be text that is not blank", hint="say what the tool does")
    if len(value) > MAX_DESCRIPTION:
        raise ConfigError(f"{label}: description has {len(value)} characters, more than {MAX_DESCRIPTION}")
    return value.strip()


def check_approval(value: object, label: str) -> Approval:
    if isinstance(value, str) and value in ("auto", "human"):
        return value
    if isinstance(value, Combination):
        return value
    if callable(value):
        return cast("ApprovalHandler", value)
    raise ConfigError(
        f"{label}: approval must be 'auto', 'human' or a callback, not {shown(value)}",
        hint="use 'human' for a person's decision, or lambda request: True",
    )


def check_retry_on(value: object, label: str) -> RetryOn | None:
    if value is None or _are_exceptions(value):
        return cast("RetryOn | None", value)
    if callable(value) and is_async(value):
        raise ConfigError(f"{label}: retry_on must answer at once, so it cannot be asynchronous", hint="write a def")
    if callable(value) and not isinstance(value, type):
        return cast("RetryOn", value)
    raise ConfigError(
        f"{label}: retry_on must be an exception class, a tuple of them, or a function, not {shown(value)}",
        hint="write retry_on=(ConnectionError, TimeoutError)",
    )


def _are_exceptions(value: object) -> bool:
    classes = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
    return len(classes) > 0 and all(isinstance(item, type) and issubclass(item, BaseException) for item in classes)


def check_backoff(value: object, label: str) -> Backoff | None:
    """A number is the same pause before every attempt."""
    if value is None or isinstance(value, Backoff):
        return value
    seconds = parse_seconds(value, f"{label}: backoff")
    return Backoff(first=seconds, factor=1.0, longest=seconds, jitter=0.0)


def one_of(value: object, choices: tuple[object, ...], field: str) -> Any:
    if any(value is choice or (type(value) is str and value == choice) for choice in choices):
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise ConfigError(f"{field} must be one of {listed}; not {shown(value)}")


def check_tags(value: object, label: str) -> tuple[str, ...]:
    hint = 'write tags=("billing",)'
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ConfigError(f"{label}: tags must be a sequence of words, not {type(value).__name__}", hint=hint)
    tags: list[object] = list(value)  # type: ignore[reportUnknownArgumentType]
    for tag in tags:
        if not isinstance(tag, str) or not tag.strip():
            raise ConfigError(f"{label}: a tag must be text that is not blank, not {shown(tag)}", hint=hint)
    return tuple(dict.fromkeys(str(tag) for tag in tags))


def check_sandbox(value: object, label: str) -> Driver | None:
    if value is None:
        return None
    name = getattr(value, "name", None)
    usable = isinstance(name, str) and name.strip() and callable(getattr(value, "run", None))
    if isinstance(value, type) or not usable or not isinstance(value, Driver):
        shown = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise ConfigError(
            f"{label}: sandbox must be a driver (name, run), not {shown}",
            hint="give an instance, such as local(unsafe=True)",
        )
    for member in ("aclose", "guarantees"):
        if not callable(getattr(value, member, len)):
            raise ConfigError(f"{label}: {member} of the sandbox {name!r:.60} must be a method, or be left out")
    return value


def _check_on_error(value: object, label: str) -> OnError | None:
    if value is None:
        return None
    if not callable(value):
        raise ConfigError(f"{label}: on_error must be callable, not {type(value).__name__}")
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # a builtin without a signature
        return value
    try:
        signature.bind(None)
    except TypeError:
        raise ConfigError(
            f"{label}: on_error must take one argument, the exception", hint="write def on_error(error): ..."
        ) from None
    return value


def _or_none(parse: Callable[[object, str], Any], rule: str) -> _Check:
    return lambda value, label: None if value is None else parse(value, f"{label}: {rule}")


def _choice(rule: str, *choices: object) -> _Check:
    return lambda value, label: one_of(value, choices, f"{label}: {rule}")


_CHECKS: Final[Mapping[str, tuple[_Check, object]]] = MappingProxyType(
    {
        "retries": (lambda value, label: parse_count(value, f"{label}: retries"), 0),
        "timeout": (_or_none(parse_seconds, "timeout"), None),
        "retry_on": (check_retry_on, None),
        "backoff": (check_backoff, None),
        "total_timeout": (_or_none(parse_seconds, "total_timeout"), None),
        "approval": (check_approval, "auto"),
        "effect": (_choice("effect", "read", "write", None), None),
        "idempotent": (_choice("idempotent", True, False, None), None),
        "lax": (_choice("lax", True, False), False),
        "max_concurrency": (_or_none(partial(parse_count, least=1), "max_concurrency"), None),
        "max_result": (_or_none(parse_size, "max_result"), None),
        "tags": (check_tags, ()),
        "on_error": (_check_on_error, None),
        "sandbox": (check_sandbox, None),
    }
)
"""Rule to its check and its default, in the order in which mistakes are reported (first seed: numbers first)."""
