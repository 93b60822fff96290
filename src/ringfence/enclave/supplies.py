"""What a guest brings into its jail besides the standard library: packages that were asked for, and time zones.

Looks where this Python finds modules and says what is where; imports none of it. The engine (`guest_modules`) loads it
before its jail closes. `workers` asks it when an enclave is made, `pool` when a jail starts.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from typing import Any, Final

import tzdata

from ringfence.errors import ConfigError

_STANDARD: Final = frozenset(os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def supplies(preload: tuple[str, ...]) -> dict[str, Any]:
    """Keyword arguments of `guest_modules.preload`. The time zones are those of a package, and so of one version."""
    zones = os.path.dirname(os.path.abspath(tzdata.__file__))
    return {"names": preload, "folders": _folders(preload), "zones": zones}


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
