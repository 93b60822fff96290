"""Regular expressions: none at STRICT, none that can take for ever at SECURE."""

from __future__ import annotations

import pytest

from tests.enclave.agentscript.kit import codes, found


def test_literals_are_refused_at_strict_only() -> None:
    assert codes("/a/.test('a')", "STRICT") == ["NO_REGEX_LITERAL"]
    assert codes("/a/.test('a')", "SECURE") == []


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a*)*",
        "(?:a+)+b",
        "([a-z]+)*",
        "(\\d+)+$",
        "(a{1,})+",
        "(a|a)*",
        "(a|ab)*c",
        "(?<n>a+)*",
        "(\\w|\\w)+",
    ],
)
def test_patterns_that_can_take_for_ever_are_found(pattern: str) -> None:
    assert "CATASTROPHIC_REGEX" in codes(f"/{pattern}/.test('x')")
    text = pattern.replace("\\", "\\\\")
    assert codes(f"new RegExp('{text}')") == ["CATASTROPHIC_REGEX"]
    assert codes(f"RegExp('{text}')") == ["CATASTROPHIC_REGEX"]
    assert [one.severity for one in found(f"/{pattern}/", "STANDARD")] == ["warning"]
    assert codes(f"/{pattern}/", "PERMISSIVE") == []


@pytest.mark.parametrize(
    "pattern", ["a+b+", "(ab)+", "(a|b)*", "[a-z]+@[a-z]+", "(\\d{3})-(\\d{4})", "^\\s*(.*?)\\s*$", "(\\+)+", "([+*])+"]
)
def test_ordinary_patterns_are_not(pattern: str) -> None:
    assert codes(f"/{pattern}/.test('x')") == []


def test_length_and_number_of_patterns_are_bounded() -> None:
    assert codes(f"/{'a' * 201}/") == ["REGEX_TOO_LONG"]
    assert codes(f"/{'a' * 200}/") == []
    assert codes("\n".join(["/a/.test('a');"] * 21)) == ["TOO_MANY_REGEXES"]
    assert [one.line for one in found("\n".join(["/a/.test('a');"] * 21))] == [21]
    assert codes("\n".join(["/a/.test('a');"] * 20)) == []


@pytest.mark.parametrize("method", ["match", "matchAll", "replace", "replaceAll", "search", "split"])
def test_a_pattern_that_is_made_at_run_time_is_a_warning_at_strict(method: str) -> None:
    source = f"'a'.{method}(inputs.x, 'b')"
    assert [(one.code, one.severity) for one in found(source, "STRICT")] == [("REGEX_METHOD_DYNAMIC", "warning")]
    assert codes(f"'a'.{method}('x', 'b')", "STRICT") == []
    assert codes(f"const x = 'x'; 'a'.{method}(x, 'b')", "STRICT") == []
    assert codes(source, "SECURE") == []


def test_a_tool_of_such_a_name_takes_no_pattern() -> None:
    assert "REGEX_METHOD_DYNAMIC" not in codes("await mail.search(inputs.x)", "STRICT")


def test_a_long_pattern_is_read_in_a_moment() -> None:
    assert codes(f"new RegExp('{'(a' * 90}')", "SECURE") == []
    assert codes(f"new RegExp('{'(a|' * 60}')", "SECURE") == []
