"""From jsonschema-rs's account of a failed validation to issues that a caller may read.

What was expected, by keyword, never what was sent. Knows that library's errors, not schemas or tools; `contract.raw`
calls it. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from ringfence.contract.issues import Suggestions, bounded, join_path, unknown_argument
from ringfence.errors import Issue

Kind = ValidationErrorKind
_CHOICES: Final = 20
_WORDS: Final = {
    "integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false", "null": "null",
    "array": "a list", "object": "an object",
}  # fmt: skip
_ORDER: Final = tuple(_WORDS)


def issues_from(errors: Iterable[ValidationError], names: Iterable[str]) -> tuple[Issue, ...]:
    """A bounded number of issues.

    Args:
        names: Arguments that exist, for "did you mean".
    """
    known = Suggestions(names)
    return bounded([issue for error in errors for issue in _issues(error, known)])


def _issues(error: ValidationError, names: Suggestions) -> list[Issue]:
    path = ""
    for step in error.instance_path:
        path = join_path(path, step)
    match error.kind:
        case Kind.AdditionalProperties(unexpected) | Kind.UnevaluatedProperties(unexpected):
            return [unknown_argument(name, path, Suggestions(()) if path else names) for name in unexpected]
        case Kind.Required(name):
            return [Issue(path=join_path(path, name), message="Field required", code="missing")]
        case Kind.PropertyNames(inner):
            return [Issue(path=path, message=f"a key in it: {_message(inner.kind)}", code="property_names")]
        case Kind.AnyOf(context) | Kind.OneOfNotValid(context):
            return _nearest(error, path, context, names)
        case kind:
            return [Issue(path=path, message=_message(kind), code=_snake(kind.name))]


def _nearest(
    error: ValidationError, path: str, context: list[list[ValidationError]], names: Suggestions
) -> list[Issue]:
    """What the form misses that comes nearest: mistakes deep inside it are few and late. None, when two are as near."""
    depth = len(error.instance_path)
    forms = [form for form in context if form and not _is_other_kind(form, depth)]
    scored = [(max(len(one.instance_path) for one in form), -len(form)) for form in forms]
    if scored and scored.count(max(scored)) == 1:
        nearest = forms[scored.index(max(scored))]
        return [issue for one in nearest for issue in _issues(one, names)]
    if not forms:
        kinds = [one.kind.types for one in chain.from_iterable(context) if isinstance(one.kind, Kind.Type)]
        return [Issue(path=path, message=f"should be {_kinds(list(chain.from_iterable(kinds)))}", code="type")]
    return [Issue(path=path, message=_message(error.kind), code=_snake(error.kind.name))]


def _is_other_kind(form: list[ValidationError], depth: int) -> bool:
    """Whether a form is meant for another kind of value altogether, as null is in "text or null"."""
    return len(form) == 1 and isinstance(form[0].kind, Kind.Type) and len(form[0].instance_path) == depth


def _message(kind: Kind) -> str:
    match kind:
        case Kind.Type(types):
            return f"should be {_kinds(types)}"
        case Kind.Enum(options):
            return f"should be one of {', '.join(map(_text, options[:_CHOICES]))}"
        case Kind.Constant(expected):
            return f"should be {_text(expected)}"
        case Kind.Pattern(pattern):
            return f"should match the pattern {pattern}"
        case Kind.Format(name):
            return f"should have the format {name}"
        case Kind.FalseSchema():
            return "is not allowed"
        case _:
            return _MESSAGES.get(kind.name, "should be something else ({name})").format(
                name=kind.name, limit=getattr(kind, "limit", ""), step=getattr(kind, "multiple_of", "")
            )


_MESSAGES: Final = {
    "minimum": "should be at least {limit}",
    "maximum": "should be at most {limit}",
    "exclusiveMinimum": "should be greater than {limit}",
    "exclusiveMaximum": "should be less than {limit}",
    "multipleOf": "should be a multiple of {step}",
    "minLength": "should have at least {limit} characters",
    "maxLength": "should have at most {limit} characters",
    "minItems": "should have at least {limit} items",
    "maxItems": "should have at most {limit} items",
    "additionalItems": "should have at most {limit} items",
    "minProperties": "should have at least {limit} keys",
    "maxProperties": "should have at most {limit} keys",
    "uniqueItems": "should have no equal items",
    "unevaluatedItems": "has more items than allowed",
    "contains": "should hold an item of another form",
    "not": "should not have this form",
    "oneOf": "fits more than one of the forms allowed here",
    "anyOf": "fits none of the forms allowed here",
}


def _kinds(types: list[str]) -> str:
    return " or ".join(_WORDS[name] for name in _ORDER if name in types)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]


def _snake(keyword: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in keyword)
