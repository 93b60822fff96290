"""Numbers and truth values are told apart in choices, wherever these stand; all else is left to pydantic."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, Field, IPvAnyAddress, TypeAdapter, model_validator
from typing_extensions import TypedDict

from ringfence.contract.exact import exact
from ringfence.contract.hints import arguments_type
from ringfence.contract.schema import PydanticInput
from ringfence.ports import InvalidInput


class Whole(enum.IntEnum):
    ONE = 1


class Mixed(enum.Enum):
    ONE = 1
    WORD = "b"


class Lenient(enum.Enum):
    ONE = 1

    @classmethod
    def _missing_(cls, value: object) -> Lenient | None:
        return cls.ONE if value == "one" else None


class Tree(BaseModel):
    leaf: Literal[1] = 1
    below: list[Tree] = []


@dataclasses.dataclass
class Plain:
    v: Literal[1]


class Keyed(TypedDict):
    v: Literal[1]


class Early(BaseModel):
    v: Literal[1, "x"]

    @model_validator(mode="before")
    @classmethod
    def renamed(cls, data: Any) -> Any:
        return {"v": data["old"]} if "old" in data else data


class One(BaseModel):
    kind: Literal[1]


class Two(BaseModel):
    kind: Literal[2]


def args(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(arguments_type({"v": hint}))


def made(hint: Any) -> PydanticInput:
    return PydanticInput(args(hint), "f")


def fits(schema: PydanticInput, value: Any) -> bool:
    try:
        schema.validate(json.dumps({"v": value}).encode())
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (Literal[True], [True], [1, 1.0, False, "x"]),
        (Literal[0, "x"], [0, "x"], [False, "0"]),
        (Literal[1, True], [1, True], [0, False]),
        (Whole, [1], [True, 2]),
        (Mixed, [1, "b"], [True]),
        (Lenient, [1, "one"], [True]),
        (Literal[1] | None, [1, None], [True]),
        (list[Literal[1]], [[1], []], [[True], [1, True]]),
        (set[Literal[1]], [[1]], [[True]]),
        (dict[str, Whole], [{"a": 1}], [{"a": True}]),
        (tuple[Literal[1], str], [[1, "a"]], [[True, "a"]]),
        (tuple[str, Literal[1]], [["a", 1]], [["a", True]]),
        (tuple[Literal[1], ...], [[1, 1]], [[1, True]]),
        (Literal[1] | bool, [1, True, False], [2]),
        (Literal[True] | int, [1, True, 7], [False]),
        (Tree, [{"below": [{"leaf": 1}]}], [{"below": [{"leaf": True}]}, {"below": [{"below": [{"leaf": True}]}]}]),
        (Plain, [{"v": 1}], [{"v": True}]),
        (Keyed, [{"v": 1}], [{"v": True}]),
        (Early, [{"v": 1}, {"old": "x"}], [{"v": True}]),
        (Annotated[Literal[1], BeforeValidator(lambda v: 1 if v == "one" else v)], [1, "one"], [True]),
        (Annotated[One | Two, Field(discriminator="kind")], [{"kind": 1}, {"kind": 2}], [{"kind": True}]),
        (IPvAnyAddress, ["127.0.0.1", "::1"], [5, True]),
        (IPvAnyAddress | int, ["::1", 5], [True]),
    ],
)
def test_one_is_not_true_wherever_a_choice_stands(hint: Any, good: list[Any], bad: list[Any]) -> None:
    schema = made(hint)
    assert [fits(schema, value) for value in good] == [True] * len(good)
    assert [fits(schema, value) for value in bad] == [False] * len(bad)


@pytest.mark.parametrize("hint", [int, bool, Literal["a"], str | None, list[dict[str, float]], IPvAnyAddress | None])
def test_nothing_is_judged_twice_that_python_tells_apart(hint: Any) -> None:
    again = exact(args(hint).core_schema)
    assert (again is not None) == (hint == (IPvAnyAddress | None))


def test_a_choice_that_was_converted_on_demand_stays_so() -> None:
    schema = PydanticInput(TypeAdapter(Keyed), "f", lax=True)
    assert schema.validate(b'{"v":true}') == {"v": 1}
