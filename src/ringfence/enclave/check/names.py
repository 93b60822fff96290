"""Rules about single names and attributes: underscores, frames, private parts, names that nothing defines.

Every place of the syntax where a name can stand is looked at (names, attributes, arguments, imports, handlers,
patterns, keywords), since each one forgotten is a way around the rule. Pure, standard library only.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from ringfence.enclave.check import vocabulary
from ringfence.enclave.check.facts import Place, Visit, bindings, is_dunder, mangle
from ringfence.enclave.check.findings import Placed
from ringfence.enclave.check.subject import Subject

_MANGLED: Final = re.compile(r"_[A-Z]\w*?__\w+")
_JSON_WORDS: Final[Mapping[str, str]] = {"null": "None", "undefined": "None", "true": "True", "false": "False"}
_SHOWN: Final = 20
"""Tools in a fix."""
_SELF: Final = frozenset({"self", "cls", "mcs"})


def look(subject: Subject, visit: Visit) -> None:
    """Report what is wrong with the names of one node."""
    node, parent, place = visit
    for name, at in _bound_or_matched(node):
        _written(subject, name, at, visit)
    match node:
        case ast.Name(ctx=ast.Load()):
            _loaded(subject, node, parent)
        case ast.Attribute():
            _attribute(subject, node, parent, place)
        case ast.Name() | ast.arg() | ast.alias() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            _rebound(subject, node, place)
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
            _rebound(subject, node, place)
        case ast.Global(names=names):
            for name in sorted(subject.protected.intersection(names)):
                subject.findings.add("REBOUND_NAME", node, name)
        case _:
            pass


def _bound_or_matched(node: ast.AST) -> Iterator[tuple[str, Placed]]:
    """Names that a node binds or matches by. Those that are loaded, and attributes, have rules of their own."""
    match node:
        case ast.keyword(arg=str(name)):
            yield name, node
        case ast.MatchClass(kwd_attrs=names):
            for name in names:
                yield name, node
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            for name in names:
                yield name, node
        case ast.alias(name=name, asname=alias):
            for part in name.split("."):
                if part != "__future__":
                    yield part, node
            if alias is not None:
                yield alias, node
        case ast.expr() | ast.stmt() | ast.arg() | ast.excepthandler() | ast.pattern():
            for name in bindings(node):
                yield name, node
        case _:
            pass


def _written(subject: Subject, name: str, at: Placed, visit: Visit) -> None:
    """A name that is bound, matched or passed by."""
    if name in vocabulary.FRAMES and isinstance(at, ast.MatchClass):
        subject.findings.add("FRAME_ATTRIBUTE", at, name)
    if not is_dunder(name):
        return
    node, parent, place = visit
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(parent, ast.ClassDef):
        _method(subject, node, name)
    elif isinstance(node, ast.Name) and place.scope in ("module", "class") and name in vocabulary.CLASS_DATA:
        pass
    elif isinstance(node, ast.Name) and place.scope == "class" and name in vocabulary.PROTOCOL:
        pass  # __radd__ = __add__
    elif name == "__del__":
        subject.findings.add("FINALIZER", at, name)
    else:
        subject.findings.add("DUNDER", at, name)


def _method(subject: Subject, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
    if name == "__del__":
        subject.findings.add("FINALIZER", node, name)
    elif name in vocabulary.HOOKS:
        subject.findings.add("HOOK_METHOD", node, name)
    elif name not in vocabulary.PROTOCOL:
        subject.findings.add("DUNDER", node, name)
    elif subject.level == "STRICT" and name not in vocabulary.STRICT_METHODS:
        subject.findings.add("HOOK_METHOD", node, name)


def _loaded(subject: Subject, node: ast.Name, parent: ast.AST | None) -> None:
    name, facts = node.id, subject.facts
    if facts.bound[name] or name in subject.ambient:
        if is_dunder(name) and name not in vocabulary.CLASS_DATA and not _is_protocol_alias(name, parent):
            subject.findings.add("DUNDER", node, name)
    elif name in vocabulary.DYNAMIC_CODE:
        subject.findings.add("DYNAMIC_CODE", node, name)
    elif name in vocabulary.INTROSPECTION:
        own = isinstance(parent, ast.Call) and parent.func is node and bool(parent.args)
        subject.findings.add("OBJECT_MEMBERS" if own and name in ("vars", "dir") else "INTROSPECTION", node, name)
    elif name in vocabulary.HOST:
        subject.findings.add("HOST_ACCESS", node, name)
    elif is_dunder(name):
        if name not in vocabulary.READABLE:
            subject.findings.add("DUNDER", node, name)
    elif id(node) in facts.unevaluated or facts.bound["*"]:
        return
    elif name not in vocabulary.BUILTINS or (subject.level == "STRICT" and name in vocabulary.STRICT_LACKS):
        subject.findings.add("UNKNOWN_NAME", node, name, _suggestion(subject, name))


def _is_protocol_alias(name: str, parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Assign) and name in vocabulary.PROTOCOL


def _suggestion(subject: Subject, name: str) -> str | None:
    if name in _JSON_WORDS:
        return f"write {_JSON_WORDS[name]}"
    if name in vocabulary.ALL_MODULES:
        return f"write import {name}"
    for space, methods in subject.known.namespaces.items():
        if name in methods:
            return f"write await {space}.{name}(...)"
    there = sorted({*subject.facts.bound, *subject.ambient, *vocabulary.BUILTINS})
    close = difflib.get_close_matches(name, there, n=1, cutoff=0.75)
    return f"did you mean {close[0]}?" if close else None


def _attribute(subject: Subject, node: ast.Attribute, parent: ast.AST | None, place: Place) -> None:
    name = node.attr
    space = subject.namespace(node.value)
    if space is not None:
        _tool(subject, node, space)
    if is_dunder(name):
        if name == "__del__":
            subject.findings.add("FINALIZER", node, name)
        elif name in vocabulary.ERROR_CHAIN:
            subject.findings.add("ERROR_CHAIN", node, name)
        elif not _may_read(node, parent):
            subject.findings.add("PROTOCOL_CALL" if name in vocabulary.PROTOCOL else "DUNDER", node, name)
        return
    if name in vocabulary.FRAMES:
        subject.findings.add("FRAME_ATTRIBUTE", node, name)
    elif name == "obj" and isinstance(node.value, ast.Name) and node.value.id in subject.facts.caught:
        subject.findings.add("ERROR_OBJECT", node, f"{node.value.id}.obj")
    mangled = mangle(name, place.owner) or (name if _MANGLED.fullmatch(name) else None)
    if mangled is not None and mangled not in subject.facts.private:
        subject.findings.add("PRIVATE_OF_CLASS", node, mangled)
    _module_attribute(subject, node, parent)


def _tool(subject: Subject, node: ast.Attribute, space: str) -> None:
    """A member of a namespace: its tools are all that it has."""
    methods = subject.known.namespaces[space]
    if node.attr not in methods and not is_dunder(node.attr):
        close = difflib.get_close_matches(node.attr, methods, n=1)
        fix = f"did you mean {space}.{close[0]}?" if close else f"{space} has {', '.join(list(methods)[:_SHOWN])}"
        subject.findings.add("UNKNOWN_TOOL_NAME", node, f"{space}.{node.attr}", fix)


def _may_read(node: ast.Attribute, parent: ast.AST | None) -> bool:
    """Whether this use of a double-underscore attribute is ordinary."""
    name = node.attr
    if name in vocabulary.READABLE and isinstance(node.ctx, ast.Load):
        return True
    if name == "__class__":  # type(x).__name__ as older scripts write it
        return isinstance(parent, ast.Attribute) and parent.attr in ("__name__", "__qualname__")
    if name not in vocabulary.PROTOCOL and name not in ("__setattr__", "__getattr__", "__init_subclass__"):
        return False
    match node.value, parent:
        case ast.Call(func=ast.Name(id="super")), _:
            return True
        case ast.Name(), ast.Call(func=func, args=[ast.Name(id=first), *_]):
            return func is node and first in _SELF
        case _:
            return False


def _module_attribute(subject: Subject, node: ast.Attribute, parent: ast.AST | None) -> None:
    """Attributes of modules and of builtin classes."""
    base, name = subject.dotted(node.value), node.attr
    if base is None:
        return
    whole = f"{base}.{name}"
    if not isinstance(node.ctx, ast.Load):
        if (base in subject.facts.modules and whole not in ("sys.stdout", "sys.stderr")) or base in vocabulary.CLASSES:
            subject.findings.add("MODULE_CHANGED", node, whole)
    elif base in subject.facts.modules:
        if name.startswith("_") or (name in vocabulary.PIVOTS and whole not in subject.facts.modules):
            subject.findings.add("MODULE_PIVOT", node, whole)
        elif _reaches_host(base, name):
            subject.findings.add("HOST_ACCESS", node, whole)
        elif whole in vocabulary.CODE_NAMES or base.partition(".")[0] == "importlib":
            subject.findings.add("DYNAMIC_CODE", node, whole)
        elif base == "builtins":
            _builtin(subject, node, name)
    elif base.partition(".")[0] in subject.facts.modules:
        _through_modules(subject, node, whole)


def _through_modules(subject: Subject, node: ast.Attribute, whole: str) -> None:
    """What is reached by going from module to module: `re.enum.sys`, `logging.io.open`."""
    *_, owner, name = whole.split(".")
    if name in vocabulary.DEEP_PIVOTS:
        subject.findings.add("MODULE_PIVOT", node, whole)
    elif f"{owner}.{name}" in vocabulary.HOST_NAMES:
        subject.findings.add("HOST_ACCESS", node, whole)
    elif f"{owner}.{name}" in vocabulary.CODE_NAMES:
        subject.findings.add("DYNAMIC_CODE", node, whole)


def _builtin(subject: Subject, node: ast.Attribute, name: str) -> None:
    if name in vocabulary.DYNAMIC_CODE:
        subject.findings.add("DYNAMIC_CODE", node, name)
    elif name in vocabulary.HOST:
        subject.findings.add("HOST_ACCESS", node, name)
    elif name in vocabulary.INTROSPECTION:
        subject.findings.add("INTROSPECTION", node, name)


def reaches_host(whole: str) -> bool:
    """Whether a dotted name is something that looks for the host."""
    base, _, name = whole.rpartition(".")
    return _reaches_host(base, name)


def _reaches_host(base: str, name: str) -> bool:
    if base == "os":
        return name not in vocabulary.OS_NAMES
    if base == "sys":
        return name not in vocabulary.SYS_NAMES
    return f"{base}.{name}" in vocabulary.HOST_NAMES


def _rebound(subject: Subject, node: ast.AST, place: Place) -> None:
    """Names through which the script reaches tools, bound to something else."""
    for name in bindings(node):
        if name in subject.protected:
            at_top = place.scope == "module" and not isinstance(node, ast.arg)
            assert isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.alias, ast.excepthandler, ast.pattern))
            subject.findings.add("REBOUND_NAME" if at_top else "SHADOWED_NAME", node, name)
