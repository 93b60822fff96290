"""Where in the user's code an exception arose (`cli.blame`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringfence.cli.blame import LONGEST_TEXT, place, said
from ringfence.limits import parse_count


def caught(source: str, file: str) -> BaseException:
    """What running the source as that file raises."""
    try:
        exec(compile(source, file, "exec"), {"json": json, "parse_count": parse_count})
    except BaseException as error:
        return error
    raise AssertionError("it did not raise")


def test_the_place_is_the_innermost_line_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(tmp_path / "my_tools.py")
    assert place(caught("1\n\n1 / 0\n", file)) == "my_tools.py:3"
    assert place(caught("\njson.loads('{')\n", file)) == "my_tools.py:2"
    assert place(caught("parse_count('x', 'n')\n", file)) == "my_tools.py:1"
    assert place(caught("1\nx = (\n", file)) == "my_tools.py:2"


def test_a_file_elsewhere_is_named_in_full(tmp_path: Path) -> None:
    file = str(tmp_path / "my_tools.py")
    assert place(caught("1 / 0\n", file)) == f"{file}:1"


def test_an_exception_without_a_frame_of_the_users_has_no_place() -> None:
    assert place(ValueError("x")) is None


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("a\n  b"), "ValueError: a b"),
        (KeyError("ids"), "KeyError: 'ids'"),
        (ValueError(), "ValueError"),
        (Unreadable(), "Unreadable: (its text raised RuntimeError)"),
    ],
)
def test_what_it_said_is_one_line(error: BaseException, line: str) -> None:
    assert said(error) == line


def test_what_it_said_is_bounded() -> None:
    assert len(said(ValueError("x" * 10_000))) == LONGEST_TEXT + len("ValueError: ")
