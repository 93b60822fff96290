"""Whether bytes that a script passed arrive as bytes: which of a schema's texts are Base64, and in which alphabet.

Bytes cross as URL-safe Base64, and JSON does not say so. A contract that reads another text there would hand the tool
something that nobody sent, so such bytes are refused with their place. Knows published schemas, not tools;
`enclave.callers` asks for each call that carries bytes. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from ringfence.contract.issues import join_path
from ringfence.contract.keywords import Json, node_of
from ringfence.contract.references import target_of
from ringfence.errors import Issue

_URL_SAFE: Final = frozenset({"base64url"})
_STANDARD: Final = frozenset({"base64", "byte"})
"""`byte` is what OpenAPI calls it."""
_CHOICES: Final = ("anyOf", "oneOf", "allOf")
_TYPELESS: Final = frozenset({"type", "enum", "const", "$ref", *_CHOICES})
_TO_STANDARD: Final = str.maketrans("-_", "+/")


def is_base64(node: Json) -> bool:
    """Whether the text that a schema describes stands for bytes."""
    return bool(_alphabets(node) & (_URL_SAFE | _STANDARD))


def carry(schema: Json, arguments: Any, paths: Iterable[Sequence[str | int]]) -> tuple[bool, list[Issue]]:
    """Rewrite URL-safe Base64, in place, where a schema wants the standard alphabet.

    Args:
        schema: of the arguments, as it is published.
        arguments: plain JSON values.
        paths: to the texts that stand for bytes; each leads to a text.

    Returns:
        Whether something was rewritten, and an issue for every path where the tool would not read bytes.
    """
    changed, issues = False, list[Issue]()
    definitions = node_of(schema.get("$defs"))
    for path in paths:
        judges = _at(schema, path, definitions)
        texts = [node for node in judges if _takes_text(node)]
        if not judges:
            continue  # nothing may be there, which the validator says better
        if not texts or not all(map(is_base64, texts)):
            issues.append(_issue(path))
        elif not any(_alphabets(node) & _URL_SAFE for node in texts):
            holder: Any = arguments
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = holder[path[-1]].translate(_TO_STANDARD)
            changed = True
    return changed, issues


def _issue(path: Sequence[str | int]) -> Issue:
    place = ""
    for step in path:
        place = join_path(place, step)
    return Issue(path=place, message="bytes, which the tool does not take here", code="bytes_not_accepted")


def _alphabets(node: Json) -> set[str]:
    return {word for word in (node.get("format"), node.get("contentEncoding")) if isinstance(word, str)}


def _takes_text(node: Json) -> bool:
    kind = node.get("type")
    return kind == "string" or (isinstance(kind, list) and "string" in kind) or _TYPELESS.isdisjoint(node)


def _at(schema: Json, path: Sequence[str | int], definitions: Json) -> list[Json]:
    """Every schema that may judge what lies at the path."""
    found = list(_alternatives(schema, definitions))
    for step in path:
        found = [one for node in found for part in _parts(node, step) for one in _alternatives(part, definitions)]
    return found


def _alternatives(schema: Any, definitions: Json) -> Iterator[Json]:
    """The schema, and those that it combines or refers to."""
    waiting, seen = [schema], set[int]()
    while waiting:
        part = waiting.pop()
        node = node_of(part)
        if part is False or part is None or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if "$ref" in node:
            waiting.append(target_of(node, definitions))
        for word in _CHOICES:
            waiting.extend(cast("list[Any]", node.get(word, ())))


def _parts(node: Json, step: str | int) -> list[Any]:
    """What a schema itself says about one part of a value; anything may be there where nobody says."""
    kind = node.get("type")
    if kind is not None and ("object" if isinstance(step, str) else "array") not in (
        [kind] if isinstance(kind, str) else kind
    ):
        return []
    unsaid: list[Any] = [] if node.keys() & {"$ref", *_CHOICES} else [True]
    if isinstance(step, str):
        named = node_of(node.get("properties"))
        if step in named:
            return [named[step]]
        patterns = node_of(node.get("patternProperties")).values()
        return [*patterns, *([node["additionalProperties"]] if "additionalProperties" in node else unsaid)]
    places = cast("list[Any]", node.get("prefixItems", ()))
    if step < len(places):
        return [places[step]]
    return [node["items"]] if "items" in node else unsaid
