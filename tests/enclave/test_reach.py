"""Where a script reaches tools is told with the arguments that are constants, and errs on the side of too much."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.enclave.reach import MAX_ARGUMENTS, MAX_SITES, Reached, reach
from ringfence.enclave.source import parse
from tests.enclave.check.kit import KNOWN


def sites(source: str) -> list[tuple[str | None, dict[str, Any], tuple[str, ...]]]:
    return [(one.tool, one.arguments, one.dynamic) for one in reach(parse(source), KNOWN)]


ONE: list[tuple[str, tuple[str | None, dict[str, Any], tuple[str, ...]]]] = [
    ("await call_tool('a', {'x': 1, 'y': [1, {'z': None}]})", ("a", {"x": 1, "y": [1, {"z": None}]}, ())),
    ("await call_tool('a', {'x': 1, 'y': n})", ("a", {"x": 1}, ("y",))),
    ("await call_tool('a', args)", ("a", {}, ("*",))),
    ("await call_tool('a', {'x': 1, **more})", ("a", {"x": 1}, ("*",))),
    ("await call_tool('a', {key: 1})", ("a", {}, ("*",))),
    ("await call_tool('a', dict(x=1, y=n))", ("a", {"x": 1}, ("y",))),
    ("await call_tool('a')", ("a", {}, ())),
    ("await call_tool(name='a', args={'x': 1})", ("a", {"x": 1}, ())),
    ("await call_tool('a', {'x': 1}, throw_on_error=False)", ("a", {"x": 1}, ())),
    ("await call_tool(which, {'x': 1})", (None, {"x": 1}, ())),
    ("await call_tool(f'a', {})", ("a", {}, ())),
    ("T = 'a'\nawait call_tool(T, {})", ("a", {}, ())),
    ("await mail.list(unread=True, since=day)", ("mail.list", {"unread": True}, ("since",))),
    ("await mail.list({'unread': True})", ("mail.list", {"unread": True}, ())),
    ("await mail.list(**args)", ("mail.list", {}, ("*",))),
    ("await mail.lst()", ("mail.lst", {}, ())),
    ("m = mail\nawait m.list()", ("mail.list", {}, ())),
    ("send = mail.send\nawait send(to='x')", ("mail.send", {"to": "x"}, ())),
    ("c = call_tool\nawait c('a', {'x': 1})", ("a", {"x": 1}, ())),
    (
        "from functools import partial\nsend = partial(mail.send, to='x')\nawait send(body=b)",
        ("mail.send", {"to": "x"}, ("body",)),
    ),
    (
        "import functools\nawait functools.partial(call_tool, 'a')({'x': 1})",
        ("a", {"x": 1}, ()),
    ),
    ("await getattr(mail, 'list')(x=1)", ("mail.list", {"x": 1}, ())),
    ("await getattr(mail, which)(x=1)", (None, {}, ("*",))),
    ("import asyncio\nawait asyncio.gather(*map(mail.send, rows))", ("mail.send", {}, ("*",))),
    ("f(mail)", (None, {}, ("*",))),
    ("m = mail\nf(m)", (None, {}, ("*",))),
    ("f(call_tool)", (None, {}, ("*",))),
    ("s = mail.send\nf(s)", ("mail.send", {}, ("*",))),
    ("table = {'send': mail.send}", ("mail.send", {}, ("*",))),
    (
        "await call_tool('a', {'x': float('nan'), 'y': 1e999, 'z': b'', 'w': -1.5})",
        ("a", {"w": -1.5}, ("x", "y", "z")),
    ),
]


@pytest.mark.parametrize(("source", "expected"), ONE)
def test_one_place_is_told(source: str, expected: Any) -> None:
    assert sites(source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "for mail in []:\n    print(mail.get('subject'))",
        "def f(mail):\n    return mail.subject",
        "def call_tool(a): return a\ncall_tool('a')",
        "print(mail)\nhasattr(mail, 'x')",
        "mail.send",
    ],
)
def test_what_reaches_no_tool_is_not_told(source: str) -> None:
    assert sites(source) == []


def test_a_method_of_a_name_that_is_bound_again_counts_when_it_exists() -> None:
    assert sites("def f(mail):\n    return mail.list(x=1)") == [("mail.list", {"x": 1}, ())]


def test_places_have_lines_columns_and_loops_in_source_order() -> None:
    source = "for r in rows:\n    x = [await mail.send(to=a) for a in r]\nawait mail.list()"
    assert reach(parse(source), KNOWN) == [
        Reached(tool="mail.send", line=2, column=16, loops=2, dynamic=("to",)),
        Reached(tool="mail.list", line=3, column=7, loops=0),
    ]


def test_what_is_too_much_is_bounded() -> None:
    assert len(sites("await mail.list()\n" * (MAX_SITES + 50))) == MAX_SITES
    assert sites(f"await mail.list(a='{'x' * MAX_ARGUMENTS}', b=1)") == [("mail.list", {"b": 1}, ("a",))]
    assert sites(f"await call_tool('{'x' * 500}', {{}})") == [(None, {}, ())]
    ((_, _, names),) = sites("await mail.list(" + ", ".join(f"a{n}=x" for n in range(100)) + ")")
    assert len(names) == 50
