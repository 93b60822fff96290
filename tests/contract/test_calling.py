"""How a function is called: decided by its signature, once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from ringfence.contract.calling import is_async, is_same, spread, whole
from ringfence.contract.context import ToolContext
from ringfence.contract.hints import Arguments, read_function
from tests.contract.helpers import config_error, context

if TYPE_CHECKING:
    from decimal import Decimal

    from ringfence.contract import context as context_module

CTX = context()


class Model(BaseModel):
    a: int


def spread_call(function: Callable[..., Any], value: Any) -> Any:
    return spread(function, read_function(function, label="tool 'f'", texts={})).call(value, CTX)


def whole_call(function: Callable[..., Any]) -> Any:
    return whole(function, "tool 'f': execute").call("value", CTX)


def test_a_decorated_function_gets_its_parameters_by_name() -> None:
    def plain(a: int, *, b: int = 2) -> object:
        return (a, b)

    def with_context(ctx: ToolContext, a: int) -> object:
        return (a, ctx)

    def model(model: Model) -> object:
        return model

    def model_and_context(ctx: ToolContext, *, model: Model) -> object:
        return (model, ctx)

    assert spread_call(plain, Arguments({"a": 1, "b": 3})) == (1, 3)
    assert spread_call(with_context, Arguments({"a": 1})) == (1, CTX)
    assert spread_call(model, Model(a=1)) == Model(a=1)
    assert spread_call(model_and_context, Model(a=1)) == (Model(a=1), CTX)


def test_it_is_known_who_takes_a_context() -> None:
    def alone(value: int) -> None: ...
    def second(value: int, ctx: ToolContext) -> None: ...
    def named(value: int, *, ctx: ToolContext) -> None: ...

    functions: list[Callable[..., Any]] = [alone, second, named, str]
    assert [whole(one, "x").takes_context for one in functions] == [False, True, True, False]
    spreads = [spread(one, read_function(one, label="x", texts={})) for one in (alone, second, named)]
    assert [one.takes_context for one in spreads] == [False, True, True]


def test_a_function_may_change_its_parameters_without_changing_the_arguments() -> None:
    arguments = Arguments({"a": 1})

    def function(a: int, ctx: ToolContext) -> None:
        a += 1

    spread_call(function, arguments)
    assert arguments == Arguments({"a": 1})


class Desk:
    def __call__(self, value: str, ctx: ToolContext) -> object:
        return (value, ctx)

    def one(self, value: str) -> object:
        return value


def required_second(value: str, anything: Any) -> object:
    return (value, anything)


def typed_second(value: str, ctx: ToolContext | None = None) -> object:
    return (value, ctx)


def unresolvable_first(value: Decimal, ctx: ToolContext | None = None) -> object:
    return (value, ctx)


def unresolvable_second(value: str, ctx: context_module.ToolContext | None = None) -> object:
    return (value, ctx)


def by_name(value: str, *, ctx: ToolContext) -> object:
    return (value, ctx)


@pytest.mark.parametrize(
    "function",
    [
        required_second,
        typed_second,
        unresolvable_first,
        unresolvable_second,
        by_name,
        Desk(),
        functools.partial(typed_second),
    ],
)
def test_a_second_parameter_that_takes_the_context_gets_it(function: Any) -> None:
    assert whole_call(function) == ("value", CTX)


def optional_second(value: str, verbose: bool = False) -> object:
    return value if verbose is False else (value, verbose)


def any_number(*values: str) -> object:
    return values[0]


@pytest.mark.parametrize("function", [Desk().one, optional_second, any_number, str, functools.partial(str)])
def test_other_functions_get_the_arguments_only(function: Any) -> None:
    assert whole_call(function) == "value"


def no_parameter() -> None: ...
def named_only(*, a: int) -> None: ...
def three(a: int, b: int, c: int) -> None: ...
def named_too(a: int, *, extra: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_parameter, "takes no positional parameter"),
        (named_only, "takes no positional parameter"),
        (three, "requires a parameter 'c' that nobody supplies"),
        (named_too, "requires a parameter 'extra' that nobody supplies"),
    ],
)
def test_a_function_that_nobody_could_call_is_refused(function: Any, message: str) -> None:
    error = config_error(whole, function, "tool 'f': execute")
    assert error.message == f"tool 'f': execute {message}"
    assert error.hint


async def coroutine(value: str) -> str:
    return value


class AsyncDesk:
    async def __call__(self, value: str) -> str:
        return value


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (coroutine, True),
        (AsyncDesk(), True),
        (functools.partial(coroutine), True),
        (Desk(), False),
        (Desk().one, False),
        (len, False),
        (no_parameter, False),
    ],
)
def test_only_coroutine_functions_are_async(function: Any, expected: bool) -> None:
    assert is_async(function) is expected


def test_a_method_is_the_same_however_often_it_is_read() -> None:
    one: list[Any] = []
    other: list[Any] = []
    model = Model(a=1)
    assert is_same(one.append, one.append)
    assert is_same(model.model_dump, model.model_dump)
    assert is_same(spread_call, spread_call)
    assert not is_same(one.append, other.append)
    assert not is_same(one.append, one.extend)
    assert not is_same(model.model_dump, Model(a=1).model_dump)
