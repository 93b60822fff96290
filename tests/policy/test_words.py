"""Names are read word by word, and no word is found inside another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.policy import words
from ringfence.policy.words import are_adjacent
from ringfence.policy.words import words as split


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("users:list", ("users", "list")),
        ("getUser", ("get", "user")),
        ("mail.send_now-please/today", ("mail", "send", "now", "please", "today")),
        ("HTTPServer", ("http", "server")),
        ("parseURL", ("parse", "url")),
        ("URL", ("url",)),
        ("list2", ("list",)),
        ("v1:getUser2", ("v", "get", "user")),
        ("BULK_EXPORT", ("bulk", "export")),
        ("api_key", ("apikey",)),
        ("APIKeys:rotate", ("apikeys", "rotate")),
        ("api:call", ("api", "call")),
        ("key_api", ("key", "api")),
        ("", ()),
        ("1234", ()),
        ("é", ()),
    ],
)
def test_a_name_is_split_at_marks_digits_and_humps(name: str, expected: tuple[str, ...]) -> None:
    assert split(name) == expected


@pytest.mark.parametrize(
    ("name", "meanings"),
    [
        ("widget:update", words.READS),  # get
        ("target.budget", words.READS),
        ("thread.open", words.READS),  # read
        ("research", words.READS),  # search
        ("posts:list", words.SENDS),  # post
        ("author.name", words.CREDENTIALS),  # auth
        ("monkey.feed", words.CREDENTIALS),  # key
        ("capital.of", words.EXTERNAL),  # api
        ("install", words.BULK),
        ("massage", words.BULK),
        ("clearance.level", words.DELETES),
    ],
)
def test_a_word_inside_another_means_nothing(name: str, meanings: frozenset[str]) -> None:
    assert meanings.isdisjoint(split(name))


def test_lists_hold_only_what_a_name_can_be_split_into() -> None:
    for meanings in (words.READS, words.SENDS, words.DELETES, words.CREDENTIALS, words.EXTERNAL, words.BULK):
        assert all(split(word) == (word,) for word in meanings)


def test_adjacent_words_are_in_order_and_next_to_each_other() -> None:
    assert are_adjacent(split("exportAll"), "export", "all")
    assert not are_adjacent(split("all.export"), "export", "all")
    assert not are_adjacent(split("export_them_all"), "export", "all")
    assert not are_adjacent((), "export", "all")


@given(st.text())
def test_any_text_has_words_of_lower_case_letters(name: str) -> None:
    assert all(word.isascii() and word.isalpha() and word.islower() for word in split(name))


def test_a_text_of_any_length_is_read_once() -> None:
    assert split("A" * 100_000 + "b" * 100_000) == ("a" * 99_999, "a" + "b" * 100_000)
    assert len(split("aB" * 50_000)) == 50_001
