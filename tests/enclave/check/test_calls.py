"""Functions that reach by text, formats, json hooks, patterns, tools."""

from __future__ import annotations

import pytest

from tests.enclave.check.kit import codes


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("getattr(settings, '__class__')", "DUNDER"),
        ("getattr(settings, '__cla' + 'ss__')", "DUNDER"),
        ("name = '__class__'\ngetattr(settings, name)", "DUNDER"),
        ("getattr(settings, f'__class__')", "DUNDER"),
        ("getattr(settings, 'gi_frame')", "FRAME_ATTRIBUTE"),
        ("getattr(settings, inputs['n'])", "DYNAMIC_ATTRIBUTE"),
        ("getattr(settings, ''.join(['a', 'b']))", "DYNAMIC_ATTRIBUTE"),
        ("list(map(getattr, [settings], ['x']))", "DYNAMIC_ATTRIBUTE"),
        ("g = getattr", "DYNAMIC_ATTRIBUTE"),
        ("hasattr(settings, inputs)", "DYNAMIC_ATTRIBUTE"),
        ("setattr(settings, inputs, 1)", "DYNAMIC_ATTRIBUTE"),
        ("import operator\noperator.attrgetter('a.__class__')", "DUNDER"),
        ("from operator import attrgetter as ag\nag(inputs)", "DYNAMIC_ATTRIBUTE"),
        ("from operator import attrgetter as ag\nx = ag", "DYNAMIC_ATTRIBUTE"),
        ("import operator\noperator.methodcaller('__reduce__')", "DUNDER"),
        ("'{0.__class__}'.format(1)", "DUNDER"),
        ("'{0.__globals__}'.format", "DUNDER"),
        ("f = '{0.__globals__}'.format\nf(call_tool)", "DUNDER"),
        ("'{:{0.__class__}}'.format(1)", "DUNDER"),
        ("'{0.gi_frame}'.format(1)", "FRAME_ATTRIBUTE"),
        ("'{0.name}'.format(1)", "FORMAT_ATTRIBUTE"),
        ("'{0[x]}'.format({})", "FORMAT_ATTRIBUTE"),
        ("t = inputs['t']\nt.format(1)", "DYNAMIC_FORMAT"),
        ("str.format(inputs['t'], 1)", "DYNAMIC_FORMAT"),
        ("map(str.format, ['{0.__class__}'])", "DYNAMIC_FORMAT"),
        ("inputs['t'].format_map({})", "DYNAMIC_FORMAT"),
        ("import string\nstring.Formatter()", "DYNAMIC_FORMAT"),
        ("type('A', (), {})", "DYNAMIC_CODE"),
        ("await call_tool(inputs['t'], {})", "DYNAMIC_CALL_TARGET"),
        ("await call_tool('a' + inputs['t'], {})", "DYNAMIC_CALL_TARGET"),
        ("c = call_tool\nawait c(inputs['t'], {})", "DYNAMIC_CALL_TARGET"),
        ("NAME = 'a'\nawait call_tool(NAME, {})", "DYNAMIC_CALL_TARGET"),
        ("getattr(mail, inputs['m'])", "DYNAMIC_CALL_TARGET"),
        ("await call_tool()", "MISSING_CALL_TARGET"),
        ("await call_tool(args={})", "MISSING_CALL_TARGET"),
        ("import re\nre.match(r'(a+)+$', inputs['x'])", "CATASTROPHIC_REGEX"),
        ("import re\nre.compile(r'(?:[a-z]*)*b')", "CATASTROPHIC_REGEX"),
        ("import re\nre.compile(flags=0, pattern=r'(?:[a-z]*)*b')", "CATASTROPHIC_REGEX"),
    ],
)
def test_each_rule_about_calls_finds_what_it_is_for(source: str, code: str) -> None:
    assert codes(source) == [code]


@pytest.mark.parametrize(
    "source",
    [
        "getattr(settings, 'name', None)",
        "hasattr(settings, 'items')",
        "import operator\nsorted([], key=operator.attrgetter('date', 'name'))",
        "from operator import itemgetter\nsorted([], key=itemgetter('a'))",
        "'{} {:>10} {name!r:{width}}'.format(1, 2, name=3, width=4)",
        "t = '{}'\nt.format(1)",
        "'%(a)s %s' % (1,)",
        "x = 1\nf'{x.real:>10}'",
        "type(settings)",
        "await call_tool('a', {})",
        "await call_tool(f'a', {})",
        "await call_tool(name='a', args={})",
        "import re\nre.findall(r'(\\w+),(\\d)*', '')",
        "import re\nre.sub(r'(?:\\w+,)*\\s+', '', '')",
        "import json\njson.dumps({}, default=lambda x: 1)",
        "'a{'.format",
    ],
)
def test_ordinary_calls_are_left_alone(source: str) -> None:
    assert codes(source) == []


def test_strict_refuses_json_that_calls_back() -> None:
    source = "import json\njson.dumps({}, default=lambda x: 1)\njson.loads('1', object_hook=dict)\njson.dumps(1, default=str, cls=None)\n"
    source += "json.loads('1', object_hook=None, **{})\njson.dumps(1, default=None)"
    assert codes(source, "STRICT") == ["JSON_CALLBACK_NOT_ALLOWED"] * 2


def test_templates_are_ordinary_at_standard() -> None:
    assert codes("inputs['t'].format(name=1)\n'{0.name}'.format(1)", "STANDARD") == []


@pytest.mark.parametrize(
    ("level", "found"), [("SECURE", ["DYNAMIC_CALL_TARGET"]), ("STANDARD", []), ("PERMISSIVE", [])]
)
def test_a_constant_may_lead_to_a_tools_name_where_that_is_only_reported(level: str, found: list[str]) -> None:
    assert codes("NAME = 'a'\nawait call_tool(NAME + 'b', {})", level) == found
