"""Session variables: what the host wants to know of a script's top level when the script has ended.

Runs inside the jail, standard library only. Kept is what is data under a name of the script's own. Functions, classes
and modules are left out without a word, since every script has some at its top level; of anything else that is left out
the name is told, so that no value vanishes unseen. Knows names and values; `python_unsafe` sends the result.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Final, NamedTuple

from ringfence.enclave.engines.guest_bounds import Bounds, Encoded, Path, structure
from ringfence.enclave.engines.guest_values import NotData, encode
from ringfence.enclave.engines.guest_wire import dumps

MOST_TOLD: Final = 500
"""Names that were left out, in one frame."""
LONGEST_TOLD: Final = 200


class Kept(NamedTuple):
    """What is sent of a top level."""

    data: Encoded
    """An object of the names that hold data, in the order in which the script made them."""
    left: list[str]
    """Names of what looks like data, or had been data of the host's, and was left out; some of very many."""


def keep(
    names: Mapping[str, object], given: Collection[str], bounds: Bounds, room: int, variables: Collection[str] = ()
) -> Kept:
    """Go through the names of a top level.

    What does not fit is left out, each for itself: the same names always lead to the same object.

    Args:
        given: names that the host gave, and that are no variables.
        room: bytes that there are for all of them, names and tags included.
        variables: names that had a value when the script began.
    """
    parts: list[str] = []
    left: list[str] = []
    paths: dict[str, list[Path]] = {}
    each = replace(bounds, depth=bounds.depth - 1)
    room, nodes, steps = room - 2, bounds.nodes - 2, bounds.nodes  # the object around them
    for name, value in list(names.items()):
        if name in given or not _is_own(name):
            continue
        made = _encoded(value) if len(parts) != bounds.members else None
        if made is None or not each.admits(made):
            if name in variables or not _is_code(value):
                left.append(name)
            continue
        label = dumps(name)
        found = [path for kind in (made.paths or {}).values() for path in kind]
        own_nodes, own_steps = structure(made.text, nodes), sum(len(path) + 2 for path in found)
        cost = made.size + (len(found) + 1) * (len(label) + 1) + 1
        if cost > room or own_nodes > nodes or own_steps > steps:
            left.append(name)
            continue
        room, nodes, steps = room - cost, nodes - own_nodes, steps - own_steps
        parts.append(f"{label}:{made.text}")
        for kind, own in (made.paths or {}).items():
            paths.setdefault(kind, []).extend([name, *path] for path in own)
    text = f"{{{','.join(parts)}}}"
    told = [name for name in left if len(name) <= LONGEST_TOLD][:MOST_TOLD]
    return Kept(Encoded(text, len(text), dumps(paths) if paths else "", paths), told)


def _is_own(name: object) -> bool:
    """Whether a script can find it again, and means others to."""
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _is_code(value: object) -> bool:
    return callable(value) or issubclass(type(value), ModuleType)


def _encoded(value: object) -> Encoded | None:
    try:
        return encode(value)
    except NotData:
        return None
    except Exception:  # noqa: BLE001 - an object of the script's own raises when it is looked at: it is no data
        return None
