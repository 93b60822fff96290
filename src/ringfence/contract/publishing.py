"""From JSON Schema as somebody wrote it to the two texts that are published, or a reason why not.

The same steps for every kind of contract: JSON within a budget, a known draft that its own metaschema accepts, local
references, no endless cycle, an object at the root that is closed unless it says otherwise, draft 2020-12 and draft-07.
What is published here as 2020-12 is what `contract.raw` enforces. Called at registration. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, cast

import jsonschema_rs

from ringfence.contract.closing import closed
from ringfence.contract.drafts import NEWEST, URLS, draft_of, lowered, raised
from ringfence.contract.effort import measured
from ringfence.contract.keywords import ANNOTATIONS, Json, node_of, parts
from ringfence.contract.names import suggest
from ringfence.contract.references import HOME, Unpublishable, localised, target_of
from ringfence.errors import ConfigError
from ringfence.limits import KIB, ValueBudget
from ringfence.ports import Target
from ringfence.values import ValueRefused, canonical

SCHEMA_BUDGET: Final = ValueBudget(size=256 * KIB, depth=64, nodes=50_000)
"""How large a published schema may be: model providers refuse far smaller ones."""

_SHOWN: Final = 200
TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")
_MEANT: Final = MappingProxyType(
    {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object",
     "None": "null"}
)  # fmt: skip
_NO_OBJECT: Final = 'it must say "type": "object" at its root'


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One contract in both drafts, as text: whoever asks gets a copy of its own."""

    newest: str
    """JSON text in draft 2020-12."""
    draft_07: str

    def schema(self, target: Target) -> Json:
        """A fresh copy in the draft asked for.

        Raises:
            ConfigError: a draft that there is not.
        """
        if target == "2020-12":
            return json.loads(self.newest)
        if target == "draft-07":
            return json.loads(self.draft_07)
        raise ConfigError(f"there is no target {target!r:.40}", hint="use '2020-12' or 'draft-07'")


def publish(given: object, field: str, *, root_object: bool = True, default_draft: int = NEWEST) -> Published:
    """Everything that a foreign schema has to go through.

    Args:
        root_object: Whether it describes arguments: then its root is an object, and closed.
        default_draft: What a schema without `$schema` is written in.

    Raises:
        ConfigError: `bad_schema`, naming `field` and the reason.
    """
    try:
        written = _copied(given)
        draft = draft_of(written, default_draft)
        _check_form(written, draft)
        schema = raised(localised(written), draft)
        _check_form(schema, NEWEST)  # a target may have stood where no metaschema looks
        measured(schema)
        return published(_rooted(schema, root_object=root_object), field)
    except Unpublishable as error:
        raise ConfigError(f"{field}: {error}", code="bad_schema") from error


def published(schema: Json, field: str) -> Published:
    """Both texts of a schema that is localised, in draft 2020-12, and closed where it should be.

    Raises:
        ConfigError: `bad_schema`, naming `field` and the reason.
    """
    try:
        newest = {"$schema": URLS["2020-12"], **schema}
        _check_size(newest)
        _check_form(newest, NEWEST)  # a type's author may have added to it
        _check_references(schema)
        old = lowered(schema)
        _check_size(old)
        return Published(newest=json.dumps(newest), draft_07=json.dumps(old))
    except Unpublishable as error:
        raise ConfigError(f"{field}: {error}", code="bad_schema") from error


def _copied(given: object) -> Json:
    """A private copy, of JSON values only."""
    if not isinstance(given, Mapping):
        raise Unpublishable(f"a JSON Schema is an object, not {type(given).__name__}")
    try:
        schema = dict(cast("Mapping[str, Any]", given))
    except Exception as error:
        raise Unpublishable(f"it cannot be read: it raised {type(error).__name__}") from error
    _check_size(schema)
    return json.loads(json.dumps(schema))


def _check_size(schema: Json) -> None:
    try:
        canonical(schema, SCHEMA_BUDGET)
    except ValueRefused as error:
        raise Unpublishable(f"its JSON Schema cannot be published: {error}") from None
    except ValueError:
        raise Unpublishable("it holds a whole number with more digits than Python writes") from None


def _check_references(schema: Json) -> None:
    definitions = node_of(schema.get("$defs"))
    for part in parts(schema):
        if "$ref" in part and target_of(part, definitions) is None:
            raise Unpublishable(f"its $ref {part['$ref']!r:.80} leads outside its $defs")


def _check_form(schema: Json, draft: int) -> None:
    """Whether the draft's metaschema accepts it. Nothing is fetched: only known drafts get here."""
    url = {4: "http://json-schema.org/draft-04/schema#", 6: "http://json-schema.org/draft-06/schema#",
           7: URLS["draft-07"], 2019: "https://json-schema.org/draft/2019-09/schema"}.get(draft, URLS["2020-12"])  # fmt: skip
    try:
        jsonschema_rs.meta.validate({**schema, "$schema": url})
    except jsonschema_rs.ValidationError as error:
        place = "/".join(map(str, error.instance_path)) or "its root"
        raise Unpublishable(f"it is no JSON Schema, at {place:.{_SHOWN}}: {_why(error)}") from None
    except ValueError as error:
        raise Unpublishable(f"it is no JSON Schema: {error!s:.{_SHOWN}}") from None


def _why(error: jsonschema_rs.ValidationError) -> str:
    """What is wrong with a schema, for the mistakes that are made."""
    given: object = error.instance
    match list(error.instance_path)[-1:]:
        case ["type"] if isinstance(given, str):
            near = suggest(_MEANT.get(given, given), TYPES)
            return f"{given[:40]!r} is no type" + (f"; did you mean {near!r}?" if near else "")
        case ["required"] if isinstance(given, bool):
            return "'required' is a list of names, beside 'properties'"
        case _:
            return f"wrong {error.kind.name}"


def _rooted(schema: Json, *, root_object: bool) -> Json:
    """The schema with its root spelled out where that is a mere reference; an object of arguments also closed."""
    definitions = dict(node_of(schema.get("$defs")))
    root = {key: value for key, value in schema.items() if key != "$defs"}
    names: list[str] = []
    while "$ref" in root and not root.keys() - ANNOTATIONS - {"$ref"}:
        target = target_of(root, definitions)
        if not isinstance(target, dict):
            break
        names.append(root["$ref"].removeprefix(HOME))
        root = {**target, **{key: value for key, value in root.items() if key != "$ref"}}
    if root_object:
        if root.get("type") not in ("object", ["object"]):
            raise Unpublishable(_NO_OBJECT)
        root = closed({**root, "type": "object"}, definitions)
        if names:  # what a root refers to is the same object elsewhere
            definitions[names[-1]] = closed({**node_of(definitions[names[-1]]), "type": "object"}, definitions)
    used = _reachable(root, definitions)
    return {**root, "$defs": {name: definitions[name] for name in definitions if name in used}} if used else root


def _reachable(root: Json, definitions: Json) -> set[str]:
    used: set[str] = set()
    stack = [root]
    while stack:
        found = {part["$ref"].removeprefix(HOME) for part in parts(stack.pop()) if "$ref" in part} - used
        used |= found
        stack.extend(node_of(definitions[name]) for name in found)
    return used
