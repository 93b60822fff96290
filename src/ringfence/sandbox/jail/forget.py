"""What an interpreter that is about to be jailed says of its host's folders, and how it forgets it.

Called by `zygote_unsafe` when everything is imported. What could be opened is the kernel's concern; this is about texts:
a script, or the error it causes, has no business with names of users, projects and machines. Standard library only.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from ringfence.sandbox.jail.launch_unsafe import ROOT, place

_PREFIXES: Final = "prefix exec_prefix base_prefix base_exec_prefix _base_executable _stdlib_dir".split()

_OWN: Final = sys.stdlib_module_names | {"ringfence", "__main__"}
"""Modules that keep such texts in variables only; it takes 30 ms to look everywhere."""

Holder = dict[Any, Any] | list[Any]


def forget() -> None:
    """Leave no text that begins with one of the host's folders: in `sys`, in modules, in objects of packages.

    Texts in tuples stay, as nothing can be put in their place; code has its folders taken away when it is loaded.
    """
    known = {getattr(sys, name, None) for name in _PREFIXES} | {ROOT, *sys.path, *sys.path_importer_cache}
    folders = frozenset(one.rstrip("/") for one in known if one and len(one) > 1)
    beginnings = tuple(f"{folder}/" for folder in folders)
    for name in _PREFIXES:
        if hasattr(sys, name):
            setattr(sys, name, "")
    sys.path.clear()
    sys.path_importer_cache.clear()
    modules: dict[str, ModuleType | None] = dict(sys.modules)  # None is what may not be imported
    for name, module in modules.items():
        if module is not None:
            _forget_origin(name, vars(module))
            if name == "platform":
                _forget_machine(vars(module))
            if name == "sysconfig" or name.startswith("_sysconfigdata"):
                _forget_build(vars(module))

    def hidden(text: str) -> bool:
        return text in folders or text.startswith(beginnings)

    for module in modules.values():
        _replace_in(module, hidden)
    if any(name.partition(".")[0] not in _OWN for name in modules):
        _replace_everywhere(hidden)


def _forget_machine(names: dict[str, Any]) -> None:
    """`platform` has asked the kernel once and remembers: the name of the machine and its kernel, among others."""
    told = names["uname"]()
    names["_uname_cache"] = names["uname_result"](told.system, "", "", "", told.machine)
    names["_platform_cache"].clear()


def _forget_origin(name: str, names: dict[str, Any]) -> None:
    """Where a module came from becomes a relative name, which those that ask for it can still work with."""
    spec = names.get("__spec__")
    path = names.get("__file__")
    shown = place(spec.name if spec is not None else name, path) if path else None
    if shown is not None:
        names["__file__"] = shown
        names["__loader__"] = None
        names.pop("__cached__", None)
    if "__path__" in names:
        names["__path__"] = [name.replace(".", "/")]
    if spec is not None and (shown is not None or "__path__" in names):
        names["__loader__"] = spec.loader = spec.loader_state = spec.cached = None
        spec.origin = shown
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations = [name.replace(".", "/")]


def _forget_build(names: dict[str, Any]) -> None:
    """How this Python was built, in texts that hold folders somewhere."""
    for name, value in names.items():
        if type(value) is dict and not name.startswith("__"):
            value.clear()  # pyright: ignore[reportUnknownMemberType]


def _replace_everywhere(hidden: Callable[[str], bool]) -> None:
    """Look into every object that the collector knows of, and into the dictionaries of texts, which it does not."""
    for holder in gc.get_objects():
        for child in gc.get_referents(holder):
            if type(child) is str:
                if hidden(child):
                    _replace_in(holder, hidden)
            elif type(child) is dict and not gc.is_tracked(child):  # pyright: ignore[reportUnknownArgumentType]
                _replace_in(child, hidden)  # pyright: ignore[reportUnknownArgumentType]


def _replace_in(holder: Any, hidden: Callable[[str], bool]) -> None:
    target: Holder = holder if type(holder) in (dict, list) else getattr(holder, "__dict__", {})
    pairs = enumerate(target) if type(target) is list else list(target.items()) if type(target) is dict else ()
    for key, value in pairs:
        if type(value) is str and hidden(value):
            target[key] = ""
