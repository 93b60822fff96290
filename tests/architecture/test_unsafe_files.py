"""What is dangerous has *unsafe* in its file's name, so that an auditor knows where to begin."""

from __future__ import annotations

import ast
import re

from tests.architecture.source import Module, dotted, imports, modules, report

CONFINED_MODULES: frozenset[str] = frozenset({"ctypes", "_ctypes", "subprocess", "multiprocessing", "pty", "cffi"})

CONFINED_CALLS = re.compile(
    r"(os\.)?(fork|forkpty|system|popen|startfile|unshare|setns|chroot|execl|execle|execlp|execlpe|execv|execve|execvp"
    r"|execvpe|posix_spawn|posix_spawnp|spawn[lv]p?e?)"
    r"|(asyncio\.)?create_subprocess_(exec|shell)|(\w+\.)*subprocess_(exec|shell)"
    r"|(builtins\.)?(eval|exec|compile)|types\.(CodeType|FunctionType)"
)

BANNED_MODULES: frozenset[str] = frozenset({"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"})
"""Loading one of these formats runs code of whoever wrote it."""


def is_unsafe(module: Module) -> bool:
    return module.path.stem.endswith("_unsafe")


def test_only_unsafe_files_load_what_starts_code() -> None:
    problems = [
        f"{module.at(item.line)}: imports {item.target}; fix: move this into a file whose name ends in _unsafe.py"
        for module in modules()
        if not is_unsafe(module)
        for item in imports(module)
        if item.target.partition(".")[0] in CONFINED_MODULES and not item.typing_only
    ]
    assert not problems, report(problems)


def test_only_unsafe_files_fork_exec_or_compile() -> None:
    problems = [
        f"{module.at(node)}: calls {name}; fix: move this into a file whose name ends in _unsafe.py"
        for module in modules()
        if not is_unsafe(module)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and (name := dotted(node.func)) is not None and CONFINED_CALLS.fullmatch(name)
    ]
    assert not problems, report(problems)


def test_nothing_is_ever_unpickled() -> None:
    problems = [
        f"{module.at(item.line)}: imports {item.target}; fix: send JSON, and check its size before parsing"
        for module in modules()
        for item in imports(module)
        if item.target.partition(".")[0] in BANNED_MODULES
    ]
    assert not problems, report(problems)
