"""Tools: what registration accepts, in which order it refuses, and that nothing changes afterwards."""

from __future__ import annotations

import asyncio
import copy
import math
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ringfence.contract.context import ToolContext
from ringfence.contract.hints import Arguments
from ringfence.contract.tool import Tool, tool
from ringfence.errors import ConfigError
from tests.contract.helpers import codes, config_error, context, refusal
from tests.contract.test_rules import Place


class Lookup(BaseModel):
    order_id: int


class Order(BaseModel):
    id: int
    total: float


def execute(arguments: Lookup) -> Order:
    return Order(id=arguments.order_id, total=1.5)


def made(**changes: Any) -> Tool[..., Any]:
    fields: dict[str, Any] = {
        "name": "lookup_order",
        "description": "Look up an order.",
        "input": Lookup,
        "execute": execute,
    }
    make: Any = Tool
    return make(**{**fields, **changes})


def test_a_tool_keeps_what_it_was_given() -> None:
    place = Place()

    def fallback(error: BaseException) -> None: ...

    one = made(
        output=Order, timeout=2, retries=1, approval="human", on_error=fallback, sandbox=place, effect="write",
        idempotent=True, tags=["a", "b"],
    )  # fmt: skip
    kept = (one.name, one.description, one.timeout, one.retries, one.approval, one.on_error, one.sandbox, one.effect,
            one.idempotent, one.tags, one.execute, one.is_async)  # fmt: skip
    assert kept == (
        "lookup_order", "Look up an order.", 2.0, 1, "human", fallback, place, "write", True, ("a", "b"), execute, False,
    )  # fmt: skip
    assert one.output.json_schema() is not None


def test_what_is_left_out_has_a_safe_default() -> None:
    one = made()
    defaults = (one.timeout, one.retries, one.approval, one.on_error, one.sandbox, one.effect, one.idempotent, one.tags)
    assert defaults == (None, 0, "auto", None, None, None, None, ())
    assert one.output.json_schema() is None


WRONG: list[Any] = [
    ({"name": "lookupOrder"}, "bad_name", "name 'lookupOrder'"),
    ({"name": ""}, "bad_name", "name ''"),
    ({"name": "abc\n"}, "bad_name", "name 'abc\\n'"),
    ({"description": " \n "}, "bad_config", "tool 'lookup_order': description"),
    *(({"retries": value}, "bad_config", "tool 'lookup_order': retries") for value in
      (-1, 1.5, 1.0, True, "1", None, math.nan, math.inf)),
    *(({"timeout": value}, "bad_config", "tool 'lookup_order': timeout") for value in
      (0, -1, math.nan, math.inf, "5", True, False, 10**400)),
    *(({"approval": value}, "bad_config", "tool 'lookup_order': approval") for value in ("", False, 0, "Human", None)),
    ({"effect": "delete"}, "bad_config", "tool 'lookup_order': effect"),
    ({"idempotent": 1}, "bad_config", "tool 'lookup_order': idempotent"),
    ({"tags": "billing"}, "bad_config", "tool 'lookup_order': tags"),
    ({"on_error": "ignore"}, "bad_config", "tool 'lookup_order': on_error"),
    ({"on_error": lambda: 0}, "bad_config", "tool 'lookup_order': on_error must take one argument"),
    ({"on_error": lambda error, more: 0}, "bad_config", "tool 'lookup_order': on_error must take one argument"),  # type: ignore[misc]
    ({"sandbox": "local"}, "bad_config", "tool 'lookup_order': sandbox"),
    ({"input": None}, "bad_schema", "tool 'lookup_order': input"),
    ({"input": {"type": "array"}}, "bad_schema", "tool 'lookup_order': input"),
    ({"input": list[int]}, "bad_schema", "tool 'lookup_order': input"),
    ({"execute": None}, "bad_config", "tool 'lookup_order': execute"),
    ({"output": Place}, "bad_schema", "tool 'lookup_order': output"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "code", "start"), WRONG)
def test_a_wrong_field_is_named(change: dict[str, Any], code: str, start: str) -> None:
    error = config_error(made, **change)
    assert (error.code, error.message[: len(start)]) == (code, start)


def test_a_config_error_is_a_type_error_and_a_value_error() -> None:
    assert isinstance(config_error(made, retries=-1), TypeError)
    assert isinstance(config_error(made, retries=-1), ValueError)


@pytest.mark.parametrize("timeout", [0.5, 5000, 5])
def test_a_finite_timeout_above_zero_is_accepted(timeout: float) -> None:
    assert made(timeout=timeout).timeout == timeout


ORDER = ("name", "description", "retries", "timeout", "approval", "effect", "idempotent", "tags", "on_error", "sandbox",
         "input", "execute", "output")  # fmt: skip


def test_fields_are_checked_in_a_fixed_order() -> None:
    wrong: dict[str, Any] = {
        "name": "X", "description": "", "retries": -1, "timeout": 0, "approval": "", "effect": "", "idempotent": 1,
        "tags": "x", "on_error": 1, "sandbox": 1, "input": 1, "execute": 1, "output": Place,
    }  # fmt: skip
    for at, field in enumerate(ORDER):
        error = config_error(made, **{name: wrong[name] for name in ORDER[at:]})
        assert field in error.message.split(":")[-1] or field in error.message.split(":")[1]


def test_no_field_of_a_tool_can_change() -> None:
    one = made()
    for name in (*ORDER, "other"):
        with pytest.raises(AttributeError):
            setattr(one, name, None)
    with pytest.raises(AttributeError):
        del one.name


def test_changing_what_was_given_changes_nothing() -> None:
    class Row(TypedDict):
        a: int

    tags = ["a"]
    one = made(tags=tags, input=Row)
    tags.append("b")
    Row.__annotations__["b"] = int
    assert one.tags == ("a",)
    assert codes(one.input, b'{"a":1,"b":1}') == [("b", "extra_forbidden")]


def test_a_tool_cannot_be_called_past_its_boundary() -> None:
    error = config_error(made(), Lookup(order_id=1))
    assert error.message == "tool 'lookup_order' cannot be called directly"
    assert "boundary.call('lookup_order'" in (error.hint or "")


def test_its_function_can_be_called_in_a_unit_test() -> None:
    assert made().execute(Lookup(order_id=7)) == Order(id=7, total=1.5)


def test_replace_makes_another_tool_and_checks_it() -> None:
    one = made(tags=["a"], output=Order)
    other = one.replace(name="find_order", approval="human")
    assert (other.name, other.approval, other.tags, other.execute) == ("find_order", "human", ("a",), execute)
    assert other.input.json_schema() == one.input.json_schema()
    assert other.output.json_schema() == one.output.json_schema()
    assert (one.name, one.approval) == ("lookup_order", "auto")
    assert config_error(one.replace, approval="Human").message.startswith("tool 'lookup_order': approval")


def test_replace_knows_the_fields() -> None:
    error = config_error(made().replace, timeot=1)
    assert (error.message, error.hint) == ("a tool has no field 'timeot'", "use 'timeout'")


def test_the_digest_names_what_a_tool_promises_and_nothing_else() -> None:
    one = made()
    same = [
        made(timeout=1),
        made(retries=3),
        made(approval="human"),
        made(tags=["a"]),
        made(execute=repr),
    ]
    other = [
        made(name="x"), made(description="Other."), made(effect="read"), made(output=Order), made(input=Order),
    ]  # fmt: skip
    assert {tool.definition_digest for tool in same} == {one.definition_digest}
    assert len({tool.definition_digest for tool in [one, *other]}) == 1 + len(other)
    assert one.definition_digest.startswith("sha256:")


def test_the_same_declaration_has_the_same_digest() -> None:
    def declare() -> Tool[..., Any]:
        def find(order_id: int, deep: bool = False) -> Order:
            """Find it."""
            return Order(id=order_id, total=float(deep))

        return Tool.from_function(find)

    assert declare().definition_digest == declare().definition_digest


def test_a_definition_that_is_no_text_is_refused() -> None:
    assert config_error(made, description="\ud800").code == "bad_schema"


def test_a_decorated_function_is_a_tool() -> None:
    @tool
    async def lookup_order(
        order_id: Annotated[int, Field(ge=1)], ctx: ToolContext, deep: bool = False, *, tags: list[str] | None = None
    ) -> Order:
        """Look up an order.

        Args:
            order_id: The number.
            deep: Look closely.

        Returns:
            The order.
        """
        return Order(id=order_id, total=float(deep) + ctx.attempt + len(tags or []))

    assert (lookup_order.name, lookup_order.description) == ("lookup_order", "Look up an order.")
    assert (lookup_order.is_async, lookup_order.approval, lookup_order.effect) == (True, "auto", None)
    properties = lookup_order.input.json_schema()["properties"]
    assert list(properties) == ["order_id", "deep", "tags"]
    assert properties["order_id"] == {"type": "integer", "minimum": 1, "description": "The number."}
    output = lookup_order.output.json_schema()
    assert output is not None
    assert (output["title"], output["description"]) == ("Order", "The order.")
    arguments = lookup_order.input.validate(b'{"order_id":3,"tags":["a"]}')
    assert arguments == Arguments({"order_id": 3, "deep": False, "tags": ["a"]})
    assert asyncio.run(lookup_order.call_with(arguments, context(attempt=2))) == Order(id=3, total=3.0)


def test_a_decorator_with_options_says_the_rest() -> None:
    @tool(
        name="find", description="Find it.", timeout=2, approval="human", effect="read", output=list[int], tags=("a",)
    )
    def anything(x: int) -> object:
        """Not this."""
        return x

    kept = (anything.name, anything.description, anything.timeout, anything.approval, anything.effect, anything.tags)
    assert kept == ("find", "Find it.", 2.0, "human", "read", ("a",))
    assert anything.output.json_schema() == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": {"type": "integer"},
    }
    assert anything.is_async is False


def test_from_function_registers_bound_methods() -> None:
    class Desk:
        def __init__(self, stock: int) -> None:
            self.stock = stock

        def take(self, count: int) -> int:
            """Take some."""
            return self.stock - count

    take = Tool.from_function(Desk(10).take, effect="write")
    assert (take.name, take.effect, list(take.input.json_schema()["properties"])) == ("take", "write", ["count"])
    assert take.call_with(take.input.validate(b'{"count":3}'), context()) == 7


def test_a_local_model_in_a_text_annotation_is_found() -> None:
    class Local(BaseModel):
        a: int

    @tool
    def bare(x: Local) -> Local:
        """Do it."""
        return x

    @tool(name="with_options")
    def optioned(x: Local) -> list[Local]:
        """Do it."""
        return [x]

    registered = Tool.from_function(bare.execute, name="registered")
    for one in (bare, optioned, registered):
        assert one.input.validate(b'{"a":1}') == Local(a=1)


def nothing_said(a: int) -> None: ...
def lookupOrder(a: int) -> None:  # noqa: N802
    """Do it."""


decorate: Any = tool
MISTAKES: list[Any] = [
    (lambda: tool(nothing_said), "bad_config", "tool 'nothing_said' has no description"),
    (lambda: tool(lookupOrder), "bad_name", "name of lookupOrder 'lookupOrder' is not lower snake case"),
    (lambda: decorate("find"), "bad_config", "@tool takes its name as an option"),
    (lambda: decorate(tool(name="x", description="d")(nothing_said)), "bad_config", "Tool('x') is a tool already"),
    (lambda: decorate(Place), "bad_config", "@tool needs a function, not the class Place"),
    (lambda: decorate(requires_approval=True)(nothing_said), "bad_config", "@tool has no option 'requires_approval'"),
    (lambda: tool(description="d", retries=-1)(nothing_said), "bad_config", "tool 'nothing_said': retries"),
    (lambda: tool(description=" ")(nothing_said), "bad_config", "tool 'nothing_said': description"),
]


@pytest.mark.parametrize(("mistake", "code", "start"), MISTAKES)
def test_a_mistake_while_decorating_is_a_config_error(mistake: Any, code: str, start: str) -> None:
    with pytest.raises(ConfigError) as caught:
        mistake()
    assert (caught.value.code, caught.value.message[: len(start)]) == (code, start)
    assert caught.value.hint or "retries" in start


def test_a_default_that_can_change_is_not_shared_between_calls() -> None:
    @tool
    def collect(item: str, into: list[str] = []) -> list[str]:  # noqa: B006
        """Collect."""
        into.append(item)
        return into

    results = [collect.call_with(collect.input.validate(b'{"item":"a"}'), context()) for _ in range(3)]
    assert results == [["a"]] * 3


def test_a_tool_with_an_execute_function_gets_the_arguments_object() -> None:
    def with_context(arguments: Lookup, ctx: ToolContext) -> tuple[int, str]:
        return arguments.order_id, ctx.session_id

    one = Tool("find", "Find.", Lookup, with_context)
    assert one.call_with(one.input.validate(b'{"order_id":1}'), context()) == (1, "s")
    assert refusal(one.output, object) == ("", "a type is not a JSON value")


def test_a_result_is_held_to_the_return_annotation() -> None:
    @tool
    def find(order_id: int) -> Order:
        """Find."""
        return Order(id=order_id, total=1)

    assert refusal(find.output, {"id": "x", "total": 1})[0] == "id"
    assert find.output.dump(find.execute(order_id=1)) == b'{"id":1,"total":1.0}'


def test_a_tool_is_shown_by_its_name() -> None:
    assert repr(made()) == "Tool('lookup_order')"


def test_a_copy_of_a_tool_is_the_tool() -> None:
    one = made()
    assert (copy.copy(one), copy.deepcopy([one])[0]) == (one, one)
