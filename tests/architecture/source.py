"""The source as data: modules parsed once, their imports resolved. Knows no rule; the tests beside it hold those."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PACKAGE = "ringfence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One source file."""

    name: str
    """Dotted, without `.__init__`."""
    path: Path
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def short(self) -> str:
        """Name below the package: `gate.machine`, `""` for the package itself."""
        return self.name[len(PACKAGE) + 1 :]

    def at(self, node: ast.AST | int) -> str:
        line = node if isinstance(node, int) else getattr(node, "lineno", 1)
        return f"{self.path.relative_to(ROOT)}:{line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module, as far as it can be resolved: `from x import y` is `x.y` when that is a module of ours."""

    target: str
    line: int
    typing_only: bool
    """Inside `if TYPE_CHECKING:`, so it never happens at run time."""


@cache
def modules() -> tuple[Module, ...]:
    found: list[Module] = []
    for path in sorted((SRC / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found.append(Module(name=name, path=path, text=text, tree=ast.parse(text, filename=str(path))))
    assert found, "no source found; the tests must run from a checkout"
    return tuple(found)


@cache
def names() -> frozenset[str]:
    return frozenset(module.name for module in modules())


def imports(module: Module) -> Iterator[Import]:
    guarded = {inner for node in ast.walk(module.tree) if _is_type_checking(node) for inner in ast.walk(node)}
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=aliases):
                targets = [alias.name for alias in aliases]
            case ast.ImportFrom(names=aliases):
                base = _base(module, node)
                targets = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in names() else base for alias in aliases]
            case _:
                continue
        for target in targets:
            yield Import(target=target, line=node.lineno, typing_only=node in guarded)


def own_imports(module: Module) -> Iterator[Import]:
    """Imports of modules of this package."""
    return (item for item in imports(module) if item.target == PACKAGE or item.target.startswith(PACKAGE + "."))


def report(problems: Iterable[str]) -> str:
    return "\n" + "\n".join(problems)


def dotted(node: ast.AST) -> str | None:
    """`os.path.join` of the expression that says so; None for anything but names and attributes."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            base = dotted(value)
            return None if base is None else f"{base}.{attr}"
        case _:
            return None


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and dotted(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def _base(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = module.name.split(".")
    keep = len(parts) - node.level + (1 if module.is_package else 0)
    return ".".join([*parts[:keep], *([node.module] if node.module else [])])
