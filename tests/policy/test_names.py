"""Which names may be called: what every adapter can carry, and what the host's patterns say."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.errors import ConfigError
from ringfence.policy.names import NameRules, is_carried, not_carried


@pytest.mark.parametrize("name", ["a", "A", "users:list", "a.b-c_d:e9", "x" * 256])
def test_names_of_letters_digits_and_four_marks_are_carried(name: str) -> None:
    assert is_carried(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1a",
        "_a",
        ":a",
        "a b",
        "a/b",
        "../a",
        "a\n",
        "a\r",
        "a\x00",
        "\ta",
        "é",
        "ａ",
        "a\u200b",
        "a\u202e",
        "x" * 257,
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not is_carried(name)


def test_the_refusal_does_not_repeat_the_name() -> None:
    error = not_carried()
    assert (error.code, error.message) == (
        "name_refused",
        "a tool name is a letter followed by letters, digits and : . _ -, at most 256 characters",
    )


def allowed(pattern: Any, name: str) -> bool:
    return NameRules(pattern, ()).refusal(name) is None


def blocked(pattern: Any, name: str) -> bool:
    return NameRules(None, (pattern,)).refusal(name) is not None


def test_an_allowing_pattern_has_to_match_the_whole_name() -> None:
    assert allowed("users:(list|get)", "users:list")
    assert not allowed("users:(list|get)", "users:listAll")
    assert not allowed("users:(list|get)", "evil_users:list")
    assert not allowed("users:list|posts", "xposts")


def test_a_pattern_that_says_where_it_begins_may_be_followed_by_more() -> None:
    assert allowed("^users:", "users:list")
    assert not allowed("^users:", "evil_users:list")
    assert not allowed("^users:|posts:", "evil_posts:list")
    assert not allowed("^users:list$", "users:listAll")


def test_case_counts_for_what_is_allowed_unless_the_pattern_says_otherwise() -> None:
    assert not allowed("users:list", "Users:List")
    assert allowed("(?i)users:list", "Users:List")
    assert allowed(re.compile("users:list", re.IGNORECASE), "Users:List")


def test_a_blocking_pattern_is_found_anywhere_in_any_case() -> None:
    assert blocked("delete", "users:DELETE_now")
    assert blocked(re.compile("delete"), "users:Delete")
    assert blocked("^admin", "Admin:x")
    assert not blocked("^admin", "users:admin")


def test_a_block_is_stronger_than_an_allowance() -> None:
    rules = NameRules("users:.*", ("delete",))
    assert rules.refusal("users:list") is None
    refused = rules.refusal("users:delete")
    assert refused is not None
    assert (refused.code, refused.message) == (
        "name_refused",
        "Operation not allowed: users:delete is blocked here",
    )


def test_what_is_not_allowed_is_named() -> None:
    refused = NameRules("users:.*", ()).refusal("posts:list")
    assert refused is not None
    assert refused.message == "Operation not allowed: posts:list is not among the names that are allowed here"


def test_no_patterns_are_no_rules() -> None:
    assert not NameRules(None, ())
    assert NameRules("a", ())
    assert NameRules(None, ("a",))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "(",
            "allowed_operation_pattern is not a regular expression: missing ), unterminated subpattern at position 0",
        ),
        ("", "allowed_operation_pattern must be a regular expression, not ''"),
        (3, "allowed_operation_pattern must be a regular expression, not 3"),
        (re.compile(b"a"), "allowed_operation_pattern must be a pattern of text, not of bytes"),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        NameRules(pattern, ())
    assert (caught.value.code, caught.value.message) == ("bad_config", message)


def test_the_message_says_which_of_several_patterns_is_none() -> None:
    with pytest.raises(ConfigError, match=r"^blocked_operation_patterns\[1\] is not"):
        NameRules(None, ("a", "["))


@given(st.text())
def test_every_text_is_judged(name: str) -> None:
    assert is_carried(name) == (re.fullmatch(r"[A-Za-z][A-Za-z0-9:._-]{0,255}", name) is not None)
