"""Approvals decided beforehand (`cli.decisions`)."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.cli.decisions import Verdict, entry_text, parse_decisions
from ringfence.errors import ConfigError

HUMAN = {"refund_order": {"order_id", "amount_cents", "reason"}, "close_shop": {"notice", "flags"}}


def verdict(text: str, tool: str = "refund_order", **arguments: Any) -> Verdict:
    return parse_decisions(text, "decisions.toml", HUMAN).decide(tool, arguments)


def test_a_call_that_nothing_fits_is_denied_with_the_reason() -> None:
    assert verdict("", order_id=1) == Verdict(
        approved=False,
        reason="no entry of decisions.toml fits this call",
        fix="to approve it, add to decisions.toml:",
    )


def test_an_entry_names_the_arguments_that_must_be_equal_and_leaves_the_others_open() -> None:
    text = '\n[[approve]]\ntool = "refund_order"\narguments = { order_id = 1042 }\n'
    approved = Verdict(approved=True, reason="approved by decisions.toml:2 [[approve]]")
    assert verdict(text, order_id=1042, amount_cents=100) == approved
    assert not verdict(text, order_id=1043, amount_cents=100).approved
    assert not verdict(text, amount_cents=100).approved


def test_an_entry_without_arguments_fits_every_call_of_its_tool_only() -> None:
    text = '[[approve]]\ntool = "refund_order"\n'
    assert verdict(text, order_id=5).approved
    assert not verdict(text, tool="close_shop").approved


def test_a_fitting_deny_beats_every_approve_wherever_it_stands() -> None:
    text = """
        [[deny]]
        tool = "refund_order"
        arguments = { order_id = 7 }
        [[approve]]
        tool = "refund_order"
        [[approve]]
        tool = "refund_order"
        arguments = { order_id = 7 }
    """
    assert verdict(text, order_id=7) == Verdict(approved=False, reason="denied by decisions.toml:2 [[deny]]")
    assert verdict(text, order_id=8) == Verdict(approved=True, reason="approved by decisions.toml:5 [[approve]]")


@pytest.mark.parametrize(
    ("written", "actual", "fits"),
    [
        ("1", 1, True),
        ("1", 1.0, True),
        ("1", True, False),
        ("true", 1, False),
        ("true", True, True),
        ('"1"', 1, False),
        ("[1, [2]]", [1, [2]], True),
        ("[1, 2]", [2, 1], False),
        ("[1]", [1, 2], False),
        ("{ a = 1 }", {"a": 1}, True),
        ("{ a = 1 }", {"a": 1, "b": 2}, False),
        ("{ a = true }", {"a": 1}, False),
        ("nan", 1, False),
    ],
)
def test_values_are_compared_as_json(written: str, actual: object, fits: bool) -> None:
    text = f'[[approve]]\ntool = "close_shop"\narguments = {{ flags = {written} }}\n'
    assert verdict(text, tool="close_shop", flags=actual).approved is fits


def test_entries_without_headers_have_no_line() -> None:
    text = 'approve = [{ tool = "refund_order" }]'
    assert verdict(text).reason == "approved by decisions.toml [[approve]] number 1"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[[approve]\n", "decisions.toml: not valid TOML", "toml.io"),
        ("[[aprove]]\n", "decisions.toml: unknown key 'aprove'", "[[approve]], [[deny]]"),
        ("approve = 1\n", "decisions.toml: 'approve' is not a list", "two brackets"),
        ('[approve]\ntool = "refund_order"\n', "decisions.toml: 'approve' is not a list", "two brackets"),
        ("\n[[deny]]\n", "decisions.toml:2 [[deny]]: 'tool' must be", 'tool = "name"'),
        ("[[deny]]\ntool = 1\n", "decisions.toml:1 [[deny]]: 'tool' must be", 'tool = "name"'),
        ('[[deny]]\ntool = "refund_ordr"\n', "'refund_ordr' is not a tool that asks", "did you mean 'refund_order'?"),
        ('[[deny]]\ntool = "zzz"\n', "'zzz' is not a tool that asks", "close_shop, refund_order"),
        ('[[deny]]\ntool = "refund_order"\nwhen = {}\n', "unknown key 'when'", "tool, arguments"),
        ('[[deny]]\ntool = "refund_order"\nargument = {}\n', "unknown key 'argument'", "did you mean 'arguments'?"),
        ('[[deny]]\ntool = "refund_order"\narguments = 1\n', "'arguments' must be a table", "{ name = value }"),
        (
            '[[deny]]\ntool = "refund_order"\narguments = { order = 1 }\n',
            "takes no argument 'order'",
            "did you mean 'order_id'?",
        ),
        (
            '[[deny]]\ntool = "refund_order"\narguments = { reason = 2026-03-01 }\n',
            "'arguments.reason' is a date",
            'reason = "2026-03-01"',
        ),
        ("a = " + "[" * 2000 + "]" * 2000, "decisions.toml", "`tool` and `arguments`"),
    ],
)
def test_a_wrong_file_is_refused_with_place_and_fix(text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_decisions(text, "decisions.toml", HUMAN)
    assert caught.value.code == "bad_config"
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_toml_errors_say_the_line() -> None:
    with pytest.raises(ConfigError, match="line 3"):
        parse_decisions('[[approve]]\ntool = "refund_order"\narguments = {{}}\n', "decisions.toml", HUMAN)


def test_with_no_tool_that_asks_every_entry_is_an_error() -> None:
    with pytest.raises(ConfigError, match="not a tool that asks") as caught:
        parse_decisions('[[approve]]\ntool = "a"\n', "decisions.toml", {})
    assert caught.value.hint == "these tools ask for approval: no tool at all"


KEYS = st.text(max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(arguments=st.dictionaries(KEYS, VALUES, max_size=4))
def test_the_entry_for_a_call_is_toml_and_fits_that_call(arguments: dict[str, Any]) -> None:
    text = entry_text("refund", arguments)
    assert text.isascii()
    assert tomllib.loads(text)["approve"][0].get("arguments", {}) == arguments
    assert parse_decisions(text, "a.toml", {"refund": set(arguments)}).decide("refund", arguments).approved


def test_an_argument_that_toml_cannot_say_is_left_out_and_named() -> None:
    assert entry_text("refund", {"order_id": 7, "note": None, "to": ["a", {"b": None}]}) == (
        '[[approve]]\ntool = "refund"\narguments = { order_id = 7 }\n'
        '# TOML cannot say null, so this fits whatever stands in "note", "to"'
    )
    assert entry_text("refund", {}) == '[[approve]]\ntool = "refund"'
