"""What a script finds of the host's `globals`: read-only data, and functions that run on the host.

Runs inside the jail, standard library only. Built from nodes that `enclave.globals` describes; no object of the host is
here, and the host has its own copy of everything, so that read-only is a courtesy to the script and no wall. Knows
nodes and values; the bridge only to hand it on. `python_unsafe` installs what `build` makes.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from ringfence.enclave.engines.guest_bridge import Bridge
from ringfence.enclave.engines.guest_names import AwaitedFunction, BlockingFunction, HostObject, Opaque
from ringfence.enclave.table import restore


def build(nodes: Mapping[str, Any], bridge: Bridge) -> dict[str, Any]:
    """Name to what the script finds under it."""
    return {name: _built(node, name, bridge) for name, node in nodes.items()}


def _built(node: Mapping[str, Any], path: str, bridge: Bridge) -> Any:
    match node["k"]:
        case "data":
            return frozen(restore(node["v"], node["tags"]) if node["tags"] else node["v"], path)
        case "function":
            return (AwaitedFunction if node["async"] else BlockingFunction)(bridge, node["id"], node["name"])
        case "mapping":
            return _frozen_dict({key: _built(part, f"{path}.{key}", bridge) for key, part in node["m"].items()}, path)
        case _:
            return HostObject(path, {key: _built(part, f"{path}.{key}", bridge) for key, part in node["m"].items()})


def frozen(value: Any, name: str) -> Any:
    """The same data, read-only to any depth. `name`: of the global, for messages."""
    if type(value) is dict:
        return _frozen_dict({key: frozen(child, name) for key, child in value.items()}, name)  # type: ignore[reportUnknownVariableType]
    if type(value) is list:
        made = FrozenList(frozen(child, name) for child in value)  # type: ignore[reportUnknownVariableType]
        _LIST_NAME.__set__(made, name)
        return made
    return value


def _frozen_dict(members: dict[str, Any], name: str) -> FrozenDict:
    made = FrozenDict(members)
    _DICT_NAME.__set__(made, name)
    return made


def _read_only(self: Any, *_: object, **__: object) -> NoReturn:
    slot, way = (_DICT_NAME, "dict") if isinstance(self, FrozenDict) else (_LIST_NAME, "list")
    name = slot.__get__(self)
    raise TypeError(f"{name} is read-only; change a copy: {way}(...) of this part, or copy.deepcopy({name})")


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    return value if issubclass(type(value), Opaque) else copy.deepcopy(value, memo)


class FrozenDict(dict[str, Any]):
    """A dictionary that can be read by key and by attribute. Methods of dictionaries hide keys of their names."""

    __slots__ = ("name",)

    __setitem__ = __delitem__ = __ior__ = __setattr__ = __delattr__ = _read_only  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _read_only  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            own = _DICT_NAME.__get__(self)
            close = difflib.get_close_matches(name, self, n=1)
            hint = f". Did you mean {close[0]!r}?" if close else f"; there is {', '.join(self) or 'nothing'}"
            raise AttributeError(f"{own} has no {name!r} here{hint}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: _copied(child, memo) for key, child in self.items()}

    def __reduce_ex__(self, protocol: object) -> Any:
        return dict, (dict(self),)


class FrozenList(list[Any]):
    """A list that can only be read. A slice of it is an ordinary list."""

    __slots__ = ("name",)

    __setitem__ = __delitem__ = __iadd__ = __imul__ = __setattr__ = __delattr__ = _read_only  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _read_only  # type: ignore[assignment]

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(child, memo) for child in self]

    def __reduce_ex__(self, protocol: object) -> Any:
        return list, (list(self),)


# kept here and not in the classes, where the slot would hide a key of its name
_DICT_NAME: Final[Any] = FrozenDict.__dict__["name"]
_LIST_NAME: Final[Any] = FrozenList.__dict__["name"]
del FrozenDict.name, FrozenList.name  # type: ignore[reportAttributeAccessIssue]
