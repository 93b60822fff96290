"""Levels 0 and 1 decide; they do not touch the world. Time, ids and randomness reach them as arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import Module, dotted, imports, modules, report
from tests.architecture.test_levels import level

WORLD: frozenset[str] = frozenset(
    "asyncio builtins concurrent contextvars ctypes curses fcntl fileinput ftplib getpass glob http importlib locale "
    "logging mmap multiprocessing os pathlib platform pty queue random resource sched secrets select selectors shutil "
    "signal smtplib socket socketserver sqlite3 ssl subprocess sys syslog tempfile threading time urllib warnings "
    "weakref webbrowser rich typer".split()
)
"""Modules that do I/O, read a clock, draw a random number, wait, or keep state of the process."""

ALLOWED: dict[tuple[str, str], str] = {
    ("enclave.globals", "sys"): "reads which modules are Python's own, a constant",
}
"""(module, import) to the reason why it is harmless there."""

CALLS: frozenset[str] = frozenset(
    "open input print breakpoint eval exec __import__ globals "
    "datetime.now datetime.utcnow datetime.today date.today uuid.uuid1 uuid.uuid4 uuid4 uuid1 "
    "io.open functools.cache functools.lru_cache cache lru_cache".split()
)

MUTABLE_CALLS: frozenset[str] = frozenset(
    "list dict set bytearray defaultdict deque Counter OrderedDict ChainMap collections.defaultdict collections.deque "
    "collections.Counter collections.OrderedDict WeakKeyDictionary WeakValueDictionary".split()
)

MUTATORS: frozenset[str] = frozenset(
    "append extend insert remove pop popitem clear sort reverse add discard update setdefault appendleft".split()
)


def pure_modules() -> Iterator[Module]:
    return (module for module in modules() if (level(module.short) or 0) <= 1)


def test_pure_modules_import_nothing_that_touches_the_world() -> None:
    problems = [
        f"{module.at(item.line)}: imports {item.target}; fix: take what it gives as an argument"
        for module in pure_modules()
        for item in imports(module)
        if item.target.partition(".")[0] in WORLD and not item.typing_only
        if (module.short, item.target) not in ALLOWED
    ]
    assert not problems, report(problems)


def test_every_allowed_import_is_still_there() -> None:
    there = {(module.short, item.target) for module in pure_modules() for item in imports(module)}
    assert set(ALLOWED) <= there, f"fix: delete from ALLOWED {set(ALLOWED) - there}"


def test_pure_modules_call_no_clock_file_or_cache() -> None:
    problems = [
        f"{module.at(node)}: {name}; fix: take the result as an argument"
        for module in pure_modules()
        for node in ast.walk(module.tree)
        if (name := called_or_decorating(node)) in CALLS
    ]
    assert not problems, report(problems)


def test_pure_modules_wait_for_nothing() -> None:
    problems: list[str] = []
    for module in pure_modules():
        declared = {
            inner
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef) and any(dotted(base) == "Protocol" for base in node.bases)
            for inner in ast.walk(node)
        }
        problems += [
            f"{module.at(node)}: waits; fix: return what to wait for, and let level 2 do it"
            for node in ast.walk(module.tree)
            if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
            if node not in declared
        ]
    assert not problems, report(problems)


def test_pure_modules_keep_no_global_that_changes() -> None:
    problems = [problem for module in pure_modules() for problem in changing_globals(module)]
    assert not problems, report(problems)


def changing_globals(module: Module) -> Iterator[str]:
    held: set[str] = set()
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=targets, value=value) if is_mutable(value):
                names = {name for target in targets if (name := dotted(target)) is not None}
                if names != {"__all__"}:
                    yield f"{module.at(node)}: a container that may change; fix: annotate it Final and never change it"
                held |= names
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value) if is_mutable(value):
                if not ast.unparse(annotation).startswith(("Final", "typing.Final")):
                    yield f"{module.at(node)}: a container that may change; fix: annotate it Final and never change it"
                held.add(dotted(target) or "")
            case _:
                pass
    for node in ast.walk(module.tree):
        match node:
            case ast.Global():
                yield f"{module.at(node)}: a global statement; fix: pass the value and return the new one"
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in held:
                yield f"{module.at(node)}: changes {name}; fix: build a new value"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name in held and attr in MUTATORS:
                yield f"{module.at(node)}: changes {name}; fix: build a new value"
            case _:
                pass


def is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    return isinstance(value, ast.Call) and dotted(value.func) in MUTABLE_CALLS


def called_or_decorating(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=func):
            return dotted(func)
        case ast.FunctionDef(decorator_list=decorators):
            return next((name for item in decorators if (name := dotted(item)) in CALLS), None)
        case _:
            return None
