"""What scripted parts have in common: a list of steps, taken in order, and steps that wait.

Used by `testing.approver` and `testing.driver`. Knows neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, TypeVar, cast

from ringfence.errors import ConfigError

T = TypeVar("T")

_SHOWN: Final = 60


class Never(Enum):
    """The type of `never`."""

    NEVER = "never"

    def __repr__(self) -> str:
        return "never"


never: Final = Never.NEVER
"""A step that does not end until it is cancelled."""


@dataclass(frozen=True, slots=True)
class After(Generic[T]):
    """A step that is taken some time later; with a `FakeClock`, without waiting."""

    seconds: float
    step: T


class Script(Generic[T]):
    """Steps, each taken once."""

    def __init__(self, steps: Iterable[T], owner: str) -> None:
        """Steps in this order.

        Raises:
            ConfigError: no list; the message names `owner`.
        """
        given = cast("object", steps)
        if not isinstance(given, Iterable) or isinstance(given, str | bytes):
            raise ConfigError(f"{owner} takes a list, not {shown(given)}", hint=f"{owner}([{shown(given)}])")
        self._steps = tuple(steps)
        self._taken = 0

    @property
    def steps(self) -> tuple[T, ...]:
        """All of them."""
        return self._steps

    @property
    def has_more(self) -> bool:
        return self._taken < len(self._steps)

    def take(self) -> T:
        """The next step. Only when there is one."""
        step = self._steps[self._taken]
        self._taken += 1
        return step

    def __len__(self) -> int:
        return len(self._steps)

    def unused(self, what: str) -> str | None:
        """A complaint about steps that were not taken; None when there are none."""
        left = self._steps[self._taken :]
        if not left:
            return None
        return f"{len(left)} of {len(self._steps)} {what} left, the first of them {shown(left[0])}"


def shown(value: Any) -> str:
    """A value in a message, cut short."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
