"""At the tight levels a run ends when the script's own frames do what the check could not see, and only then."""

from __future__ import annotations

import pytest

from tests.enclave.kit import Stage, code

# a list hides from the check that this is a module
HIDDEN = "import enum, concurrent.futures as futures\nhidden = [enum][0].bltns\n"
EVASIONS = {
    "compiling text": "hidden.eval('1')",
    "executing": "hidden.exec('1')",
    "compiling": "hidden.compile('1', 'x', 'eval')",
    "through map": "list(map(hidden.eval, ['1']))",
    "through sorted": "sorted(['1', '2'], key=hidden.eval)",
    "through an executor": "list(futures.ThreadPoolExecutor().map(hidden.eval, ['1']))",
    "through the event loop": "import asyncio\nasyncio.get_running_loop().call_soon(hidden.eval, '1')\nawait asyncio.sleep(0)",
    "a generator's frame": "hidden.getattr((x for x in [1]), 'gi_frame')",
    "a function's code": "hidden.getattr(lambda: 1, '__co' + hidden.str('de__'))",
    "a frame": "[enum][0].sys._getframe()",
    "a file": "hidden.open('/etc/passwd')",
    "a process": "[enum][0].sys.modules['os'].system('true')",
    "a hook": "[enum][0].sys.settrace(None)",
}


@pytest.mark.parametrize("evasion", EVASIONS.values(), ids=EVASIONS)
def test_what_the_check_cannot_see_ends_the_run(stage: Stage, evasion: str) -> None:
    result = stage.script(HIDDEN + evasion, security_level="SECURE")
    assert code(result) == "SECURITY_VIOLATION"


def test_the_line_is_the_scripts(stage: Stage) -> None:
    result = stage.script(HIDDEN + "x = 1\nlist(map(hidden.eval, ['1']))", security_level="SECURE")
    assert result.error is not None
    assert result.error.line == 4


def test_nothing_can_be_caught(stage: Stage) -> None:
    script = HIDDEN + "try:\n    hidden.eval('1')\nexcept BaseException:\n    pass\nfinally:\n    print('x')\n1"
    assert code(stage.script(script, security_level="SECURE")) == "SECURITY_VIOLATION"


def test_a_stack_without_room_makes_the_attempt_fail(stage: Stage) -> None:
    script = HIDDEN + (
        "def deep():\n    try:\n        deep()\n    except RecursionError:\n        pass\n    return hidden.eval('1')\ndeep()"
    )
    assert code(stage.script(script, security_level="SECURE")) == "SECURITY_VIOLATION"


LIBRARY = {
    "named tuple": "from collections import namedtuple\nP = namedtuple('P', 'a b', defaults=[2])\nP(1)._asdict()",
    "dataclass": (
        "from dataclasses import dataclass, asdict, replace, field\n@dataclass(order=True)\nclass P:\n    a: int\n"
        "    b: list[int] = field(default_factory=list)\n"
        "asdict(replace(P(1), a=2))"
    ),
    "typed": (
        "from typing import NamedTuple, TypedDict, TypeVar, NewType\nT = TypeVar('T')\nI = NewType('I', int)\n"
        "class N(NamedTuple):\n    a: int\nclass D(TypedDict):\n    a: int\nD(a=N(I(1)).a)"
    ),
    "enum": "from enum import Enum, auto\nclass C(Enum):\n    A = auto()\nC['A'].name",
    "pattern": "import re\nre.sub('a+', lambda m: m[0].upper(), 'baab')",
    "dispatch": "import functools\n@functools.singledispatch\ndef f(x: int) -> int: return x\n@f.register\ndef _(x: str) -> int: return 2\nf('a')",
    "logging": "import logging\nlogging.getLogger('x').warning('w')\n1",
    "tasks": "import asyncio\nasync with asyncio.TaskGroup() as g:\n    t = g.create_task(asyncio.sleep(0, 3))\nt.result()",
    "context": "import contextlib\n@contextlib.contextmanager\ndef c():\n    yield 4\nwith c() as x: pass\nx",
    "copy": "import copy, json, csv, io\ncopy.deepcopy([json.loads('{}'), *csv.reader(io.StringIO('a'))])",
    "random": "import random, uuid, secrets\nlen(str(uuid.uuid4())) + random.randint(1, 1) + len(secrets.token_hex(2))",
    "xml": "import xml.etree.ElementTree as ET\nET.fromstring('<a/>').tag",
    "error": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    m = str(e)\nm",
    "abstract": "from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n    def f(self): ...\nclass B(A):\n    def f(self): return 1\nB().f()",
}


@pytest.mark.parametrize("source", LIBRARY.values(), ids=LIBRARY)
def test_what_the_library_does_for_itself_goes_on(stage: Stage, source: str) -> None:
    result = stage.script(source, security_level="SECURE")
    assert result.error is None
    assert result.value == stage.script(source).value


def test_the_other_levels_watch_nothing(stage: Stage) -> None:
    assert stage.script(HIDDEN + "hidden.eval('1')").value == 1
