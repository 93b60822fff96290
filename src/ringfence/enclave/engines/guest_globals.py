"""What a script finds of the host's `globals`: read-only data, and functions that run on the host.

Runs inside the jail, standard library only. Built from nodes that `enclave.globals` describes; no object of the host is
here, and the host has its own copy of everything, so that read-only is a courtesy to the script and no wall. Knows the
bridge as something that calls functions by number. `python_unsafe` installs what `build` makes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from ringfence.enclave.table import restore


class Caller(Protocol):
    """Who carries a call to the host (`guest_bridge.Bridge`)."""

    def function(self, number: int, name: str, *, is_async: bool) -> Any:
        """What the script calls."""
        ...


def build(nodes: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """Name to what the script finds under it."""
    return {name: _built(node, name, caller) for name, node in nodes.items()}


def _built(node: Mapping[str, Any], path: str, caller: Caller) -> Any:
    match node["k"]:
        case "data":
            tags = node.get("tags")
            return frozen(restore(node["v"], tags) if tags else node["v"])
        case "function":
            return caller.function(node["id"], node["name"], is_async=node["async"])
        case "mapping":
            return FrozenDict({key: _built(part, f"{path}.{key}", caller) for key, part in node["m"].items()})
        case _:
            return _object(path, {key: _built(part, f"{path}.{key}", caller) for key, part in node["m"].items()})


def frozen(value: Any) -> Any:
    """The same data, read-only to any depth."""
    if type(value) is dict:
        return FrozenDict({key: frozen(child) for key, child in value.items()})  # type: ignore[reportUnknownVariableType]
    if type(value) is list:
        return FrozenList(frozen(child) for child in value)  # type: ignore[reportUnknownVariableType]
    return value


def _read_only(self: object, *_: object, **__: object) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"globals are read-only; change a copy: copy.deepcopy(...), or {kind}(...) for the top of it")


class FrozenDict(dict[str, Any]):
    """A dictionary that can be read by key and by attribute. Methods of dictionaries hide keys of their names."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _read_only  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _read_only  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here; it has {', '.join(self) or 'nothing'}") from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        _read_only(self)

    def __delattr__(self, name: str) -> NoReturn:
        _read_only(self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(child, memo) for key, child in self.items()}


class FrozenList(list[Any]):
    """A list that can only be read. A slice of it is an ordinary list."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _read_only  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _read_only  # type: ignore[assignment]

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(child, memo) for child in self]


def _object(name: str, members: Mapping[str, Any]) -> Any:
    """An object of the host's as its public attributes and methods, each of which can only be read.

    The members are behind a function of a class made for it: an instance has nothing else to reach.
    """

    class HostObject:
        __slots__ = ()

        def __getattribute__(self, wanted: str) -> Any:
            try:
                return members[wanted]
            except KeyError:
                known = ", ".join(members) or "nothing"
                raise AttributeError(f"{name} has no attribute {wanted!r}; it has {known}") from None

        def __setattr__(self, wanted: str, value: object) -> NoReturn:
            raise AttributeError(f"{name} cannot be changed")

        __delattr__ = __setattr__  # type: ignore[assignment]

        def __dir__(self) -> list[str]:
            return list(members)

        def __repr__(self) -> str:
            return f"<global {name}: {', '.join(members)}>"

    return HostObject()
