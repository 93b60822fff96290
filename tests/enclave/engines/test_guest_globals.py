"""The host's globals as a script finds them: data that reads like data and cannot be changed, objects, functions."""

from __future__ import annotations

import copy
import json
import operator
import pickle
import random
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from ringfence.enclave.engines.guest_globals import FrozenDict, FrozenList, build, frozen
from ringfence.enclave.engines.guest_values import encode
from ringfence.enclave.globals import parse
from tests.enclave.engines.guest import Guest, guest

PLAIN: dict[str, Any] = {
    "userId": "u-1",
    "rows": [{"n": 1, "tags": ["a"]}, [2, 3]],
    "nested": {"deep": {"list": [1, 2, 3]}},
    "items": 5,
    "name": "kept",
    "since": "2026-01-02",
}


@pytest.fixture
def there() -> Iterator[Guest]:
    with guest() as made:
        yield made


@pytest.fixture
def context() -> Any:
    return frozen(copy.deepcopy(PLAIN), "context")


def test_data_is_read_by_key_and_by_attribute(context: Any) -> None:
    assert (context["userId"], context.userId) == ("u-1", "u-1")
    assert context.nested.deep.list[1:] == context["nested"]["deep"]["list"][1:] == [2, 3]
    assert (context.name, context.rows[0].tags[0], context.get("no", 7)) == ("kept", "a", 7)
    assert (callable(context.items), context["items"]) == (True, 5)


def test_data_behaves_like_data(context: Any) -> None:
    assert context == PLAIN
    assert (isinstance(context, dict), isinstance(frozen([1], "a"), list)) == (True, True)


READS: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda given: json.loads(json.dumps(given)), PLAIN),
    (lambda given: encode(given).text, json.dumps(PLAIN, separators=(",", ":"))),
    (lambda given: {**given}, PLAIN),
    (lambda given: [*given.rows], PLAIN["rows"]),
    (lambda given: dict(given.items()), PLAIN),
    (list, list(PLAIN)),
    (len, len(PLAIN)),
    (repr, repr(PLAIN)),
    (lambda given: "rows" in given, True),
    (lambda given: sorted(given.nested.deep.list, reverse=True), [3, 2, 1]),
]


@pytest.mark.parametrize(("read", "value"), READS)
def test_data_is_read_like_data(context: Any, read: Callable[[Any], Any], value: Any) -> None:
    assert read(context) == value


def test_data_is_matched_like_data(context: Any) -> None:
    match context:
        case {"nested": {"deep": {"list": [1, *rest]}}}:
            assert rest == [2, 3]
        case _:  # pyright: ignore[reportUnknownVariableType]
            pytest.fail("no match")


COPIES: list[Callable[[Any], Any]] = [
    dict,
    copy.copy,
    lambda given: given.copy(),
    lambda given: given | {},
    lambda given: {**given},
]


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_an_ordinary_dictionary(context: Any, way: Callable[[Any], Any]) -> None:
    made = way(context)
    made["new"] = 1
    del made["userId"]
    assert (type(made), context) == (dict, PLAIN)


LISTS: list[Callable[[Any], Any]] = [
    list,
    copy.copy,
    lambda given: given.copy(),
    lambda given: given[:],
    lambda given: given.__add__([]),
    lambda given: given * 1,
    sorted,
]


@pytest.mark.parametrize("way", LISTS)
def test_a_copy_is_an_ordinary_list(context: Any, way: Callable[[Any], Any]) -> None:
    made = way(context.nested.deep.list)
    made.append(4)
    assert (type(made), made, context.nested.deep.list) == (list, [1, 2, 3, 4], [1, 2, 3])


@pytest.mark.parametrize("way", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])  # type: ignore[reportUnknownLambdaType]
def test_a_deep_copy_is_ordinary_all_the_way_down(context: Any, way: Callable[[Any], Any]) -> None:
    made = way(context)
    made["nested"]["deep"]["list"].append(4)
    made["rows"][0]["n"] = 2
    assert (type(made), type(made["rows"][0]["tags"])) == (dict, list)
    assert context == PLAIN


DICT_CHANGES: list[Callable[[Any], object]] = [
    lambda given: operator.setitem(given, "a", 1),
    lambda given: operator.delitem(given, "userId"),
    lambda given: given.__ior__({"a": 1}),
    lambda given: setattr(given, "userId", 1),
    lambda given: setattr(given, "new", 1),
    lambda given: delattr(given, "userId"),
    lambda given: given.update(a=1),
    lambda given: given.pop("userId"),
    lambda given: given.popitem(),
    lambda given: given.setdefault("a", 1),
    lambda given: given.clear(),
]


@pytest.mark.parametrize("change", DICT_CHANGES)
def test_dictionaries_are_read_only_at_any_depth(context: Any, change: Callable[[Any], object]) -> None:
    for part in (context, context.nested.deep, context.rows[0]):
        with pytest.raises(
            TypeError, match=r"^context is read-only; change a copy: dict\(\.\.\.\) of this part, or copy"
        ):
            change(part)
    assert context == PLAIN


LIST_CHANGES: list[Callable[[Any], object]] = [
    lambda given: operator.setitem(given, 0, 1),
    lambda given: operator.setitem(given, slice(0, 1), []),
    lambda given: operator.delitem(given, 0),
    lambda given: given.__iadd__([1]),
    lambda given: given.__imul__(2),
    lambda given: setattr(given, "a", 1),
    lambda given: given.append(1),
    lambda given: given.extend([1]),
    lambda given: given.insert(0, 1),
    lambda given: given.pop(),
    lambda given: given.remove(1),
    lambda given: given.clear(),
    lambda given: given.sort(),
    lambda given: given.reverse(),
    random.shuffle,
]


@pytest.mark.parametrize("change", LIST_CHANGES)
def test_lists_are_read_only_at_any_depth(context: Any, change: Callable[[Any], object]) -> None:
    for part in (context.rows, context.nested.deep.list, context.rows[1]):
        with pytest.raises(
            TypeError, match=r"^context is read-only; change a copy: list\(\.\.\.\) of this part, or copy"
        ):
            change(part)
    assert context == PLAIN


def test_an_unknown_key_says_what_there_is(context: Any) -> None:
    with pytest.raises(AttributeError, match=r"^context has no 'userid' here\. Did you mean 'userId'\?$"):
        _ = context.userid
    with pytest.raises(AttributeError, match=r"^context has no 'x' here; there is deep$"):
        _ = context.nested.x
    with pytest.raises(KeyError):
        _ = context["userid"]
    assert [hasattr(context, name) for name in ("__dict__", "_name", "root")] == [False] * 3
    assert {"userId", "nested"} <= set(dir(context))


VIEWED: tuple[Any, ...] = ({}, [])


def test_the_views_are_of_the_usual_kinds() -> None:
    assert [type(frozen(value, "a")) for value in VIEWED] == [FrozenDict, FrozenList]
    assert [frozen(value, "a") for value in ("text", None, 5)] == ["text", None, 5]


# nodes


class Shop:
    def __init__(self) -> None:
        self.name = "corner"
        self.prices = {"apple": 2}

    def price(self, name: str) -> int:
        return self.prices[name]


async def later(value: Any) -> Any:
    return value


def built(there: Guest, **given: Any) -> dict[str, Any]:
    nodes = parse(given, allow_functions=True).nodes
    return build(json.loads(nodes), there.bridge)


def test_dates_in_data_are_dates(there: Guest) -> None:
    found = built(there, context={"since": date(2026, 1, 2), "days": [date(2026, 1, 3)]}, day=date(2026, 1, 4))
    assert found == {"context": {"since": date(2026, 1, 2), "days": [date(2026, 1, 3)]}, "day": date(2026, 1, 4)}
    assert found["context"].since.year == 2026


def test_a_mapping_with_functions_is_read_like_data(there: Guest) -> None:
    api = built(there, api={"v1": {"fmt": later, "at": date(2026, 1, 2)}, "n": 1})["api"]
    assert (api.n, api["v1"].at, repr(api.v1.fmt)) == (1, date(2026, 1, 2), "<async function global api.v1.fmt>")
    with pytest.raises(TypeError, match=r"^api\.v1 is read-only"):
        api["v1"]["fmt"] = None
    assert copy.deepcopy(api)["v1"]["fmt"] is api.v1.fmt


def test_an_object_has_its_public_members_and_nothing_else(there: Guest) -> None:
    shop = built(there, shop=Shop())["shop"]
    assert (shop.name, shop.prices.apple, repr(shop.price)) == ("corner", 2, "<function global shop.price>")
    assert sorted(dir(shop)) == ["name", "price", "prices"]
    for name in ("__class__", "__dict__", "__init__", "_members", "members"):
        with pytest.raises(AttributeError, match=f"^shop has no attribute '{name}'"):
            getattr(shop, name)
    with pytest.raises(AttributeError, match=r"Did you mean shop\.price\?$"):
        _ = shop.pric
    for change in (lambda: setattr(shop, "name", 1), lambda: delattr(shop, "name"), lambda: setattr(shop, "new", 1)):
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()
    with pytest.raises(TypeError):
        shop.prices["apple"] = 0
    assert copy.copy(shop) is shop


def test_what_is_no_data_of_globals_does_not_leave_the_script(there: Guest) -> None:
    found = built(there, shop=Shop(), fmt=later)
    for one in (found["shop"], found["fmt"], found["shop"].price):
        with pytest.raises(Exception, match="is not data"):
            encode({"a": one})
