"""What `import ringfence as rf` promises: listed once, documented, and nothing by accident."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module, resources

import pytest

import ringfence
from tests.architecture.source import modules

PUBLIC: tuple[str, ...] = tuple(ringfence.__all__)


def test_all_lists_exactly_what_is_exported() -> None:
    door = next(module for module in modules() if not module.short)
    exported = {
        alias.name
        for node in ast.walk(door.tree)  # also those under TYPE_CHECKING, which `__getattr__` loads
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert exported == set(PUBLIC)
    assert len(PUBLIC) == len(set(PUBLIC))


def test_everything_imported_at_the_door_is_exported() -> None:
    door = next(module for module in modules() if not module.short)
    hidden = [
        f"{door.at(node)}: {alias.name}; fix: write `{alias.name} as {alias.name}`"
        for node in door.tree.body
        if isinstance(node, ast.ImportFrom) and node.module not in {"__future__", "typing"}
        for alias in node.names
        if alias.asname != alias.name
    ]
    assert not hidden, "\n".join(hidden)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_object_is_documented(name: str) -> None:
    thing = getattr(ringfence, name)
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing):
        assert (inspect.getdoc(thing) or "").strip(), f"rf.{name} has no docstring"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_method_is_documented(name: str) -> None:
    thing = getattr(ringfence, name)
    if not inspect.isclass(thing) or not thing.__module__.startswith("ringfence."):
        return
    bare = [
        attribute
        for attribute, value in vars(thing).items()
        if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
        if not (inspect.getdoc(value) or "").strip()
    ]
    assert not bare, f"rf.{name}: no docstring on {bare}"


# files of the guest run in the jailed process only; `__main__` runs when imported
HOST = [
    module.name
    for module in modules()
    if not module.short.startswith("enclave.engines") and not module.path.stem.endswith(("_unsafe", "__main__"))
]


@pytest.mark.parametrize("name", HOST)
def test_every_module_imports_on_its_own(name: str) -> None:
    import_module(name)


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files("ringfence").joinpath("py.typed").is_file()
