"""Texts that name the host's folders are gone from an interpreter that has forgotten them, and it still works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ringfence
from ringfence.sandbox.jail.spawn_unsafe import FLAGS

ROOT = str(Path(ringfence.__file__).parents[1])


def forgotten(before: str, after: str, folder: Path) -> Any:
    """What `out` is after an interpreter that has done `before` has forgotten its folders and done `after`."""
    source = (
        "import sys, json\n"
        f"sys.path.append({str(folder)!r})\n"
        f"sys.path.append({ROOT!r})\n"
        "import types\n"
        "for name in ('ringfence', 'ringfence.sandbox', 'ringfence.sandbox.jail'):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        f"    sys.modules[name].__path__ = [{ROOT!r} + '/' + name.replace('.', '/')]\n"
        "from ringfence.sandbox.jail import launch_unsafe\n"
        "launch_unsafe.hide_folders()\n"
        "from ringfence.sandbox.jail import forget\n"
        f"{before}\nforget.forget()\n{after}\nprint(json.dumps(out))"
    )
    done = subprocess.run(
        [sys.executable, *FLAGS, "-c", source], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("before", "after", "out"),
    [
        pytest.param("import csv", "out = csv.__file__", "csv.py", id="module"),
        pytest.param("import json", "out = [json.__file__, *json.__path__]", ["json/__init__.py", "json"], id="package"),
        pytest.param("import xml.sax.handler", "out = xml.sax.handler.ContentHandler.startElement.__code__.co_filename", "xml/sax/handler.py", id="code"),
        pytest.param("import csv", "spec = csv.__spec__\nout = [spec.origin, spec.loader, csv.__loader__]", ["csv.py", None, None], id="specification"),
        pytest.param("import os", "out = [os.__file__, os.path.join('a', 'b')]", ["os.py", "a/b"], id="frozen module"),
        pytest.param("import math", "out = math.__file__.startswith('math.') if hasattr(math, '__file__') else True", True, id="extension module"),
        pytest.param("", "out = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable, *sys.path]", [""] * 4, id="sys"),
        pytest.param("import sysconfig\nsysconfig.get_config_var('LDFLAGS')", "out = sysconfig._CONFIG_VARS", {}, id="how it was built"),
        pytest.param("import platform\nplatform.platform()", "out = [platform.node(), platform.release(), platform.system()]", ["", "", "Linux"], id="machine"),
        pytest.param("import own", "out = own.HOME", "", id="variable of a module"),
        pytest.param("import own", "out = own.thing.home", "", id="attribute of an object"),
        pytest.param("import own", "out = [own.KEPT['a'], *own.KEPT['b']]", ["", "", "plain"], id="inside containers"),
        pytest.param("import own", "out = own.OTHER", "plain", id="other texts stay"),
        pytest.param("import own", "try:\n    own.fail()\nexcept ValueError as error:\n    out = error.__traceback__.tb_next.tb_frame.f_code.co_filename", "own.py", id="tracebacks"),
        pytest.param("import own", "out = own.__spec__.name", "own", id="name stays"),
        pytest.param("import csv", "try:\n    from csv import nothing\nexcept ImportError as error:\n    out = str(error)", "cannot import name 'nothing' from 'csv' (csv.py)", id="message"),
    ],
)  # fmt: skip
def test_what_an_interpreter_says_of_its_files_is_relative(
    tmp_path: Path, before: str, after: str, out: object
) -> None:
    (tmp_path / "own.py").write_text(
        "import os\nHOME = os.path.dirname(__file__)\nOTHER = 'plain'\nKEPT = {'a': HOME + '/x', 'b': [HOME, 'plain']}\n"
        "class Thing:\n    def __init__(self):\n        self.home = HOME + '/y'\nthing = Thing()\n"
        "def fail():\n    raise ValueError\n"
    )
    assert forgotten(before, after, tmp_path) == out


@pytest.mark.slow
def test_no_module_can_be_imported_afterwards(tmp_path: Path) -> None:
    after = "try:\n    import wave\nexcept ModuleNotFoundError as error:\n    out = str(error)"
    assert forgotten("", after, tmp_path) == "No module named 'wave'"
