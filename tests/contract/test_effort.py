"""What a schema may cost is known before anything is checked with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ringfence.contract.effort import MAX_CHAIN, MAX_WORK, Effort, measured
from ringfence.contract.references import Unpublishable


def ref(name: object) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def schema(definitions: dict[str, Any], first: object = 0) -> dict[str, Any]:
    return {"properties": {"x": ref(first)}, "$defs": definitions}


def doubling(levels: int, last: Any, of: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Each definition refers to the next one twice."""
    return {**{str(at): of(ref(at + 1)) for at in range(levels)}, str(levels): last}


def reason(of: dict[str, Any]) -> str:
    with pytest.raises(Unpublishable) as caught:
        measured(of)
    return str(caught.value)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_references_that_multiply_at_one_place_are_refused(keyword: str) -> None:
    assert "multiply" in reason(schema(doubling(25, {}, of=lambda next_: {keyword: [next_, next_]})))
    few = doubling(5, {}, of=lambda next_: {keyword: [next_, next_]})
    assert 2**5 < measured(schema(few)).work < MAX_WORK


def test_references_that_multiply_at_different_places_cost_nothing() -> None:
    tree = doubling(25, {}, of=lambda next_: {"properties": {"l": next_, "r": next_}})
    assert measured(schema(tree)) == Effort(work=53, growth=1, retold=1, every=measured({}).every)


def test_multiplication_one_level_deeper_is_seen() -> None:
    assert "multiply" in reason(schema(doubling(25, {}, of=lambda one: {"properties": {"a": {"allOf": [one, one]}}})))
    assert "multiply" in reason(
        schema(doubling(25, {}, of=lambda one: {"properties": {"a": one}, "patternProperties": {"a": one}}))
    )


@pytest.mark.parametrize(
    ("definitions", "circle"),
    [
        ({"A": {"allOf": [ref("B")]}, "B": {"anyOf": [ref("A")]}}, "A -> B -> A"),
        ({"A": ref("A")}, "A -> A"),
        ({"A": {"not": {"if": ref("A")}}}, "A -> A"),
        ({"A": {"dependentSchemas": {"a": ref("A")}}}, "A -> A"),
    ],
)
def test_a_circle_that_never_goes_deeper_is_refused_with_its_members(definitions: dict[str, Any], circle: str) -> None:
    message = reason(schema(definitions, "A"))
    assert message.startswith("it refers to itself without going deeper: ")
    assert set(circle.split(" -> ")) == set(message.split(": ")[1].split(" -> "))


def test_a_circle_through_the_root_is_named() -> None:
    assert "without going deeper" in reason({"allOf": [ref("A")], "$defs": {"A": {"oneOf": [ref("A")]}}})


def test_a_schema_that_contains_itself_is_fine() -> None:
    tree = {"N": {"properties": {"l": ref("N"), "r": ref("N")}}}
    assert measured(schema(tree, "N")).growth == 1
    choice = {"N": {"anyOf": [{"items": ref("N")} for _ in range(7)]}}
    assert measured(schema(choice, "N")) == Effort(work=24, growth=1, retold=7, every=1)


def test_schemas_that_contain_each_other_multiply_with_the_depth_of_the_value() -> None:
    names = "ABCDE"
    clique = {name: {"properties": {"a": {"anyOf": [ref(other) for other in names]}}} for name in names}
    effort = measured(schema(clique, "A"))
    assert (effort.growth, effort.retold) == (5, 5)
    assert effort.steps([1, 1, 1]) == effort.work * (1 + 5 + 25)
    pair = {"A": {"properties": {"b": ref("B")}}, "B": {"properties": {"a": ref("A")}}}
    assert measured(schema(pair, "A")).growth == 1


def test_a_circle_whose_members_stand_at_one_place_multiplies_by_all_of_them() -> None:
    ladder = doubling(6, {"properties": {"a": ref(0)}}, of=lambda next_: {"allOf": [next_, next_]})
    assert measured(schema(ladder)).growth == 64


def test_a_chain_at_one_place_is_bounded() -> None:
    chain = {str(at): {"allOf": [ref(at + 1)]} for at in range(MAX_CHAIN)}
    assert "multiply" in reason(schema({**chain, str(MAX_CHAIN): {}}))


def test_telling_what_is_wrong_remembers_nothing() -> None:
    effort = Effort(work=2, growth=1, retold=3, every=1)
    assert (effort.steps([1, 4]), effort.steps([1, 4], telling=True)) == (10, 26)
