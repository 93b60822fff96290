"""Which names session variables may have: one rule for their way into a script and for their way back.

What one run gives back is given to the next one, so that whatever is taken from a guest has to be what a host may give.
Knows the names that a script finds; neither values nor frames. `requests` asks on the way in, `received` on the way
back. Pure.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ringfence.enclave.languages import PYTHON, Language

_OPTIONAL: Final = frozenset({"tools"})
"""Names of the guest's that a script may lack: then they are free."""


def is_writable(name: str, language: Language = PYTHON) -> bool:
    """Whether a script can write this name, whatever its engine."""
    return language.is_name(name)


def is_plausible(name: str, language: Language = PYTHON) -> bool:
    """Whether a script's engine may have taken this for a name. A guest that sends another one is not honest.

    An engine with a newer Unicode has names that the host could not give to the next run: they are not kept.
    """
    return language.resembles_name(name)


def is_private(name: str) -> bool:
    """Whether it is a script's own affair, and never kept."""
    return name.startswith("_")


def taken(namespaces: Collection[str], globals_: Collection[str], language: Language = PYTHON) -> frozenset[str]:
    """Names that stand for something else in a script with these namespaces and globals, and are no variables."""
    return frozenset((language.guest - _OPTIONAL).union(namespaces, globals_))
