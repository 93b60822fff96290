"""What a guest sent, as values: hostile tags, sizes and shapes end as refusals or violations, never as anything else."""

from __future__ import annotations

import json
import uuid
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ringfence.contract.output import dump_plain
from ringfence.enclave.languages import JAVASCRIPT, PYTHON, Language
from ringfence.enclave.protocol import Call, Done, GlobalCall, Print, WireViolation, decode, print_allowance
from ringfence.enclave.received import MOST_TAGGED, Arguments, Printed, restored, take_arguments, take_done
from ringfence.enclave.results import Ending
from ringfence.errors import ErrorInfo
from ringfence.limits import RunLimits, ValueBudget
from ringfence.values import ValueRefused

BUDGET = ValueBudget(size=300, depth=3, nodes=20, members=3)
PLACE = {"id": 1, "line": 1, "site": "1:1", "task": "0", "seq": 0}


def call(args: Any, **more: Any) -> Call | GlobalCall:
    frame = decode(json.dumps({"t": "call", **PLACE, "name": "a", "args": args, **more}).encode())
    assert isinstance(frame, Call)
    return frame


def function(args: Any, **more: Any) -> Call | GlobalCall:
    frame = decode(json.dumps({"t": "global", **PLACE, "function": 0, "args": args, **more}).encode())
    assert isinstance(frame, GlobalCall)
    return frame


def done(value: Any, **more: Any) -> Done:
    frame = decode(json.dumps({"t": "done", "value": value, **more}).encode())
    assert isinstance(frame, Done)
    return frame


def test_arguments_are_canonical_and_keep_their_tags() -> None:
    taken = take_arguments(call({"b": 1, "a": "2026-01-02"}, tags={"date": [["a"]]}), BUDGET)
    assert isinstance(taken, Arguments)
    assert (taken.data, taken.tags) == (b'{"a":"2026-01-02","b":1}', {"date": [["a"]]})
    assert restored(taken.data, taken.tags, BUDGET) == {"a": date(2026, 1, 2), "b": 1}


@pytest.mark.parametrize(
    ("fault", "hint"),
    [
        ("argument a: nan is not a finite number", "replace NaN and infinities, e.g. by None"),
        ("argument a: a key is of type int; use str(key)", None),  # says it itself
        ("arguments of 5 MB", None),
    ],
)
def test_a_fault_that_the_guest_found_gets_its_fix(fault: str, hint: str | None) -> None:
    taken = take_arguments(call(None, fault=fault), BUDGET)
    assert taken == ErrorInfo(code="invalid_input", message=fault, hint=hint)


@pytest.mark.parametrize("tags", [None, {}])
def test_no_tags_are_none(tags: Any) -> None:
    taken = take_arguments(call({"a": 1}, tags=tags), BUDGET)
    assert isinstance(taken, Arguments)
    assert (taken.tags, taken.value) == (None, {"a": 1})


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "Tool arguments must be an object"),
        ("x", "Tool arguments must be an object"),
        (None, "Tool arguments must be an object"),
        ({"a": [[[1]]]}, "nested deeper than 3 levels"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "an object of more than 3 members"),
        ({"a": [{"a": 1, "b": 2, "c": 3, "d": 4}]}, "an object of more than 3 members"),
        ({"a": [0] * 30}, "more than 20 values"),
        ({"a": "x" * 400}, "bytes of JSON, more than 300"),
    ],
)
def test_arguments_beyond_the_budget_are_refused_and_name_it(args: Any, text: str) -> None:
    """T15."""
    taken = take_arguments(call(args), BUDGET)
    assert isinstance(taken, ErrorInfo)
    assert taken.code == "invalid_input"
    assert text in taken.message


def test_a_fault_that_the_guest_found_is_believed() -> None:
    taken = take_arguments(call(None, fault="argument a: a value of type object is not data"), BUDGET)
    assert taken == ErrorInfo(code="invalid_input", message="argument a: a value of type object is not data")


BAD_TAGS: list[Any] = [
    5,
    [],
    {"regex": [["a"]]},
    {"date": [["b"]]},
    {"date": [["a", 0]]},
    {"date": [[0]]},
    {"date": [[]]},
    {"date": [["a"], ["a"]]},
    {"date": "a"},
    {"date": [[True]]},
    {"date": [[1.5]]},
    {"decimal": [["a"]]},
    {"date": [["n"]]},
    {"date": [["x"] * 50]},
    {"date": [["x" * 400]]},
]


@pytest.mark.parametrize("tags", BAD_TAGS)
@pytest.mark.parametrize("make", [call, done])
def test_tags_that_do_not_fit_break_the_protocol(make: Any, tags: Any) -> None:
    frame = make({"a": "2026-01-02", "n": 1}, tags=tags)
    with pytest.raises(WireViolation):
        take_done(frame, BUDGET, variables=False) if isinstance(frame, Done) else take_arguments(frame, BUDGET)


@pytest.mark.parametrize("args", [{}, [], [[]], [[], {}, 1], [{}, []], [1, {}], "x", None])
def test_a_functions_arguments_are_a_list_and_an_object(args: Any) -> None:
    with pytest.raises(WireViolation):
        take_arguments(function(args), BUDGET)


def test_a_functions_arguments_are_taken_like_a_tools() -> None:
    taken = take_arguments(function([["1.50"], {"n": 1}], tags={"decimal": [[0, 0]]}), BUDGET)
    assert isinstance(taken, Arguments)
    assert restored(taken.data, taken.tags, BUDGET) == [[Decimal("1.50")], {"n": 1}]


def test_a_value_arrives_with_its_variables() -> None:
    frame = done(
        [str(uuid.UUID(int=1))],
        tags={"uuid": [[0]]},
        variables={"a": "2026-01-02", "b": 1},
        variable_tags={"date": [["a"]]},
    )
    assert take_done(frame, BUDGET, variables=True) == Ending(
        value=[uuid.UUID(int=1)], variables={"a": date(2026, 1, 2), "b": 1}
    )
    assert take_done(done(1), BUDGET, variables=False) == Ending(value=1)


def test_names_that_were_not_kept_arrive_once_and_sorted() -> None:
    frame = done(1, variables={"b": 1}, unkept=["c", "a", "b", "a"])
    assert take_done(frame, BUDGET, variables=True) == Ending(value=1, variables={"b": 1}, unkept=("a", "c"))


@pytest.mark.parametrize("part", ["value", "variables"])
def test_a_value_or_variables_beyond_the_budget_are_too_large(part: str) -> None:
    taken = take_done(done(**{"value": 1, part: {"a": [[[[1]]]]}}), BUDGET, variables=part == "variables")
    assert taken.error is not None
    assert (taken.error.code, taken.error.data["code"]) == ("SERIALIZATION_LIMIT_EXCEEDED", "result_too_large")


@pytest.mark.parametrize(
    ("frame", "asked"),
    [
        (done(1, variables=[1]), True),
        (done(1, variables={}), False),
        (done(1), True),
        (done(1, unkept=["a"]), False),
        (done(1, variable_tags={}), False),
    ],
)
def test_variables_are_an_object_and_there_exactly_where_they_were_asked_for(frame: Done, asked: bool) -> None:
    with pytest.raises(WireViolation):
        take_done(frame, BUDGET, variables=asked)


@pytest.mark.parametrize("name", ["not a name", "", "class", "_x", "__x", "1a", "a.b"])
def test_variables_have_names_that_a_script_can_write(name: str) -> None:
    with pytest.raises(WireViolation):
        take_done(done(1, variables={"a": 1, name: 1}), BUDGET, variables=True)


@pytest.mark.parametrize("name", ["not a name", "", "class", "_x", "__x", "1a", "a.b", "a\u00e9-", "\u00e9 "])
def test_variables_of_javascript_have_names_that_an_engine_may_take(name: str) -> None:
    with pytest.raises(WireViolation):
        take_done(done(1, variables={"a": 1, name: 1}), BUDGET, variables=True, language=JAVASCRIPT)


@pytest.mark.parametrize("language", [PYTHON, JAVASCRIPT])
@pytest.mark.parametrize("name", ["\u037ax", "\u309b", "\U0001fffe"])
def test_a_variable_whose_name_only_another_unicode_has_is_not_kept(name: str, language: Language) -> None:
    """The next run could not be given it, and a script that named it is honest."""
    kept = take_done(done(1, variables={"a": 1, name: 2}), BUDGET, variables=True, language=language)
    assert kept == Ending(value=1, variables={"a": 1}, unkept=(name,))


def test_a_variable_with_the_name_of_something_else_is_dropped() -> None:
    """What comes back can be given to the next run."""
    frame = done(1, variables={"inputs": "2026-01-02", "a": 1}, variable_tags={"date": [["inputs"]]})
    assert take_done(frame, BUDGET, variables=True, taken={"inputs"}) == Ending(value=1, variables={"a": 1})


def test_a_variable_that_is_too_deep_for_the_next_run_is_not_kept() -> None:
    def nested(depth: int) -> Any:
        return [nested(depth - 1)] if depth else 1

    frame = done(1, variables={"deep": nested(64), "fits": nested(63)})
    kept = take_done(frame, ValueBudget(depth=400), variables=True)
    assert kept == Ending(value=1, variables={"fits": nested(63)}, unkept=("deep",))
    with pytest.raises(ValueRefused):
        dump_plain({"deep": nested(64)})
    dump_plain(kept.variables)


def test_arguments_that_look_richer_without_their_escapes_are_refused() -> None:
    """They are parsed again to be served, where nobody expects a refusal."""
    texts = ["\u002c" * 3] * 400_000
    raw = ('{"a":["' + '","'.join(texts) + '"]}').encode()
    frame = decode(b'{"t":"call","id":1,"line":1,"site":"1","task":"0","seq":0,"name":"a","args":' + raw + b"}")
    assert isinstance(frame, Call)
    budget = ValueBudget(size=len(raw))
    taken = take_arguments(frame, budget)
    assert isinstance(taken, ErrorInfo)
    assert taken.code == "invalid_input"


def test_arguments_say_what_they_hold_with_their_tags() -> None:
    plain, tagged = (take_arguments(call({"a": "2026-01-02"}, tags=tags), BUDGET) for tags in (None, {"date": [["a"]]}))
    assert isinstance(plain, Arguments)
    assert isinstance(tagged, Arguments)
    assert (plain.size, tagged.size > plain.size, tagged.value) == (plain.size, True, {"a": "2026-01-02"})
    many = take_arguments(call({"a": [{"": 0.5}] * 4_000}), ValueBudget())
    assert isinstance(many, Arguments)
    assert many.size > 184 * 4_000


def test_so_many_tags_that_they_take_long_are_refused_as_too_many() -> None:
    many = ["1"] * (MOST_TAGGED + 1)
    tags = {"decimal": [["a", n] for n in range(len(many))]}
    taken = take_arguments(call({"a": many}, tags=tags), ValueBudget())
    assert isinstance(taken, ErrorInfo)
    assert (taken.code, "more than 100000 dates" in taken.message) == ("invalid_input", True)
    ended = take_done(done({"a": many}, tags=tags), ValueBudget(), variables=False)
    assert ended.error is not None
    assert ended.error.code == "SERIALIZATION_LIMIT_EXCEEDED"


def test_printed_text_is_kept_up_to_its_limit() -> None:
    limits = RunLimits(timeout=1.0, max_tool_calls=0, max_global_calls=0, max_iterations=None, output=5)
    printed = Printed(limits)
    assert [printed.add("ab"), printed.add("é"), printed.add("é"), printed.add("x")] == [True, True, False, False]
    assert (printed.text(), printed.size) == ("abé", 5)
    with pytest.raises(WireViolation):
        for _ in range(print_allowance(limits)):
            printed.add("")
    assert isinstance(decode(b'{"t":"print","text":"x"}'), Print)
