"""Copies of arguments: equal, and independent all the way down."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, PrivateAttr

from ringfence.contract.hints import Arguments
from ringfence.gate.copies import private


class Line(BaseModel):
    name: str
    counts: list[int]


class Order(BaseModel):
    lines: list[Line]
    notes: dict[str, list[str]] = {}


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Hidden(BaseModel):
    name: str
    _seen: list[str] = PrivateAttr(default_factory=list)


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    names: list[str]


class Own(BaseModel):
    name: str

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Own:
        return Own(name="copied")


@dataclass
class Record:
    names: list[str] = field(default_factory=list[str])


class Kind(dict[str, int]):
    pass


def deep(levels: int) -> Any:
    return [deep(levels - 1)] if levels else ["end"]


VALUES: list[Any] = [
    None,
    {"a": 1, "b": [1.5, "x", {"c": [True, None]}]},
    [b"raw", {"k": []}],
    deep(40),
    Kind(a=1),
    {"record": Record(["a"])},
    (1, [2]),
    Arguments({"names": ["a", "b"], "when": {"x": 1}}),
    Arguments({"record": Record(["a"])}),
    Record(["a"]),
    Line(name="pen", counts=[1, 2]),
    Order(lines=[Line(name="pen", counts=[1])], notes={"x": ["y"]}),
    Open.model_validate({"name": "x", "more": [1]}),
    Hidden(name="x"),
    Frozen(names=["a"]),
    Line.model_construct(name="unset"),
]


def containers(value: Any) -> list[Any]:
    """Every object in a value that can change."""
    found: list[Any] = [value] if isinstance(value, dict | list | BaseModel | Arguments | Record) else []
    inner: Any = ()
    if isinstance(value, dict):
        inner = list(value.values())  # type: ignore[reportUnknownArgumentType,reportUnknownMemberType]
    elif isinstance(value, list | tuple):
        inner = value  # type: ignore[reportUnknownVariableType]
    elif found:
        inner = [vars(value), getattr(value, "__pydantic_extra__", None), getattr(value, "__pydantic_private__", None)]
    return found + [one for child in inner for one in containers(child)]  # type: ignore[reportUnknownVariableType]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_copy_is_equal_and_shares_nothing_that_can_change(value: Any) -> None:
    made = private(value)
    assert (type(made), made) == (type(value), copy.deepcopy(value))
    mine = {id(one) for one in containers(value)}
    assert len(containers(made)) == len(mine)
    assert not any(id(one) in mine for one in containers(made))


def test_a_model_remembers_what_was_given() -> None:
    order = Order.model_validate({"lines": []})
    made = private(order)
    assert made.model_fields_set == {"lines"}
    made.notes = {"x": []}
    assert order.model_fields_set == {"lines"}


def test_a_type_that_copies_itself_is_asked() -> None:
    assert private(Own(name="x")) == Own(name="copied")


def test_what_contains_itself_is_copied_with_its_circle() -> None:
    circle: list[Any] = []
    circle.append(circle)
    made = private(circle)
    assert made is not circle
    assert made[0] is made
