"""What an interpreter that is about to be jailed says of its host's folders, and how it forgets it.

Called by `zygote_unsafe` when everything is imported. What could be opened is the kernel's concern; this is about texts:
a script, or the error it causes, has no business with names of users and projects. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any, Final

from ringfence.sandbox.jail.launch_unsafe import ROOT, place

_PREFIXES: Final = "prefix exec_prefix base_prefix base_exec_prefix _base_executable _stdlib_dir executable".split()


def folders() -> frozenset[str]:
    """The host's folders that this interpreter knows of."""
    known = {getattr(sys, name, None) for name in _PREFIXES} | {ROOT, *sys.path, *sys.path_importer_cache}
    return frozenset(one.rstrip("/") for one in known if one and len(one) > 1)


def forget(hidden: Iterable[str]) -> None:
    """Leave no text below one of the folders in `sys`, in what modules say of themselves, and in their variables."""
    whole = frozenset(hidden)
    beginnings = tuple(f"{folder}/" for folder in whole)
    for name in _PREFIXES:
        if hasattr(sys, name):
            setattr(sys, name, "")
    sys.path.clear()
    sys.path_importer_cache.clear()
    modules: dict[str, ModuleType | None] = dict(sys.modules)  # None is what may not be imported
    for name, module in modules.items():
        if module is not None:
            _forget_module(name, vars(module), whole, beginnings)


def _forget_module(name: str, names: dict[str, Any], whole: frozenset[str], beginnings: tuple[str, ...]) -> None:
    spec = names.get("__spec__")
    path = names.get("__file__")
    shown = place(spec.name if spec is not None else name, path) if path else None
    if shown is not None:
        names["__file__"] = shown
        names.pop("__cached__", None)
    if "__path__" in names:
        names["__path__"] = [name.replace(".", "/")]
    if spec is not None and (shown is not None or "__path__" in names):
        names["__loader__"] = spec.loader = spec.loader_state = spec.cached = None
        spec.origin = shown
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations = [name.replace(".", "/")]
    for key, value in names.items():
        if type(value) is str and (value in whole or value.startswith(beginnings)):
            names[key] = ""
