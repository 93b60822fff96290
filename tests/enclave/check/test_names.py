"""Every place of the syntax where a name can stand is looked at."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.script import rules
from ringfence.enclave.source import parse
from tests.enclave.check.kit import KNOWN, codes, places

DUNDERS = [
    "().__class__",
    "x = 1\nx.__class__.__bases__",
    "[].__class__.__base__.__subclasses__()",
    "def f(): pass\nf.__globals__",
    "def f(): pass\nf.__code__",
    "def f(): pass\nf.__closure__",
    "x = __builtins__",
    "x = __loader__",
    "x = __spec__",
    "x = __file__",
    "del settings.__x__",
    "for settings.__x__ in []: pass",
    "with settings as settings.__x__: pass",
    "dict(__class__=1)",
    "def f(__class__): pass",
    "lambda __x__: 1",
    "import json as __json__",
    "from json import __name__",
    "try:\n    pass\nexcept ValueError as __e__:\n    pass",
    "match settings:\n    case int(__class__=c): pass",
    "match settings:\n    case __x__: pass",
    "match settings:\n    case [*__x__]: pass",
    "match settings:\n    case {**__x__}: pass",
    "class A:\n    __reduce__ = None",
    "class A:\n    def __getstring__(self): pass",
    "def __getattr__(name): pass",
    "class __A__: pass",
    "def f():\n    global __x__\n    __x__ = 1",
    "[1 for __x__ in []]",
    "(__x__ := 1)",
    "ＣＬＳ = 1\nx = ().__ｃlass__",
    "[].append.__reduce__()",
    "settings.get.__self__",
    "class A:\n    def f(self): return self.__dict__",
    "try:\n    pass\nexcept ValueError as e:\n    e.__traceback__",
]


@pytest.mark.parametrize("source", DUNDERS)
def test_a_name_with_two_underscores_is_found_wherever_it_stands(source: str) -> None:
    assert set(codes(source)) == {"DUNDER"}


ORDINARY = [
    "if __name__ == '__main__': pass",
    "def f(): pass\nf.__name__",
    "type(settings).__name__",
    "settings.__class__.__name__",
    "class A:\n    __slots__ = ('x',)\n    def __init__(self): self.x = 1\n    def __eq__(self, other): return True\n"
    "    def __enter__(self): return self\n    def __exit__(self, *a): pass\n    async def __aenter__(self): pass\n"
    "    __hash__ = None\n    __radd__ = __eq__",
    "class B(Exception):\n    def __init__(self): super().__init__('x')",
    "class B(Exception):\n    def __init__(self): Exception.__init__(self, 'x')",
    "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n    def __post_init__(self):\n"
    "        object.__setattr__(self, 'x', 2)",
    "from __future__ import annotations\ndef f(x: Missing) -> Missing: pass",
    "__all__ = ['x']",
    "def f():\n    x: Missing = 1\n    return x",
    "class A:\n    def __init__(self): self.__n = 0\n    def get(self, other): return self.__n + other.__n",
    "class A:\n    def __f(self): pass\n    def g(self): self.__f()",
    "for _ in range(3): pass",
    "def f(a, /, b, *c, d=1, **e): return a, b, c, d, e",
    "lambda x: x",
    "try:\n    pass\nexcept ValueError as e:\n    e.args, str(e)",
    "data = {}\ndata['__class__'] = 1",
    "settings, inputs, call_tool, ToolError, tools, mail",
]


@pytest.mark.parametrize("source", ORDINARY)
@pytest.mark.parametrize("level", ["SECURE", "STANDARD", "PERMISSIVE"])
def test_ordinary_names_are_left_alone(source: str, level: str) -> None:
    assert codes(source, level) == []


@pytest.mark.parametrize(
    "name", ["gi_frame", "cr_frame", "ag_code", "f_back", "f_globals", "tb_frame", "co_consts", "func_globals"]
)
def test_attributes_that_lead_to_frames_are_found(name: str) -> None:
    assert codes(f"settings.{name}") == ["FRAME_ATTRIBUTE"]
    assert codes(f"match settings:\n    case int({name}=x): pass") == ["FRAME_ATTRIBUTE"]
    assert codes(f"settings.{name}", "STANDARD") == ["FRAME_ATTRIBUTE"]
    assert codes(f"settings['{name}']") == []


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("class Printer:\n    def g(self, o): return o.__filenames", "PRIVATE_OF_CLASS"),
        ("settings._Printer__filenames", "PRIVATE_OF_CLASS"),
        ("import random\nrandom._os", "MODULE_PIVOT"),
        ("import json as j\nj.sys", "MODULE_PIVOT"),
        ("import asyncio\nasyncio.subprocess", "MODULE_PIVOT"),
        ("from random import _os", "MODULE_PIVOT"),
        ("import re\nre.enum.sys", "MODULE_PIVOT"),
        ("import logging\nlogging.io.open('x')", "HOST_ACCESS"),
        ("import re\nre.x.types.CodeType", "DYNAMIC_CODE"),
        ("from json import codecs as inspect, sys", "MODULE_PIVOT"),
        ("import json\njson.dumps = None", "MODULE_CHANGED"),
        ("import json\ndel json.dumps", "MODULE_CHANGED"),
        ("str.upper = None", "MODULE_CHANGED"),
        ("import json\nsetattr(json, 'dumps', None)", "MODULE_CHANGED"),
        ("globals()['x']", "INTROSPECTION"),
        ("f = locals", "INTROSPECTION"),
        ("vars(settings)", "OBJECT_MEMBERS"),
        ("vars()", "INTROSPECTION"),
        ("d = dir", "INTROSPECTION"),
        ("try:\n    pass\nexcept AttributeError as e:\n    e.obj", "ERROR_OBJECT"),
        ("try:\n    pass\nexcept AttributeError as e:\n    e.__context__", "ERROR_CHAIN"),
        ("foo", "UNKNOWN_NAME"),
        ("mail = 1", "REBOUND_NAME"),
        ("def call_tool(): pass", "REBOUND_NAME"),
        ("from math import pi as tools", "REBOUND_NAME"),
        ("def f():\n    global mail\n    mail = 1", "REBOUND_NAME"),
        ("def f(mail): pass", "SHADOWED_NAME"),
        ("[1 for mail in []]", "SHADOWED_NAME"),
        ("class A:\n    def __del__(self): pass", "FINALIZER"),
        ("settings.__del__()", "FINALIZER"),
        ("class A:\n    def __getattr__(self, name): pass", "HOOK_METHOD"),
        ("class A:\n    def __reduce__(self): pass", "HOOK_METHOD"),
        ("open('x')", "HOST_ACCESS"),
        ("input()", "HOST_ACCESS"),
        ("import io\nio.open('x')", "HOST_ACCESS"),
        ("[].__len__()", "PROTOCOL_CALL"),
        ("eval('1')", "DYNAMIC_CODE"),
        ("e = exec", "DYNAMIC_CODE"),
        ("__import__('os')", "DYNAMIC_CODE"),
        ("ｅｖａｌ('1')", "DYNAMIC_CODE"),
        ("𝐞𝐱𝐞𝐜('1')", "DYNAMIC_CODE"),
    ],
)
def test_each_rule_about_names_finds_what_it_is_for(source: str, code: str) -> None:
    assert code in codes(source)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import os\nos.system('x')", "HOST_ACCESS"),
        ("import os\nos.environ['A']", "HOST_ACCESS"),
        ("import sys\nsys.modules", "HOST_ACCESS"),
        ("import sys\nsys._getframe()", "MODULE_PIVOT"),
        ("import inspect\ninspect.currentframe()", "HOST_ACCESS"),
        ("import types\ntypes.FunctionType", "DYNAMIC_CODE"),
        ("from types import CodeType", "DYNAMIC_CODE"),
    ],
)
def test_what_standard_only_reports_is_reported(source: str, code: str) -> None:
    assert codes(source, "STANDARD") == [code]


def test_the_module_of_the_builtins_is_reported_and_so_is_what_it_has() -> None:
    assert codes("import builtins\nbuiltins.eval('1')", "STANDARD") == ["DYNAMIC_CODE"] * 2


def test_a_name_that_the_script_defines_itself_means_what_the_script_says() -> None:
    assert codes("def open(x): return x\nopen(1)\neval = len\neval([])\nvars = {}\nvars['x'] = 1") == []


def test_places_are_the_users() -> None:
    assert places("x = 1\ny = (x).__class__\n") == [("DUNDER", 2, 5)]


def test_an_unknown_name_comes_with_the_nearest_one_or_the_missing_import() -> None:
    found = rules(parse("total = 1\ntotl\njson.dumps(1)\nzzzz\nnull\nawait send()"), "STANDARD", KNOWN)
    assert [one.fix for one in found] == [
        "did you mean total?",
        "write import json",
        "define it, import it, or correct its spelling",
        "write None",
        "write await mail.send(...)",
    ]


def test_after_a_star_import_nothing_is_said_about_unknown_names() -> None:
    assert codes("from math import *\nsqrt(2)", "STANDARD") == []
    assert codes("from math import *\nsqrt(2)") == ["STAR_IMPORT"]


def test_a_namespace_has_its_tools_and_nothing_else() -> None:
    found = rules(parse("await mail.lst()\nm = mail\nm.fetch\nmail.list, tools.get"), "STANDARD", KNOWN)
    assert [(one.code, one.line, one.severity, one.fix) for one in found] == [
        ("UNKNOWN_TOOL_NAME", 1, "warning", "did you mean mail.list?"),
        ("UNKNOWN_TOOL_NAME", 3, "warning", "mail has list, send"),
    ]
    assert codes("for mail in []:\n    print(mail.subject)", "STANDARD") == ["REBOUND_NAME"]
