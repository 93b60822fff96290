"""Contracts of any schema library: a validator and a converter to JSON Schema, and no dependency on either.

The vendor-neutral pair of the first seed ("Required capabilities"). The converter is really called when a tool is
built, for both drafts and both modes; the validator alone decides about a value, once per call. It may be
asynchronous: then somebody else has to wait (`ports.Unfinished`). Whatever it does besides answering in one of its
two forms refuses the call. `contract.door` builds these. Pure, except that the pair's own code runs.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, Final, Generic, Literal, Protocol, cast

from typing_extensions import TypedDict, TypeVar

from ringfence.contract.issues import Mask, bounded, internal_issue, join_path
from ringfence.contract.keywords import Json
from ringfence.contract.output import dump_plain
from ringfence.contract.publishing import Published, publish
from ringfence.contract.raw import parsed
from ringfence.errors import ConfigError, Issue
from ringfence.limits import shown
from ringfence.ports import InputSchema, InvalidInput, OutputSchema, Target, Unfinished
from ringfence.values import ValueRefused

Out = TypeVar("Out", default=Any)

Mode = Literal["input", "output"]
_DRAFTS: Final = {"2020-12": 2020, "draft-07": 7}
_MALFORMED: Final = Issue(path="", message="its validator answered in no known form", code="validator_error")
_NO_REASON: Final = Issue(path="", message="refused without a reason", code="invalid")


class Valid(TypedDict, Generic[Out]):
    """What a pair's validator answers for a value that fits."""

    value: Out
    """What the tool gets."""


class Invalid(TypedDict):
    """What a pair's validator answers for a value that does not fit; an empty list refuses as well."""

    issues: Iterable[Mapping[str, Any]]
    """Each with a `message`, and if known the `path` to the place: names and positions."""


class ToolSchema(Protocol[Out]):
    """The pair: a schema of any library (first seed, "Tool schemas"). `vendor` and `version` (1) may be there too."""

    def validate(self, value: Any, /) -> Valid[Out] | Invalid | Awaitable[Valid[Out] | Invalid]:
        """Judge plain JSON values."""
        ...

    def json_schema(self, target: Target, /, *, mode: Mode) -> Mapping[str, Any]:
        """The contract of what is sent (`input`), or of what comes out of the validator (`output`)."""
        ...


class LooseSchema(Protocol):
    """The pair with a validator whose annotation does not say what it makes."""

    def validate(self, value: Any, /) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """Judge plain JSON values."""
        ...

    def json_schema(self, target: Target, /, *, mode: Mode) -> Mapping[str, Any]:
        """The contract of what is sent (`input`), or of what comes out of the validator (`output`)."""
        ...


class PairInput(InputSchema):
    """Arguments that a foreign validator decides about."""

    __slots__ = ("_pair", "_published")

    def __init__(self, pair: Any, field: str) -> None:
        """Check both halves, and convert.

        Raises:
            ConfigError: `bad_schema`: a half is missing, or the converter fails (its exception is the cause).
        """
        _check_halves(pair, field)
        self._pair = pair
        self._published = _published(pair, field, mode="input")
        _converted(pair, "draft-07", "output", field)

    def validate(self, data: bytes) -> Any:
        """See `ports.InputSchema.validate`."""
        value = parsed(data)
        if not isinstance(value, dict):  # the published root is an object, whatever the validator would make of this
            raise InvalidInput((Issue(path="", message="should be an object", code="type"),))
        answer = _asked(self._pair, value)
        if isinstance(answer, Unfinished):
            return answer
        return _judged(answer, value)

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.InputSchema.json_schema`."""
        return self._published.schema(target)


class PairOutput(OutputSchema):
    """Results that a foreign validator decides about; what it answers is dumped."""

    __slots__ = ("_pair", "_published")

    def __init__(self, pair: Any, field: str) -> None:
        """Check both halves, and convert.

        Raises:
            ConfigError: `bad_schema`: a half is missing, or the converter fails (its exception is the cause).
        """
        _check_halves(pair, field)
        self._pair = pair
        self._published = _published(pair, field, mode="output")

    def dump(self, value: Any) -> bytes | Unfinished:
        """See `ports.OutputSchema.dump`."""
        try:
            answer = _asked(self._pair, value)
        except InvalidInput as error:
            raise _refused(error) from None
        if isinstance(answer, Unfinished):
            return Unfinished(answer.awaitable, lambda late: _dumped(late, value))
        return _dumped(answer, value)

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.OutputSchema.json_schema`."""
        return self._published.schema(target)


def halves(value: object) -> tuple[bool, bool]:
    """Whether an object has a validator, and a converter. One that cannot even be looked at has neither."""
    try:
        return callable(getattr(value, "validate", None)), callable(getattr(value, "json_schema", None))
    except Exception:  # noqa: BLE001 - attributes of a foreign object may raise anything
        return False, False


def _check_halves(pair: object, field: str) -> None:
    has_validator, has_converter = halves(pair)
    kind = type(pair).__name__
    if not has_validator:
        raise ConfigError(
            f"{field}: {kind} has no validate(value), so nothing could be checked",
            code="bad_schema",
            hint='answer {"value": ...} or {"issues": [...]}',
        )
    if not has_converter:
        raise ConfigError(
            f"{field}: {kind} has no json_schema(target, mode), so nothing could be published",
            code="bad_schema",
            hint='answer the JSON Schema for target "draft-07" and "2020-12"',
        )
    try:
        version, vendor = getattr(pair, "version", 1), getattr(pair, "vendor", "unnamed")
    except Exception as error:
        raise ConfigError(
            f"{field}: the version or vendor of {kind} raised {type(error).__name__}", code="bad_schema"
        ) from error
    if type(version) is not int or version != 1:
        raise ConfigError(f"{field}: {kind} follows version {shown(version)} of the contract, not 1", code="bad_schema")
    if not isinstance(vendor, str) or not vendor.strip():
        raise ConfigError(f"{field}: the vendor of {kind} must be text that is not blank", code="bad_schema")


def _published(pair: Any, field: str, *, mode: Mode) -> Published:
    """Both texts: draft-07 must be there; a 2020-12 that the converter does not know is made from it."""
    is_input = mode == "input"
    old = publish(_converted(pair, "draft-07", mode, field), field, root_object=is_input, default_draft=7)
    try:
        newest = pair.json_schema("2020-12", mode=mode)
    except Exception:  # noqa: BLE001 - a target that a converter does not know may raise anything
        return old
    if newest is None:
        return old
    new = publish(_as_schema(newest, field), field, root_object=is_input)
    return Published(newest=new.newest, draft_07=old.draft_07)


def _converted(pair: Any, target: Target, mode: Mode, field: str) -> Json:
    try:
        made = pair.json_schema(target, mode=mode)
    except Exception as error:
        reason = f": {error!s:.100}" if isinstance(error, TypeError) else ""  # what Python says of a wrong call
        raise ConfigError(
            f'{field}: its json_schema("{target}", mode="{mode}") raised {type(error).__name__}{reason}',
            code="bad_schema",
            hint=f"give an instance: {pair.__name__}()" if isinstance(pair, type) else None,
        ) from error
    return _as_schema(made, field)


def _as_schema(made: object, field: str) -> Json:
    if inspect.iscoroutine(made):
        made.close()
    if inspect.isawaitable(made):
        raise ConfigError(f"{field}: its json_schema is asynchronous", code="bad_schema", hint="make it a plain def")
    if not isinstance(made, Mapping):
        raise ConfigError(
            f"{field}: its json_schema answered {type(made).__name__}, not a JSON Schema object", code="bad_schema"
        )
    return cast("Json", made)


def _asked(pair: Any, value: Any) -> Any:
    """The validator's answer, or what to wait for."""
    try:
        answer = pair.validate(value)
    except Exception as error:
        raise InvalidInput((internal_issue(error),)) from error
    if inspect.isawaitable(answer):
        return Unfinished(answer, lambda late: _judged(late, value))
    return answer


def _judged(answer: object, value: Any) -> Any:
    """The value to run with: a copy, since the validator's owner may keep and change what it answered.

    Raises:
        InvalidInput: anything but exactly one of the two forms.
    """
    try:
        if not isinstance(answer, Mapping):
            raise InvalidInput((_MALFORMED,))
        fields = dict(cast("Mapping[str, Any]", answer))
        if fields.get("issues") is not None:
            raise InvalidInput(_issues(fields["issues"], value))
        if "value" not in fields:
            raise InvalidInput((_MALFORMED,))
        return copy.deepcopy(fields["value"])
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput((internal_issue(error),)) from error


def _issues(given: object, value: Any) -> tuple[Issue, ...]:
    """The validator's issues, bounded, its free text without the value. An empty list is a refusal too."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        return (_MALFORMED,)
    mask = Mask(value)
    found = [_issue(one, mask) for one in list(cast("Iterable[object]", given))]
    return bounded(found) or (_NO_REASON,)


def _issue(given: object, mask: Mask) -> Issue:
    if not isinstance(given, Mapping):
        return _MALFORMED
    fields = dict(cast("Mapping[str, Any]", given))
    message, code = fields.get("message"), fields.get("code")
    if not isinstance(message, str):
        return _MALFORMED
    return Issue(
        path=mask(_path(fields.get("path")), keys=False),
        message=mask(message),
        code=mask(code[:60]) if isinstance(code, str) and code.isprintable() and code else "invalid",
    )


def _path(given: object) -> str:
    """From a text, or from steps: names, positions, or objects with a `key`."""
    if isinstance(given, str):
        return given
    path = ""
    for step in cast("Iterable[Any]", given) if isinstance(given, Iterable) else ():
        key = cast("Mapping[str, Any]", step).get("key") if isinstance(step, Mapping) else step
        path = join_path(path, key if type(key) is int else str(key)) if type(key) in (int, str) else path
    return path


def _dumped(answer: object, value: Any) -> bytes:
    try:
        return dump_plain(_judged(answer, value))
    except InvalidInput as error:
        raise _refused(error) from None


def _refused(error: InvalidInput) -> ValueRefused:
    first = error.issues[0]
    return ValueRefused(first["path"], f"not what was declared: {first['message']}")
