"""A script that the command line names (`cli.script`)."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ringfence.cli.script import language_of, read_script
from ringfence.errors import ConfigError


def test_a_byte_order_mark_is_no_part_of_a_script(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_bytes(b"\xef\xbb\xbf1 + 1\n")
    assert read_script(str(path)) == "1 + 1\n"


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("'é'".encode()), encoding="ascii"))
    assert read_script("-") == "'é'"


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "No such file or directory"), (b"1\n2 \xff\n", "line 2: not UTF-8 text")],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "script.py"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_script(str(path))
    assert caught.value.code == "bad_config"
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("script", "given", "expected"),
    [
        ("a.py", None, "python"),
        ("a", None, "python"),
        ("-", None, "python"),
        ("a.js", None, "javascript"),
        ("folder.py/A.MJS", None, "javascript"),
        ("a.cjs", None, "javascript"),
        ("-", "javascript", "javascript"),
        ("a.js", "python", "python"),
        ("a.ts", "javascript", "javascript"),
    ],
)
def test_the_name_of_a_script_says_its_language_unless_the_command_line_does(
    script: str, given: str | None, expected: str
) -> None:
    assert language_of(script, given) == expected


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("a.ts", "TypeScript"),
        ("a.TSX", "TypeScript"),
        ("a.mts", "TypeScript"),
        ("a.cts", "TypeScript"),
        ("a.jsx", "JSX"),
    ],
)
def test_a_script_that_needs_a_compiler_is_refused(script: str, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        language_of(script, None)
    assert caught.value.message == (
        f"the script {script!r} is {what}, which needs a compiler; scripts run as they are written"
    )
    assert caught.value.hint == "write plain JavaScript, without type annotations, into a file that ends in .js"


@pytest.mark.parametrize("script", ["a.txt", "a.rb", "a.py.bak"])
def test_a_name_that_says_no_language_is_refused(script: str) -> None:
    with pytest.raises(ConfigError) as caught:
        language_of(script, None)
    assert caught.value.message == f"the script {script!r}: {Path(script).suffix} says no language"
    assert caught.value.hint == "add --language python or --language javascript"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        language_of("-", "ruby")
    assert caught.value.message == "--language must be one of python, javascript, not 'ruby'"
