"""Contracts that are msgspec Structs: decoded strictly from JSON, and closed at every depth.

msgspec itself skips unknown keys and reports one mistake at a time, so the published schema is checked first
(`contract.raw`), which also keeps patterns in linear time; then msgspec decodes. What a Struct's own code refuses
(`__post_init__`, enums, dates) becomes an issue without the value. Knows msgspec and bytes, not tools or gates;
`contract.door` builds these. Pure, except that the Struct's own code runs.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Final

import msgspec

from ringfence.contract.check import Check
from ringfence.contract.issues import Mask, Suggestions, bounded, internal_issue, unknown_argument
from ringfence.contract.keywords import Json, parts
from ringfence.contract.output import dump_plain
from ringfence.contract.publishing import Published, publish
from ringfence.contract.raw import parsed, refuse_unless_fits
from ringfence.errors import ConfigError, Issue
from ringfence.ports import InputSchema, InvalidInput, OutputSchema, Target
from ringfence.values import ValueRefused

_PLACE: Final = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`$")


class StructInput(InputSchema):
    """Arguments that become a Struct."""

    __slots__ = ("_check", "_decoder", "_field", "_names", "_published")

    def __init__(self, struct: Any, field: str, *, lax: bool = False) -> None:
        """Publish and build the decoder.

        Args:
            lax: Whether msgspec may convert (`"7"` to 7). Unknown keys are then refused at the root only.

        Raises:
            ConfigError: `bad_schema`, with msgspec's reason.
        """
        self._published = _published(struct, field, root_object=True)
        self._check = None if lax else Check(self._published.schema("2020-12"), field, formats=False)
        self._names: frozenset[str] = frozenset(self._published.schema("2020-12")["properties"])
        self._decoder = msgspec.json.Decoder(struct, strict=not lax)
        self._field = field

    @property
    def lax(self) -> bool:
        """Whether values are converted."""
        return self._check is None

    def as_lax(self, lax: bool) -> StructInput:
        """The same contract, with or without conversion of values."""
        return StructInput(self._decoder.type, self._field, lax=lax)

    def validate(self, data: bytes) -> Any:
        """See `ports.InputSchema.validate`."""
        value = parsed(data)
        if self._check is not None:
            found = self._check.issues(value, len(data))
        elif isinstance(value, dict):
            known = Suggestions(self._names)
            found = bounded([unknown_argument(name, "", known) for name in value if name not in self._names])  # type: ignore[reportUnknownVariableType]
        else:
            found = ()
        if found:
            raise InvalidInput(found)
        return _decoded(self._decoder, data, value)

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.InputSchema.json_schema`."""
        return self._published.schema(target)


class StructOutput(OutputSchema):
    """Results that are a Struct, or plain values that make one."""

    __slots__ = ("_check", "_decoder", "_published")

    def __init__(self, struct: Any, field: str) -> None:
        """Publish and build the decoder.

        Raises:
            ConfigError: `bad_schema`, with msgspec's reason.
        """
        self._published = _published(struct, field, root_object=False)
        self._check = Check(self._published.schema("2020-12"), field, formats=False)
        self._decoder = msgspec.json.Decoder(struct)

    def dump(self, value: Any) -> bytes:
        """See `ports.OutputSchema.dump`. An instance is checked like anything else: msgspec does not, when it is made."""
        try:
            plain = msgspec.to_builtins(value)
        except Exception as error:
            raise ValueRefused("", f"not representable as JSON ({type(error).__name__})") from error
        data = dump_plain(plain)
        refuse_unless_fits(self._check, plain, data)
        try:
            return msgspec.json.encode(_decoded(self._decoder, data, plain))
        except InvalidInput as error:
            first = error.issues[0]
            raise ValueRefused(first["path"], f"not what was declared: {first['message']}") from None

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.OutputSchema.json_schema`."""
        return self._published.schema(target)


def is_struct(value: object) -> bool:
    """Whether it is a Struct class, possibly with its type parameters given."""
    origin = getattr(value, "__origin__", value)
    return isinstance(origin, type) and issubclass(origin, msgspec.Struct)


def _published(struct: Any, field: str, *, root_object: bool) -> Published:
    try:
        schema: Json = json.loads(json.dumps(msgspec.to_builtins(msgspec.json.schema(struct), str_keys=True)))
    except Exception as error:
        raise ConfigError(f"{field}: msgspec says: {error!s:.200}", code="bad_schema") from error
    for part in parts(schema):
        if isinstance(part.get("default"), float) and not isfinite(part["default"]):
            del part["default"]  # JSON has no form for it
        if "properties" in part:
            part.setdefault("additionalProperties", False)
    return publish(schema, field, root_object=root_object)


def _decoded(decoder: msgspec.json.Decoder[Any], data: bytes, value: Any) -> Any:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        message = Mask(value)(text[: place.start()] if place else text)
        issue = Issue(path=place[1].replace("[...]", "") if place else "", message=message, code="struct")
        raise InvalidInput(bounded([issue])) from None
    except Exception as error:
        raise InvalidInput((internal_issue(error),)) from error
