"""A context for tests, and short forms for what a schema refuses."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.contract.context import ToolContext
from ringfence.errors import ConfigError, Issue
from ringfence.ports import InputSchema, InvalidInput, OutputSchema
from ringfence.values import ValueRefused


class Quiet:
    """A signal that nobody sets."""

    aborted = False
    reason = None

    def raise_if_aborted(self) -> None:
        return

    async def wait(self) -> None:
        raise AssertionError("nobody waits in these tests")


QUIET = Quiet()


def context(**changes: Any) -> ToolContext:
    fields: dict[str, Any] = {
        "session_id": "s",
        "principal": "u",
        "call_id": "c1",
        "attempt": 1,
        "max_attempts": 1,
        "idempotency_key": "k",
        "deadline": None,
        "signal": QUIET,
    }
    return ToolContext(**{**fields, **changes})


def issues(schema: InputSchema, data: bytes) -> list[Issue]:
    with pytest.raises(InvalidInput) as caught:
        schema.validate(data)
    return list(caught.value.issues)


def codes(schema: InputSchema, data: bytes) -> list[tuple[str, str]]:
    """Path and code of every issue."""
    return [(issue["path"], issue["code"]) for issue in issues(schema, data)]


def refusal(schema: OutputSchema, value: object) -> tuple[str, str]:
    """Path and reason with which a result is refused."""
    with pytest.raises(ValueRefused) as caught:
        schema.dump(value)
    return caught.value.path, caught.value.reason


def config_error(make: Any, *args: Any, **kwargs: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        make(*args, **kwargs)
    return caught.value
