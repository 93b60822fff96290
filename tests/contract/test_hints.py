"""From signatures to declared arguments: what is understood, and what is refused with the parameter's name."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NotRequired, Required, Union

import pytest
from pydantic import BaseModel, Field, RootModel

from ringfence.contract.context import ToolContext
from ringfence.contract.hints import (
    UNDECLARED,
    Arguments,
    Declared,
    check_kind,
    is_context,
    is_model,
    parameter_names,
    read_function,
)
from tests.contract.helpers import config_error

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers


class Query(BaseModel):
    text: str


class Names(RootModel[list[str]]):
    pass


class RichContext(ToolContext, frozen=True):
    pass


def read(function: Callable[..., Any], scope: Mapping[str, Any] | None = None) -> Declared:
    return read_function(function, label="tool 'f'", texts={}, scope=scope)


def test_the_context_is_found_by_its_type_wherever_it_stands() -> None:
    def first(ctx: ToolContext, a: int) -> None: ...
    def last(a: int, whatever: ToolContext | None = None) -> None: ...
    def named(a: int, *, c: Annotated[ToolContext, "the call"]) -> None: ...
    def older(c: Union[ToolContext, None], a: int) -> None: ...  # noqa: UP007
    def richer(c: RichContext, a: int) -> None: ...

    found = [(read(one).context, list(read(one).parameters)) for one in (first, last, named, older, richer)]
    assert found == [("ctx", ["a"]), ("whatever", ["a"]), ("c", ["a"]), ("c", ["a"]), ("c", ["a"])]


def test_a_parameter_named_like_the_context_is_an_ordinary_one() -> None:
    def function(ctx: str, context: int) -> None: ...

    assert (read(function).context, list(read(function).parameters)) == (None, ["ctx", "context"])


@pytest.mark.parametrize("hint", [int, Any, None, "ToolContext", list[ToolContext], Callable[[ToolContext], int]])
def test_other_types_are_no_context(hint: object) -> None:
    assert not is_context(hint)


def test_two_contexts_are_one_too_many() -> None:
    def function(a: ToolContext, b: ToolContext) -> None: ...

    error = config_error(read, function)
    assert (error.message, error.hint) == ("tool 'f': both 'a' and 'b' are a ToolContext", "keep one")


def test_a_lone_model_is_the_arguments_object() -> None:
    def only(query: Query) -> None: ...
    def with_context(ctx: ToolContext, *, query: Query) -> None: ...

    assert [(read(one).whole, read(one).arguments) for one in (only, with_context)] == [("query", Query)] * 2


def test_a_model_beside_others_or_optional_or_without_fields_is_a_parameter() -> None:
    def beside(query: Query, limit: int) -> None: ...
    def optional(query: Query | None) -> None: ...
    def default(query: Query = Query(text="")) -> None: ...  # noqa: B008
    def rootish(names: Names) -> None: ...

    assert [read(one).whole for one in (beside, optional, default, rootish)] == [None] * 4


def test_only_models_with_named_fields_are_models() -> None:
    assert [is_model(one) for one in (Query, Names, int, "Query", Query | None)] == [True, False, False, False, False]


def test_the_return_annotation_is_kept_and_any_counts_as_none() -> None:
    def missing(a: int): ...  # type: ignore[no-untyped-def]
    def anything(a: int) -> Any: ...
    def nothing(a: int) -> None: ...
    def something(a: int) -> list[Query]: ...

    assert [read(one).returns for one in (missing, anything, nothing, something)] == [
        UNDECLARED,
        UNDECLARED,
        type(None),
        list[Query],
    ]


def test_annotations_may_use_names_of_the_scope_given_and_of_closures() -> None:
    class Local(BaseModel):
        a: int

    def from_scope(x: Local) -> Local: ...  # type: ignore[empty-body]
    def from_closure(x: Local) -> None:
        Local(a=1)

    assert read(from_scope, {"Local": Local}).whole == "x"
    assert read(from_closure).whole == "x"


def test_a_closure_that_is_not_filled_yet_does_not_matter() -> None:
    def function(a: int) -> None:
        later()

    assert list(read(function).parameters) == ["a"]

    def later() -> None: ...


def test_an_annotation_that_cannot_be_resolved_names_the_parameter() -> None:
    def parameter(a: int, b: OnlyForCheckers) -> None: ...
    def result(a: int) -> OnlyForCheckers: ...  # type: ignore[empty-body]

    found = [config_error(read, one) for one in (parameter, result)]
    assert [(one.code, one.message.split(" cannot")[0]) for one in found] == [
        ("bad_schema", "tool 'f': the annotation of parameter 'b'"),
        ("bad_schema", "tool 'f': the return annotation"),
    ]
    assert found[0].hint == "define or import that name at module level, outside `if TYPE_CHECKING:`"


def test_a_signature_that_cannot_be_read_is_an_error_and_not_a_crash() -> None:
    def function(a: int) -> None: ...

    function.__signature__ = "none"  # type: ignore[attr-defined]
    assert config_error(read, function).message.startswith("tool 'f': its signature cannot be read (")


def test_an_annotation_that_is_no_expression_names_the_parameter() -> None:
    def function(a: int) -> None: ...

    function.__annotations__["a"] = "list["
    error = config_error(read, function)
    assert (error.code, error.hint) == ("bad_schema", None)
    assert error.message.startswith("tool 'f': the annotation of parameter 'a' cannot be resolved (SyntaxError")


def untyped(a, b: int) -> None: ...  # type: ignore[no-untyped-def]
def star(*rest: int) -> None: ...
def double_star(**rest: int) -> None: ...
def positional(a: int, /) -> None: ...
def dunder(__a: int) -> None: ...


class Desk:
    def method(self, a: int) -> int:
        return a


UNUSABLE: list[Any] = [
    (untyped, "bad_config", "parameter 'a' has no type hint", "write `a: str`, or its real type"),
    (star, "bad_config", "*rest has no name to call it by", "use `rest: list[...]`"),
    (double_star, "bad_config", "**rest would take any argument", "use `rest: dict[str, ...]`"),
    (positional, "bad_config", "parameter 'a' is positional-only", "remove the `/`"),
    (dunder, "bad_name", "parameter '__a' begins with two underscores", "rename it to 'a'"),
    (
        Desk.method,
        "bad_config",
        "parameter 'self' has no type hint",
        "register the bound method: Tool.from_function(instance.method)",
    ),
]


@pytest.mark.parametrize(("function", "code", "message", "hint"), UNUSABLE)
def test_an_unusable_parameter_is_named_with_its_fix(function: Any, code: str, message: str, hint: str) -> None:
    error = config_error(read, function)
    assert (error.code, error.message, error.hint) == (code, f"tool 'f': {message}", hint)


def test_a_bound_method_has_no_self() -> None:
    assert list(read(Desk().method).parameters) == ["a"]
    assert parameter_names(Desk().method, "f") == ("a",)


def test_a_wrapped_function_shows_what_it_wraps() -> None:
    def log(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @log
    def function(a: int, ctx: ToolContext) -> str:
        return str(a)

    assert (list(read(function).parameters), read(function).context, read(function).returns) == (["a"], "ctx", str)


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


class Callable_:  # noqa: N801
    def __call__(self, a: int) -> int:
        return a


def of_class(cls: type) -> None: ...


NO_FUNCTIONS: list[Any] = [
    generator, async_generator, functools.partial(positional, 1), staticmethod(positional), classmethod(of_class),
    lambda: None, Callable_(), Callable_, len, 3, "f", None,
]  # fmt: skip


@pytest.mark.parametrize("unusable", NO_FUNCTIONS)
def test_only_plain_functions_and_bound_methods_can_be_read(unusable: object) -> None:
    assert config_error(check_kind, unusable).hint


def test_defaults_are_kept_by_identity_even_with_odd_equality() -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> Any:
            return [1, 2, 3]

    odd = Odd()

    def function(a: Any = odd) -> None: ...

    (field,) = read(function).parameters["a"].__metadata__
    assert field.default is odd


def test_a_field_given_as_default_counts_like_one_in_the_annotation() -> None:
    def function(a: int = Field(3, ge=1)) -> None: ...

    (field,) = read(function).parameters["a"].__metadata__
    assert (field.default, field.metadata[0].ge) == (3, 1)


def test_arguments_are_read_as_attributes_or_items_under_any_name() -> None:
    values: Any = Arguments({"items": [1], "json": 2, "_x": 3, "__dict": 4})
    assert (values.items, values["json"], values._x, values["__dict"]) == ([1], 2, 3, 4)
    assert values == Arguments({"items": [1], "json": 2, "_x": 3, "__dict": 4})
    assert values != Arguments({})
    assert values != {"items": [1]}
    assert repr(Arguments({"a": "b"})) == "Arguments(a='b')"
    with pytest.raises(KeyError):
        values["absent"]
    with pytest.raises(TypeError):
        hash(values)


QUALIFIED: list[Any] = [
    NotRequired[int], Required[int], ClassVar[int], Final[int], Final, Annotated[NotRequired[int], 1],
]  # fmt: skip


@pytest.mark.parametrize("annotation", QUALIFIED)
def test_what_only_a_field_can_be_is_refused_for_a_parameter(annotation: Any) -> None:
    def function(x: int) -> None: ...

    function.__annotations__["x"] = annotation
    error = config_error(read_function, function, label="tool 'x'", texts={})
    assert (error.code, "parameter 'x'" in error.message) == ("bad_schema", True)
