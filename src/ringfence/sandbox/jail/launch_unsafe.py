"""First file of a process that jails itself: `python FLAGS launch_unsafe.py MODULE ARGUMENT…`, run by exec.

Loads one module of this directory without the rest of ringfence: packages have their directory but no `__init__`, so
that pydantic and the like, which a guest has no use for, never enter the process. From its first import on, code says
that it comes from `json/decoder.py`, and not where that is on the host. Knows nothing of jails itself.
"""

from __future__ import annotations

import _imp
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
"""Folder that holds the package `ringfence`."""


class BarePackages:
    """Finds the packages of ringfence, and lets none of them run code."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        folder = os.path.join(ROOT, *fullname.split("."))
        if fullname.partition(".")[0] != "ringfence" or not os.path.isdir(folder):
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec


def place(name: str, path: str) -> str:
    """What a module's file is called inside the jail. `linecache` finds it by that name as long as it may open files."""
    parts = name.split(".")
    return "/".join([*parts, os.path.basename(path)] if is_package(path) else [*parts[:-1], os.path.basename(path)])


def is_package(path: str) -> bool:
    return os.path.basename(path).startswith("__init__.")


def hide_folders() -> None:
    """Have imported code made with names of files that are relative, which is what tracebacks and frames show."""
    external: Any = sys.modules["_frozen_importlib_external"]
    from_bytes: Callable[..., CodeType] = external._compile_bytecode
    from_source: Callable[..., CodeType] = external.SourceLoader.source_to_code

    def compile_bytecode(data: object, name: str, bytecode_path: str, source_path: str | None = None) -> CodeType:
        return from_bytes(data, name, bytecode_path, source_path and place(name, source_path))

    def source_to_code(self: Any, data: object, path: str, *rest: Any, **options: Any) -> CodeType:
        code = from_source(self, data, path, *rest, **options)
        _imp._fix_co_filename(code, place(self.name, path))  # type: ignore[attr-defined]
        return code

    external._compile_bytecode = compile_bytecode
    external.SourceLoader.source_to_code = source_to_code
    sys.executable = ""  # before anybody makes it a default argument


def main() -> None:
    hide_folders()
    _imp._fix_co_filename(sys._getframe(1).f_code, place("ringfence.sandbox.jail.launch_unsafe", __file__))  # type: ignore[attr-defined]
    sys.meta_path.insert(0, BarePackages)
    module, *arguments = sys.argv[1:]
    importlib.import_module(f"ringfence.sandbox.jail.{module}").run(arguments)


if __name__ == "__main__":
    main()
