"""A tool that is wrong is refused while it is registered, by the field that is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import Book, Payment, call, door, ending, pay, run
from tests.requirements import requirement


def refused(make: Callable[[], object]) -> str:
    """The code of the mistake, which is a type error and a value error in one."""
    with pytest.raises(rf.ConfigError) as caught:
        make()
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    return caught.value.code


# --- name and description ---


@requirement("AC01", "seed.name", "D10")
@pytest.mark.parametrize("name", ["a", "a1", "a_1", "lookup_order", "a1_2b"])
def test_a_name_in_lower_snake_case_is_accepted(name: str) -> None:
    assert pay(Book(), name).name == name


@requirement("AC02", "seed.name", "D10")
@pytest.mark.parametrize(
    "name",
    ["", "A", "aB", "1a", "_a", "a_", "a__b", "a-b", "a.b", "a b", "é", "abc\n", "a１", "ａ", None, 7, b"a", True],
)
def test_any_other_name_is_refused(name: Any) -> None:
    assert refused(lambda: pay(Book(), name)) == "bad_name"


@requirement("AC02", "D10")
def test_a_function_whose_own_name_does_not_fit_is_refused_unless_another_is_given() -> None:
    def LookUp(order_id: int) -> int:  # noqa: N802
        """Look up."""
        return order_id

    assert refused(lambda: rf.tool(LookUp)) == "bad_name"
    assert rf.tool(name="look_up")(LookUp).name == "look_up"


@requirement("AC03", "seed.tool")
@pytest.mark.parametrize("description", ["", "   ", "\n\n", " \t\n ", None, 7, "x" * 20_000])
def test_a_description_that_says_nothing_or_too_much_is_refused(description: Any) -> None:
    assert refused(lambda: rf.Tool("pay", description, Payment, Book())) == "bad_config"


@requirement("seed.tool")
def test_a_tool_is_what_it_was_given() -> None:
    book = Book()
    tool = rf.Tool("pay", "Pay somebody.", Payment, book, timeout=5, retries=1, approval="auto")
    assert (tool.name, tool.description, tool.execute) == ("pay", "Pay somebody.", book)
    assert (tool.timeout, tool.retries, tool.approval) == (5.0, 1, "auto")
    assert refused(lambda: rf.Tool("pay", "Pay somebody.", Payment, "pay")) == "bad_config"  # type: ignore[call-overload]


# --- numbers ---


@requirement("AC05", "B44", "W18", "seed.numbers")
@pytest.mark.parametrize("field", ["timeout", "total_timeout"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf, "5", True, 1e9, 10**400, [5]])
def test_a_time_that_is_no_finite_number_above_zero_is_refused(field: str, value: Any) -> None:
    with pytest.raises(rf.ConfigError, match=f"tool 'pay': {field}"):
        pay(Book(), **{field: value})


@requirement("AC05", "seed.numbers")
@pytest.mark.parametrize("value", [0.5, 5000, 1])
def test_a_finite_time_above_zero_is_accepted(value: float) -> None:
    assert pay(Book(), timeout=value).timeout == value


@requirement("B44", "seed.numbers")
@pytest.mark.parametrize("value", [-1, 1.0, 0.5, math.nan, math.inf, "1", True, None])
def test_retries_that_are_no_count_are_refused(value: Any) -> None:
    with pytest.raises(rf.ConfigError, match="tool 'pay': retries"):
        pay(Book(), retries=value)


@requirement("seed.numbers", "D5")
def test_nothing_is_repeated_and_nothing_bounded_by_default() -> None:
    tool = pay(Book())
    assert (tool.retries, tool.timeout, tool.total_timeout, tool.backoff) == (0, None, None, None)
    assert pay(Book(), retries=0).retries == 0


# --- approval ---


@requirement("AC10", "W5")
@pytest.mark.parametrize("value", ["", False, 0, "Human", "AUTO", None, True, 1, [], {}, b"human", ("human",)])
def test_an_approval_that_is_none_of_the_forms_is_refused(value: Any) -> None:
    assert refused(lambda: pay(Book(), approval=value)) == "bad_config"


def nothing() -> bool:
    return True


def three(first: object, second: object, third: object) -> bool:
    return True


def by_name(*, request: object) -> bool:
    return True


HANDLERS: list[Any] = [nothing, three, by_name]


@requirement("W5", "W7")
@pytest.mark.parametrize("handler", HANDLERS)
def test_a_callback_that_nobody_can_ask_is_refused_before_any_call(handler: Any) -> None:
    assert refused(lambda: door(pay(Book(), approval=handler))) == "bad_config"


# --- duplicates, and what cannot change ---


@requirement("AC09")
def test_a_second_tool_of_the_same_name_is_refused_and_there_is_still_one() -> None:
    tools = rf.Toolset([pay(Book())])
    with pytest.raises(rf.ConfigError, match="duplicate") as caught:
        rf.Toolset([*tools, pay(Book())])
    assert caught.value.code == "duplicate_name"
    assert tools.names == ("pay",)
    assert refused(lambda: door(pay(Book()), pay(Book()))) == "duplicate_name"


@requirement("AC09", "D10")
def test_names_that_fall_together_behind_a_prefix_are_duplicates() -> None:
    plain = rf.Toolset([pay(Book(), "shop_pay")])
    assert refused(lambda: rf.Toolset([plain, rf.Toolset([pay(Book())]).prefixed("shop")])) == "duplicate_name"


@requirement("AC11", "W13")
def test_changing_what_a_tool_was_made_of_changes_no_call() -> None:
    book, other = Book(), Book()
    options: dict[str, Any] = {"approval": "human", "execute": book, "tags": ["money"]}
    tool = rf.Tool(name="pay", description="Pay.", input=Payment, **options)
    options.update(approval="auto", execute=other)
    options["tags"].append("free")
    outcome, _ = call(tool)
    assert (ending(outcome), book.paid, other.paid) == (("refused", "approval_denied", 0), [], [])
    assert tool.tags == ("money",)


@requirement("AC11", "W13")
@pytest.mark.parametrize("field", ["approval", "execute", "sandbox", "retries", "name", "anything"])
def test_no_field_of_a_tool_can_be_set(field: str) -> None:
    with pytest.raises(AttributeError):
        setattr(pay(Book()), field, "auto")


@requirement("W13")
def test_a_schema_that_is_read_from_a_tool_is_a_copy() -> None:
    tool = pay(Book())
    tool.input.json_schema()["properties"].clear()
    assert set(tool.input.json_schema()["properties"]) == {"amount", "to"}


@requirement("W13")
def test_a_list_of_tools_that_grows_afterwards_changes_no_boundary() -> None:
    async def body() -> None:
        tools = [pay(Book())]
        async with rf.Boundary(tools=tools, sandbox=rf.local(unsafe=True)) as boundary:
            tools.append(pay(Book(), "other"))
            assert boundary.tools.names == ("pay",)
            assert ending(await boundary.call("other", {"amount": 1})) == ("refused", "unknown_tool", 0)

    run(body)


# --- functions ---


@requirement("B4")
def test_parameters_that_no_name_can_bind_are_refused() -> None:
    def collects(a: int, b: int = 2, *rest: int) -> int:
        """Add."""
        return a + b + sum(rest)

    def by_place(a: int, /) -> int:
        """Add."""
        return a

    def open_ended(a: int, **more: int) -> int:
        """Add."""
        return a + sum(more.values())

    assert [refused(lambda one=one: rf.tool(one)) for one in (collects, by_place, open_ended)] == ["bad_config"] * 3


class OddlyEqual:
    """Compares like an array: the answer is no truth value."""

    kept = "kept"

    def __eq__(self, other: object) -> Any:
        return [self is other]

    __hash__ = None  # type: ignore[assignment]


ODD = OddlyEqual()


@requirement("B20")
def test_a_default_with_strange_equality_is_kept() -> None:
    def find(order_id: int, fallback: Any = ODD) -> str:
        """Find an order."""
        del order_id
        return fallback.kept if type(fallback) is OddlyEqual else "lost"

    outcome, _ = call(rf.tool(find), args={"order_id": 1})
    assert outcome.unwrap() == "kept"


@requirement("W31")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"name": "Delete All"}, "bad_name"),
        ({"name": "x" * 500}, "bad_name"),
        ({"description": "x" * 1_000_000}, "bad_config"),
        ({"retries": -1}, "bad_config"),
        ({"approval": "Human"}, "bad_config"),
    ],
)
def test_a_definition_made_from_another_is_checked_like_the_first(change: dict[str, Any], code: str) -> None:
    assert refused(lambda: pay(Book()).replace(**change)) == code


@requirement("W31")
def test_a_toolset_behind_a_prefix_is_checked_like_any_other() -> None:
    tools = rf.Toolset([pay(Book(), "x" * 120)])
    assert refused(lambda: tools.prefixed("Shop")) == "bad_name"
    assert refused(lambda: tools.prefixed("shop_of_the_year")) == "bad_name"


# --- sandboxes ---


@requirement("W24")
def test_there_is_no_way_to_give_two_common_sandboxes() -> None:
    two: Any = [rf.local(unsafe=True), rf.local(unsafe=True)]
    assert refused(lambda: rf.Boundary(tools=[pay(Book())], sandbox=two)) == "bad_config"
