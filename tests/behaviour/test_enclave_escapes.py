"""Ways out of other Python sandboxes: refused before they run, or found empty (reports, group H)."""

from __future__ import annotations

import pickle
from textwrap import dedent
from typing import Any, Final

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo
from tests.requirements import requirement

pytestmark = pytest.mark.slow


class Told:
    """Counts how often it is made from a pickle."""

    revived = 0

    def __setstate__(self, state: object) -> None:
        Told.revived += 1

    def __getstate__(self) -> dict[str, int]:
        return {"n": 1}


LEVELS: Final = ("SECURE", "STRICT")

WAYS: Final[dict[str, str]] = {
    "B118 module through a module": "import random\nreturn random._os.listdir('/')",
    "B119 all classes": "return [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0](['id'])",
    "B122 format fields": "return '{0.__class__.__base__}'.format(())",
    "B125 frames": "return (x for x in [1]).gi_frame.f_builtins['open']('/etc/hostname').read()",
    "B130 reduction": "return [].append.__reduce__()[0]([], 'append')",
    "B133 stored format": "f = '{0.__globals__}'.format\nreturn f(call_tool)",
    "B136 format in an error": "try:\n    '{0.__x__}'.format(call_tool)\nexcept AttributeError as e:\n    return e.obj.__globals__",
    "B137 mangled name": "class C:\n    def g(self, o): return o.__globals\nreturn C().g(call_tool)",
    "B139 another runtime": "import js\nreturn js.process.env",
    "B139 an interpreter": "import _xxsubinterpreters as i\nreturn i.run_string(i.create(), 'import os')",
    "B140 type": "return type('X', (), {'__init__': lambda self: None})().__class__.__mro__[1].__subclasses__()[0].__init__.__globals__",
}


@requirement("B118", "B119", "B122", "B125", "B130", "B133", "B136", "B137", "B139", "B140", "dec.17")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("way", WAYS)
def test_a_strict_level_refuses_a_way_out_before_anything_runs(stage: Stage, way: str, level: rf.SecurityLevel) -> None:
    stage.tools["a"] = echo
    result = stage.script(f"await call_tool('a', {{}})\n{WAYS[way]}", security_level=level)
    assert (code(result), detail(result), stage.seen) == ("VALIDATION_ERROR", "script_rejected", [])


@requirement("B118", "B119", "B122", "B125", "B130", "B133", "B136", "B137", "B139", "B140", "rec.12", "EW3")
@pytest.mark.parametrize("way", WAYS)
def test_with_the_check_off_it_leads_to_nothing_of_the_host(stage: Stage, way: str, tmp_path: Any) -> None:
    """The same script where it may run: an error, or text of the script's own process without the host in it."""
    result = stage.script(WAYS[way], validate=False)
    assert code(result) in (None, "RUNTIME_ERROR", "SANDBOX_CRASHED")
    assert str(tmp_path.parent) not in repr(result.value)
    assert "tests.behaviour" not in repr(result.value)


@requirement("B121")
def test_no_code_of_a_script_runs_after_its_end_and_none_in_the_host(stage: Stage) -> None:
    stage.tools["a"] = echo
    script = dedent("""
        import asyncio, gc
        class Late:
            def __del__(self):
                asyncio.ensure_future(call_tool('a', {'late': True}))
            def __eq__(self, other):
                raise SystemExit
        keep = Late()
        keep.self = keep
        return 'done'
    """)
    result = stage.script(script, validate=False)
    assert (result.value, stage.seen, result.calls) == ("done", [], ())


@requirement("B124")
def test_bytes_that_are_a_pickle_stay_bytes(stage: Stage) -> None:
    given = pickle.dumps(Told())
    result = stage.script("return [inputs['p'], inputs['p']]", {"p": given}, validate=False)
    assert result.value == [given, given]
    assert Told.revived == 0


@requirement("B124", "rec.3")
def test_an_object_that_reduces_itself_is_no_value(stage: Stage) -> None:
    script = "class Bomb:\n    def __reduce__(self): return (exec, ('import os',))\nreturn Bomb()"
    result = stage.script(script, validate=False)
    assert (code(result), result.value) == ("RUNTIME_ERROR", None)


@requirement("B127", "B136")
def test_what_an_error_carries_is_the_scripts_own(stage: Stage) -> None:
    script = dedent("""
        mine = object()
        try:
            mine.nothing
        except AttributeError as error:
            return [error.obj is mine, error.name, str(error)]
    """)
    assert stage.script(script).value == [True, "nothing", "'object' object has no attribute 'nothing'"]
    tool = "try:\n    call_tool.nothing\nexcept AttributeError as error:\n    return [type(error.obj).__name__, hasattr(error.obj, '__globals__')]"
    assert stage.script(tool, validate=False).value[1] is False


@requirement("B128")
def test_groups_of_exceptions_behave_as_in_python(stage: Stage) -> None:
    script = dedent("""
        caught = []
        try:
            raise ExceptionGroup('many', [ValueError('a'), TypeError('b'), ExceptionGroup('inner', [ValueError('c')])])
        except* ValueError as group:
            caught.append(len(group.exceptions))
        except* TypeError as group:
            caught.append([str(one) for one in group.exceptions])
        return caught
    """)
    assert stage.script(script).value == [2, ["b"]]
    crafted = "class G(ExceptionGroup):\n    def derive(self, x): return 7\ntry:\n    raise G('m', [ValueError()])\nexcept* TypeError:\n    pass"
    assert code(stage.script(crafted)) == "RUNTIME_ERROR"


@requirement("B134", "T19")
def test_checking_a_script_runs_nothing_of_it(stage: Stage) -> None:
    stage.tools["a"] = echo
    script = dedent("""
        import asyncio
        print('ran')
        def f(x=print('default')): pass
        @print
        class C: pass
        await call_tool('a', {})
        while True: pass
    """)
    report = stage.run(stage.enclave().check(script))
    assert (report.ok, stage.seen) == (True, [])
    assert [(site.tool, site.line, site.loops) for site in report.reach] == [("a", 7, 0)]


@requirement("B142", "EW3")
@pytest.mark.parametrize(
    "read",
    [
        "import io\nreturn io.FileIO('/etc/hostname').read()",
        "import os\nreturn os.read(os.open('/etc/hostname', 0), 10)",
        "import sqlite3\nreturn sqlite3.connect('/tmp/x.db').execute('select 1')",
        "import mmap, os\nreturn mmap.mmap(os.open('/etc/hostname', 0), 0)",
        "import linecache\nreturn linecache.getlines('/etc/hostname')[0]",
        "import tokenize\nreturn tokenize.open('/etc/hostname').read()",
    ],
)
def test_code_in_c_opens_no_file_either(stage: Stage, read: str) -> None:
    result = stage.script(read, validate=False)
    assert (code(result), result.value) == ("RUNTIME_ERROR", None)


@requirement("B142")
def test_numpy_computes_and_opens_no_file(stage: Stage) -> None:
    pytest.importorskip("numpy")
    options: dict[str, Any] = {"preload": ["numpy"], "validate": False, "waiting": 0, "memory_limit": "512MB"}
    assert stage.script("import numpy as np\nreturn int(np.arange(10).sum())", **options).value == 45
    read = stage.script("import numpy as np\nreturn str(np.genfromtxt('/etc/hostname'))", **options)
    assert (code(read), read.value) == ("RUNTIME_ERROR", None)
