"""First file of a process that jails itself: `python FLAGS launch_unsafe.py MODULE ARGUMENT…`, run by exec.

Loads one module of this directory without the rest of ringfence: packages have their directory but no `__init__`, so
that pydantic and the like, which a guest has no use for, never enter the process. Knows nothing of jails itself.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))


class BarePackages:
    """Finds the packages of ringfence, and lets none of them run code."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        folder = os.path.join(_ROOT, *fullname.split("."))
        if fullname.partition(".")[0] != "ringfence" or not os.path.isdir(folder):
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec


def main() -> None:
    sys.meta_path.insert(0, BarePackages)
    module, *arguments = sys.argv[1:]
    importlib.import_module(f"ringfence.sandbox.jail.{module}").run(arguments)


if __name__ == "__main__":
    main()
