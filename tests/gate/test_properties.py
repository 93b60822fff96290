"""Whatever a caller sends, the gate answers, and the tool sees only what its declaration allows."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from ringfence.contract.tool import Tool
from ringfence.contract.toolset import Toolset
from ringfence.errors import CODES
from ringfence.gate.runner import Gate
from ringfence.ports import Outcome
from ringfence.sandbox.local_unsafe import local
from tests.gate.kit import ORIGIN, Trace


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: float
    y: float


class Order(BaseModel):
    number: int
    name: str
    express: bool = False
    colour: Colour = Colour.RED
    places: list[Point] = []


pytestmark = pytest.mark.slow

SEEN: list[Order] = []


async def place(order: Order) -> int:
    SEEN.append(order)
    return order.number


ORDERS = Toolset([Tool("place", "Place an order.", Order, place)])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
field_names = st.sampled_from(["number", "name", "express", "colour", "places", "x", "y", "extra"])
almost_orders = st.dictionaries(
    field_names,
    st.one_of(
        st.integers(-5, 5),
        st.sampled_from(["red", "blue", "true", "5", ""]),
        st.booleans(),
        st.lists(st.fixed_dictionaries({"x": st.floats(-1, 1), "y": st.integers(-1, 1)}), max_size=2),
        json_values,
    ),
    max_size=6,
)


class Hostile(dict[str, Any]):
    """Looks like arguments, and breaks under every question."""

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError("asked")

    __iter__ = __len__ = __getitem__ = __eq__ = __bool__ = __contains__ = keys = items = values = _refuse
    __hash__ = None  # type: ignore[assignment]


class HostileText(str):
    def __str__(self) -> str:
        raise RuntimeError("asked")

    __repr__ = __str__


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


odd_objects = st.one_of(
    st.binary(max_size=20),
    st.binary(max_size=20).map(bytearray),
    st.binary(max_size=20).map(memoryview),
    st.sets(st.integers(), max_size=3),
    st.tuples(st.integers()),
    st.complex_numbers(),
    st.dictionaries(st.integers() | st.none(), st.integers(), min_size=1, max_size=2),
    st.builds(object),
    st.builds(Hostile, number=st.just(1)),
    st.builds(HostileText),
    st.builds(cyclic),
    st.integers(65, 5_000).map(deep),
    st.just(Order),
    st.builds(Order, number=st.just(1), name=st.just("x")),
    st.just("\ud800"),
    st.just({"number": 1, "name": "\ud800"}),
    st.just({"number": 10**5_000, "name": "x"}),
)


def called(args: object, *, name: object = "place") -> tuple[Outcome, list[Order], Trace]:
    """Outcome, what the tool saw, and what was said."""
    SEEN.clear()

    async def body() -> tuple[Outcome, Trace]:
        of = Gate(ORDERS, sandbox=local(unsafe=True))
        trace = Trace(of)
        return await of.call(name, args, origin=ORIGIN), trace

    outcome, trace = asyncio.run(body())
    return outcome, list(SEEN), trace


def assert_sound(args: object) -> None:
    outcome, seen, trace = called(args)
    allowed = {
        ("succeeded", None, 1, ("tool.called", "tool.completed")),
        ("refused", "invalid_input", 0, ("tool.rejected",)),
    }
    code = outcome.error.code if outcome.error is not None else None
    assert (outcome.status, code, len(seen), tuple(trace.types)) in allowed
    for order in seen:
        assert type(order) is Order
        assert [type(value) for value in (order.number, order.name, order.express)] == [int, str, bool]
        assert isinstance(order.colour, Colour)
        assert all(type(place) is Point and type(place.x) is float for place in order.places)
        assert order == Order.model_validate_json(order.model_dump_json(), strict=True)


@given(json_values)
@example({"number": True, "name": "x"})
@example({"number": 1.0, "name": "x"})
@example({"number": "1", "name": "x"})
@example({"number": 1, "name": "x", "express": "false"})
@example({"number": 1, "name": "x", "express": 1})
@example({})
def test_any_json_is_answered_and_never_reaches_the_tool_unvalidated(args: Any) -> None:
    assert_sound(args)


@given(almost_orders)
@example({"number": 1, "name": "x", "colour": "red", "places": [{"x": 0.5, "y": 1}]})
def test_what_is_almost_right_is_either_right_or_refused(args: dict[str, Any]) -> None:
    assert_sound(args)


@given(odd_objects)
def test_any_python_object_is_answered_too(args: Any) -> None:
    assert_sound(args)


@given(st.binary(max_size=40) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_in_place_of_canonical_text_are_answered(data: bytes) -> None:
    assert_sound(data)


@given(st.text() | odd_objects | st.none() | st.integers())
@settings(max_examples=50)
def test_any_name_is_answered(name: object) -> None:
    outcome, seen, _ = called({"number": 1, "name": "x"}, name=name)
    assert (outcome.status, seen) == ("refused", [])
    assert outcome.error is not None
    assert outcome.error.code == "unknown_tool"
    assert len(outcome.tool) <= 80


@pytest.mark.parametrize("count", [0, 1, 2, 3])
@given(
    st.lists(
        st.sampled_from(["ok", "ValueError", "ConnectionError", "TimeoutError", "CancelledError", "bad"]), max_size=4
    ),
    st.sampled_from([None, "read", "write"]),
    st.sampled_from([None, True, False]),
    st.booleans(),
)
@settings(max_examples=40)
def test_attempts_events_and_outcome_always_agree(
    count: int, script: list[str], effect: Any, idempotent: bool | None, recovers: bool
) -> None:
    errors: dict[str, BaseException] = {
        "ValueError": ValueError(),
        "ConnectionError": ConnectionError(),
        "TimeoutError": TimeoutError(),
        "CancelledError": asyncio.CancelledError(),
    }
    acts = iter(script)
    ran: list[str] = []

    async def execute(order: Order) -> Any:
        act = next(acts, "ok")
        ran.append(act)
        if act in errors:
            raise errors[act]
        return object() if act == "bad" else 7

    made = Tool(
        "place",
        "Place.",
        Order,
        execute,
        output=int,
        retries=count,
        effect=effect,
        idempotent=idempotent,
        on_error=(lambda _: 0) if recovers else None,  # type: ignore[misc]
    )

    async def body() -> tuple[Outcome, Trace]:
        of = Gate(Toolset([made]), sandbox=local(unsafe=True))
        trace = Trace(of)
        return await of.call("place", {"number": 1, "name": "x"}, origin=ORIGIN), trace

    outcome, trace = asyncio.run(body())
    assert 1 <= len(ran) == outcome.attempts <= count + 1
    assert trace.types.count("tool.called") == len(ran)
    failed = "tool.recovered" if recovers else "tool.failed"
    assert trace.types[-1] == ("tool.completed" if ran[-1] == "ok" else failed)
    assert trace.events[-1].meta["status"] == outcome.status
    assert (outcome.error is None) == (outcome.status == "succeeded")
    assert outcome.error is None or outcome.error.code in CODES
    if (effect == "write" or (effect is None and idempotent is False)) and idempotent is not True:
        assert not set(errors) & set(ran[:-1])
    assert "bad" not in ran[:-1]
