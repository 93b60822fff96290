"""An object schema that admits its own names and no others, unless it says otherwise.

`additionalProperties` does not see into `allOf`, `$ref` and their like, so the names that these mention are written
beside it: closing an open schema never forbids a name that the schema itself speaks of. Works on localised schemas of draft
2020-12. `contract.publishing` and `contract.drafts` call it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ringfence.contract.keywords import HERE_LISTED, Json, node_of
from ringfence.contract.references import target_of

_REST: Final = ("additionalProperties", "unevaluatedProperties")


@dataclass(slots=True, kw_only=True)
class Names:
    """What a schema says about the names in an object, itself and through the schemas that judge the same value."""

    names: dict[str, None] = field(default_factory=dict[str, None])
    """Those with a schema, in the order of mention."""
    mentioned: dict[str, None] = field(default_factory=dict[str, None])
    """Those that are only required."""
    patterns: dict[str, None] = field(default_factory=dict[str, None])
    opened: bool = False
    """Whether other names are admitted in so many words."""
    conditional: bool = False
    """Whether some of it holds for some values only."""


def names_of(node: Json, definitions: Json) -> Names:
    """Collect the names; every schema is looked at once, so that cycles do no harm."""
    found = Names()
    seen: set[int] = set()
    stack: list[Any] = [node]
    while stack:
        part = node_of(stack.pop())
        if id(part) in seen:
            continue
        seen.add(id(part))
        _collect(part, found)
        stack.extend(reversed(_beside(part, definitions, found)))
    return found


def _collect(part: Json, found: Names) -> None:
    found.names.update(dict.fromkeys(node_of(part.get("properties"))))
    found.mentioned.update(dict.fromkeys(part.get("required", ())))
    for name, others in node_of(part.get("dependentRequired")).items():
        found.mentioned.update(dict.fromkeys([name, *others]))
    found.mentioned.update(dict.fromkeys(node_of(part.get("dependentSchemas"))))
    found.patterns.update(dict.fromkeys(node_of(part.get("patternProperties"))))
    found.opened = found.opened or any(part.get(key, False) is not False for key in _REST)


def _beside(part: Json, definitions: Json, found: Names) -> list[Any]:
    """The other schemas that judge the same value and may speak of names."""
    always = [*part.get("allOf", ()), target_of(part, definitions)]
    sometimes: list[Any] = [choice for key in HERE_LISTED[1:] for choice in part.get(key, ())]
    sometimes += [part[key] for key in ("if", "then", "else") if key in part]
    sometimes += node_of(part.get("dependentSchemas")).values()
    found.conditional = found.conditional or any(isinstance(choice, dict) for choice in sometimes)
    return [*always, *sometimes]


def closed(node: Json, definitions: Json) -> Json:
    """The object schema with `properties` and, where it says nothing else, `additionalProperties: false`.

    A node that says so itself, or says `unevaluatedProperties: false`, means it: nothing is added to what it admits.
    """
    found = names_of(node, definitions)
    made = {**node, "properties": {**node.get("properties", {})}}
    if found.opened or node.get("additionalProperties") is False:
        return made
    is_final = node.get("unevaluatedProperties") is False
    if is_final and found.conditional:  # which names it admits depends on the value
        return made
    for name in found.names if is_final else (*found.names, *found.mentioned):
        made["properties"].setdefault(name, True)
    if found.patterns:
        own = node.get("patternProperties", {})
        made["patternProperties"] = {**own, **{text: True for text in found.patterns if text not in own}}
    made["additionalProperties"] = False
    made.pop("unevaluatedProperties", None)  # it says the same
    return made
