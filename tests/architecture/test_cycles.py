"""No module needs itself, however indirectly."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from tests.architecture.source import PACKAGE, modules, own_imports


def test_imports_have_no_cycle() -> None:
    graph = {
        module.name: {item.target for item in own_imports(module) if item.target != PACKAGE} - {module.name}
        for module in modules()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise AssertionError(f"{cycle}; fix: move what both need into the lower module") from None
