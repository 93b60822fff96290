"""Session variables (decision 24): given by name, found at the script's top level, and given back when it succeeds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code


def ran(stage: Stage, source: str, variables: Mapping[str, Any] | None) -> rf.RunResult:
    return stage.run(stage.enclave().run(source, variables=variables))


def test_what_the_top_level_holds_is_given_back(stage: Stage) -> None:
    given: dict[str, Any] = {"total": Decimal("1.50"), "rows": [1], "gone": 1}
    result = ran(
        stage, "total += 1\nrows.append(len(rows))\nsince = __import__('datetime').date(2026, 1, 2)\ndel gone", given
    )
    assert (code(result), result.variables) == (
        None,
        {"total": Decimal("2.50"), "rows": [1, 1], "since": date(2026, 1, 2)},
    )
    assert given == result.variables


def test_only_data_is_kept(stage: Stage) -> None:
    source = "import json\ndef f(): return 1\nclass C: pass\nc = C()\ng = (n for n in [1])\n_hidden = 1\nx = f()"
    result = ran(stage, source, {})
    assert (code(result), result.variables, result.unkept) == (None, {"x": 1}, ("c", "g"))


@pytest.mark.parametrize("value", ["{1: 2}", "float('nan')", "'x' * 6_000_000", "lambda: 1"])
def test_a_variable_that_could_not_be_kept_is_named(stage: Stage, value: str) -> None:
    given: dict[str, Any] = {"x": 1, "y": 1}
    result = ran(stage, f"x = {value}", given)
    assert (code(result), result.unkept, given) == (None, ("x",), {"y": 1})


def test_a_variable_that_was_deleted_is_no_loss(stage: Stage) -> None:
    result = ran(stage, "del x", {"x": 1})
    assert (result.variables, result.unkept) == ({}, ())


def test_runs_one_after_another_go_on_where_the_last_one_ended(stage: Stage) -> None:
    session: dict[str, Any] = {}
    for source in ("n = 1", "n = n + 1", "n = n * 10\nn"):
        result = ran(stage, source, session)
    assert (result.value, session) == (20, {"n": 20})


def test_a_run_that_fails_changes_nothing(stage: Stage) -> None:
    session = {"n": 1}
    result = ran(stage, "n = 2\n1 / 0", session)
    assert (code(result), result.variables, session) == ("RUNTIME_ERROR", None, {"n": 1})


def test_without_variables_nothing_is_kept(stage: Stage) -> None:
    assert ran(stage, "n = 2", None).variables is None
    assert ran(stage, "n", None).error is not None


def test_a_mapping_that_cannot_be_written_is_left_alone(stage: Stage) -> None:
    given = MappingProxyType({"n": 1})
    assert ran(stage, "n += 1", given).variables == {"n": 2}
    assert given == {"n": 1}


@pytest.mark.parametrize("name", ["call_tool", "inputs", "a b"])
def test_a_variable_hides_nothing(stage: Stage, name: str) -> None:
    with pytest.raises(rf.ConfigError, match=r"^variables"):
        ran(stage, "1", {name: 1})


def test_a_variable_that_is_no_data_is_refused(stage: Stage) -> None:
    with pytest.raises(rf.ConfigError, match=r"^variables"):
        ran(stage, "1", {"f": print})


class Stubborn(dict[str, Any]):
    """A mapping that refuses a name, as one over a database may."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "bad":
            raise OSError("read only")
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        if self[name] == "kept":
            raise OSError("read only")
        super().__delitem__(name)


@pytest.mark.parametrize(
    "source",
    [pytest.param("n = 2\nbad = 1\nlate = 1", id="set"), pytest.param("n = 2\ndel gone, m", id="delete")],
)
def test_a_mapping_that_refuses_what_it_is_given_back_stays_as_it_was_and_costs_no_result(
    stage: Stage, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    given = Stubborn({"n": 1, "gone": "gone", "m": "kept"})
    result = ran(stage, source, given)
    assert (code(result), result.variables is not None) == (None, True)
    assert given == {"n": 1, "gone": "gone", "m": "kept"}
    assert [(record.name, record.levelname) for record in caplog.records] == [("ringfence", "WARNING")]
    assert "OSError" in caplog.text


def test_a_mapping_that_others_look_at_is_never_empty_on_the_way(stage: Stage) -> None:
    sizes: list[int] = []

    class Watched(dict[str, Any]):
        def __setitem__(self, name: str, value: Any) -> None:
            sizes.append(len(self))
            super().__setitem__(name, value)

    given = Watched({"n": 1, "gone": 1})
    ran(stage, "n = 2\ndel gone", given)
    assert (given, sizes) == ({"n": 2}, [2])
