"""The result's contract: what a tool returned, checked against what it declared, as JSON text.

Declared results are validated (instances pass as they are, plain data is converted) and dumped by pydantic. Anything
undeclared must be made of plain JSON values and a closed list of others (`_LEAVES` and friends): unknown means no.
Knows pydantic and bytes, not tools or gates. `contract.door` builds these at registration; the gate calls `dump` once
per call. Pure, except that dumping runs the serialisers of the user's own types.

The dumped form of values that JSON lacks, where nothing is declared: dates and times ISO 8601, Decimal and UUID as
text, bytes as URL-safe base64, sets and tuples as lists, enum members as their value, dataclasses and models as
objects (models under their serialisation aliases). A dump that may hold some of the first is a `Restorable`: scripts
get dates, decimals, ids and bytes again.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import from_json

from ringfence.contract.hints import UNDECLARED
from ringfence.contract.issues import issues_of, join_path
from ringfence.contract.keywords import Json, parts
from ringfence.contract.plain import check_finite, check_plain, is_plain, may_lose_numbers
from ringfence.contract.publishing import published
from ringfence.contract.restorable import FORMATS, Restorable
from ringfence.contract.schema import ResultPublisher, ScriptPublisher, reason_of
from ringfence.errors import ConfigError
from ringfence.ports import OutputSchema, Target
from ringfence.values import ValueRefused

_CONFIG: Final = ConfigDict(ser_json_inf_nan="constants", ser_json_bytes="base64")
_LONGEST_NUMBER: Final = 4_300
"""Digits of a whole number that Python still reads back."""
_DIGITS_AS_ZERO: Final = bytes.maketrans(b"123456789", b"000000000")
_TOO_LONG: Final = b"0" * (_LONGEST_NUMBER + 1)
_STRIDE: Final = 500
_SAMPLES: Final = b"0" * (_LONGEST_NUMBER // _STRIDE)
_TYPED: Final = frozenset({"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"})


class PydanticOutput(OutputSchema):
    """A result whose type was declared, or of which nothing is known (`UNDECLARED`)."""

    __slots__ = (
        "_about",
        "_adapter",
        "_declared",
        "_field",
        "_may_lose_floats",
        "_published",
        "_restorable",
        "_walked",
    )

    def __init__(self, hint: Any, field: str, description: str = "") -> None:
        """Build validator, serialiser and schema.

        Raises:
            ConfigError: `bad_schema`, naming `field`, when pydantic cannot describe the type.
        """
        self._declared = hint is not UNDECLARED
        self._adapter: TypeAdapter[Any] = _adapter(hint if self._declared else Any, field)
        schema = _schema(self._adapter, field, ResultPublisher)
        self._about = {"description": description} if description else {}
        self._published = published({**self._about, **schema}, field)
        self._field = field
        self._walked = not self._declared or is_plain(hint)
        self._may_lose_floats = any(_may_be_float(part) for part in parts(schema))
        self._restorable = any(_may_be_restored(part) for part in parts(schema))

    def dump(self, value: Any) -> bytes:
        """See `ports.OutputSchema.dump`."""
        if self._declared:
            value = self._validated(value)
        has_models, restorable = check_plain(value) if self._walked else (True, self._restorable)
        data = self._serialised(value)
        lossy = has_models and self._may_lose_floats and b"null" in data  # a model dumps NaN as null
        if (lossy and may_lose_numbers(value)) or b"NaN" in data or b"Infinity" in data:
            self._refuse_not_finite(value, data)
        if len(data) > _LONGEST_NUMBER and _may_be_long(data) and _TOO_LONG in data.translate(_DIGITS_AS_ZERO):
            _refuse_long_numbers(data)
        return Restorable.of(data, value) if restorable else data

    def json_schema(self, target: Target = "2020-12") -> Json | None:
        """See `ports.OutputSchema.json_schema`."""
        return self._published.schema(target) if self._declared else None

    def script_schema(self) -> Json | None:
        """The schema as a script has it: texts that it gets as values carry the keyword `restorable.MARK`."""
        if not self._declared or not self._restorable:
            return self.json_schema()
        schema = _schema(self._adapter, self._field, ScriptPublisher)
        return published({**self._about, **schema}, self._field).schema("2020-12")

    def _validated(self, value: Any) -> Any:
        try:
            return self._adapter.validator.validate_python(value)
        except ValidationError as error:
            first, *others = issues_of(error, value)
            more = f" (and {len(others)} more)" if others else ""
            raise ValueRefused(first["path"], f"not what was declared: {first['message']}{more}") from None
        except Exception as error:
            raise ValueRefused("", f"its validator raised {type(error).__name__}") from error

    def _refuse_not_finite(self, value: Any, data: bytes) -> None:
        """Look closely: text may say NaN, and null may be null."""
        check_finite(self._adapter.serializer.to_python(value, warnings=False))
        try:
            from_json(data, allow_inf_nan=False)  # a value that can be walked once only was not seen above
        except ValueError:
            raise ValueRefused("", "holds a number that is not finite") from None

    def _serialised(self, value: Any) -> bytes:
        try:
            return self._adapter.serializer.to_json(value, by_alias=True, warnings="error")
        except Exception as error:  # noqa: BLE001 - serialisers of the result's type may raise anything
            if "invalid utf-8" in str(error):
                self._refuse_bytes(value)
            raise ValueRefused("", _reason(error)) from None

    def _refuse_bytes(self, value: Any) -> None:
        """Find the bytes that a model writes as text, and that are none."""
        waiting: list[tuple[str, Any]] = [
            ("", self._adapter.serializer.to_python(value, by_alias=True, warnings=False))
        ]
        while waiting:
            path, item = waiting.pop()
            if isinstance(item, bytes):
                try:
                    item.decode()
                except UnicodeDecodeError:
                    raise ValueRefused(path, "bytes that are not UTF-8 text, as its type writes them") from None
            elif isinstance(item, dict):
                waiting.extend((join_path(path, str(key)), one) for key, one in cast("Json", item).items())
            elif isinstance(item, (list, tuple, set, frozenset)):
                waiting.extend((join_path(path, at), one) for at, one in enumerate(cast("list[Any]", item)))


def _may_be_long(data: bytes) -> bool:
    """Whether every 500th byte leaves room for such a number: a look at them costs nothing, at all bytes 3 ms a MB."""
    return _SAMPLES in data[::_STRIDE].translate(_DIGITS_AS_ZERO)


def _adapter(hint: Any, field: str) -> TypeAdapter[Any]:
    if isinstance(hint, TypeAdapter):
        return hint  # type: ignore[reportUnknownVariableType]
    try:
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(hint, config=_CONFIG)
        except PydanticUserError as error:
            if error.code != "type-adapter-config-unused":
                raise
            adapter = TypeAdapter(hint)  # a model, dataclass or TypedDict, which has its own configuration
        adapter.rebuild(raise_errors=True)
    except Exception as error:
        raise ConfigError(f"{field}: {reason_of(error)}", code="bad_schema") from error
    return adapter


def _schema(adapter: TypeAdapter[Any], field: str, publisher: type[ResultPublisher]) -> Json:
    try:
        return adapter.json_schema(by_alias=True, mode="serialization", schema_generator=publisher)
    except Exception as error:
        raise ConfigError(f"{field}: {reason_of(error)}", code="bad_schema") from error


def _may_be_float(part: Json) -> bool:
    """Whether a number may stand where this schema does."""
    kind = part.get("type")
    if kind == "array":
        return "items" not in part and "prefixItems" not in part
    if kind == "object":
        return "properties" not in part and part.get("additionalProperties", True) is True
    return kind == "number" or _TYPED.isdisjoint(part)


def _may_be_restored(part: Json) -> bool:
    """Whether a text may stand where this schema does that means another value."""
    kind = part.get("type")
    if kind == "array":
        return "items" not in part and "prefixItems" not in part
    if kind == "object":
        return "properties" not in part and part.get("additionalProperties", True) is True
    return part.get("format") in FORMATS or _TYPED.isdisjoint(part)


def _refuse_long_numbers(data: bytes) -> None:
    try:
        json.loads(data)
    except ValueError:
        raise ValueRefused("", f"holds a whole number of more than {_LONGEST_NUMBER} digits") from None


def _reason(error: Exception) -> str:
    """Pydantic's complaint without the value, which its text may repeat."""
    text = str(error)
    if found := re.search(r"unknown type: <class '(?:[^']*\.)?([^'.]+)'>", text):
        return f"a {found[1]} is not a JSON value"
    if "UnicodeEncodeError" in text:
        return "text with a lone surrogate, which is not Unicode"
    if "Circular reference" in text or "depth exceeded" in text:
        return "nested too deeply, or cyclic"
    if found := re.search(r"Expected `([^`]*)`", text):
        return f"not what was declared: a part of it should be {found[1]}"
    if found := re.search(r"Error calling function `[^`]*`: (\w+)", text):
        return f"its serialiser raised {found[1]}"
    return "not representable as JSON"


_PLAIN: Final = PydanticOutput(UNDECLARED, "a result")


def dump_plain(value: Any) -> bytes:
    """JSON text of a value of which nothing is declared, by the table of `contract.plain`.

    Raises:
        ValueRefused: something in it has no JSON form.
    """
    return _PLAIN.dump(value)
