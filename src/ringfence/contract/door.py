"""The one door for whatever a user gives as a contract.

Sorts by kind and builds the schema object of that kind: pydantic's, msgspec's, JSON Schema's, or the pair of any other
library. Knows the kinds, not how they work. `contract.tool` calls it at registration, where every failure belongs. Pure.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from pydantic import BaseModel, RootModel, TypeAdapter
from typing_extensions import is_typeddict

from ringfence.contract.hints import UNDECLARED
from ringfence.contract.neutral import PairInput, PairOutput, halves
from ringfence.contract.output import PydanticOutput
from ringfence.contract.raw import RawInput, RawOutput
from ringfence.contract.schema import ACCEPTED_INPUTS, PydanticInput, adapter_for
from ringfence.contract.structs import StructInput, StructOutput, is_struct
from ringfence.errors import ConfigError
from ringfence.ports import InputSchema, OutputSchema


def as_input_schema(value: Any, field: str, *, lax: bool = False) -> InputSchema:
    """The input contract that a user's object stands for.

    Args:
        field: How errors name the place (`tool 'x': input`).
        lax: Whether values are converted where that makes sense.

    Raises:
        ConfigError: `bad_schema`, naming `field` and what is accepted, or why this one cannot be published.
    """
    if isinstance(value, TypeAdapter):
        return PydanticInput(cast("TypeAdapter[Any]", value), field, lax=lax)
    if is_struct(value):
        return StructInput(value, field, lax=lax)
    if _is_pydantic_class(value):
        return PydanticInput(adapter_for(value, field), field, lax=lax)
    if isinstance(value, (PydanticInput, StructInput)):
        return value if value.lax is lax else value.as_lax(lax)
    if InputSchema in type(value).__mro__:
        _refuse_lax(lax, field, "a finished schema")
        return value
    if isinstance(value, Mapping):
        _refuse_lax(lax, field, "a JSON Schema")
        return RawInput(cast("Mapping[str, Any]", value), field)
    _refuse_near_misses(value, field)
    if any(halves(value)):
        _refuse_lax(lax, field, "the validator of another library")
        return PairInput(value, field)
    shown = value.__name__ if inspect.isclass(value) else type(value).__name__
    raise ConfigError(f"{field} must be {ACCEPTED_INPUTS}; not {shown}", code="bad_schema")


def as_output_schema(value: object, field: str, description: str = "") -> OutputSchema:
    """The output contract of a return annotation, of anything given as `output=`, or of nothing (`UNDECLARED`).

    Args:
        field: How errors name the place (`tool 'x': output`).
        description: Of the result, where the contract itself has none.

    Raises:
        ConfigError: `bad_schema`, naming `field` and the reason.
    """
    if OutputSchema in type(value).__mro__:
        return cast("OutputSchema", value)
    if value is UNDECLARED or isinstance(value, (TypeAdapter, type(None))):
        return PydanticOutput(value, field, description)
    if is_struct(value):
        return StructOutput(value, field)
    if isinstance(value, Mapping):
        return RawOutput(cast("Mapping[str, Any]", value), field)
    if not inspect.isclass(value) and all(halves(value)):
        return PairOutput(value, field)
    return PydanticOutput(value, field, description)


def _is_pydantic_class(value: Any) -> bool:
    if not inspect.isclass(value) or issubclass(value, RootModel):
        return False
    return issubclass(value, BaseModel) or dataclasses.is_dataclass(value) or is_typeddict(value)


def _refuse_near_misses(value: object, field: str) -> None:
    if isinstance(value, RootModel) or (inspect.isclass(value) and issubclass(value, RootModel)):
        raise ConfigError(
            f"{field}: a RootModel has no named fields", code="bad_schema", hint="wrap it in a model with one field"
        )
    if isinstance(value, (BaseModel, msgspec.Struct)):
        raise ConfigError(
            f"{field}: an instance of {type(value).__name__}, not the class", code="bad_schema", hint="give the class"
        )


def _refuse_lax(lax: bool, field: str, kind: str) -> None:
    if lax:
        raise ConfigError(
            f"{field}: lax means nothing for {kind}, which alone says what it accepts", hint="remove lax=True"
        )
