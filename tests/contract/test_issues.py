"""Issues: paths into the value, messages without it."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    ImportString,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError, from_json

from ringfence.contract.issues import (
    MAX_ISSUES,
    Mask,
    Suggestions,
    internal_issue,
    issues_of,
    join_path,
    unknown_argument,
)
from ringfence.errors import Issue


class Card(BaseModel):
    kind: Literal["card"]
    number: int


class Cash(BaseModel):
    kind: Literal["cash"]


class Basket(BaseModel):
    pay: Annotated[Card | Cash, Discriminator("kind")]
    mixed: int | list[int] | None = None
    id: UUID | None = None


def found(hint: Any, data: str) -> list[Issue]:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(hint).validate_json(data, strict=True)
    return list(issues_of(caught.value, from_json(data)))


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        ('{"pay":{"kind":"card","number":"x"}}', ["pay.number"]),
        ('{"pay":{"kind":"card"}}', ["pay.number"]),
        ('{"pay":{"kind":"cash"},"mixed":[1,"x"]}', ["mixed", "mixed[1]"]),
        ('{"pay":{"kind":"cash"},"mixed":"x"}', ["mixed", "mixed"]),
        ('{"pay":7}', ["pay"]),
        ("{}", ["pay"]),
    ],
)
def test_a_path_leads_through_the_value_and_skips_the_names_of_branches(data: str, paths: list[str]) -> None:
    assert [issue["path"] for issue in found(Basket, data)] == paths


def test_paths_join_names_with_dots_and_positions_with_brackets() -> None:
    assert join_path(join_path(join_path(join_path("", "a"), 0), 1), "b") == "a[0][1].b"
    assert join_path("", 3) == "[3]"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"pay":{"kind":"hunter2"}}', "Input has an unknown tag, expected 'card', 'cash'"),
        ('{"pay":{"kind":"cash"},"id":"hunter2"}', "Input should be a valid UUID"),
    ],
)
def test_pydantics_own_echoes_of_the_input_are_left_out(data: str, message: str) -> None:
    assert [issue["message"] for issue in found(Basket, data)] == [message]


def repeat(value: Any) -> Any:
    raise ValueError(f"cannot use {value} here ({value!r})")


def convert(value: str) -> int:
    return int(value)


def custom(value: str) -> str:
    raise PydanticCustomError("out_of_stock", "no {item} left", {"item": value})


def promise(value: str) -> str:
    assert value == "never", f"{value} is not never"
    return value


@pytest.mark.parametrize(
    ("check", "code", "message"),
    [
        (repeat, "value_error", "Value error, cannot use … here ('…')"),
        (convert, "value_error", "Value error, invalid literal for int() with base 10: '…'"),
        (custom, "out_of_stock", "no … left"),
        (promise, "assertion_error", "Assertion failed, … is not never"),
    ],
)
def test_an_authors_message_is_kept_without_the_value_it_repeats(check: Any, code: str, message: str) -> None:
    (issue,) = found(Annotated[str, AfterValidator(check)], '"hunter2"')
    assert (issue["code"], issue["message"].split("\n")[0]) == (code, message)


def test_values_inside_a_refused_container_are_masked_and_its_names_are_not() -> None:
    def check(value: dict[str, Any]) -> Any:
        raise ValueError(f"password {value['password']} and {value['more'][0]} do not fit")

    hint = Annotated[dict[str, Any], AfterValidator(check)]
    (issue,) = found(hint, '{"password":"hunter2","more":[123456]}')
    assert issue["message"] == "Value error, password … and … do not fit"


def test_a_short_value_does_not_tear_holes_into_the_text() -> None:
    def check(value: str) -> str:
        raise ValueError("must be even")

    (issue,) = found(Annotated[str, AfterValidator(check)], '"e"')
    assert issue["message"] == "Value error, must be even"


@given(st.text(min_size=8))
def test_no_longer_text_gets_through_an_authors_message(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Annotated[str, AfterValidator(repeat)]).validate_python(text)
    (issue,) = issues_of(caught.value, text)
    assert text not in issue["message"].removeprefix("Value error, cannot use ")


def test_many_issues_are_cut_and_counted() -> None:
    data = "[" + ",".join(['"x"'] * 500) + "]"
    issues = found(list[int], data)
    assert [issue["path"] for issue in issues] == [f"[{at}]" for at in range(MAX_ISSUES)] + [""]
    assert issues[-1] == {"path": "", "message": "500 problems in all", "code": "more_issues"}


def test_the_same_problem_of_one_place_is_told_once() -> None:
    assert len(found(dict[str, int | bool | None], '{"a":"x"}')) == 2


def test_endless_names_and_messages_are_cut() -> None:
    def check(value: Any) -> Any:
        raise ValueError("y" * 10_000)

    (issue,) = found(dict[str, Annotated[int, AfterValidator(check)]], f'{{"{"n" * 10_000}":1}}')
    assert (len(issue["path"]), len(issue["message"])) == (200, 500)


def test_a_broken_validator_shows_its_class_only() -> None:
    assert internal_issue(KeyError("secret")) == {
        "path": "",
        "message": "a validator raised KeyError",
        "code": "validator_error",
    }


def test_the_nearest_name_is_looked_for_a_few_times_however_many_are_unknown() -> None:
    known = Suggestions(["amount"])
    said = [unknown_argument("amout", "", known)["message"] for _ in range(5)]
    assert said == ["no such argument; did you mean 'amount'?"] * 3 + ["no such argument"] * 2


class Login(BaseModel):
    password: str
    again: str
    free: dict[str, int] = {}

    @field_validator("again")
    @classmethod
    def same(cls, value: str, info: ValidationInfo) -> str:
        raise ValueError(f"{value} != {info.data['password']}")

    @field_validator("free")
    @classmethod
    def known(cls, value: dict[str, int]) -> dict[str, int]:
        raise PydanticCustomError("free", "bad {what}", {"what": str(value)})


def test_values_of_other_fields_and_keys_of_free_objects_are_masked() -> None:
    data = '{"password":"hunter2-secret","again":"other-secret","free":{"CANARY-KEY":1}}'
    assert [issue["message"] for issue in found(Login, data)] == ["Value error, … != …", "bad {'…': 1}"]


def test_a_text_is_withheld_when_there_is_too_much_to_take_out_of_it() -> None:
    hint = Annotated[list[int], AfterValidator(lambda items: fail(f"has {items[0]}"))]
    (issue,) = found(hint, str([*range(100_000, 105_000)]))
    assert issue["message"] == "refused by a validator"


def fail(text: str) -> Any:
    raise ValueError(text)


def test_a_number_that_cannot_be_written_is_not_looked_for() -> None:
    assert Mask([10**5000, 123456])("saw 123456") == "saw …"


def test_the_name_of_a_module_that_cannot_be_imported_is_not_told() -> None:
    (issue,) = found(ImportString, '"canary.module"')
    assert issue == {"path": "", "message": "Input cannot be imported", "code": "import_error"}
