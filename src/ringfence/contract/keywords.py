"""Where JSON Schema keeps schemas inside schemas, and how to visit all of them.

Knows the keywords of every draft from 4 to 2020-12 by their position only, not what they mean. A name in `properties`
is a name, whatever it looks like: `$ref` and `properties` are ordinary names there. Everything else about schemas in
this package walks with these functions. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeGuard, cast

Json = dict[str, Any]

HERE_NAMED: Final = ("dependentSchemas", "dependencies")
"""Hold named schemas that judge the value which the schema around them judges."""
HERE_LISTED: Final = ("allOf", "anyOf", "oneOf")
HERE_SINGLE: Final = ("not", "if", "then", "else")
INNER_NAMED: Final = ("properties", "patternProperties")
"""Hold named schemas that judge a part of the value."""
INNER_LISTED: Final = ("prefixItems", "items")
INNER_SINGLE: Final = (
    "items", "additionalItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "contentSchema",
)  # fmt: skip
CONTAINERS: Final = ("$defs", "definitions")
"""Hold named schemas that judge nothing until they are referred to."""

_NAMED: Final = frozenset((*HERE_NAMED, *INNER_NAMED, *CONTAINERS))
_LISTED: Final = frozenset((*HERE_LISTED, *INNER_LISTED))
_SINGLE: Final = frozenset((*HERE_SINGLE, *INNER_SINGLE))
ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""Say something about a value and demand nothing."""


def is_schema(value: object) -> TypeGuard[Json | bool]:
    return isinstance(value, (dict, bool))


def node_of(schema: object) -> Json:
    """A schema as an object; `true`, `false` and what is no schema as the empty one."""
    return cast("Json", schema) if isinstance(schema, dict) else {}


def inner(node: Json) -> Iterator[tuple[tuple[str, ...], Json | bool]]:
    """Every schema directly inside a schema, with the steps of a pointer that lead to it."""
    for key, value in node.items():
        if key in _SINGLE and is_schema(value):
            yield (key,), value
        elif key in _LISTED and isinstance(value, list):
            for at, part in enumerate(cast("list[Any]", value)):
                if is_schema(part):
                    yield (key, str(at)), part
        elif key in _NAMED and isinstance(value, dict):
            for name, part in cast("Json", value).items():
                if is_schema(part):
                    yield (key, name), part


def replaced(node: Json, replace: Callable[[Json | bool], Any]) -> Json:
    """The schema with every schema directly inside it replaced."""
    made: Json = {}
    for key, value in node.items():
        if key in _SINGLE and is_schema(value):
            made[key] = replace(value)
        elif key in _LISTED and isinstance(value, list):
            made[key] = [replace(part) if is_schema(part) else part for part in cast("list[Any]", value)]
        elif key in _NAMED and isinstance(value, dict):
            items = cast("Json", value).items()
            made[key] = {name: replace(part) if is_schema(part) else part for name, part in items}
        else:
            made[key] = value
    return made


def parts(schema: Json) -> Iterator[Json]:
    """A schema and every schema inside it; references are not followed."""
    stack: list[Any] = [schema]
    while stack:
        part = node_of(stack.pop())
        yield part
        stack.extend(child for _, child in inner(part))
