"""Every reference of a schema in one form: `#/$defs/<name>`, whatever its author wrote.

Pointers into any place (`#/properties/nodes/items`, `#/components/schemas/Pet`), anchors, and the schema's own `$id`
are followed inside the schema, and their targets are copied into `$defs`. A reference that leads outside is refused:
nothing is ever fetched. Ids are taken off, so that no reader can mix up two schemas that claim the same one. Works on
every draft; knows nothing of what keywords demand. `contract.publishing` calls it at registration. Pure.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from ringfence.contract.keywords import CONTAINERS, Json, inner, is_schema, node_of, replaced

HOME: Final = "#/$defs/"
MAX_DEFINITIONS: Final = 500
"""Targets of references in one schema. Large published vocabularies have some hundred."""

_SHOWN: Final = 80
_UNSUPPORTED: Final = ("$dynamicRef", "$recursiveRef")
_DROPPED: Final = frozenset({
    *CONTAINERS, "$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary",
})  # fmt: skip


class Unpublishable(Exception):
    """Why a schema cannot be published or enforced; the text is a reason that follows a field's name."""


def localised(schema: Json) -> Json:
    """The schema with all its targets in `$defs` at the root, and without ids, anchors and what nobody refers to.

    A root that is referred to becomes a target too: then the answer's root is a reference.

    Raises:
        Unpublishable: a reference that leads outside or nowhere, or that depends on who refers; an id below the root.
    """
    return _Localiser(schema).run()


def target_of(node: Json, definitions: Json) -> Json | bool | None:
    """What a localised reference leads to; None where there is none."""
    reference = node.get("$ref")
    return definitions.get(reference.removeprefix(HOME)) if isinstance(reference, str) else None


class _Localiser:
    def __init__(self, schema: Json) -> None:
        self._schema = schema
        own = schema.get("$id", schema.get("id"))
        self._base = own.rstrip("#") if isinstance(own, str) else ""
        self._anchors = self._found_anchors()
        self._names: dict[tuple[str, ...], str] = {}
        self._used: set[str] = set()

    def run(self) -> Json:
        root = self._rewritten(self._schema)
        definitions: Json = {}
        done = 0
        while done < len(self._names):  # rewriting a target may find more of them
            if len(self._names) > MAX_DEFINITIONS:
                raise Unpublishable(f"it refers to more than {MAX_DEFINITIONS} places")
            place = list(self._names)[done]
            definitions[self._names[place]] = self._rewritten(self._at(place))
            done += 1
        if () in self._names:
            root = {"$ref": HOME + self._names[()]}
        return {**root, "$defs": definitions} if definitions else root

    def _found_anchors(self) -> dict[str, tuple[str, ...]]:
        anchors: dict[str, tuple[str, ...]] = {}
        stack: list[tuple[tuple[str, ...], Any]] = [((), self._schema)]
        while stack:
            place, part = stack.pop()
            node = node_of(part)
            own = node.get("$id")
            for name in (node.get("$anchor"), node.get("$dynamicAnchor")):
                if isinstance(name, str):
                    anchors[name] = place
            if place and isinstance(own, str):
                if not own.startswith("#"):
                    raise Unpublishable(f"it has an $id below its root, at {_shown(place)}: use $defs and pointers")
                anchors[own[1:]] = place
            stack.extend(((*place, *steps), child) for steps, child in inner(node))
        return anchors

    def _rewritten(self, schema: Json | bool) -> Any:
        if isinstance(schema, bool):
            return schema
        for keyword in _UNSUPPORTED:
            if keyword in schema:
                raise Unpublishable(f"it uses {keyword}, whose meaning depends on who refers: use $ref")
        made = replaced(_without(schema), self._rewritten)
        if "$ref" in schema:
            reference = schema["$ref"]
            if not isinstance(reference, str):
                raise Unpublishable(f"its $ref is no text but {type(reference).__name__}")
            made["$ref"] = HOME + self._name(self._place(reference))
        return made

    def _place(self, reference: str) -> tuple[str, ...]:
        """Where in the schema a reference leads."""
        local = reference
        if self._base and reference.split("#")[0] == self._base:
            local = reference[len(self._base) :] or "#"
        if not local.startswith("#"):
            raise Unpublishable(f"its $ref {reference[:_SHOWN]!r} leads outside the schema, and nothing is fetched")
        pointer = _unquoted(local[1:])
        if pointer and not pointer.startswith("/"):
            if pointer not in self._anchors:
                raise Unpublishable(f"its $ref {reference[:_SHOWN]!r} leads nowhere")
            return self._anchors[pointer]
        place = tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
        if not is_schema(self._at(place)):
            raise Unpublishable(f"its $ref {reference[:_SHOWN]!r} leads nowhere")
        return place

    def _at(self, place: tuple[str, ...]) -> Any:
        here: Any = self._schema
        for step in place:
            if not isinstance(here, list):
                here = node_of(here).get(step)
                continue
            items = cast("list[Any]", here)
            here = items[int(step)] if _is_position(step) and int(step) < len(items) else None
        return here

    def _name(self, place: tuple[str, ...]) -> str:
        if place not in self._names:
            title = node_of(self._at(place)).get("title")
            wanted = place[-1] if place else title if isinstance(title, str) else "Root"
            name = plain = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:_SHOWN] or "Type"
            number = 2
            while name in self._used:
                name, number = f"{plain}_{number}", number + 1
            self._used.add(name)
            self._names[place] = name
        return self._names[place]


def _is_position(step: str) -> bool:
    return step.isascii() and step.isdecimal() and len(step) < len("100000")


def _without(schema: Json) -> Json:
    return {key: value for key, value in schema.items() if key not in _DROPPED and not _is_old_id(key, value)}


def _is_old_id(key: str, value: object) -> bool:
    """Draft 4 wrote `id`."""
    return key == "id" and isinstance(value, str)


def _unquoted(text: str) -> str:
    """Percent signs of a URI fragment decoded."""
    data = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode(errors="replace"))
    return data.decode(errors="replace")


def _shown(place: tuple[str, ...]) -> str:
    return "/".join(place)[:_SHOWN]
