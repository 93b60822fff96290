"""What pydantic's core schema of a type says that its JSON Schema does not.

Some types let pass what the published schema refuses, or check only later what a tool has already been given. They
are found here, at registration, and refused where nothing else helps. Knows the shape of core schemas (plain
dictionaries), not adapters or tools; `contract.schema` calls it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from ringfence.contract.keywords import Json, node_of
from ringfence.errors import ConfigError

_NO_SCHEMAS: Final = frozenset({"metadata", "default", "serialization", "expected", "members", "cls", "config"})
"""Members of a core schema that hold values of the user's."""
FIELDS: Final = frozenset({"model-fields", "typed-dict", "dataclass-args"})


def nodes(core: Any) -> Iterator[Json]:
    """Every schema, field and choice inside a core schema."""
    stack: list[Any] = [core]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            node = cast("Json", item)
            yield node
            stack.extend(value for key, value in node.items() if key not in _NO_SCHEMAS)
        elif isinstance(item, (list, tuple)):
            stack.extend(cast("list[Any]", item))


def refuse_unpublishable(core: Any, field: str) -> None:
    """Refuse what would be published as one thing and accepted as another.

    Raises:
        ConfigError: `bad_schema`: a value that is checked only while it is read, several spellings of one field, or
            two fields with one name.
    """
    for node in nodes(core):
        kind = node.get("type")
        if kind == "generator":
            raise ConfigError(
                f"{field}: an Iterable or Generator is checked only while the tool reads it",
                code="bad_schema",
                hint="write list[...] or tuple[..., ...]",
            )
        if kind in FIELDS:
            _check_names(node, field)
        config = node_of(node.get("config"))
        if config.get("validate_by_alias") is False and any(map(_alias, _fields_of(node))):
            raise ConfigError(
                f"{field}: {config.get('title', 'a type')!s:.60} has aliases that validate_by_alias=False ignores",
                code="bad_schema",
                hint="remove the aliases, or use serialization_alias",
            )


def takes_names(core: Any) -> bool:
    """Whether a type says that fields with an alias are also taken by their own name, which nobody publishes."""
    configs = [node_of(node.get("config")) for node in nodes(core)]
    return any(config.get("validate_by_name") or config.get("populate_by_name") for config in configs)


def fields(node: Json) -> Iterator[tuple[str, Json]]:
    """Name in JSON and field, of the fields that a caller may set."""
    found: Any = node["fields"]
    named = cast("Json", found) if isinstance(found, dict) else {one["name"]: one for one in found}
    for name, one in named.items():
        if one.get("init", True):
            yield _alias(one) or name, one


def _fields_of(node: Json) -> list[Json]:
    """The fields of what a configuration stands at: in the schema itself, or in validators around it."""
    while node.get("type") not in FIELDS:
        if not isinstance(node.get("schema"), dict):
            return []
        node = node["schema"]
    return [one for _, one in fields(node)]


def _alias(field: Json) -> str | None:
    alias = field.get("validation_alias")
    return alias if isinstance(alias, str) else None


def _check_names(node: Json, field: str) -> None:
    seen: set[str] = set()
    for name, one in fields(node):
        if not isinstance(one.get("validation_alias", ""), str):
            raise ConfigError(
                f"{field}: field {name!r:.60} has several spellings, of which one can be published",
                code="bad_schema",
                hint='use one alias: Field(validation_alias="...")',
            )
        if name in seen:
            raise ConfigError(
                f"{field}: two fields are called {name!r:.60}", code="bad_schema", hint="change one of the aliases"
            )
        seen.add(name)
