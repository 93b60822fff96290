"""The rules that may be written beside a tool, and the checks of each.

Every check answers with the value to keep, or raises a `ConfigError` that names tool and field. Knows the ports that
approvers and drivers satisfy, not tools or gates. `contract.tool` calls the checks at registration. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from typing_extensions import TypedDict

from ringfence.errors import ConfigError
from ringfence.limits import KIB
from ringfence.ports import Approval, ApprovalHandler, Driver, Effect

MAX_DESCRIPTION: Final = 16 * KIB
"""Characters. A description is read by a model with every request."""


OnError = Callable[[Exception], Any]
"""Makes a result out of the last exception; sync or async."""


class Rules(TypedDict, total=False):
    """Options that `Tool`, `@tool` and `Tool.from_function` share; what they mean is said at `Tool`."""

    output: Any
    timeout: float | None
    retries: int
    approval: Approval
    on_error: OnError | None
    sandbox: Driver | None
    effect: Effect | None
    idempotent: bool | None
    tags: Iterable[str]


def check_description(value: object, label: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{label}: description must be text that is not blank", hint="say what the tool does")
    if len(value) > MAX_DESCRIPTION:
        raise ConfigError(f"{label}: description has {len(value)} characters, more than {MAX_DESCRIPTION}")
    return value.strip()


def check_approval(value: object, label: str) -> Approval:
    if isinstance(value, str) and value in ("auto", "human"):
        return value
    if callable(value):
        return cast("ApprovalHandler", value)
    raise ConfigError(
        f"{label}: approval must be 'auto', 'human' or a callback, not {value!r:.60}",
        hint="use 'human' for a person's decision",
    )


def one_of(value: object, choices: tuple[object, ...], field: str) -> Any:
    if any(value is choice or (type(value) is str and value == choice) for choice in choices):
        return value
    shown = ", ".join(repr(choice) for choice in choices)
    raise ConfigError(f"{field} must be one of {shown}; not {value!r:.60}")


def check_tags(value: object, label: str) -> tuple[str, ...]:
    hint = 'write tags=("billing",)'
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ConfigError(f"{label}: tags must be a sequence of words, not {type(value).__name__}", hint=hint)
    tags: list[object] = list(value)  # type: ignore[reportUnknownArgumentType]
    for tag in tags:
        if not isinstance(tag, str) or not tag.strip():
            raise ConfigError(f"{label}: a tag must be text that is not blank, not {tag!r:.60}", hint=hint)
    return tuple(dict.fromkeys(str(tag) for tag in tags))


def check_sandbox(value: object, label: str) -> Driver | None:
    if value is None:
        return None
    name = getattr(value, "name", None)
    usable = isinstance(name, str) and name.strip()
    if isinstance(value, type) or not usable or not isinstance(value, Driver):
        shown = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise ConfigError(
            f"{label}: sandbox must be a driver (name, run, aclose), not {shown}",
            hint="give an instance, such as local(unsafe=True)",
        )
    return value
