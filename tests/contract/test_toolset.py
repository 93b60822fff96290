"""Collections of tools: unique names, a fixed order, and views that are collections again."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.contract.tool import Tool, tool
from ringfence.contract.toolset import Toolset
from tests.contract.helpers import config_error


@tool(tags=("read",))
def lookup(order_id: int) -> int:
    """Look it up."""
    return order_id


@tool(effect="write")
def refund(order_id: int) -> int:
    """Give it back."""
    return order_id


@tool(name="lookup")
def other_lookup(text: str) -> str:
    """Look up text."""
    return text


def undecorated(a: int) -> int:
    return a


def test_tools_are_found_by_name_in_the_order_given() -> None:
    tools = Toolset([refund, lookup])
    assert (list(tools), len(tools), tools.names) == ([refund, lookup], 2, ("refund", "lookup"))
    assert tools["refund"] is refund
    assert repr(tools) == "Toolset([refund, lookup])"
    membership = ("refund" in tools, refund in tools, "find" in tools, other_lookup in tools, 3 in tools)
    assert membership == (True, True, False, False, False)


def test_a_missing_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"no tool 'refunds'; did you mean 'refund'\?"):
        Toolset([refund])["refunds"]
    with pytest.raises(KeyError, match="no tool 'x'"):
        Toolset([])["x"]


def test_toolsets_inside_are_flattened() -> None:
    assert list(Toolset([Toolset([refund]), lookup, Toolset([])])) == [refund, lookup]


def test_any_iterable_of_tools_will_do() -> None:
    assert list(Toolset(one for one in (refund, lookup))) == [refund, lookup]
    assert list(Toolset(Toolset((refund,)))) == [refund]


@pytest.mark.parametrize("tools", [[lookup, other_lookup], [lookup, lookup], [lookup, Toolset([other_lookup])]])
def test_a_name_given_twice_is_an_error(tools: Any) -> None:
    error = config_error(Toolset, tools)
    assert (error.code, error.message) == ("duplicate_name", "two tools are named 'lookup' (duplicate)")
    assert error.hint


STRAYS: list[Any] = [
    ([lookup, undecorated], "tools[1] is not a tool but 'undecorated'", "decorate it with @rf.tool"),
    ([Tool], "tools[0] is not a tool but 'Tool'", "decorate it with @rf.tool"),
    (["lookup"], "tools[0] is not a tool but 'str'", "give a Tool or a Toolset"),
    ([None], "tools[0] is not a tool but 'NoneType'", "give a Tool or a Toolset"),
    (lookup, "tools must be a list of tools, not Tool", "write [tool_a, tool_b]"),
    ("lookup", "tools must be a list of tools, not str", "write [tool_a, tool_b]"),
    (None, "tools must be a list of tools, not NoneType", "write [tool_a, tool_b]"),
]


@pytest.mark.parametrize(("tools", "message", "hint"), STRAYS)
def test_what_is_no_tool_is_refused_with_its_position(tools: Any, message: str, hint: str) -> None:
    error = config_error(Toolset, tools)
    assert (error.code, error.message, error.hint) == ("bad_config", message, hint)


def test_a_prefix_makes_other_names_of_the_same_tools() -> None:
    orders = Toolset([lookup, refund]).prefixed("orders")
    assert orders.names == ("orders_lookup", "orders_refund")
    assert orders["orders_refund"].effect == "write"
    assert len(Toolset([lookup, Toolset([other_lookup]).prefixed("text")])) == 2


@pytest.mark.parametrize("prefix", ["", "Orders", "orders_", "a b", "x" * 125, 3])
def test_an_unusable_prefix_is_a_bad_name(prefix: Any) -> None:
    assert config_error(Toolset([lookup]).prefixed, prefix).code == "bad_name"


def test_a_filter_keeps_the_tools_it_answers_for() -> None:
    assert list(Toolset([lookup, refund]).filtered(lambda one: one.effect == "write")) == [refund]


def test_one_approval_rule_for_all_leaves_the_original_alone() -> None:
    tools = Toolset([lookup, refund])
    assert [one.approval for one in tools.with_approval("human")] == ["human", "human"]
    assert [one.approval for one in tools] == ["auto", "auto"]
    approval: Any = "Human"
    assert config_error(tools.with_approval, approval).code == "bad_config"


def test_a_toolset_has_no_way_to_change() -> None:
    tools: Any = Toolset([lookup])
    with pytest.raises(TypeError):
        tools["refund"] = refund
    with pytest.raises(TypeError):
        del tools["lookup"]
    with pytest.raises(AttributeError):
        tools.extra = 1
