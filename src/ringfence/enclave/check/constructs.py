"""Rules about statements: what STRICT leaves out, how classes are made, what nothing reaches, what nobody knows.

Pure, standard library only.
"""

from __future__ import annotations

import ast
import itertools
from typing import Final

from ringfence.enclave.check import vocabulary
from ringfence.enclave.check.facts import LOOPS, Place, Visit
from ringfence.enclave.check.subject import Subject
from ringfence.enclave.check.tree import blocks

_ENDS: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_WAITS: Final = (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith, ast.Return, ast.Raise, ast.Assert)
_LEAVES: Final = frozenset("next anext exit quit sys.exit".split())
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_META: Final = frozenset({"abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})


def look(subject: Subject, visit: Visit) -> None:
    """Report what is wrong with one construct."""
    node, _, place = visit
    _syntax(subject, node)
    _unreachable(subject, node)
    match node:
        case ast.While():
            subject.findings.add("FORBIDDEN_LOOP", node, "while")
            _while(subject, node, place)
        case ast.For():
            if _endless(subject, node.iter) and not _leaves(subject, node.body, place):
                subject.findings.add("INFINITE_LOOP", node, "the for loop")
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.DictComp(generators=parts):
            if any(_endless(subject, part.iter) for part in parts) and not place.caught:
                subject.findings.add("INFINITE_LOOP", node, "the comprehension")
        case ast.Call(args=[first, *_]) if subject.dotted(node.func) in vocabulary.CONSUMERS:
            if _endless(subject, first):
                subject.findings.add("INFINITE_LOOP", node, f"{subject.dotted(node.func)}(…)")
        case ast.Yield() | ast.YieldFrom():
            subject.findings.add("FORBIDDEN_GENERATOR", node, "yield")
        case ast.Global() | ast.Nonlocal():
            subject.findings.add("FORBIDDEN_GLOBAL", node, type(node).__name__.lower())
        case ast.ClassDef():
            _class(subject, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _decorators(subject, node)
        case _:
            pass


def look_at_top(subject: Subject, tree: ast.Module) -> None:
    """Report what is wrong with the script's own statements as a block."""
    _unreachable(subject, tree)


def _syntax(subject: Subject, node: ast.AST) -> None:
    kind = type(node).__name__
    known = kind in vocabulary.KNOWN_NODES
    if known and (kind not in vocabulary.NEW_NODES or subject.level not in ("STRICT", "SECURE")):
        return
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    shown = "except*" if kind == "TryStar" else kind
    fix = "catch ExceptionGroup with except, and look at its exceptions" if kind == "TryStar" else None
    subject.findings.add_at("UNSUPPORTED_SYNTAX", line, column, shown, fix)


def _unreachable(subject: Subject, node: ast.AST) -> None:
    for body in blocks(node) if isinstance(node, (ast.stmt, ast.Module)) else ():
        for statement, after in itertools.pairwise(body):
            if isinstance(statement, _ENDS):
                if not any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(after)):
                    subject.findings.add("UNREACHABLE_CODE", after, type(statement).__name__.lower())
                break


def _while(subject: Subject, node: ast.While, place: Place) -> None:
    if _is_true(node.test) and not _leaves(subject, node.body, place):
        subject.findings.add("INFINITE_LOOP", node, "while " + ast.unparse(node.test))


def _is_true(test: ast.expr) -> bool:
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
        case ast.List(elts=[_, *_]) | ast.Tuple(elts=[_, *_]):
            return True
        case ast.Compare(left=ast.Constant(value=left), ops=[ast.Eq()], comparators=[ast.Constant(value=right)]):
            return left == right
        case _:
            return False


def _leaves(subject: Subject, body: list[ast.stmt], place: Place) -> bool:
    """Whether something in a loop's body can end it, or waits for somebody else."""
    stack: list[tuple[ast.AST, bool]] = [(node, False) for node in body]
    while stack:
        node, inner = stack.pop()
        if isinstance(node, _WAITS) or (isinstance(node, ast.Break) and not inner):
            return True
        if isinstance(node, ast.comprehension) and node.is_async:
            return True
        if isinstance(node, (ast.Call, ast.Subscript)) and place.caught:  # an exception can be what ends it
            return True
        if isinstance(node, ast.Call) and subject.dotted(node.func) in _LEAVES:
            return True
        if isinstance(node, _SCOPES):
            continue
        inner = inner or isinstance(node, LOOPS)
        stack.extend((child, inner) for child in ast.iter_child_nodes(node))
    return False


def _endless(subject: Subject, node: ast.expr) -> bool:
    """Whether an expression iterates without end."""
    node = subject.facts.value(node)
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            name = subject.dotted(func)
            if name == "itertools.repeat":
                return len(args) == 1 and not keywords
            if name in ("map", "zip"):  # the shortest ends it
                sources = args[1:] if name == "map" else args
                return bool(sources) and all(_endless(subject, inner) for inner in sources)
            if name in ("enumerate", "filter"):
                return any(_endless(subject, inner) for inner in args)
            return name in vocabulary.ENDLESS
        case ast.GeneratorExp(generators=[first, *_]):
            return _endless(subject, first.iter)
        case _:
            return False


# classes and decorators


def _class(subject: Subject, node: ast.ClassDef) -> None:
    for keyword in node.keywords:
        if keyword.arg in (None, "metaclass") and subject.dotted(keyword.value) not in _META:
            subject.findings.add("METACLASS", keyword.value, node.name)
    for base in node.bases:
        if subject.dotted(base) in _META | {"type"}:
            subject.findings.add("METACLASS", base, node.name)
    if not _is_data(subject, node, frozenset()):
        subject.findings.add("FORBIDDEN_CLASS", node, node.name)
    _decorators(subject, node)


def _is_data(subject: Subject, node: ast.ClassDef, seen: frozenset[str]) -> bool:
    """Dataclasses, enums, named tuples, typed dicts, exceptions, and what derives from these in the script."""
    for decorator in node.decorator_list:
        if subject.dotted(_called(decorator)) == "dataclasses.dataclass":
            return True
    for base in node.bases:
        name = subject.dotted(base)
        if name in vocabulary.DATA_BASES or name in vocabulary.EXCEPTIONS:
            return True
        if isinstance(base, ast.Name) and base.id not in seen and base.id in subject.facts.classes:
            return _is_data(subject, subject.facts.classes[base.id], seen | {node.name, base.id})
    return False


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _decorators(subject: Subject, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        target = _called(decorator)
        if isinstance(target, ast.Attribute) and target.attr in ("setter", "getter", "deleter", "register"):
            continue
        if subject.dotted(target) not in vocabulary.DECORATORS:
            subject.findings.add("FORBIDDEN_DECORATOR", decorator, ast.unparse(target))
