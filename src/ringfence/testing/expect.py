"""Assertions that compare errors by code, and say what there was instead.

A code that does not exist is the test's own mistake, and an error of its own. Knows outcomes and exceptions; needs no
test framework.
"""

from __future__ import annotations

import difflib
from types import TracebackType
from typing import Self, get_args

from ringfence.errors import CODES, ConfigError, RingfenceError, Status
from ringfence.ports import Outcome
from ringfence.testing.steps import shown


class raises:  # noqa: N801  (reads like pytest's)
    """A block that must raise one of ringfence's errors, with this code.

        with rf.testing.raises("approval_denied") as caught:
            outcome.unwrap()
        assert "too much" in caught.value.message

    Exceptions that are not ringfence's pass through.
    """

    def __init__(self, code: str) -> None:
        """Expect a code of `docs/errors.md`.

        Raises:
            ConfigError: there is no such code.
        """
        self._code = _known(code)
        self._value: RingfenceError | None = None

    @property
    def value(self) -> RingfenceError:
        """The error, after the block.

        Raises:
            AssertionError: there is none yet.
        """
        if self._value is None:
            raise AssertionError(f"nothing with the code {self._code} has been raised yet")
        return self._value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            raise AssertionError(f"expected an error with the code {self._code}, and nothing was raised")
        if not isinstance(error, RingfenceError):
            return False
        if error.code != self._code:
            raise AssertionError(
                f"expected an error with the code {self._code}, and got {error.code}: {error.message}"
            ) from error
        self._value = error
        return True


def assert_outcome(outcome: Outcome, *, status: Status | None = None, code: str | None = None) -> None:
    """A call ended so.

        rf.testing.assert_outcome(outcome)                                  # it succeeded
        rf.testing.assert_outcome(outcome, code="tool_timeout")             # failed or unknown, with this code
        rf.testing.assert_outcome(outcome, status="unknown", code="tool_timeout")

    Args:
        status: compared when given; without `code`, `"succeeded"` by default.
        code: compared when given.

    Raises:
        AssertionError: it ended otherwise; says how, with the tool's own exception as its cause.
        ConfigError: no such code or status, or a code together with `"succeeded"`.
    """
    if status is not None and status not in get_args(Status):
        raise ConfigError(f"no status {status!r}", hint=f"the statuses are {', '.join(get_args(Status))}")
    if code is None:
        status = status or "succeeded"
    elif _known(code) and status == "succeeded":
        raise ConfigError("what succeeded has no code", hint="leave out code= or status=")
    found = outcome.error.code if outcome.error is not None else None
    if status in {None, outcome.status} and code in {None, found}:
        return
    wanted = status or "an outcome"
    if code is not None:
        wanted += f" with the code {code}"
    raise AssertionError(f"expected {wanted}, and got {_described(outcome)}") from outcome.cause


def _described(outcome: Outcome) -> str:
    what = (
        f"{outcome.status}, {outcome.error}"
        if outcome.error is not None
        else f"{outcome.status}: {shown(outcome.value)}"
    )
    attempts = f"{outcome.attempts} attempt{'' if outcome.attempts == 1 else 's'}"
    cause = f"\n  raised: {shown(outcome.cause)}" if outcome.cause is not None else ""
    return f"{what}{cause}\n  call {outcome.call_id} of {outcome.tool}, {attempts}, {outcome.duration:.3g} s"


def _known(code: str) -> str:
    if code not in CODES:
        near = difflib.get_close_matches(code, CODES, 1)
        raise ConfigError(
            f"no code {code!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"the codes are {', '.join(sorted(CODES))}",
        )
    return code
