"""The rules fail on sources that break them: a check that cannot fail checks nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.architecture import test_errors, test_levels, test_purity, test_sizes, test_unsafe_files
from tests.architecture.source import SRC, Module

Rule = Callable[[], None]

BROKEN: tuple[tuple[ModuleType, Rule, str, str], ...] = (
    (test_levels, test_levels.test_imports_only_point_down, "gate.machine", "from ringfence.gate import runner"),
    (test_levels, test_levels.test_imports_only_point_down, "errors", "import ringfence.boundary"),
    (test_levels, test_levels.test_imports_only_point_down, "gate.machine", "from .runner import run"),
    (
        test_levels,
        test_levels.test_parts_that_meet_through_ports_do_not_import_each_other,
        "gate.runner",
        "from ringfence.sandbox.guarantees import X",
    ),
    (test_levels, test_levels.test_nobody_imports_the_top_level, "boundary", "import ringfence.cli"),
    (test_levels, test_levels.test_every_module_has_a_level, "stray", ""),
    (test_purity, test_purity.test_pure_modules_import_nothing_that_touches_the_world, "values", "import os.path"),
    (test_purity, test_purity.test_pure_modules_call_no_clock_file_or_cache, "values", "x = open('f')"),
    (
        test_purity,
        test_purity.test_pure_modules_call_no_clock_file_or_cache,
        "values",
        "from functools import cache\n@cache\ndef f() -> int: return 1",
    ),
    (test_purity, test_purity.test_pure_modules_wait_for_nothing, "contract.tool", "async def f(): ..."),
    (test_purity, test_purity.test_pure_modules_keep_no_global_that_changes, "values", "SEEN = {}"),
    (test_purity, test_purity.test_pure_modules_keep_no_global_that_changes, "values", "SEEN: dict[str, int] = {}"),
    (
        test_purity,
        test_purity.test_pure_modules_keep_no_global_that_changes,
        "values",
        "SEEN: Final = []\ndef f(): SEEN.append(1)",
    ),
    (
        test_purity,
        test_purity.test_pure_modules_keep_no_global_that_changes,
        "values",
        "def f():\n    global x\n    x=1",
    ),
    (
        test_unsafe_files,
        test_unsafe_files.test_only_unsafe_files_load_what_starts_code,
        "sandbox.pool",
        "import ctypes",
    ),
    (test_unsafe_files, test_unsafe_files.test_only_unsafe_files_fork_exec_or_compile, "sandbox.pool", "os.fork()"),
    (test_unsafe_files, test_unsafe_files.test_only_unsafe_files_fork_exec_or_compile, "sandbox.pool", "exec('1')"),
    (
        test_unsafe_files,
        test_unsafe_files.test_only_unsafe_files_fork_exec_or_compile,
        "sandbox.pool",
        "loop.subprocess_exec(p, 'x')",
    ),
    (test_unsafe_files, test_unsafe_files.test_nothing_is_ever_unpickled, "sandbox.x_unsafe", "import pickle"),
    (test_sizes, test_sizes.test_no_file_is_longer_than_one_sitting, "values", "x = 1\n" * 501),
    (test_sizes, test_sizes.test_no_function_is_longer_than_a_screen, "values", "def f():\n" + "    x = 1\n" * 60),
    (test_sizes, test_sizes.test_every_module_says_what_it_is_for, "values", "x = 1"),
    (test_errors, test_errors.test_every_code_in_the_source_exists, "values", "refuse(code='no_such_code')"),
)


@pytest.mark.parametrize(("rules", "rule", "name", "text"), BROKEN)
def test_a_source_that_breaks_a_rule_is_named_with_its_line(
    rules: ModuleType, rule: Rule, name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = SRC.joinpath("ringfence", *name.split(".")).with_suffix(".py")
    broken = Module(name=f"ringfence.{name}", path=path, text=text, tree=ast.parse(text))
    monkeypatch.setattr(rules, "modules", lambda: (broken,))
    with pytest.raises(AssertionError, match=rf"{path.name}:\d+: .*fix: "):
        rule()
