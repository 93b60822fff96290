"""The arguments' contract of a decorated function.

Joins what `contract.hints` read from the signature with the validator of `contract.schema`, and finds out which
parameter is to blame when there is none. `contract.tool` makes one per decorated function. Pure.
"""

from __future__ import annotations

from typing import Any

from ringfence.contract.hints import Arguments, Declared, arguments_type
from ringfence.contract.schema import Publisher, PydanticInput, adapter_for, reason_of
from ringfence.errors import ConfigError
from ringfence.ports import Target


class FunctionInput(PydanticInput):
    """The arguments of a decorated function, which remembers how they become parameters."""

    __slots__ = ("_label", "declared")

    def __init__(self, declared: Declared, label: str, *, lax: bool = False) -> None:
        try:
            adapter = adapter_for(declared.arguments, f"{label}: arguments")
            super().__init__(adapter, f"{label}: arguments", None if declared.whole else Arguments, lax=lax)
        except ConfigError:
            _blame_parameter(declared, label)
            raise
        self.declared = declared
        self._label = label

    def as_lax(self, lax: bool) -> FunctionInput:
        """The same contract, with or without conversion of values."""
        return FunctionInput(self.declared, self._label, lax=lax)

    def json_schema(self, target: Target = "2020-12") -> dict[str, Any]:
        """See `ports.InputSchema.json_schema`."""
        schema = super().json_schema(target)
        if self.declared.whole is None:
            del schema["title"]
        return schema


def _blame_parameter(declared: Declared, label: str) -> None:
    """Raise an error about the one parameter that has no schema, when one alone has none."""
    for name, hint in declared.parameters.items():
        field = f"{label}: parameter {name!r}"
        adapter = adapter_for(arguments_type({name: hint}), field)
        try:
            adapter.json_schema(schema_generator=Publisher)
        except Exception as error:
            raise ConfigError(f"{field}: {reason_of(error)}", code="bad_schema") from error
