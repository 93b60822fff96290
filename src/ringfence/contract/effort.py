"""How much work a schema can make, before it makes any.

A validator follows every reference, so that a few definitions with two references each make millions of steps, and a
cycle that never goes deeper into the value has no end. Both are found here without following anything twice. Works on
localised schemas of draft 2020-12 (`contract.references`). `contract.publishing` measures at registration,
`contract.raw` asks for each value. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from ringfence.contract.keywords import HERE_LISTED, HERE_NAMED, HERE_SINGLE, Json, inner, node_of
from ringfence.contract.references import HOME, Unpublishable

MAX_WORK: Final = 10_000
"""Schemas that may look at one place of a value. Large published ones stay in the hundreds."""
MAX_CHAIN: Final = 200
"""References and combinations one inside the other at one place: each takes a part of a native stack."""

_HERE: Final = frozenset((*HERE_LISTED, *HERE_NAMED, *HERE_SINGLE))
_ROOT: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What checking a value costs at most."""

    work: int
    """Steps for each value inside the value."""
    growth: int
    """Factor by which every level of nesting multiplies them, where schemas refer to each other in a circle."""
    retold: int
    """The same factor for telling what is wrong, where nothing is remembered."""

    def steps(self, levels: Sequence[int], *, telling: bool = False) -> int:
        """What a value costs.

        Args:
            levels: How many values it holds at each level of nesting, itself first.
            telling: Whether to find out what is wrong with it, too.
        """
        factor = self.retold if telling else self.growth
        return self.work * sum(count * factor**level for level, count in enumerate(levels))


def measured(schema: Json) -> Effort:
    """Measure a schema.

    Raises:
        Unpublishable: it refers to itself without an end, or takes too much work.
    """
    return _Measure(schema).run()


class _Measure:
    def __init__(self, schema: Json) -> None:
        definitions = node_of(schema.get("$defs"))
        self._nodes: Json = {**definitions, _ROOT: {key: schema[key] for key in schema if key != "$defs"}}
        self._here = {name: set(_references(node, here=True)) for name, node in self._nodes.items()}
        self._all = {name: set(_references(node, here=False)) for name, node in self._nodes.items()}
        self._reach = {name: self._reached(name) for name in self._nodes}
        self._work: dict[str, int] = {}
        self._height: dict[str, int] = {}
        self._back: dict[str, int] = {}

    def run(self) -> Effort:
        growth = retold = 1
        for name in self._order():
            self._work[name], self._height[name], back = self._cost(self._nodes[name], name, outer=True)
            self._back[name] = back
            if self._work[name] > MAX_WORK or self._height[name] > MAX_CHAIN:
                raise Unpublishable("its references multiply: checking one small value could take for ever")
            retold = max(retold, back)
            if not self._is_alone(name):  # a schema that contains itself is remembered by the validator
                growth = max(growth, back)
        return Effort(work=max(self._work.values()), growth=growth, retold=retold)

    def _order(self) -> list[str]:
        """Definitions after those that they need, as far as they need each other in one direction only."""
        try:
            here = {name: at for at, name in enumerate(TopologicalSorter(self._here).static_order())}
        except CycleError as error:
            circle = " -> ".join(name or "the root" for name in error.args[1])
            raise Unpublishable(f"it refers to itself without going deeper: {circle:.200}") from None
        return sorted(self._nodes, key=lambda name: (len(self._reach[name] | {name}), here[name]))

    def _reached(self, start: str) -> frozenset[str]:
        seen: set[str] = set()
        stack = [start]
        while stack:
            new = self._all[stack.pop()] - seen
            seen |= new
            stack.extend(new)
        return frozenset(seen)

    def _is_alone(self, name: str) -> bool:
        return not any(name in self._reach[other] for other in self._reach[name] if other != name)

    def _cost(self, node: Any, owner: str, *, outer: bool) -> tuple[int, int, int]:
        """Work, height of what is stacked up at one place, and returns into the circle that `owner` belongs to.

        Args:
            outer: Whether the node judges the same place as `owner` itself.
        """
        work, height, back = 1, 1, 0
        deeper: list[tuple[int, int]] = [(0, 0)]
        beside_work = beside_back = 0
        for steps, part in inner(node_of(node)):
            one, high, again = self._cost(part, owner, outer=outer and steps[0] in _HERE)
            if steps[0] in _HERE:
                work, height, back = work + one, max(height, high + 1), back + again
            elif steps[0] in ("properties", "additionalProperties", "prefixItems", "items"):
                deeper.append((one, again))
            else:  # a part may be judged by these as well
                beside_work, beside_back = beside_work + one, beside_back + again
        for name in _own_reference(node_of(node)):
            one, high, again = self._followed(name, owner, outer=outer)
            work, height, back = work + one, max(height, high + 1), back + again
        return (
            work + max(one for one, _ in deeper) + beside_work,
            height,
            back + max(again for _, again in deeper) + beside_back,
        )

    def _followed(self, name: str, owner: str, *, outer: bool) -> tuple[int, int, int]:
        if owner not in self._reach[name]:
            return self._work[name], self._height[name], 0
        if outer:
            return self._work[name], self._height[name], self._back[name]
        return 1, 1, 1  # a way back into the circle, taken deeper in the value: `growth` counts it


def _own_reference(node: Json) -> Iterator[str]:
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield reference.removeprefix(HOME)


def _references(node: Any, *, here: bool) -> Iterator[str]:
    stack: list[Any] = [node]
    while stack:
        part = node_of(stack.pop())
        yield from _own_reference(part)
        stack.extend(child for steps, child in inner(part) if not here or steps[0] in _HERE)
