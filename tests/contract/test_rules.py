"""The rules beside a tool: what each accepts, and how it refuses."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ringfence.contract.rules import (
    MAX_DESCRIPTION,
    check_approval,
    check_description,
    check_retry_on,
    check_sandbox,
    check_tags,
    checked,
    one_of,
)
from tests.contract.helpers import config_error


class Place:
    name = "place"
    permissions = None

    def guarantees(self) -> dict[str, str]:
        return {}

    async def run(self, fn: Any, args: list[Any], *, signal: Any = None) -> Any:
        return fn(*args)

    async def aclose(self) -> None:
        return


class Nameless(Place):
    name = " "


class NoRun:
    name = "x"
    permissions = None


def test_a_description_is_kept_without_the_space_around_it() -> None:
    assert check_description("  Say it.\n", "tool 'x'") == "Say it."
    assert check_description("x" * MAX_DESCRIPTION, "tool 'x'") == "x" * MAX_DESCRIPTION


@pytest.mark.parametrize("value", ["", "  \n\t ", None, 3, b"x", "x" * (MAX_DESCRIPTION + 1)])
def test_a_blank_or_endless_description_is_refused(value: object) -> None:
    assert config_error(check_description, value, "tool 'x'").message.startswith("tool 'x': description ")


def test_approval_is_a_word_or_a_callback() -> None:
    assert check_approval("auto", "tool 'x'") == "auto"
    assert check_approval("human", "tool 'x'") == "human"
    assert check_approval(print, "tool 'x'") is print


@pytest.mark.parametrize("value", ["", False, True, 0, "Human", "AUTO", None, [], "yes", b"auto"])
def test_no_other_approval_is_read_as_automatic(value: object) -> None:
    error = config_error(check_approval, value, "tool 'x'")
    assert (error.code, error.message.startswith("tool 'x': approval must be")) == ("bad_config", True)


def test_a_choice_is_exact() -> None:
    assert one_of("read", ("read", None), "effect") == "read"
    assert one_of(None, ("read", None), "effect") is None
    assert one_of(False, (True, False), "idempotent") is False


@pytest.mark.parametrize("value", [1, 0, "True", "", math.nan, []])
def test_what_only_equals_a_choice_is_none(value: object) -> None:
    error = config_error(one_of, value, (True, False, None), "tool 'x': idempotent")
    assert error.message.startswith("tool 'x': idempotent must be one of True, False, None")


def test_tags_are_words_without_repetition_in_the_order_given() -> None:
    assert check_tags(["b", "a", "b"], "tool 'x'") == ("b", "a")
    assert check_tags((), "tool 'x'") == ()


@pytest.mark.parametrize("value", ["billing", None, 3, [3], [""], [" "], ["a", None]])
def test_tags_that_are_no_words_are_refused(value: object) -> None:
    error = config_error(check_tags, value, "tool 'x'")
    assert ("tag" in error.message, error.hint) == (True, 'write tags=("billing",)')


def test_a_driver_or_nothing_is_a_sandbox() -> None:
    place = Place()
    assert check_sandbox(place, "tool 'x'") is place
    assert check_sandbox(None, "tool 'x'") is None


@pytest.mark.parametrize("value", [Place, Nameless(), NoRun(), "local", True, lambda: None])
def test_what_has_not_all_of_a_drivers_methods_is_no_sandbox(value: object) -> None:
    error = config_error(check_sandbox, value, "tool 'x'")
    assert error.message.startswith("tool 'x': sandbox must be a driver (name, run), not ")


class Bare:
    name = "bare"

    def run(self, fn: Any, args: list[Any], *, signal: Any = None) -> Any:
        return fn(*args)


def test_a_name_and_run_make_a_driver() -> None:
    bare = Bare()
    assert check_sandbox(bare, "tool 'x'") is bare


@pytest.mark.parametrize("member", ["aclose", "guarantees"])
def test_what_a_driver_has_besides_must_be_callable(member: str) -> None:
    bare = Bare()
    setattr(bare, member, None)
    error = config_error(check_sandbox, bare, "tool 'x'")
    assert error.message == f"tool 'x': {member} of the sandbox 'bare' must be a method, or be left out"


def test_a_question_about_a_retry_is_answered_at_once() -> None:
    async def later(error: BaseException) -> bool:
        del error
        return True

    error = config_error(check_retry_on, later, "tool 'x'")
    assert (error.message, error.hint) == (
        "tool 'x': retry_on must answer at once, so it cannot be asynchronous",
        "write a def",
    )


class Unshown:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize("value", [[10**5000], Unshown()], ids=["digits", "repr"])
@pytest.mark.parametrize(
    "rule", ["retries", "timeout", "retry_on", "backoff", "approval", "effect", "lax", "max_result", "tags"]
)
def test_a_value_that_cannot_be_shown_is_refused_like_any_other(rule: str, value: object) -> None:
    given = [value] if rule == "tags" else value
    assert config_error(checked, {rule: given}, "tool 'x'").code == "bad_config"
