"""What a model reads about its level, its limits, and the names of its host besides tools."""

from __future__ import annotations

import ast
import dataclasses
from datetime import date
from typing import Any

import pytest

from ringfence.enclave.briefing import briefing
from ringfence.enclave.globals import Globals, parse
from ringfence.enclave.options import parse as options


class Account:
    """Somebody's."""

    def __init__(self) -> None:
        self.owner = "Ada"
        self._secret = 1

    def close(self, reason: str = "none", *, at: object = object()) -> None:
        """Close it.

        For good.
        """


async def fetch(day: date, days: int = 7) -> list[dict[str, int]]:
    return [{"n": day.day}] * days


def odd(x: Any = {"secret": 1}) -> None:  # noqa: B006 - is what is tested
    """Say "this".\r\x00 And that."""


LIMITS = "# It may make 100 calls of tools, 10,000 turns of one loop, and take 30 seconds.\n"


def about(given: dict[str, Any]) -> str:
    return brief(globals_=parse(given, allow_functions=True)).removeprefix(LIMITS)


NO_GLOBALS = Globals()


def brief(globals_: Globals = NO_GLOBALS, **given: Any) -> str:
    return briefing(options(given), {}, globals_)  # type: ignore[arg-type]


def test_limits_are_said() -> None:
    assert brief() == LIMITS
    assert brief(validate=False, timeout=1.5) == "# It may make 100 calls of tools, and take 1.5 seconds.\n"


def test_packages_that_were_loaded_are_said() -> None:
    assert brief(preload=["numpy", "pandas"]).startswith(
        "# Besides Python's own modules it may import numpy, pandas.\n"
    )
    assert "may import numpy, abc, asyncio" in brief(preload=["numpy"], security_level="STRICT")


@pytest.mark.parametrize("level", ["STRICT", "SECURE"])
def test_tight_levels_say_what_they_forbid(level: str) -> None:
    lines = brief(security_level=level).splitlines()
    assert lines[0].startswith("# Not allowed in this script: ")
    assert ("while," in lines[0], " re," in " ".join(lines)) == (level == "STRICT", level == "SECURE")
    assert max(map(len, lines)) <= 120
    assert brief(security_level=level, validate=False).startswith("# It may make")


def test_data_is_shown_by_its_keys() -> None:
    assert about({"b": [1, 2], "a": {"x": {"y": 1}, "z": 2}, "day": date(2026, 1, 2), "n": 1, "none": {}}) == (
        "# Further names, which can only be read:\n"
        "#   a: dict of x, z\n"
        "#   b: list of 2\n"
        "#   day: date\n"
        "#   n: int\n"
        "#   none: dict of nothing\n"
    )


def test_very_many_keys_end_in_an_ellipsis() -> None:
    assert about({"a": dict.fromkeys(map(str, range(30)), 1)}).endswith(", 18, 19, …\n")


def test_objects_are_shown_by_attributes_and_methods() -> None:
    assert about({"account": Account()}) == (
        "# Further names, which can only be read:\n"
        "#   account: object of owner, close()\n"
        "# Functions, which raise GlobalFunctionError (.message) when they fail:\n"
        "#   account.close(reason: str = 'none', *, at: object = ...) -> None  # Close it.\n"
    )


def test_functions_are_shown_with_signature_and_first_line() -> None:
    assert about({"fetch": fetch, "odd": odd, "shorten": len, "least": min}) == (
        "# Functions, which raise GlobalFunctionError (.message) when they fail:\n"
        "#   await fetch(day: date, days: int = 7) -> list[dict[str, int]]\n"
        '#   odd(x: Any = ...) -> None  # Say "this".\n'
        "#   shorten(obj, /)  # Return the number of items in a container.\n"
        "#   least(...)  # min(iterable, *[, default=obj, key=func]) -> value\n"
    )


def test_a_signature_that_cannot_be_shown_is_dots() -> None:
    class Raises:
        def __repr__(self) -> str:
            raise OSError("no")

    def function(x: Any) -> None: ...

    function.__annotations__["x"] = Raises()
    assert about({"f": function}).endswith("#   f(...)\n")


def test_namespaces_are_shown_with_the_tools_behind_them() -> None:
    text = briefing(options({}), {"tools": {"a": "a"}, "mail": {"list": "mail.list"}}, Globals())
    assert text.endswith(
        "# Tools under other names, called with one object of arguments, or with keywords:\n"
        "#   await mail.list({...})  # the tool mail.list\n"
    )


def test_all_of_it_is_comments() -> None:
    @dataclasses.dataclass
    class Row:
        text: str

    text = about({"a\u00e9": {"line\nbreak": 1}, "row": Row("x"), "odd": odd})
    assert ast.parse(text).body == []
