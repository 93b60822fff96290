"""One compiled JSON Schema: whether a value fits it, within bounds, and if not, why.

Knows jsonschema-rs and values, not where a schema comes from. `contract.raw`, `contract.structs` and `contract.schema`
hold one for each contract that has to be judged so. Pure.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

import jsonschema_rs

from ringfence.contract.bounds import TOO_COMPLEX, Bounds, levels_of, patterns_of
from ringfence.contract.complaints import issues_from
from ringfence.contract.effort import measured
from ringfence.contract.keywords import Json, node_of, parts
from ringfence.errors import ConfigError, Issue
from ringfence.limits import KIB

_REGEX_SIZE: Final = 256 * KIB
"""Bytes of one compiled pattern."""
MAX_PATTERNS: Final = 200
_MAX_STEPS: Final = 2 * 10**8
"""A few seconds of checking at the very most; a tenth of a second where values are nested in circles."""
_MAX_TOLD: Final = 100_000
"""Steps for telling what is wrong; beyond it only that something is."""
_HINT: Final = "patterns may not look around or back, nor repeat large parts"
_UNTOLD: Final = Issue(path="", message="does not fit the schema", code="schema")


class Check:
    """Whether a value fits a published schema, and if not, why."""

    __slots__ = ("_bounds", "_effort", "_names", "_validator")

    def __init__(self, schema: Json, field: str, *, formats: bool) -> None:
        """Compile.

        Args:
            schema: Localised, in draft 2020-12.
            formats: Whether formats are asserted.

        Raises:
            ConfigError: `bad_schema`: it cannot be enforced within bounds.
        """
        self._effort = measured(schema)
        bounds = Bounds(schema, unique=True)
        self._bounds = bounds if bounds.needed else None
        self._names: tuple[str, ...] = tuple(node_of(schema.get("properties")))
        patterns = list(chain.from_iterable(map(patterns_of, parts(schema))))
        if len(patterns) > MAX_PATTERNS:
            raise ConfigError(f"{field}: it has more than {MAX_PATTERNS} patterns", code="bad_schema")
        for pattern in patterns:
            _compile({"pattern": pattern}, f"{field}: its pattern {pattern!r:.80} has no linear-time form")
        self._validator = _compile(schema, f"{field}: it cannot be enforced", formats=formats)

    def issues(self, value: Any, size: int) -> tuple[Issue, ...]:
        """Nothing, when the value fits.

        Args:
            size: Bytes of its JSON text.
        """
        effort = self._effort
        levels = [size] if effort.growth == 1 else levels_of(value)  # bytes are more than values
        if effort.steps(levels) > _MAX_STEPS and effort.steps(levels_of(value)) > _MAX_STEPS:
            return (TOO_COMPLEX,)
        if self._bounds is not None and self._bounds.exceeded(size, lambda: value):
            return (TOO_COMPLEX,)
        if self._validator.is_valid(value):
            return ()
        levels = levels_of(value)
        if effort.steps(levels, telling=True) <= _MAX_TOLD:
            return issues_from(self._validator.iter_errors(value), self._names) or (_UNTOLD,)
        if effort.steps([0] * len(levels) + [1], telling=True) <= _MAX_TOLD:
            return issues_from([_first(self._validator, value)], self._names) or (_UNTOLD,)
        return (_UNTOLD,)


def _compile(schema: Json, failure: str, *, formats: bool = False) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=formats,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_REGEX_SIZE, dfa_size_limit=_REGEX_SIZE),
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise ConfigError(failure, code="bad_schema", hint=_HINT) from error


def _first(validator: jsonschema_rs.Validator, value: Any) -> jsonschema_rs.ValidationError:
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return error
    raise AssertionError("a value that is not valid has no mistake")
