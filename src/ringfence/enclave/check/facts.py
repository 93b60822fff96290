"""What a script's syntax tree says about itself, gathered once: where each node stands, what its names mean.

A name means something only where the script binds it in one way; about any other nothing is claimed. Pure, standard
library only, nothing is evaluated. Every part of `enclave.check`, and `enclave.reach`, looks here.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ringfence.enclave.check.vocabulary import ALL_MODULES

_STEPS: Final = 8
"""How far an alias of an alias is followed."""
LONGEST_TEXT: Final = 10_000
"""Characters up to which text that is put together from constants is put together here as well."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Place:
    """What is around a node."""

    scope: Literal["module", "function", "class", "comprehension"] = "module"
    owner: str | None = None
    """Innermost class, through functions: its name mangles private names."""
    loops: int = 0
    """Loops around it, comprehensions included."""
    caught: bool = False
    """Whether a `try` of the same function is around it."""


class Visit(NamedTuple):
    """One node of the tree."""

    node: ast.AST
    parent: ast.AST | None
    place: Place


def visits(tree: ast.Module) -> list[Visit]:
    """Every node below `tree` with what is around it. Uses no recursion: trees may be deep."""
    found: list[Visit] = []
    stack: list[Visit] = [Visit(child, tree, Place()) for child in reversed(tree.body)]
    while stack:
        visit = stack.pop()
        found.append(visit)
        stack.extend(reversed(list(_children(visit))))
    return found


def _children(visit: Visit) -> Iterator[Visit]:
    node, parent, place = visit
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            inner = Place(scope="function", owner=place.owner)
            body = node.body if isinstance(node.body, list) else [node.body]
            inside: set[int] = {id(child) for child in body}
        case ast.ClassDef(name=name, body=body):
            inner = Place(scope="class", owner=name, loops=place.loops)
            inside = {id(child) for child in body}
        case ast.For(body=body) | ast.AsyncFor(body=body):
            inner = _within(place, loops=place.loops + 1)
            inside = {id(child) for child in body}
        case ast.While(body=body, test=test):
            inner = _within(place, loops=place.loops + 1)
            inside = {id(child) for child in (*body, test)}
        case ast.Try(body=body) | ast.TryStar(body=body):
            inner = _within(place, caught=True)
            inside = {id(child) for child in body}
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            inner = _inside(node, place)
            inside = {id(child) for child in ast.iter_child_nodes(node)} - {id(node.generators[0])}
        case ast.comprehension(target=target, ifs=ifs) if isinstance(parent, COMPREHENSIONS):
            inner = _inside(parent, place) if node is parent.generators[0] else place
            inside = {id(target), *(id(test) for test in ifs)}
        case _:
            for child in ast.iter_child_nodes(node):
                yield Visit(child, node, place)
            return
    for child in ast.iter_child_nodes(node):
        yield Visit(child, node, inner if id(child) in inside else place)


def _inside(node: Comprehension, place: Place) -> Place:
    """What is around the element of a comprehension. Its first iterator is read outside."""
    return _within(place, scope="comprehension", loops=place.loops + len(node.generators))


def _within(
    place: Place, *, loops: int | None = None, caught: bool | None = None, scope: Literal["comprehension"] | None = None
) -> Place:
    return Place(
        scope=scope or place.scope,
        owner=place.owner,
        loops=place.loops if loops is None else loops,
        caught=place.caught if caught is None else caught,
    )


def bindings(node: ast.AST) -> Iterator[str]:
    """Names that this node, by itself, binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=alias):
            yield alias or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _ if type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):
            yield getattr(node, "name", "")
        case _:
            pass


class Facts:
    """The names of one script."""

    def __init__(self, tree: ast.Module) -> None:
        self.visits = visits(tree)
        self.bound: Counter[str] = Counter()
        """How often each name is bound, in whatever scope."""
        self.caught: set[str] = set()
        """Names of caught exceptions."""
        self.classes: dict[str, ast.ClassDef] = {}
        self.private: set[str] = set()
        """Mangled names that the script's own classes bind."""
        self.modules: set[str] = set(ALL_MODULES)
        """Dotted names that are modules."""
        self.unevaluated: set[int] = set()
        """Ids of names in annotations that Python never evaluates."""
        self.unrun: set[int] = set()
        """Ids of imports for type checkers only."""
        self._targets: dict[str, str] = {}
        self._imported: Counter[str] = Counter()
        self._values: dict[str, ast.expr] = {}
        for visit in self.visits:
            self._read(visit)
        self._read_annotations()
        self._targets = {name: it for name, it in self._targets.items() if self.bound[name] == self._imported[name]}
        self._values = {name: value for name, value in self._values.items() if self.bound[name] == 1}
        for visit in self.visits:
            if isinstance(visit.node, ast.If) and self.dotted(visit.node.test) == "typing.TYPE_CHECKING":
                self.unrun.update(id(one) for one in visit.node.body if isinstance(one, (ast.Import, ast.ImportFrom)))

    def _read(self, visit: Visit) -> None:
        node, parent, place = visit
        self.bound.update(bindings(node))
        match node:
            case ast.Import(names=names):
                for alias in names:
                    self.modules.add(alias.name)
                    self._import(alias.asname or alias.name.partition(".")[0], alias.name if alias.asname else None)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                self.modules.add(module)
                for alias in names:
                    self._import(alias.asname or alias.name, f"{module}.{alias.name}")
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._values[name] = value
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                self._values[name] = value
            case ast.ExceptHandler(name=str(name)):
                self.caught.add(name)
            case ast.ClassDef(name=name):
                self.classes[name] = node
            case _:
                pass
        self._read_private(node, parent, place)

    def _read_annotations(self) -> None:
        lazy = self._targets.get("annotations") == "__future__.annotations"
        for node, _, place in self.visits:
            match node:
                case ast.AnnAssign(annotation=annotation) if lazy or place.scope in ("module", "function"):
                    pass
                case ast.arg(annotation=ast.expr() as annotation) if lazy:
                    pass
                case ast.FunctionDef(returns=ast.expr() as annotation) if lazy:
                    pass
                case ast.AsyncFunctionDef(returns=ast.expr() as annotation) if lazy:
                    pass
                case _:
                    continue
            self.unevaluated.update(id(inner) for inner in ast.walk(annotation))

    def _read_private(self, node: ast.AST, parent: ast.AST | None, place: Place) -> None:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.Name(id=name, ctx=ast.Store()) if place.scope == "class":
                pass
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if isinstance(parent, ast.ClassDef):
                pass
            case _:
                return
        if (mangled := mangle(name, place.owner)) is not None:
            self.private.add(mangled)

    def _import(self, name: str, target: str | None) -> None:
        target = target or name
        self._imported[name] += 1
        if self._targets.setdefault(name, target) != target:
            self.bound[name] += 1  # one name for two things: nothing is claimed about it

    def dotted(self, node: ast.AST, steps: int = _STEPS) -> str | None:
        """What an expression stands for: `op.attrgetter` after `import operator as op` is `operator.attrgetter`.

        A builtin stands for itself, text for `str`. None when that cannot be told from the source.
        """
        match node:
            case ast.Name(id=name):
                if name in self._targets:
                    return self._targets[name]
                if name in self._values:
                    return self.dotted(self._values[name], steps - 1) if steps else None
                return None if self.bound[name] else name
            case ast.Attribute(value=value, attr=attr):
                base = self.dotted(value, steps)
                return None if base is None else f"{base}.{attr}".removeprefix("builtins.")
            case ast.Constant(value=str()) | ast.JoinedStr():
                return "str"
            case _:
                return None

    def value(self, node: ast.expr, steps: int = _STEPS) -> ast.expr:
        """The expression that a name bound once was bound to; anything else as it is."""
        while isinstance(node, ast.Name) and node.id in self._values and steps:
            node, steps = self._values[node.id], steps - 1
        return node

    def text(self, node: ast.expr | None, steps: int = _STEPS) -> str | None:
        """Text that an expression is made of, when only constants make it."""
        if node is None or steps <= 0:
            return None
        node = self.value(node)
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.JoinedStr(values=values):
                parts = [self.text(value, steps - 1) for value in values]
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                parts = [self.text(value, steps - 1)]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = [self.text(left, steps - 1), self.text(right, steps - 1)]
            case _:
                return None
        known = [part for part in parts if part is not None]
        joined = "".join(known)
        return joined if len(known) == len(parts) and len(joined) <= LONGEST_TEXT else None


def is_dunder(name: str) -> bool:
    """Two underscores on both sides."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def mangle(name: str, owner: str | None) -> str | None:
    """What Python makes of a private name inside the class `owner`; None where it changes nothing."""
    if owner is None or not name.startswith("__") or name.endswith("__") or not owner.strip("_"):
        return None
    return f"_{owner.lstrip('_')}{name}"
