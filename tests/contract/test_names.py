"""Names: what is accepted, what is refused with which fix, what is suggested."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.contract.names import MAX_NAME, check_tool_name, is_tool_name, snake_case, suggest
from ringfence.errors import ConfigError


@pytest.mark.parametrize("name", ["a", "a1", "a_1", "lookup_order", "a1_2b", "x" * MAX_NAME])
def test_lower_snake_case_is_a_tool_name(name: str) -> None:
    assert check_tool_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "A", "aB", "1a", "_a", "a_", "a__b", "a-b", "a.b", "a b", "é", "abc\n", "\nabc", "a１", "x" * (MAX_NAME + 1)],
)
def test_anything_else_is_a_bad_name(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_tool_name(name)
    assert caught.value.code == "bad_name"


@pytest.mark.parametrize("name", [None, 3, b"abc", True, ["a"]])
def test_a_name_that_is_no_text_is_refused_by_its_type(name: object) -> None:
    with pytest.raises(ConfigError) as caught:
        check_tool_name(name)
    assert (caught.value.code, caught.value.message) == ("bad_name", f"name must be text, not {type(name).__name__}")


@pytest.mark.parametrize(
    ("wrong", "usable"),
    [
        ("lookupOrder", "lookup_order"),
        ("HTTPServer", "http_server"),
        ("Delete All", "delete_all"),
        ("a__b-", "a_b"),
        ("2fa", "tool_2fa"),
        ("Café", "cafe"),
        ("mail.send:now", "mail_send_now"),
    ],
)
def test_a_bad_name_is_answered_with_the_nearest_good_one(wrong: str, usable: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_tool_name(wrong, "prefix")
    assert caught.value.hint == f"use {usable!r}"
    assert caught.value.message.startswith(f"prefix {wrong!r}")


def test_a_name_without_any_usable_letter_is_answered_with_an_example() -> None:
    with pytest.raises(ConfigError) as caught:
        check_tool_name("注文")
    assert caught.value.hint == "use a name such as 'lookup_order'"


def test_an_endless_name_is_not_repeated_in_the_error() -> None:
    with pytest.raises(ConfigError) as caught:
        check_tool_name("x" * 10_000)
    assert len(caught.value.message) < 200


@given(st.text(max_size=300))
def test_every_suggested_spelling_is_itself_a_tool_name(text: str) -> None:
    spelled = snake_case(text)
    assert spelled is None or is_tool_name(spelled)


@pytest.mark.slow
@given(st.from_regex(r"[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*", fullmatch=True).filter(lambda name: len(name) <= MAX_NAME))
def test_a_good_name_is_its_own_nearest_spelling(name: str) -> None:
    assert snake_case(name) == name


NAMES = ("lookup_order", "list_orders", "refund", "send_mail")


@pytest.mark.parametrize(
    ("meant", "found"),
    [
        ("lookupOrder", "lookup_order"),
        ("lookup-order", "lookup_order"),
        ("LOOKUP_ORDER", "lookup_order"),
        ("lookup_ordr", "lookup_order"),
        ("sendmail", "send_mail"),
        ("refnd", "refund"),
        ("quarterly_report", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_did_you_mean_knows_spellings_and_small_errors(meant: str, found: str | None) -> None:
    assert suggest(meant, NAMES) == found


def test_the_suggestion_does_not_depend_on_the_order_of_the_names() -> None:
    assert suggest("get_x", ["get_b", "get_a"]) == suggest("get_x", ["get_a", "get_b"])


def test_nothing_is_suggested_where_there_is_nothing() -> None:
    assert suggest("refund", []) is None
