"""Session variables of JavaScript scripts: what fits is kept, what does not is named, and the run succeeds either way."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from tests.enclave.kit import Stage, code


def ran(stage: Stage, source: str, **options: Any) -> tuple[str | None, list[str], tuple[str, ...]]:
    kept: dict[str, Any] = {}
    result = stage.run(stage.enclave(language="javascript", **options).run(source, variables=kept))
    return code(result), list(kept), result.unkept


def test_variables_keep_their_kinds(stage: Stage) -> None:
    kept: dict[str, Any] = {"n": 1}
    source = (
        "n = 2n ** 70n\nconst at = new Date(0), bytes = new Uint8Array([1]), groups = new Map([['a', new Set([1])]])"
    )
    stage.run(stage.enclave(language="javascript").run(source, variables=kept))
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert kept == {"n": 2**70, "at": epoch, "bytes": b"\x01", "groups": {"a": [1]}}


def test_what_is_no_data_is_left_out(stage: Stage) -> None:
    source = "const a = 1, f = () => a, bad = [NaN], keys = new Map([[1, 2]]), it = [1].values(); class A {}\nf()"
    assert ran(stage, source) == (None, ["a"], ("bad", "it", "keys"))


@pytest.mark.parametrize("name", ["\u037ax", "\u309b"])
def test_a_name_of_the_engine_that_the_host_does_not_know_costs_nothing_but_its_variable(
    name: str, stage: Stage
) -> None:
    assert ran(stage, f"const a = 1, {name} = 2; {name}") == (None, ["a"], (name,))


@pytest.mark.parametrize("name", ["\u00e9", "\ufb01", "\u212b", "$", "async", "toString", "constructor"])
def test_a_name_that_is_odd_elsewhere_is_kept_and_given_again(name: str, stage: Stage) -> None:
    kept: dict[str, Any] = {name: 1}
    result = stage.run(stage.enclave(language="javascript").run(f"{name} += 1", variables=kept))
    assert (result.error, kept) == (None, {name: 2})


@pytest.mark.slow
@pytest.mark.parametrize(
    "each",
    [
        pytest.param("'\u6f22'.repeat(900000)", id="bytes"),
        pytest.param("Array(600000).fill(1)", id="values"),
        pytest.param("Array(120000).fill([])", id="empty lists"),
        pytest.param("Array(60000).fill(new Date(0))", id="dates"),
    ],
)
def test_variables_that_are_too_much_together_are_left_out_one_by_one(stage: Stage, each: str) -> None:
    names = [f"v{number}" for number in range(12)]
    source = "\n".join(f"const {name} = {each};" for name in names) + "\nconst last = 1;"
    error, kept, unkept = ran(stage, source)
    assert (error, kept[0], kept[-1], unkept[-1]) == (None, "v0", "last", "v9")
    assert sorted([*kept, *unkept]) == sorted([*names, "last"])


def test_no_more_variables_are_kept_than_an_object_may_have_members(stage: Stage) -> None:
    error, kept, unkept = ran(stage, "const a = 1, b = 2, c = 3;", max_value_members=2)
    assert (error, kept, unkept) == (None, ["a", "b"], ("c",))
