"""What the text itself hides is found before a parser sees it, in time that grows with the text."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ringfence.enclave.check.prescan import is_confusable, prescan
from ringfence.enclave.check.text_limits import TEXT
from ringfence.enclave.rules import RULED


def codes(source: str, level: str = "STANDARD", severity: str = "error") -> list[str]:
    return [found.code for found in prescan(source, level) if found.severity == severity]


def test_there_is_nothing_to_say_where_the_check_is_off() -> None:
    assert prescan("\0" + "(" * 1000, "off") == []


@pytest.mark.parametrize("level", RULED)
def test_each_limit_holds_exactly(level: str) -> None:
    limits = next(limits for name, limits in TEXT.items() if name == level)
    cases: dict[str, Callable[[int], str]] = {
        "TOO_MANY_LINES": lambda extra: "\n" * (limits.lines - 1 + extra),
        "LINE_TOO_LONG": lambda extra: "#" * (limits.line + extra),
        "TOO_DEEP": lambda extra: "x = " + "(" * (limits.nesting + extra) + ")" * (limits.nesting + extra),
        "OPERATOR_SPAM": lambda extra: "x = " + "- " * (limits.operators + extra) + "1",
    }
    for code, make in cases.items():
        assert codes(make(0), level) == [], code
        assert codes(make(1), level) == [code]


def test_size_is_counted_in_bytes() -> None:
    limit = TEXT["STRICT"].size
    line = "# " + "é" * 500 + "\n"  # 1003 bytes
    assert "SOURCE_TOO_LARGE" not in codes(line * (limit // 1003), "STRICT")
    assert "SOURCE_TOO_LARGE" in codes(line * (limit // 1003 + 1), "STRICT")


def test_brackets_in_strings_and_comments_do_not_nest() -> None:
    deep = "(" * 500
    assert codes(f"x = '{deep}'\ny = '''{deep}\n{deep}'''\n# {deep}\nz = \"\\\"{deep}\"\nr'\\'\n[1]") == []
    assert codes("x = 'a'\n" + "[" * 101 + "]" * 101) == ["TOO_DEEP"]


def test_a_place_is_the_users() -> None:
    (found,) = prescan("x = 1\ny = [\n  '\u202e'\n]\nz\u200b = 1", "STANDARD")[1:]
    assert (found.code, found.line, found.column) == ("INVISIBLE_CHARACTER", 5, 2)


@pytest.mark.parametrize("level", RULED)
@pytest.mark.parametrize("char", ["\u202a", "\u202e", "\u2066", "\u2069"])
def test_direction_characters_in_code_and_comments_are_errors_everywhere(level: str, char: str) -> None:
    assert codes(f"x = 1 {char}", level) == ["BIDI_CONTROL"]
    assert codes(f"x = 1  # {char} {char}", level) == ["BIDI_CONTROL"] * 2


def test_direction_characters_in_quoted_text_are_honest_in_closed_pairs_only() -> None:
    closed = "x = 'שלום \u2066abc\u2069 \u202b\u202a1\u202c\u202c'"
    assert codes(closed) == codes(closed, "PERMISSIVE") == []
    assert set(codes(closed, "SECURE")) == set(codes(closed, "STRICT")) == {"BIDI_CONTROL"}
    assert codes("x = 'user\u202e \u2066// only\u2069 \u2066'") == ["BIDI_CONTROL"] * 2  # CVE-2021-42574
    assert codes("x = '''\u2066a\nb\u2069'''") == ["BIDI_CONTROL"] * 2


@pytest.mark.parametrize("level", RULED)
@pytest.mark.parametrize("char", ["\u200b", "\u00ad", "\u3164", "\u115f", "\u034f", "\ufeff", "\u2060", "\uffa0"])
def test_characters_that_cannot_be_seen_are_errors_in_code(level: str, char: str) -> None:
    assert "INVISIBLE_CHARACTER" in codes(f"x{char} = 1", level)


def test_quoted_text_may_hold_them() -> None:
    honest = "x = '👩\u200d💻 זה\u200f עברית नमस्\u200dते می\u200cخواهم ❤\ufe0f'  # 👩\u200d💻"
    assert codes(honest) == codes(honest, "SECURE") == []
    assert codes("x = '👩\u200d💻 ❤\ufe0f می\u200cخواهم'", "STRICT") == []
    assert codes("x = 'a\u200bb'", "STRICT") == ["INVISIBLE_CHARACTER"]


def test_a_mark_at_the_start_is_no_character_of_the_script() -> None:
    assert codes("\ufeffx = 1") == []


def test_a_nul_is_an_error() -> None:
    assert codes("x = 1\0") == ["NULL_BYTE"]


@pytest.mark.parametrize("name", ["ｅｖａｌ", "𝐞𝐱𝐞𝐜", "pаyload", "οpen", "usеr", "Κey1"])
def test_names_that_look_like_others_are_found(name: str) -> None:
    assert is_confusable(name)
    assert codes(f"{name} = 1", "SECURE") == ["CONFUSABLE_NAME"]
    assert codes(f"{name} = 1", "STANDARD", "warning") == ["CONFUSABLE_NAME"]
    assert codes(f"x = '{name}'  # {name}", "STRICT") == []


@pytest.mark.parametrize("name", ["größe", "naïve", "Δt", "σ2", "α", "сумма", "名前", "µ", "имя_поля", "λ"])
def test_honest_names_of_other_scripts_are_left_alone(name: str) -> None:
    assert not is_confusable(name)


def test_a_long_honest_script_passes_standard() -> None:
    lines = [f'row_{n} = {{"text": "{"lorem ipsum " * 40}", "emoji": "🦊", "n": [({n}, -{n})]}}' for n in range(500)]
    assert prescan("\n".join(lines), "STANDARD") == []


@pytest.mark.parametrize(
    "source",
    [
        "'" * 200_000,
        '"""' + "'''\"\" " * 50_000,
        "\\" * 200_000,
        "'\\" * 100_000,
        "é" + "-" * 200_000,
        "#" + "é\u202e" * 100_000,
    ],
    ids=["quotes", "mixed triple quotes", "backslashes", "quoted backslashes", "operators", "directions"],
)
def test_hostile_text_takes_linear_time(source: str) -> None:
    started = time.perf_counter()
    prescan("é" + source, "PERMISSIVE")
    assert time.perf_counter() - started < 5  # quadratic time would be minutes
