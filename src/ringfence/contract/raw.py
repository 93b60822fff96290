"""Contracts that are JSON Schema itself: arguments and results that jsonschema-rs checks.

What is enforced is the published 2020-12 form. Patterns run in linear time (no look-around, no back-references),
known formats are asserted, whole numbers are exact at any length, 1.0 is an integer as JSON Schema says, and nothing
is ever fetched. Each contract has a validator of its own, so that equal `$id`s mean nothing. Knows JSON Schema and
bytes, not tools or gates; `contract.door` builds these, and `contract.check` decides. Pure.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ringfence.contract.check import Check
from ringfence.contract.keywords import Json
from ringfence.contract.output import dump_plain
from ringfence.contract.publishing import publish
from ringfence.errors import Issue
from ringfence.limits import ValueBudget
from ringfence.ports import InputSchema, InvalidInput, OutputSchema, Target
from ringfence.values import ValueRefused, parse

_BUDGET: Final = ValueBudget()


class RawInput(InputSchema):
    """Arguments under a JSON Schema: a tool gets them as a dictionary, as they were sent."""

    __slots__ = ("_check", "_published")

    def __init__(self, schema: object, field: str) -> None:
        """Publish and compile.

        Raises:
            ConfigError: `bad_schema`, with the reason.
        """
        self._published = publish(schema, field)
        self._check = Check(self._published.schema("2020-12"), field, formats=True)

    def validate(self, data: bytes) -> Any:
        """See `ports.InputSchema.validate`."""
        value = parsed(data)
        if found := self._check.issues(value, len(data)):
            raise InvalidInput(found)
        return value

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.InputSchema.json_schema`."""
        return self._published.schema(target)


class RawOutput(OutputSchema):
    """Results under a JSON Schema: made of JSON values and what is dumped as such, then checked as a caller sees them."""

    __slots__ = ("_check", "_published")

    def __init__(self, schema: object, field: str) -> None:
        """Publish and compile; the root may be any kind of value.

        Raises:
            ConfigError: `bad_schema`, with the reason.
        """
        self._published = publish(schema, field, root_object=False)
        self._check = Check(self._published.schema("2020-12"), field, formats=True)

    def dump(self, value: Any) -> bytes:
        """See `ports.OutputSchema.dump`."""
        data = dump_plain(value)
        refuse_unless_fits(self._check, msgspec.json.decode(data), data)
        return bytes(data)  # what was declared is JSON's own text, so nothing is restored from it

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.OutputSchema.json_schema`."""
        return self._published.schema(target)


def parsed(data: bytes) -> Any:
    """The value of JSON text.

    Raises:
        InvalidInput: it is none, or over the budget for one value.
    """
    try:
        return parse(data, _BUDGET)
    except ValueRefused as error:
        raise InvalidInput((Issue(path="", message=error.reason, code="json_invalid"),)) from None


def refuse_unless_fits(check: Check, value: Any, data: bytes) -> None:
    """Raise for a result that a check finds fault with.

    Raises:
        ValueRefused: with the first issue.
    """
    found = list(check.issues(value, len(data)))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ValueRefused(found[0]["path"], f"not what was declared: {found[0]['message']}{more}")
