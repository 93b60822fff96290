"""What `globals` may hold (seed, "Custom Globals"; 1.F): refused with name and path while the enclave is built, or copied."""

from __future__ import annotations

import asyncio
import functools
import io
import json
import math
import re
import sys
import threading
import types
import weakref
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

import ringfence as rf
from ringfence.enclave.globals import Globals, parse


def run(value: object = None) -> object:
    return value


async def wait(value: object = None) -> object:
    return value


class Utils:
    """An object with methods."""

    rate = 5

    def __init__(self) -> None:
        self.name = "utils"
        self._hidden = sys

    def double(self, value: int) -> int:
        return 2 * value

    async def slow(self, value: int) -> int:
        return value

    @staticmethod
    def fixed() -> int:
        return 1

    @classmethod
    def made(cls) -> str:
        return cls.__name__

    def _private(self) -> None:
        raise AssertionError


class Slotted:
    __slots__ = ("empty", "x")

    def __init__(self) -> None:
        self.x = 1

    def get(self) -> int:
        return self.x


class Doing:
    def __call__(self) -> int:
        return 1


class Computed:
    @property
    def danger(self) -> int:
        raise AssertionError("it was read")


class Magic:
    def __getattr__(self, name: str) -> int:
        raise AssertionError("it was asked")


class Overriding:
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("it was asked")


class Once:
    def __iter__(self) -> Once:
        return self

    def __next__(self) -> int:
        raise AssertionError("it was gone through")


class Empty:
    pass


class Later:
    def __await__(self) -> Iterator[None]:
        raise AssertionError("it was awaited")


class Color(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    at: date
    inner: list[Point] = field(default_factory=list["Point"])


@dataclass
class Acting:
    x: int = 1

    def act(self) -> int:
        return self.x


class Model(BaseModel):
    price: Decimal


class Pair(NamedTuple):
    a: int
    b: int


def nodes(given: dict[str, Any], *, functions: bool = True) -> dict[str, Any]:
    return json.loads(parse(given, allow_functions=functions).nodes)


def data(value: Any, tags: Any = None) -> dict[str, Any]:
    return {"k": "data", "v": value, "tags": tags}


EVERYTHING: list[tuple[Any, Any]] = [
        (None, data(None)),
        (5, data(5)),
        (2**70, data(2**70)),
        (1.5, data(1.5)),
        ("é", data("é")),
        ([1, (2, 3), {4}, deque([5])], data([1, [2, 3], [4], [5]])),
        ({"a": {"b": None}, "": 1, "a b": 2}, data({"a": {"b": None}, "": 1, "a b": 2})),
        (OrderedDict(a=1), data({"a": 1})),
        (types.MappingProxyType({"a": [1]}), data({"a": [1]})),
        (datetime(2026, 1, 2, tzinfo=UTC), data("2026-01-02T00:00:00Z", {"datetime": [[]]})),
        ({"p": [Decimal("1.10")]}, data({"p": ["1.10"]}, {"decimal": [["p", 0]]})),
        (b"hi", data("aGk=", {"bytes": [[]]})),
        (Color.RED, data("red")),
        (Pair(1, 2), data([1, 2])),
        (Model(price=Decimal(2)), data({"price": "2"}, {"decimal": [["price"]]})),
        ([Point(1, date(2026, 1, 2), [Point(2, date(2026, 1, 3))])], data([{"x": 1, "at": "2026-01-02", "inner": [{"x": 2, "at": "2026-01-03", "inner": []}]}], {"date": [[0, "at"], [0, "inner", 0, "at"]]})),
        (types.SimpleNamespace(a=1, _b=2), {"k": "object", "m": {"a": data(1)}}),
        (Slotted(), {"k": "object", "m": {"x": data(1), "get": {"k": "function", "id": 0, "async": False, "name": "it.get"}}}),
        (Acting(), {"k": "object", "m": {"x": data(1), "act": {"k": "function", "id": 0, "async": False, "name": "it.act"}}}),
        (run, {"k": "function", "id": 0, "async": False, "name": "it"}),
        (wait, {"k": "function", "id": 0, "async": True, "name": "it"}),
        (Doing(), {"k": "function", "id": 0, "async": False, "name": "it"}),
        (functools.partial(wait, 1), {"k": "function", "id": 0, "async": True, "name": "it"}),
        (len, {"k": "function", "id": 0, "async": False, "name": "it"}),
        ("x".upper, {"k": "function", "id": 0, "async": False, "name": "it"}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "node"), EVERYTHING)
def test_a_value_becomes_a_node(value: object, node: dict[str, Any]) -> None:
    """F1, F6, T91."""
    assert nodes({"it": value}) == {"it": node}


def test_functions_are_values_of_plain_mappings_and_methods_of_objects() -> None:
    """T91, decision 22."""
    found = parse({"api": {"run": run, "deep": {"wait": wait}, "n": 1}, "utils": Utils()}, allow_functions=True)
    tree = json.loads(found.nodes)
    assert [(one.name, one.is_async) for one in found.functions] == [
        ("api.run", False),
        ("api.deep.wait", True),
        ("utils.double", False),
        ("utils.slow", True),
        ("utils.fixed", False),
        ("utils.made", False),
    ]
    assert (tree["api"]["k"], tree["api"]["m"]["deep"]["k"], tree["api"]["m"]["n"]) == ("mapping", "mapping", data(1))
    assert (tree["utils"]["k"], sorted(tree["utils"]["m"])) == (
        "object",
        ["double", "fixed", "made", "name", "rate", "slow"],
    )
    assert [found.functions[2].call(4), found.functions[4].call(), found.functions[5].call()] == [8, 1, "Utils"]
    assert found.names == {"api", "utils"}


def test_no_globals_are_none() -> None:
    assert parse(None, allow_functions=False) == parse({}, allow_functions=True) == Globals()


def test_what_was_given_may_change_afterwards() -> None:
    """A copy: F7 falls."""
    given: dict[str, Any] = {"rows": [1]}
    found = parse({"it": given}, allow_functions=False)
    given["rows"].append(2)
    assert json.loads(found.nodes) == {"it": data({"rows": [1]})}


def refusal(given: dict[Any, Any], *, functions: bool = True) -> str:
    with pytest.raises(rf.ConfigError) as refused:
        parse(given, allow_functions=functions)
    assert isinstance(refused.value, TypeError)
    return refused.value.message


@pytest.mark.parametrize("value", [run, wait, len, Doing(), {"run": run}, Utils(), {"a": {"b": Utils()}}])
def test_functions_need_the_option(value: object) -> None:
    """T89, F3."""
    with pytest.raises(rf.ConfigError, match=r"'it' at \S+ is a function") as refused:
        parse({"it": value}, allow_functions=False)
    assert "allow_functions_in_globals=True" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (run, "root"),
        ({"run": run}, "run"),
        ({"a": {"b": run}}, "a.b"),
    ],
)
def test_the_refusal_of_a_function_names_its_place(value: object, path: str) -> None:
    assert refusal({"it": value}, functions=False) == f"globals: 'it' at {path} is a function"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"hooks": [{"run": run}]}, "hooks.0.run is a function inside a list"),
        ([run], "0 is a function inside a list"),
        ((1, run), "1 is a function inside a list"),
        (deque([wait]), "0 is a function inside a list"),
        ({run}, "values()[0] is a function inside a set"),
        (frozenset({len}), "values()[0] is a function inside a set"),
        ({"send": run, 1: 2}, 'get("send") is a function inside a dict with keys that are no text'),
        ({1: run}, "get(1) is a function inside a dict"),
        ({run: 1}, "keys()[0] is a function inside a dict"),
        ({"a": [[[{"b": [wait]}]]]}, "a.0.0.0.b.0 is a function inside a list"),
        ([Utils()], "0 is an object with methods inside a list"),
        ([Acting()], "0 is an object with methods inside a list"),
        ({"a": (Utils(),)}, "a.0 is an object with methods inside a list"),
        ({1: Utils()}, "get(1) is an object with methods inside a dict"),
        ([types.SimpleNamespace(a=1)], "0 is a SimpleNamespace inside a list"),
        ([types.SimpleNamespace(a=run)], "0 is an object with methods inside a list"),
    ],
)
def test_a_collection_holds_plain_data_only(value: object, text: str) -> None:
    """T91, F4."""
    assert refusal({"it": value}).startswith(f"globals: 'it' at {text}")


def test_what_is_reached_both_ways_is_judged_both_ways() -> None:
    """F4."""
    shared = {"run": run}
    assert nodes({"it": {"direct": shared, "again": shared}})["it"]["k"] == "mapping"
    assert "again.0.run" in refusal({"it": {"direct": shared, "again": [shared]}})


def open_file() -> Any:
    return io.StringIO("text")


def generator() -> Iterator[int]:
    yield 1


async def stream() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: generator(), "a generator, which can be gone through once"),
        (lambda: iter([1]), "a list_iterator, which can be gone through once"),
        (lambda: (n for n in [1]), "a generator"),
        (lambda: map(run, [1]), "a map, which"),
        (lambda: zip([1]), "a zip, which"),
        (lambda: Once(), "a Once, which can be gone through once"),
        (lambda: stream(), "a async_generator"),
        (lambda: Later(), "a Later, which can be awaited"),
        (lambda: weakref.WeakValueDictionary[str, Utils](), "a WeakValueDictionary"),
        (lambda: weakref.WeakKeyDictionary[Utils, str](), "a WeakKeyDictionary"),
        (lambda: weakref.WeakSet[Utils](), "a WeakSet"),
        (open_file, "an open file (StringIO)"),
        (lambda: Utils, "the class Utils"),
        (lambda: int, "the class int"),
        (lambda: math, "the module math"),
        (lambda: Magic(), "a Magic, which makes its attributes"),
        (lambda: Overriding(), "a Overriding, which makes its attributes"),
        (lambda: object(), "a object, which is no plain data"),
        (lambda: sys.stdout, "an open file"),
        (lambda: Empty(), "a Empty without public attributes"),
    ],
)
@pytest.mark.parametrize("around", [None, "dict", "list"])
def test_what_acts_when_it_is_looked_at_is_refused_anywhere(make: Any, text: str, around: str | None) -> None:
    """T91, F5."""
    value = make()
    given = {"dict": {"a": value}, "list": [value]}.get(around or "", value)
    path = {"dict": "a", "list": "0"}.get(around or "", "root")
    assert refusal({"it": given}).startswith(f"globals: 'it' at {path} is {text}")


def test_a_coroutine_and_a_future_are_refused() -> None:
    coroutine = wait()
    assert "a coroutine, which can be awaited" in refusal({"it": coroutine})
    coroutine.close()

    async def body() -> str:
        return refusal({"it": [asyncio.get_running_loop().create_future()]})

    assert "which can be awaited" in asyncio.run(body())


def test_a_weak_proxy_is_refused() -> None:
    utils = Utils()
    assert "0 is" in refusal({"it": [weakref.proxy(utils)]})
    assert "root is" in refusal({"it": weakref.ref(utils)})


def _loud(*_: object) -> Any:
    raise AssertionError


loud: Any = _loud


class LoudMeta(type):
    __getattribute__ = loud


class LoudClass(metaclass=LoudMeta):
    def __init__(self) -> None:
        object.__setattr__(self, "a", 1)


class LoudMember:
    __class__ = property(loud)  # type: ignore[assignment]
    n = 1


class LoudAttributes:
    __dict__ = property(loud)  # type: ignore[assignment]
    n = 1


class LoudDict(dict[str, Any]):
    __iter__ = items = keys = values = __len__ = loud


class LoudList(list[Any]):
    __iter__ = __len__ = __getitem__ = loud


LOUD: list[tuple[Any, Any]] = [
    ({"it": LoudClass()}, {"it": {"a": 1}}),
    ({"it": {"in": LoudMember()}}, {"it": {"in": {"n": 1}}}),
    ({"it": LoudDict(a=1)}, {"it": {"a": 1}}),
    ({"it": LoudList([1])}, {"it": [1]}),
]


@pytest.mark.parametrize(("given", "data"), LOUD)
def test_no_code_of_a_value_runs_while_it_is_judged(given: Any, data: Any) -> None:
    assert plain(given) == data


def plain(given: Any) -> Any:
    """What the nodes hold, without their kinds."""

    def value(node: Any) -> Any:
        return node["v"] if node["k"] == "data" else {name: value(one) for name, one in node["m"].items()}

    return {name: value(one) for name, one in json.loads(parse(given, allow_functions=False).nodes).items()}


def test_an_object_that_makes_all_its_attributes_is_refused_and_not_asked() -> None:
    assert "which makes its attributes when they are asked for" in refusal({"it": LoudAttributes()})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (PurePosixPath("x"), "PurePosixPath"),
        (threading.Lock(), "lock"),
        (re.compile("x"), "Pattern"),
        (Fraction(1, 2), "Fraction"),
        (array("i"), "array"),
        (ip_address("127.0.0.1"), "IPv4Address"),
        (threading.Thread(), "Thread"),
    ],
)
def test_what_the_standard_library_computes_is_refused_by_its_kind(value: Any, kind: str) -> None:
    said = f"globals: 'it' at {{}} is a {kind}, which is no plain data"
    assert refusal({"it": value}) == said.format("root")
    assert refusal({"it": {"a": [value]}}) == said.format("a.0")


def test_an_attribute_that_is_computed_is_refused_and_not_read() -> None:
    """T93, A5."""
    assert refusal({"it": Computed()}) == "globals: 'it' at danger is computed when it is read"


@pytest.mark.parametrize("key", ["__class__", "__proto__", "__x__", "constructor", "prototype"])
def test_a_reserved_key_is_refused(key: str) -> None:
    """T93, F2."""
    assert refusal({"it": {"a": {key: 1}}}) == f"globals: 'it' at a.{key} is a reserved key"


def test_keys_that_are_no_text_are_refused() -> None:
    assert refusal({"it": {"a": {1: 2}}}) == "globals: 'it' at a.keys()[0] is a key of type int"
    assert refusal({"it": {"x": 1, (1, 2): 3}}) == "globals: 'it' at keys()[1] is a key of type tuple"


def test_values_up_to_ten_steps_deep_pass() -> None:
    """T93, F2."""
    value: Any = 1
    for _ in range(10):
        value = {"a": value}
    assert nodes({"it": value}) == {"it": data(value)}
    assert refusal({"it": {"a": [value]}}).endswith("is deeper than 10 steps")


def test_a_value_that_contains_itself_is_refused() -> None:
    """T93 falls here: a copy of it has no JSON form."""
    cycle: dict[str, Any] = {"list": []}
    cycle["list"].append(cycle)
    assert refusal({"it": cycle}) == "globals: 'it' at list.0 contains itself, which a copy cannot"
    utils = Utils()
    utils.name = utils  # type: ignore[assignment]
    assert refusal({"it": utils}) == "globals: 'it' at name contains itself, which a copy cannot"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "not a finite number"),
        ({"a": [float("inf")]}, "a.0"),
        ("\ud800", "Unicode"),
        ({"x": Decimal("NaN")}, "x"),
        (1j, "complex"),
        (Path("x"), "Path, which is no plain data"),
        ("x" * 6_000_000, "bytes of JSON"),
    ],
)
def test_what_has_no_json_form_is_refused(value: object, text: str) -> None:
    assert text in refusal({"it": value})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a b", "is no name"),
        ("1a", "is no name"),
        ("", "is no name"),
        ("class", "is no name"),
        ("ｅｖａｌ", "is no name"),
        ("__builtins__", "is a reserved name"),
        ("__x", "is a reserved name"),
        ("constructor", "is a reserved name"),
        ("call_tool", "is a name that every script has"),
        ("inputs", "is a name that every script has"),
        ("tools", "is a name that every script has"),
        ("ToolError", "is a name that every script has"),
        (5, "is not text"),
        (b"a", "is not text"),
        (None, "is not text"),
    ],
)
def test_a_name_that_scripts_cannot_use_is_refused(name: Any, text: str) -> None:
    with pytest.raises(rf.ConfigError, match=text) as refused:
        parse({name: 1}, allow_functions=True)
    assert refused.value.code == "bad_name"


def test_a_namespace_and_a_global_cannot_share_a_name() -> None:
    """D4f."""
    with pytest.raises(rf.ConfigError, match=r"^Invalid toolNamespaces: .*'mail'"):
        rf.Enclave(globals={"mail": 1}, tool_namespaces={"mail": ["list"]})
