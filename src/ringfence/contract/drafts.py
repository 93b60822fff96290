"""Between the drafts of JSON Schema: any known one up to 2020-12, and from there down to draft-07.

Works on localised schemas (`contract.references`): every reference is `#/$defs/<name>`. Up is exact: what an older
draft ignored is taken out. Down is exact too, or refused with the keyword that draft-07 cannot say. Neither adds nor
relaxes a demand. `contract.publishing` calls it at registration. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from ringfence.contract.closing import names_of
from ringfence.contract.keywords import ANNOTATIONS, Json, node_of, replaced
from ringfence.contract.references import HOME, Unpublishable
from ringfence.ports import Target

URLS: Final[Mapping[Target, str]] = MappingProxyType(
    {
        "2020-12": "https://json-schema.org/draft/2020-12/schema",
        "draft-07": "http://json-schema.org/draft-07/schema#",
    }
)
_YEARS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "json-schema.org/draft-04/schema": 4,
        "json-schema.org/draft-06/schema": 6,
        "json-schema.org/draft-07/schema": 7,
        "json-schema.org/draft/2019-09/schema": 2019,
        "json-schema.org/draft/2020-12/schema": 2020,
    }
)
NEWEST: Final = 2020
_SINCE: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(("const", "contains", "propertyNames"), 6),
        **dict.fromkeys(("if", "then", "else"), 7),
        **dict.fromkeys(
            ("dependentRequired", "dependentSchemas", "minContains", "maxContains", "unevaluatedItems",
             "unevaluatedProperties"), 2019),
        "prefixItems": 2020,
    }
)  # fmt: skip
"""The first draft in which a keyword demands something."""


def draft_of(schema: Json, default: int = NEWEST) -> int:
    """Which draft a schema says it follows: 4, 6, 7, 2019 or 2020.

    Raises:
        Unpublishable: one that nobody knows.
    """
    url = schema.get("$schema")
    if url is None:
        return default
    plain = str(url).rstrip("#").removeprefix("http://").removeprefix("https://")
    if plain not in _YEARS:
        raise Unpublishable(f"its $schema {str(url)[:80]!r} is no draft from 4 to 2020-12")
    return _YEARS[plain]


def raised(schema: Json | bool, draft: int) -> Any:
    """The same schema in draft 2020-12."""
    if isinstance(schema, bool):
        return schema
    node = {key: value for key, value in schema.items() if _SINCE.get(key, 0) <= draft}
    if draft <= 7 and "$ref" in node:  # what stands beside it is ignored
        node = {key: value for key, value in node.items() if key in ("$ref", "$defs") or key in ANNOTATIONS}
    node = replaced(node, lambda part: raised(part, draft))
    if draft == 4:
        _number_bounds(node)
    if draft < NEWEST:
        _tuple_items(node)
    node.pop("additionalItems", None)  # without a meaning in the newest
    _dependencies(node)
    return node


def _number_bounds(node: Json) -> None:
    for bound, flag in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if node.pop(flag, False) is True and bound in node:
            node[flag] = node.pop(bound)


def _tuple_items(node: Json) -> None:
    rest = node.get("additionalItems")
    if not isinstance(node.get("items"), list):
        return
    first = node.pop("items")
    if first:
        node["prefixItems"] = first
    if rest is not None:
        node["items"] = rest


def _dependencies(node: Json) -> None:
    for name, demand in node_of(node.pop("dependencies", {})).items():
        key = "dependentRequired" if isinstance(demand, list) else "dependentSchemas"
        node[key] = {**node_of(node.get(key)), name: _both(node_of(node.get(key)).get(name), demand)}


def _both(first: Any, second: Any) -> Any:
    """Two demands for the same name: both hold."""
    if first is None:
        return second
    return [*dict.fromkeys([*first, *second])] if isinstance(second, list) else {"allOf": [first, second]}


def lowered(schema: Json) -> Json:
    """The same schema in draft-07.

    Raises:
        Unpublishable: a keyword that draft-07 has no form for.
    """
    definitions = node_of(schema.get("$defs"))
    made = cast("Json", _lower(schema, definitions))
    made.pop("$schema", None)
    return {"$schema": URLS["draft-07"], **made}


def _lower(schema: Json | bool, definitions: Json) -> Any:
    if isinstance(schema, bool):
        return schema
    node = {key: value for key, value in schema.items() if key != "additionalItems"}
    _without_unevaluated(node, definitions)
    node = replaced(node, lambda part: _lower(part, definitions))
    for keyword in ("contentSchema", "$anchor"):
        node.pop(keyword, None)
    _contains(node)
    if "prefixItems" in node:
        rest = node.pop("items", None)
        node["items"] = node.pop("prefixItems")
        if rest is not None:
            node["additionalItems"] = rest
    _dependents(node)
    if "$defs" in node:
        node["definitions"] = node.pop("$defs")
    if "discriminator" in node:
        _discriminator(node)
    return _reference(node)


def _without_unevaluated(node: Json, definitions: Json) -> None:
    """`unevaluated…` where it says no more than `additional…`: when what stands beside it is not conditional."""
    if "unevaluatedItems" in node:
        if not {"contains", "allOf", "anyOf", "oneOf", "if", "not", "$ref", "dependentSchemas"}.isdisjoint(node):
            raise Unpublishable("draft-07 has no form for its unevaluatedItems beside other keywords")
        node.setdefault("items", node.pop("unevaluatedItems"))
    if "unevaluatedProperties" in node:
        rest = node.pop("unevaluatedProperties")
        found = names_of(node, definitions)
        if rest is True or ("additionalProperties" in node and not found.conditional):
            return
        if found.conditional:
            raise Unpublishable("draft-07 has no form for its unevaluatedProperties beside conditions")
        if found.opened:
            return
        node["properties"] = {**dict.fromkeys(found.names, True), **node.get("properties", {})}
        node["patternProperties"] = {**dict.fromkeys(found.patterns, True), **node.get("patternProperties", {})}
        node["additionalProperties"] = rest


def _contains(node: Json) -> None:
    least, most = node.pop("minContains", 1), node.pop("maxContains", None)
    if "contains" not in node:
        return
    if least == 0 and most is None:
        del node["contains"]
    elif least != 1 or most is not None:
        raise Unpublishable("draft-07 has no form for its minContains or maxContains")


def _dependents(node: Json) -> None:
    names = node_of(node.pop("dependentRequired", None))
    schemas = node_of(node.pop("dependentSchemas", None))
    if not names and not schemas:
        return
    node["dependencies"] = {
        **names,
        **{
            name: {"allOf": [part, {"required": names[name]}]} if name in names else part
            for name, part in schemas.items()
        },
    }


def _discriminator(node: Json) -> None:
    """A keyword of OpenAPI whose mapping holds references."""
    mapping = node_of(node_of(node["discriminator"]).get("mapping"))
    if mapping:
        moved = {name: _moved(target) if isinstance(target, str) else target for name, target in mapping.items()}
        node["discriminator"] = {**node["discriminator"], "mapping": moved}


def _moved(reference: str) -> str:
    return f"#/definitions/{reference.removeprefix(HOME)}" if reference.startswith(HOME) else reference


def _reference(node: Json) -> Json:
    """Draft-07 ignores whatever stands beside a reference."""
    if "$ref" not in node:
        return node
    reference = {"$ref": _moved(node.pop("$ref"))}
    if not node.keys() - {"definitions", "$schema"}:
        return {**node, **reference}
    return {**node, "allOf": [reference, *node.get("allOf", ())]}
