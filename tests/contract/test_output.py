"""Results: declared ones are held to their declaration, others to the table of plain values."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, TypeAdapter, field_serializer
from typing_extensions import TypedDict

from ringfence.contract.advice import fix_for
from ringfence.contract.door import as_output_schema
from ringfence.contract.hints import UNDECLARED
from ringfence.contract.output import PydanticOutput
from ringfence.values import ValueRefused
from tests.contract.helpers import config_error, refusal


class Color(Enum):
    RED = "red"


class Order(BaseModel):
    id: int
    total: float = 0.0
    note: str | None = None


class Sub(Order):
    secret: str = "hidden"


@dataclasses.dataclass
class Record:
    a: Any


class Row(TypedDict):
    a: int


class Duck:
    id = 1
    total = 1.0
    note = None


def output(hint: Any = UNDECLARED) -> PydanticOutput:
    made = as_output_schema(hint, "tool 'x': output")
    assert isinstance(made, PydanticOutput)
    return made


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ({"a": [1, 1.5, True, None, "é"]}, '{"a":[1,1.5,true,null,"é"]}'),
        ((1, 2), "[1,2]"),
        ({3}, "[3]"),
        (Color.RED, '"red"'),
        (Record(a={"b": Record(a=1)}), '{"a":{"b":{"a":1}}}'),
        (Order(id=1), '{"id":1,"total":0.0,"note":null}'),
        ([Sub(id=1)], '[{"id":1,"total":0.0,"note":null,"secret":"hidden"}]'),
        (datetime(2024, 1, 2, 3, tzinfo=UTC), '"2024-01-02T03:00:00Z"'),
        (date(2024, 1, 2), '"2024-01-02"'),
        (timedelta(seconds=90), '"PT1M30S"'),
        (Decimal("1.10"), '"1.10"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (b"\xff\xfe", '"__4="'),
        (2**70, str(2**70)),
        ("NaN Infinity null", '"NaN Infinity null"'),
    ],
)
def test_an_undeclared_result_is_dumped_by_a_fixed_rule(value: object, text: str) -> None:
    assert output().dump(value).decode() == text
    assert output().json_schema() is None


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        (math.nan, "", "not a finite number"),
        ({"a": [1, math.inf]}, "a[1]", "not a finite number"),
        (Record(a=-math.inf), "a", "not a finite number"),
        ({"a": Order(id=1, total=math.nan)}, "a.total", "not a finite number"),
        ("\ud800", "", "text with a lone surrogate, which is not Unicode"),
        ({"\ud800": 1}, "", "text with a lone surrogate, which is not Unicode"),
        ([lambda: None], "[0]", "a function is not a JSON value"),
        ((n for n in [1]), "", "a generator is not a JSON value"),
        ({1: 2}, "", "an object key is a int, not text"),
        ([Duck()], "[0]", "a Duck is not a JSON value"),
    ],
)
def test_an_undeclared_result_that_is_no_value_is_refused_with_its_path(value: object, path: str, reason: str) -> None:
    assert refusal(output(), value) == (path, reason)


def test_a_whole_number_that_nobody_could_read_back_is_refused() -> None:
    reason = "holds a whole number of more than 4300 digits"
    assert refusal(output(), [10**4_300]) == ("", reason)
    assert refusal(output(list[int]), [10**4_300]) == ("", reason)
    assert output().dump(10**4_299) == b"1" + b"0" * 4_299


def test_many_digits_in_a_text_are_a_text() -> None:
    assert output().dump("7" * 9_000) == b'"' + b"7" * 9_000 + b'"'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(JSON)
def test_every_json_value_survives_undeclared_and_loosely_declared(value: Any) -> None:
    for made in (output(), output(list[Any]), output(object)):
        sent = [value] if made.json_schema() is not None else value
        assert json.loads(made.dump(sent)) == sent


@pytest.mark.slow
def attempt(value: object) -> object:
    """What is read back, or the reason of the refusal."""
    try:
        data = output().dump(value)
    except ValueRefused as error:
        return error.reason
    return json.loads(data, parse_constant=pytest.fail)


@given(st.lists(st.floats()), st.booleans())
def test_a_dump_is_json_or_refused(numbers: list[float], named: bool) -> None:
    value = {"a": {str(at): number for at, number in enumerate(numbers)}} if named else numbers
    assert attempt(value) == (value if all(map(math.isfinite, numbers)) else "not a finite number")


def test_instances_pass_and_plain_data_becomes_what_was_declared() -> None:
    made = output(list[Order])
    assert made.dump([Order(id=1), {"id": 2, "total": "3"}]) == (
        b'[{"id":1,"total":0.0,"note":null},{"id":2,"total":3.0,"note":null}]'
    )


def test_the_schema_of_a_declared_result_describes_what_is_dumped() -> None:
    class Aliased(BaseModel):
        order_id: int = Field(alias="orderId")

    made = as_output_schema(Aliased, "output", "The order.")
    assert made.json_schema() == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Aliased",
        "type": "object",
        "properties": {"orderId": {"type": "integer"}},
        "required": ["orderId"],
        "description": "The order.",
    }
    assert made.dump(Aliased(orderId=1)) == b'{"orderId":1}'


@pytest.mark.parametrize(
    ("hint", "value", "path", "reason"),
    [
        (Order, {"id": "x"}, "id", "not what was declared: Input should be a valid integer, "
         "unable to parse string as an integer"),
        (Order, {}, "id", "not what was declared: Field required"),
        (Order, Duck(), "", "not what was declared: Input should be a valid dictionary or instance of Order"),
        (list[Order], [Order(id=1), 7, 8], "[1]",
         "not what was declared: Input should be a valid dictionary or instance of Order (and 1 more)"),
        (None, 3, "", "not what was declared: Input should be None"),
        (int, "hunter2x", "", "not what was declared: Input should be a valid integer, "
         "unable to parse string as an integer"),
        (float, math.nan, "", "not a finite number"),
        (list[float], [1.0, math.inf], "[1]", "not a finite number"),
        (Order, Order(id=1, total=math.nan), "total", "not a finite number"),
        (list[Order], [Order(id=1), Order(id=2, total=math.inf)], "[1].total", "not a finite number"),
        (dict[str, Any], {"a": {1: 2}}, "a", "an object key is a int, not text"),
        (list[Any], [lambda: None], "[0]", "a function is not a JSON value"),
        (Order, Order(id=1, note="\ud800"), "", "text with a lone surrogate, which is not Unicode"),
        (Row, {"a": None}, "a", "not what was declared: Input should be a valid integer"),
    ],
)  # fmt: skip
def test_a_result_that_is_not_what_was_declared_is_refused(hint: Any, value: Any, path: str, reason: str) -> None:
    assert refusal(output(hint), value) == (path, reason)


@pytest.mark.filterwarnings("error")
class Blob(BaseModel):
    parts: list[bytes]


def test_bytes_that_a_model_writes_as_text_are_refused_by_their_place() -> None:
    value = {"blob": Blob(parts=[b"ok", b"\xff"])}
    for declared in (dict[str, Blob], UNDECLARED):
        expected = ("blob.parts[1]", "bytes that are not UTF-8 text, as its type writes them")
        assert refusal(output(declared), value) == expected
    assert fix_for(expected[1]) == 'write ser_json_bytes="base64" into the model\'s configuration'


def test_an_instance_with_wrong_fields_is_an_error_and_not_a_warning() -> None:
    wrong = Order.model_construct(id="x", total=1.0, note=None)
    assert refusal(output(Order), wrong) == ("", "not what was declared: a part of it should be int")
    assert refusal(output(), [wrong]) == ("", "not what was declared: a part of it should be int")


def test_a_subclass_shows_what_was_declared_and_no_more() -> None:
    assert output(Order).dump(Sub(id=1)) == b'{"id":1,"total":0.0,"note":null}'


def test_the_kind_of_a_declared_result_may_be_one_that_the_table_lacks() -> None:
    assert output(PurePosixPath).dump(PurePosixPath("a/b")) == b'"a/b"'
    assert output(dict[int, str]).dump({1: "a"}) == b'{"1":"a"}'
    assert output(bytes).dump(b"\xff") == b'"_w=="'
    assert output(Row).dump({"a": 1}) == b'{"a":1}'


def test_a_result_that_can_be_read_once_is_dumped_once() -> None:
    made = output(Iterable[float])
    assert made.dump(iter([1.0, 2.0])) == b"[1.0,2.0]"
    assert refusal(made, iter([1.0, math.nan])) == ("", "holds a number that is not finite")


def test_a_serialiser_that_hides_a_number_is_taken_at_its_word() -> None:
    class Quiet(BaseModel):
        ratio: float

        @field_serializer("ratio")
        def hide(self, value: float) -> float | None:
            return value if math.isfinite(value) else None

    assert output(Quiet).dump(Quiet(ratio=math.nan)) == b'{"ratio":null}'


def test_a_serialiser_or_validator_that_breaks_refuses_the_result_by_its_class() -> None:
    def explode(value: Any) -> Any:
        raise KeyError("secret")

    for hint in (Annotated[int, PlainSerializer(explode)], Annotated[int, AfterValidator(explode)]):
        path, reason = refusal(output(hint), 1)
        assert (path, reason.split(" ", 1)[1]) == ("", f"{reason.split()[1]} raised KeyError")


def test_what_a_model_holds_and_pydantic_cannot_dump_is_refused_by_its_class() -> None:
    class Holder(BaseModel):
        a: Any

    assert refusal(output(Holder), Holder(a=[Duck()])) == ("", "a Duck is not a JSON value")
    assert refusal(output(Holder), Holder(a=b"\xff"))[0] == "a"


def test_a_cycle_of_models_is_refused() -> None:
    class Node(BaseModel):
        next: Any = None

    node = Node()
    node.next = node
    assert refusal(output(Node), node) == ("", "nested too deeply, or cyclic")


def test_a_declaration_that_pydantic_cannot_describe_is_a_bad_schema() -> None:
    error = config_error(output, Duck)
    assert (error.code, error.message.startswith("tool 'x': output: pydantic says: ")) == ("bad_schema", True)


def test_a_declaration_that_cannot_be_published_is_a_bad_schema() -> None:
    class Held(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        a: Duck

    assert config_error(output, Held).code == "bad_schema"


def test_a_declaration_over_the_budget_is_a_bad_schema() -> None:
    assert config_error(output, Annotated[int, Field(description="d" * 300_000)]).code == "bad_schema"


def test_an_adapter_may_be_given_and_an_output_is_kept() -> None:
    made = output(TypeAdapter(list[int]))
    assert made.dump([1]) == b"[1]"
    assert as_output_schema(made, "elsewhere") is made


def test_a_callers_copy_of_the_schema_changes_nothing() -> None:
    made = output(Order)
    copy = made.json_schema()
    assert copy is not None
    copy.clear()
    assert made.json_schema() != {}


@pytest.mark.slow
def test_ten_thousand_rows_cost_no_more_than_a_few_plain_dumps() -> None:
    class Item(BaseModel):
        a: int
        b: str
        c: float
        d: int | None
        e: bool

    rows = [{"a": at, "b": "text", "c": 1.5, "d": None, "e": True} for at in range(10_000)]
    items = [Item(**row) for row in rows]  # type: ignore[arg-type]
    for made, value in ((output(), rows), (output(list[Item]), items), (output(list[dict[str, Any]]), rows)):
        assert json.loads(made.dump(value)) == rows
