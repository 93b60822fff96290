"""The arguments' contract: one pydantic validator, and the JSON Schema that is published for it.

What is published is what is enforced: an object with named fields and no others. Knows pydantic and bytes, not tools,
gates or how a function is called. `contract.door` builds these at registration, where every failure belongs; the
gate calls `validate` once per call. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema, from_json

from ringfence.contract.bounds import TOO_COMPLEX, Bounds
from ringfence.contract.check import Check
from ringfence.contract.core import refuse_unpublishable, takes_names
from ringfence.contract.effort import Effort, measured
from ringfence.contract.exact import exact
from ringfence.contract.issues import Suggestions, bounded, internal_issue, issues_of, unknown_argument
from ringfence.contract.keywords import Json, node_of, parts
from ringfence.contract.publishing import published
from ringfence.contract.references import Unpublishable
from ringfence.contract.restorable import FORMATS, MARK
from ringfence.errors import ConfigError, Issue
from ringfence.ports import InputSchema, InvalidInput, Target

ACCEPTED_INPUTS: Final = (
    "a pydantic model, a dataclass, a TypedDict, a pydantic TypeAdapter of one of these, a msgspec Struct, "
    "a JSON Schema (dict), or an object with validate(value) and json_schema(target, mode)"
)


class PydanticInput(InputSchema):
    """Arguments that pydantic validates: strictly, from JSON text, refusing keys that are not fields.

    Objects inside follow the same rule at every depth, unless a model among them asks for `extra="allow"`: then
    the models' own settings hold below the root. The published schema says which.
    """

    __slots__ = (
        "_adapter", "_bounds", "_by_name", "_closed", "_exact", "_field", "_finish", "_names", "_published", "_strict", "_validator", "_words",
    )  # fmt: skip

    def __init__(
        self, adapter: TypeAdapter[Any], field: str, finish: Callable[[Any], Any] | None = None, *, lax: bool = False
    ) -> None:
        """Build the validator and publish the schema.

        Args:
            field: How errors name the place (`tool 'x': input`).
            finish: Turns the validated value into what the tool gets.
            lax: Whether values are converted where that makes sense; what a type itself declares strict stays so.

        Raises:
            ConfigError: `bad_schema`: pydantic cannot publish it, its root is no closed object, or it is too large.
        """
        core = adapter.core_schema
        refuse_unpublishable(core, field)
        schema, self._closed = _published(adapter, field)
        self._published = published(schema, field)
        self._names: frozenset[str] = frozenset(schema["properties"])
        self._words = frozenset(name for node in parts(schema) for name in node_of(node.get("properties")))
        self._strict = None if lax else True
        self._by_name = False if takes_names(core) else None
        bounds = Bounds(schema, unique=False, retold=_effort(schema, field))
        self._bounds = bounds if bounds.needed else None
        again = None if lax else exact(core)
        self._exact = None if again is None else Check(again, field, formats=False)
        self._adapter, self._field = adapter, field
        self._validator = adapter.validator
        self._finish = finish

    @property
    def lax(self) -> bool:
        """Whether values are converted."""
        return self._strict is None

    def as_lax(self, lax: bool) -> PydanticInput:
        """The same contract, with or without conversion of values."""
        return PydanticInput(self._adapter, self._field, self._finish, lax=lax)

    def validate(self, data: bytes) -> Any:
        """See `ports.InputSchema.validate`. Strict: text is not a number, and a number is not a bool."""
        try:
            if self._bounds is not None and self._bounds.exceeded(len(data), lambda: _root(data)):
                raise InvalidInput((TOO_COMPLEX,))
            value = self._validator.validate_json(
                data, strict=self._strict, extra="forbid" if self._closed else None, by_name=self._by_name
            )
            if not self._closed:
                self._check_names(data)
            if self._exact is not None and (found := self._exact.issues(_root(data), len(data))):
                raise InvalidInput(found)
            return value if self._finish is None else self._finish(value)
        except ValidationError as error:
            raise InvalidInput(self._explain(error, data)) from None
        except InvalidInput:
            raise
        except Exception as error:
            raise InvalidInput((internal_issue(error),)) from error

    def json_schema(self, target: Target = "2020-12") -> Json:
        """See `ports.InputSchema.json_schema`."""
        return self._published.schema(target)

    def _check_names(self, data: bytes) -> None:
        """Refuse unknown keys at the root, where pydantic was not asked to."""
        unknown = [name for name in from_json(data) if name not in self._names]
        if unknown:
            known = Suggestions(self._names)
            raise InvalidInput(bounded([unknown_argument(name, "", known) for name in unknown]))

    def _explain(self, error: ValidationError, data: bytes) -> list[Issue]:
        root = _root(data)
        issues = issues_of(error, root, self._words)
        known = Suggestions(self._names)
        return [unknown_argument(issue["path"], "", known) if _is_unknown(issue, root) else issue for issue in issues]


def _root(data: bytes) -> Any:
    """The value as it was sent; None for what is no JSON, which pydantic says better."""
    try:
        return from_json(data)
    except ValueError:
        return None


def _is_unknown(issue: Issue, root: Any) -> bool:
    unknown = issue["code"] in ("extra_forbidden", "unexpected_keyword_argument")
    return unknown and isinstance(root, dict) and issue["path"] in root


def adapter_for(hint: Any, field: str) -> TypeAdapter[Any]:
    """Pydantic's adapter of a type, built completely.

    Raises:
        ConfigError: `bad_schema` with pydantic's reason.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        adapter.rebuild(raise_errors=True)
    except Exception as error:
        raise ConfigError(f"{field}: {reason_of(error)}", code="bad_schema") from error
    return adapter


def reason_of(error: Exception) -> str:
    """First sentence of pydantic's complaint: the rest is advice on pydantic's own settings."""
    lines = str(error).strip().splitlines()
    return f"pydantic says: {lines[0].split('. ')[0]}" if lines else f"pydantic raised {type(error).__name__}"


_FORMATS: Final = {True: "base64url", False: "binary"}


class Publisher(GenerateJsonSchema):
    """JSON Schema 2020-12 without generated titles, silent about defaults that JSON cannot show."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - pydantic declares it so
        "skipped-choice",
        "non-serializable-default",
        "skipped-discriminator",
    }

    reads_base64: bool = False
    """Whether the type that is being described reads bytes from Base64 text; one without a word about it reads them as
    the type around it does."""

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Also tells how bytes are read, which may not be how they are written."""
        made = super().bytes_schema(schema)
        return made if self.mode == "serialization" else {**made, "format": _FORMATS[self.reads_base64]}

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        config: Any = schema.get("config")
        if not isinstance(config, dict):
            return super().generate_inner(schema)
        around = self.reads_base64
        self.reads_base64 = bool(node_of(config).get("val_json_bytes") == "base64")  # type: ignore[reportUnknownArgumentType]
        try:
            return super().generate_inner(schema)
        finally:
            self.reads_base64 = around

    def dataclass_args_schema(self, schema: core_schema.DataclassArgsSchema) -> Json:
        if self.mode == "validation":  # what nobody may set is no argument
            schema = {**schema, "fields": [one for one in schema["fields"] if one.get("init", True)]}
        return super().dataclass_args_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False


class ResultPublisher(Publisher):
    """Publishes what a dump holds: fields with defaults are always there."""

    def field_is_required(
        self, field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField, total: bool
    ) -> bool:
        if field["type"] == "typed-dict-field":
            return super().field_is_required(field, total)
        return field.get("serialization_exclude_if") is None

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> Json:
        """Also says which texts are decimal numbers."""
        made = super().decimal_schema(schema)
        return {**made, "format": "decimal"} if made.get("type") == "string" else made


class ScriptPublisher(ResultPublisher):
    """Also marks the texts that scripts get back as values: those of such a type, not those that only say so."""

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> Json:
        return _marked(super().datetime_schema(schema))

    def date_schema(self, schema: core_schema.DateSchema) -> Json:
        return _marked(super().date_schema(schema))

    def time_schema(self, schema: core_schema.TimeSchema) -> Json:
        return _marked(super().time_schema(schema))

    def uuid_schema(self, schema: core_schema.UuidSchema) -> Json:
        return _marked(super().uuid_schema(schema))

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> Json:
        return _marked(super().decimal_schema(schema))

    def bytes_schema(self, schema: core_schema.BytesSchema) -> Json:
        return _marked(super().bytes_schema(schema))


def _marked(made: Json) -> Json:
    name = FORMATS.get(str(made.get("format")))
    return made if name is None else {**made, MARK: name}


class _ClosedPublisher(Publisher):
    """Also writes that objects with fields admit no others, where their type leaves it open."""

    has_open = False
    """Whether a type asked to admit other keys."""

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> Json:
        """Also writes that the tag must be there: it is looked at before any default."""
        made = super().tagged_union_schema(schema)
        tag = node_of(made.get("discriminator")).get("propertyName")
        if not isinstance(tag, str):
            return made
        choices = [
            {**node_of(one), "required": [*dict.fromkeys([*one.get("required", ()), tag])]} for one in made["oneOf"]
        ]
        return {**made, "oneOf": choices}

    def model_schema(self, schema: core_schema.ModelSchema) -> Json:
        return self._close(super().model_schema(schema), named=not schema.get("root_model", False))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> Json:
        return self._close(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> Json:
        return self._close(super().typed_dict_schema(schema))

    def _close(self, schema: Json, *, named: bool = True) -> Json:
        if named and "properties" in schema and schema.setdefault("additionalProperties", False) is not False:
            self.has_open = True
        return schema


def _published(adapter: TypeAdapter[Any], field: str) -> tuple[Json, bool]:
    """Schema to publish, and whether every object with fields is closed."""
    try:
        publisher = _ClosedPublisher(by_alias=True)
        schema = _inlined(publisher.generate(adapter.core_schema, mode="validation"))
        closed = not publisher.has_open
        is_open_root = schema.get("additionalProperties", False) is not False
        if not closed:
            schema = _inlined(Publisher(by_alias=True).generate(adapter.core_schema, mode="validation"))
    except Exception as error:
        raise ConfigError(f"{field}: {reason_of(error)}", code="bad_schema") from error
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        raise ConfigError(f"{field} must be an object with named fields: {ACCEPTED_INPUTS}", code="bad_schema")
    if is_open_root:
        raise ConfigError(
            f"{field} admits any key at its root",
            code="bad_schema",
            hint='remove extra="allow"; put free keys into a field of type dict[str, ...]',
        )
    return {**schema, "additionalProperties": False}, closed


def _effort(schema: Json, field: str) -> Effort:
    try:
        return measured(schema, tagged=True)
    except Unpublishable as error:
        raise ConfigError(f"{field}: {error}", code="bad_schema") from error


def _inlined(schema: Json) -> Json:
    """The schema with a root that is a reference (a type that contains itself) replaced by what it refers to."""
    if "$ref" not in schema:
        return schema
    definitions: Json = schema["$defs"]
    return {**definitions[schema["$ref"].rsplit("/", 1)[-1]], "$defs": definitions}
