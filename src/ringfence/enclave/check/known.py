"""The names that a run gives its script, whatever its language.

Pure data, standard library only. The guest makes it of the run frame; the checks of both languages read it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The names that a run gives its script."""

    namespaces: Mapping[str, Mapping[str, str]]
    """Namespace to method to tool name."""
    names: Collection[str] = ()
    """Globals and session variables."""
    modules: Collection[str] = ()
    """Modules that this run has besides the usual ones."""
