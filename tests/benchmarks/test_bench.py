"""The table of measurements judges what it should, and a smoke run judges nothing."""

from __future__ import annotations

import sys

import pytest

from benchmarks import Row, alternated, bench


def run(rows: list[Row], arguments: list[str], monkeypatch: pytest.MonkeyPatch, *, quick: bool = False) -> int:
    def measured(name: str) -> list[Row]:
        assert name == NAME
        return rows

    monkeypatch.setattr(bench, "measurements", measured)
    monkeypatch.setattr(bench, "QUICK", quick)
    monkeypatch.setattr(sys, "argv", ["bench", *arguments])
    return bench.main()


GOOD = Row(name="a call", ours=20.0, baseline=10.0, baseline_name="bare", bar=2.5)
BAD = Row(name="a start", ours=3.0, unit="ms", bar=1.0, bar_on="ours")
NAME = "gate"


@pytest.fixture(autouse=True)
def one_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "available", lambda: [NAME])


def test_the_table_shows_the_ratio_and_the_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run([GOOD, BAD], [], monkeypatch) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[1:]]
    assert lines == [
        "name ours baseline ratio bar ok",
        "a call 20.0 us 10.0 us (bare) 2.00x <= 2.5x yes",
        "a start 3.0 ms <= 1 ms NO",
    ]


@pytest.mark.parametrize(
    ("rows", "arguments", "quick", "code"),
    [
        ([GOOD], ["--strict"], False, 0),
        ([GOOD, BAD], ["--strict"], False, 1),
        ([GOOD, BAD], [], False, 0),
        ([GOOD, BAD], ["--strict"], True, 0),
    ],
)
def test_only_strict_runs_that_are_not_quick_fail_on_a_missed_bar(
    rows: list[Row], arguments: list[str], quick: bool, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(rows, arguments, monkeypatch, quick=quick) == code


def test_a_measurement_that_does_not_exist_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run([GOOD], ["gat"], monkeypatch)
    assert stopped.value.code == 2
    assert "gat" in capsys.readouterr().err


def test_a_figure_without_a_bar_is_not_judged() -> None:
    assert Row(name="memory", ours=9.0, unit="MiB").ok is None


def test_two_measurements_take_turns() -> None:
    order: list[str] = []
    alternated(lambda: order.append("ours"), lambda: order.append("baseline"), 3)
    assert order == ["ours", "baseline"] * 3
