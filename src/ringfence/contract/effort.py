"""How much work a schema can make, before it makes any.

A validator follows every reference, so that a few definitions with two references each make millions of steps, and a
cycle that never goes deeper into the value has no end. Both are found here without following anything twice. Works on
localised schemas of draft 2020-12 (`contract.references`). `contract.publishing` measures at registration,
`contract.raw` asks for each value. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
_FAR: Final = 10**6
_OBJECTS: Final = ("properties", "additionalProperties", "contentSchema")
_PATTERNED: Final = ("patternProperties", "propertyNames", "unevaluatedProperties")
_ARRAYS: Final = ("prefixItems", "items", "additionalItems")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What checking a value costs at most."""

    work: int
    """Steps for each value inside the value."""
    growth: int
    """Factor by which every return into a circle multiplies them, where schemas refer to each other in a circle."""
    retold: int
    """The same factor for telling what is wrong, where nothing is remembered."""
    every: int = _FAR
    """Levels of nesting that a return takes at least."""

    def steps(self, levels: Sequence[int], *, telling: bool = False) -> int:
        """What a value costs.

        Args:
            levels: How many values it holds at each level of nesting, itself first.
            telling: Whether to find out what is wrong with it, too.
        """
        factor = self.retold if telling else self.growth
        if factor == 1:
            return self.work * sum(levels)
        return self.work * sum(count * factor ** (level // self.every) for level, count in enumerate(levels))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cost:
    """Of one schema, at one place of a value."""

    work: int = 1
    height: int = 1
    """Of what is stacked up there."""
    objects: int = 0
    """Returns into the circle that the schema's owner belongs to, when the value there is an object."""
    arrays: int = 0
    """The same for a list: no value is both."""
    near: int = _FAR
    """Levels down to the nearest of them."""

    @property
    def back(self) -> int:
        return max(self.objects, self.arrays)


def measured(schema: Json, *, tagged: bool = False) -> Effort:
    """Measure a schema.

    Args:
        tagged: Whether `oneOf` looks at a tag and follows one choice, as pydantic does.

    Raises:
        Unpublishable: it refers to itself without an end, or takes too much work.
    """
    return _Measure(schema, tagged=tagged).run()


class _Measure:
    def __init__(self, schema: Json, *, tagged: bool) -> None:
        definitions = node_of(schema.get("$defs"))
        self._tagged = tagged
        self._nodes: Json = {**definitions, _ROOT: {key: schema[key] for key in schema if key != "$defs"}}
        self._here = {name: set(_references(node, here=True)) for name, node in self._nodes.items()}
        self._all = {name: set(_references(node, here=False)) for name, node in self._nodes.items()}
        self._reach = {name: self._reached(name) for name in self._nodes}
        self._costs: dict[str, _Cost] = {}

    def run(self) -> Effort:
        growth = retold = 1
        for name in self._order():
            cost = self._costs[name] = self._cost(self._nodes[name], name, outer=True)
            if cost.work > MAX_WORK or cost.height > MAX_CHAIN:
                raise Unpublishable("its references multiply: checking one small value could take for ever")
            retold = max(retold, cost.back)
            if not self._is_alone(name):  # a schema that contains itself is remembered by the validator
                growth = max(growth, cost.back)
        costs = self._costs.values()
        every = min(cost.near for cost in costs)
        return Effort(work=max(cost.work for cost in costs), growth=growth, retold=retold, every=every)

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

    def _cost(self, node: Any, owner: str, *, outer: bool) -> _Cost:
        """Cost of a schema inside the definition `owner`.

        Args:
            outer: Whether the node judges the same place as `owner` itself.
        """
        here: list[_Cost] = [self._followed(name, owner, outer=outer) for name in _own_reference(node_of(node))]
        choices: list[_Cost] = []
        inside: dict[str, list[_Cost]] = {}
        for (step, *_), part in inner(node_of(node)):
            one = self._cost(part, owner, outer=outer and step in _HERE)
            if step == "oneOf" and self._tagged:
                choices.append(one)
            elif step in _HERE:
                here.append(one)
            else:
                inside.setdefault(step, []).append(one)
        if choices:
            here.append(_largest(choices))
        deeper = [_deeper(inside, _OBJECTS, _PATTERNED), _deeper(inside, _ARRAYS, ("contains", "unevaluatedItems"))]
        weight = 1 + _weight(node_of(node).get("enum"))
        return _Cost(
            work=weight + sum(one.work for one in here) + max(part.work for part in deeper),
            height=1 + max((one.height for one in here), default=0),
            objects=sum(one.objects for one in here) + deeper[0].back,
            arrays=sum(one.arrays for one in here) + deeper[1].back,
            near=min([one.near for one in here] + [part.near + 1 for part in deeper]),
        )

    def _followed(self, name: str, owner: str, *, outer: bool) -> _Cost:
        found = self._costs.get(name, _Cost())
        if owner not in self._reach[name]:
            return _Cost(work=found.work, height=found.height)
        if outer:
            return found
        return _Cost(objects=1, arrays=1, near=0)  # a way back into the circle, taken deeper: `growth` counts it


def _largest(costs: list[_Cost]) -> _Cost:
    """Where one of them is paid, nobody knows which."""
    return _Cost(
        work=max((one.work for one in costs), default=0),
        height=max((one.height for one in costs), default=0),
        objects=max((one.objects for one in costs), default=0),
        arrays=max((one.arrays for one in costs), default=0),
        near=min((one.near for one in costs), default=_FAR),
    )


def _deeper(inside: dict[str, list[_Cost]], either: Iterable[str], also: Iterable[str]) -> _Cost:
    """Of a part of the value: one of some schemas judges it, and all of the others may."""
    one = _largest([cost for key in either for cost in inside.get(key, ())])
    rest = [cost for key in also for cost in inside.get(key, ())]
    return _Cost(
        work=one.work + sum(cost.work for cost in rest),
        objects=one.objects + sum(cost.objects for cost in rest),
        arrays=one.arrays + sum(cost.arrays for cost in rest),
        near=min([one.near, *(cost.near for cost in rest)]),
    )


def _weight(choices: object) -> int:
    """What comparing with values costs: those that are not scalars are compared one by one."""
    listed: list[Any] = choices if isinstance(choices, list) else []  # type: ignore[reportUnknownVariableType]
    return sum(1 + len(choice) for choice in listed if isinstance(choice, (dict, list)))  # type: ignore[reportUnknownArgumentType]


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
