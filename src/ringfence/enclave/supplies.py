"""Which engine runs a language, and what it brings into its jail besides the standard library.

For Python these are packages that were asked for, and time zones; for JavaScript the engine itself and the parser, as
compiled modules. Looks where this Python finds modules and says what is where; imports none of it. The engine loads it
before its jail closes. `facade` asks it when an enclave is made, `pool` when a jail starts.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, Final

import tzdata

from ringfence.errors import ConfigError

_STANDARD: Final = frozenset(os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


_COMPILED: Final = {
    "engine": "_quickjs",
    "parser": "tree_sitter._binding",
    "grammar": "tree_sitter_javascript._binding",
}
"""What the JavaScript engine is told of, to the compiled module it is. The public package `quickjs` starts a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What runs scripts inside a jail."""

    entry: str
    """`module:prepare,serve` of ours."""
    supplies: Callable[[], dict[str, Any]]
    """Looks up the keyword arguments of `prepare`, at the start of each jail."""


def engine(language: str, preload: tuple[str, ...]) -> Engine:
    """The engine of one of `options.LANGUAGES`.

    Raises:
        ConfigError: a module to preload that is not installed, or not for scripts; or the JavaScript engine is missing.
    """
    if language == "python":
        supplies = partial(_python, installed(preload))
        return Engine(entry="ringfence.enclave.engines.python_unsafe:prepare,serve", supplies=supplies)
    if preload:
        raise ConfigError("preload: modules are Python's, and JavaScript scripts have none", hint="call a tool instead")
    _javascript()  # now, and not with the first run
    return Engine(entry="ringfence.enclave.engines.javascript_unsafe:prepare,serve", supplies=_javascript)


def _python(preload: tuple[str, ...]) -> dict[str, Any]:
    """Keyword arguments of `guest_modules.preload`. The time zones are those of a package, and so of one version."""
    zones = os.path.dirname(os.path.abspath(tzdata.__file__))
    return {"names": preload, "folders": _folders(preload), "zones": zones}


def _javascript() -> dict[str, Any]:
    """Files of the compiled modules."""
    found: dict[str, Any] = {}
    for what, name in _COMPILED.items():
        spec = _find_part(name)
        if spec is None or not spec.origin:
            package = {"engine": "quickjs-ng", "parser": "tree-sitter", "grammar": "tree-sitter-javascript"}[what]
            raise ConfigError(
                f"language: JavaScript needs the module {name!r}, which is not here", hint=f"pip install {package}"
            )
        found[what] = os.path.abspath(spec.origin)
    return found


def _find_part(name: str) -> ModuleSpec | None:
    """Where a module of a package is, without importing either."""
    top, _, part = name.partition(".")
    spec = _find(top)
    if spec is None or not part:
        return spec
    return PathFinder.find_spec(name, spec.submodule_search_locations)


def _folders(preload: tuple[str, ...]) -> tuple[str, ...]:
    """This Python's search path, and where it finds what is installed by other means; not the standard library."""
    if not preload:
        return ()
    homes = [home for name in preload for home in _homes(_find(name))]
    found = dict.fromkeys(os.path.abspath(folder) for folder in (*sys.path, *homes))
    return tuple(folder for folder in found if os.path.isdir(folder) and not _is_standard(folder))


def _is_standard(folder: str) -> bool:
    real = os.path.realpath(folder)
    return real in _STANDARD or (os.path.basename(real) == "lib-dynload" and os.path.dirname(real) in _STANDARD)


def _homes(spec: ModuleSpec | None) -> Iterable[str]:
    if spec is None:
        return ()
    places = spec.submodule_search_locations or ([spec.origin] if spec.has_location and spec.origin else [])
    return [os.path.dirname(place) for place in places]


def _find(name: str) -> ModuleSpec | None:
    """The package that a module is part of, which is not imported for that."""
    try:
        return importlib.util.find_spec(name.partition(".")[0])
    except ValueError:  # it was made without a specification
        return None


def installed(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names, when there are such modules to preload.

    Raises:
        ConfigError: one is not installed, or is the host's side of the jail.
    """
    for name in names:
        top = name.partition(".")[0]
        if top == "__main__":
            raise ConfigError("preload: __main__ is the host's program, and no module that scripts could have")
        if top == "ringfence":
            raise ConfigError("preload: ringfence is the host's, and has no place in a script")
        if _find(name) is None:
            raise ConfigError(f"preload: there is no module {top!r} here", hint=f"pip install {top}")
    return names
