"""Data and functions that the host puts beside a script (enclave catalogue 1.F and 4.9; second seed, "Custom Globals")."""

from __future__ import annotations

import asyncio
import io
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from textwrap import dedent
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage
from tests.requirements import requirement

ALLOW = "allow_functions_in_globals"


def refused(name: str, value: Any, *, allow: bool = True) -> rf.ConfigError:
    options: dict[str, Any] = {"globals": {name: value}, ALLOW: allow}
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(**options)
    assert isinstance(caught.value, TypeError)
    assert repr(name) in caught.value.message
    return caught.value


class Held:
    """An object with methods and with plain attributes."""

    limit = 3

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def twice(self, n: int) -> int:
        return 2 * n

    def keep(self, value: Any) -> int:
        self.seen.append(value)
        return len(self.seen)


class Computed:
    @property
    def secret(self) -> str:
        raise AssertionError("nobody may look")


@dataclass
class Point:
    x: int
    y: int


class Record:
    def __init__(self) -> None:
        self.x = 1


async def coroutine() -> int:
    return 1


async def agenerator() -> AsyncIterator[int]:
    yield 1


def generator() -> Iterator[int]:
    yield 1


# what is refused while the enclave is built


@requirement("T89", "seed2.allowed")
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (len, "root"),
        ({"a": {"b": len}}, "a.b"),
        (Held(), "twice"),
        ({"tools": Held()}, "tools.twice"),
        (print, "root"),
    ],
)
def test_a_function_needs_to_be_allowed_and_the_refusal_says_where_it_is(value: Any, path: str) -> None:
    error = refused("hook", value, allow=False)
    assert f"at {path} " in error.message
    assert ALLOW in str(error.hint)


@requirement("T89", "T77")
def test_only_the_permissive_level_allows_functions_by_itself() -> None:
    for level in ("STRICT", "SECURE", "STANDARD"):
        with pytest.raises(rf.ConfigError):
            rf.Enclave(security_level=level, globals={"hook": len})
    assert rf.Enclave(security_level="PERMISSIVE", globals={"hook": len}).effective_config().allow_functions_in_globals


@requirement("T91", "seed2.collections")
@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([len], "0"), ((1, len), "1"), (deque([len]), "0"), ({"run": [{"deep": (len,)}]}, "run.0.deep.0"), ({len}, "values()[0]"),
        (frozenset({len}), "values()[0]"), ({1: len}, "get(1)"), ({"send": len, 2: 0}, 'get("send")'), ({len: 1}, "keys()[0]"),
        ([Held()], "0"), ({1: Held()}, "get(1)"), ([[{"x": Held()}]], "0.0.x"),
    ],
)  # fmt: skip
def test_no_function_and_no_object_with_methods_is_inside_a_collection(value: Any, path: str) -> None:
    assert f"at {path} " in refused("hooks", value).message


@requirement("T91", "seed2.collections", "dec.22")
def test_functions_are_accepted_as_properties_and_methods() -> None:
    given = {"a": {"b": {"c": len}}, "held": Held(), "f": len}
    assert rf.Enclave(globals=given, allow_functions_in_globals=True).effective_config().allow_functions_in_globals


@requirement("T93")
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Computed(), "secret"), ({"a": Computed()}, "a.secret"), ({"__class__": 1}, "__class__"), ({"a": {"constructor": 1}}, "a.constructor"),
        ({"prototype": 1}, "prototype"), ({"__proto__": {}}, "__proto__"),
    ],
)  # fmt: skip
def test_properties_and_reserved_keys_are_refused(value: Any, path: str) -> None:
    assert f"at {path} " in refused("context", value).message


@requirement("T93")
def test_ten_steps_are_deep_enough() -> None:
    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = {"n": value}
        return value

    rf.Enclave(globals={"context": nested(10)})
    assert "deep" in refused("context", nested(12)).message


@requirement("T93")
def test_what_contains_itself_is_refused_and_what_is_shared_is_not() -> None:
    knot: dict[str, Any] = {}
    knot["again"] = {"inner": knot}
    assert "itself" in refused("context", knot).message
    shared = {"x": 1}
    rf.Enclave(globals={"context": {"a": shared, "b": [shared, shared]}})


class Awaitable:
    def __await__(self) -> Iterator[None]:
        yield


def active() -> dict[str, Callable[[], Any]]:
    return {
        "future": lambda: asyncio.new_event_loop().create_future(),
        "awaitable": Awaitable,
        "generator": generator,
        "async generator": agenerator,
        "iterator": lambda: iter([1]),
        "map": lambda: map(str, [1]),
        "weak keys": weakref.WeakKeyDictionary,
        "weak values": weakref.WeakValueDictionary,
        "weak set": weakref.WeakSet,
        "weak reference": lambda: weakref.ref(test_functions_are_accepted_as_properties_and_methods),
        "file": io.StringIO,
        "class": lambda: Point,
        "exception class": lambda: ValueError,
        "module": lambda: asyncio,
    }


@requirement("seed2.active", "T91")
@pytest.mark.parametrize("kind", [name for name in active() if name != "future"])
@pytest.mark.parametrize("place", ["root", "property", "list"])
def test_what_runs_or_vanishes_when_it_is_looked_at_is_refused_anywhere(kind: str, place: str) -> None:
    value = active()[kind]()
    inside = {"root": value, "property": {"a": value}, "list": {"a": [value]}}[place]
    assert "is " in refused("context", inside).message


@requirement("seed2.active")
def test_a_coroutine_is_refused_and_nothing_of_it_runs() -> None:
    waiting = coroutine()
    assert "awaited" in refused("context", waiting).message
    waiting.close()


@requirement("T95")
@pytest.mark.parametrize("value", [-1, 1.5, "5", True, float("inf")])
def test_a_budget_of_functions_that_is_no_whole_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="max_global_function_calls"):
        rf.Enclave(max_global_function_calls=value)


# data


CONTEXT: dict[str, Any] = {
    "userId": "user-123",
    "limits": {"rows": 5, "names": ["a", "b"]},
    "since": datetime(2024, 5, 1, tzinfo=UTC),
    "price": Decimal("1.10"),
    "day": date(2024, 5, 1),
    "point": Point(1, 2),
}
DATA: dict[str, Any] = {"globals": {"context": CONTEXT, "rows": [[1, 2], [3]], "rate": 0.5}, "validate": False}


@requirement("seed2.context", "dec.21")
@pytest.mark.slow
def test_scripts_read_data_by_item_and_by_attribute(stage: Stage) -> None:
    script = dedent("""
        return [
            context.userId, context['userId'], context.limits.rows, context['limits']['names'][1], len(rows), rows[0][1], rate,
            [name for name in context.limits.names], 'userId' in context, context.get('nothing', 7), sorted(context.limits),
            context.since.year, context.price + 1, context.day, context.point.x, sum(rows[0]), list(rows[1]),
        ]
    """)
    assert stage.script(script, **DATA).value == [
        "user-123", "user-123", 5, "b", 2, 2, 0.5, ["a", "b"], True, 7, ["names", "rows"],
        2024, Decimal("2.10"), date(2024, 5, 1), 1, 3, [3],
    ]  # fmt: skip


@requirement("seed2.context", "dec.14")
@pytest.mark.slow
def test_data_is_data_wherever_it_goes(stage: Stage) -> None:
    async def echo(args: Any) -> Any:
        return args

    stage.tools["echo"] = echo
    script = "import json\nreturn [context.limits, await call_tool('echo', {'x': context.limits}), json.loads(json.dumps(dict(rows=list(rows[0]))))]"
    limits = {"rows": 5, "names": ["a", "b"]}
    assert stage.script(script, **DATA).value == [limits, {"x": limits}, {"rows": [1, 2]}]


CHANGES = [
    "context['userId'] = 1", "context.userId = 1", "del context['userId']", "del context.userId", "context.limits.rows = 1",
    "context.update(userId=1)", "context.clear()", "context.pop('userId')", "context.setdefault('new', 1)", "rows.append(1)",
    "rows[0] = 1", "rows[0].append(1)", "rows.clear()", "rows += [1]", "rows.sort()", "del rows[0]", "context.limits.names.append(1)",
    "context |= {'userId': 1}", "object.__setattr__(context, 'userId', 1)",
    "setattr(context, 'userId', 1)",
]  # fmt: skip


@requirement("seed2.context", "dec.21")
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_of_the_data_can_be_changed(stage: Stage, change: str) -> None:
    script = f"try:\n    {change}\nexcept (TypeError, AttributeError):\n    pass\nreturn [context.userId, context.limits, len(rows), rows[0]]"
    result = stage.script(script, **DATA)
    assert result.value == ["user-123", {"rows": 5, "names": ["a", "b"]}, 2, [1, 2]], result.error
    assert CONTEXT["userId"] == "user-123"


@requirement("T51", "seed2.context", "T10")
@pytest.mark.slow
def test_scripts_see_what_the_data_was_when_the_enclave_was_built(stage: Stage) -> None:
    context = {"n": [1]}

    async def body() -> Any:
        async with rf.Enclave(globals={"context": context}) as enclave:
            context["n"].append(2)
            context["more"] = []
            return (await enclave.run("return context")).value

    assert stage.run(body()) == {"n": [1]}
