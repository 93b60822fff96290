"""What scripts find under the names that the host gives: `call_tool`, namespaces, and what is not data in globals.

Runs inside the jail, standard library only. Each of these shows a script what it is for and nothing else: their parts
lie in slots whose descriptors no class holds any more, and looking up an attribute gives configured members only. That
keeps accidents away; a script that takes its process apart is the kernel's and the host's affair. Knows the bridge,
which makes the calls; `guest_globals` and `python_unsafe` put these into a script's world.
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NoReturn, Self

from ringfence.enclave.engines.guest_bridge import MISSING, Bridge, Site
from ringfence.enclave.engines.guest_watch import script_frame

# what tells the library that calling gives a coroutine; Pythons differ in which of the two they look for
_COROUTINE_MARKS: Final[Mapping[str, object]] = {
    "_is_coroutine": getattr(asyncio.coroutines, "_is_coroutine", None),
    "_is_coroutine_mark": getattr(inspect, "_is_coroutine_mark", None),
}


def _take(owner: type, slot: str) -> tuple[Callable[[Any], Any], Callable[[Any, object], None]]:
    """Reader and writer of a slot, which the class itself forgets."""
    descriptor: Any = owner.__dict__[slot]
    delattr(owner, slot)
    return descriptor.__get__, descriptor.__set__


def _site() -> Site:
    """Where the script calls, also when the library calls for it, as executors do; line 0 when nobody can say."""
    frame = script_frame(sys._getframe(2))  # pyright: ignore[reportPrivateUsage]  # the only way to a call site
    return (0, 0) if frame is None else (frame.f_lineno, frame.f_lasti)


def _suggestion(wanted: str, members: Collection[str], owner: str) -> str:
    close = difflib.get_close_matches(wanted, members, n=1)
    return f". Did you mean {owner}.{close[0]}?" if close else f"; it has {', '.join(members) or 'nothing'}"


class Opaque:
    """Cannot be changed, and is its own copy."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class _Callable(Opaque):
    """Something to call, of which a script can see the name."""

    __slots__ = ("bridge", "shown")

    def __getattribute__(self, name: str) -> Any:
        shown: str = _shown(self)
        match name:  # what decorators of scripts, and asyncio, ask of callables
            case "__name__":
                return shown.rpartition(".")[2]
            case "__qualname__":
                return shown
            case "__doc__":
                return None
            case "__class__":
                return object
            case "__await__":
                return _Callable.__await__.__get__(self)
            case "__deepcopy__":
                return Opaque.__deepcopy__.__get__(self)
            case "_is_coroutine" | "_is_coroutine_mark" if _is_async(self):
                return _COROUTINE_MARKS[name]
            case "__mro_entries__":  # asked of the bases of a class
                raise TypeError(f"{shown} is a function, not a class")
            case _:
                raise AttributeError(f"{shown} has no attribute {name!r}; call it: {_example(self)}")

    def __await__(self) -> NoReturn:
        raise TypeError(f"{_shown(self)} was not called: write {_example(self)}")

    def __dir__(self) -> list[str]:
        return []


_bridge, _set_bridge = _take(_Callable, "bridge")
_shown, _set_shown = _take(_Callable, "shown")


def _is_async(of: _Callable) -> bool:
    return type(of) is not BlockingFunction


def _example(of: _Callable) -> str:
    return f"{'await ' if _is_async(of) else ''}{_shown(of)}(...)"


class CallTool(_Callable):
    """`call_tool(name, args, throw_on_error=True)`: call a tool with a mapping of arguments, and return its result.

    With `throw_on_error=False` a failure of the tool itself comes back as
    `{"success": False, "error": {"name", "message", "code", "tool_name"}}`, a result as
    `{"success": True, "data": …}`.
    """

    __slots__ = ()

    def __init__(self, bridge: Bridge) -> None:
        _set_bridge(self, bridge)
        _set_shown(self, "call_tool")

    def __call__(
        self, /, name: object = MISSING, args: object = MISSING, throw_on_error: object = True, **named: object
    ) -> Any:
        if name is MISSING:
            raise TypeError('call_tool takes the name of a tool and one object: await call_tool("name", {...})')
        if named.keys() & _OPTIONS:
            raise TypeError("call_tool: the option is written throw_on_error=False")
        if named:
            shown = ", ".join(f'"{key}": ...' for key in named)
            raise TypeError(f'call_tool takes one object of arguments: call_tool("{name}", {{{shown}}})')
        if throw_on_error is not True:
            _check_option("call_tool", throw_on_error)
        return _bridge(self).start(name, args, throw_on_error, _site())

    def __repr__(self) -> str:
        return "<function call_tool>"


_OPTIONS: Final = frozenset({"throwOnError", "throw_error", "raise_on_error"})
"""What the option is called elsewhere."""


def _check_option(call: str, given: object) -> None:
    """Refuse options as an object, which is how JavaScript has them. Of everything else only False means something."""
    if isinstance(given, Mapping):
        raise TypeError(f"{call}: options are keywords, as in throw_on_error=False")


class Method(_Callable):
    """One tool of a namespace."""

    __slots__ = ("tool",)

    def __init__(self, bridge: Bridge, tool: str, shown: str) -> None:
        _set_bridge(self, bridge)
        _set_shown(self, shown)
        _set_tool(self, tool)

    def __call__(self, args: object = MISSING, /, *rest: object, throw_on_error: object = True, **named: object) -> Any:
        if rest:
            _check_option(_shown(self), rest[0])
        if len(rest) == 1 and type(rest[0]) is bool:
            throw_on_error = rest[0]
        elif rest:
            shown = _shown(self)
            raise TypeError(f"{shown} takes one mapping, or keywords: {shown}({{...}}) or {shown}(name=...)")
        if args is MISSING:
            if throw_on_error is not True:  # the keyword form carries arguments only
                call = f"await {_shown(self)}({{...}}, throw_on_error=False)"
                raise TypeError(f"with throw_on_error, pass the arguments as one mapping: {call}")
            args = named
        elif named:
            raise TypeError(f"{_shown(self)}: pass one mapping or keyword arguments, not both")
        elif throw_on_error is not True:
            _check_option(_shown(self), throw_on_error)
        return _bridge(self).start(_tool(self), args, throw_on_error, _site())

    def __repr__(self) -> str:
        return f"<tool {_tool(self)}>"


_tool, _set_tool = _take(Method, "tool")


class _Members(Opaque):
    """Members under one name. Nothing but these exists."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: Mapping[str, object]) -> None:
        _set_name(self, name)
        _set_members(self, members)

    def __dir__(self) -> list[str]:
        return list(_members(self))


_members, _set_members = _take(_Members, "members")
_name, _set_name = _take(_Members, "name")


def _member(owner: _Members, name: str, what: str) -> Any:
    """One of the members; `what` is the word for them where there is none of that name."""
    members: Mapping[str, object] = _members(owner)
    try:
        return members[name]
    except KeyError:
        own: str = _name(owner)
        raise AttributeError(f"{own} has no {what} {name!r}{_suggestion(name, members, own)}") from None


class Namespace(_Members):
    """Tools under one name. Going through it gives the names of its methods, in the order of the configuration."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        return _member(self, name, "tool")

    def __iter__(self) -> Iterator[str]:
        return iter(list(_members(self)))

    def __getitem__(self, name: object) -> NoReturn:
        raise TypeError(f"{_name(self)} is no mapping: write {_name(self)}.{name}(...)")

    def __repr__(self) -> str:
        return f"<namespace {_name(self)}: {', '.join(_members(self))}>"


def namespace(bridge: Bridge, name: str, methods: Mapping[str, str]) -> Namespace:
    """A namespace from its description: method to tool name."""
    return Namespace(name, {method: Method(bridge, tool, f"{name}.{method}") for method, tool in methods.items()})


class HostObject(_Members):
    """An object of the host as its public attributes and methods, each of which can only be read."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        return _member(self, name, "attribute")

    def __repr__(self) -> str:
        return f"<global {_name(self)}: {', '.join(_members(self))}>"


class _Function(_Callable):
    """A function of the host in globals."""

    __slots__ = ("number",)

    def __init__(self, bridge: Bridge, number: int, name: str) -> None:
        _set_bridge(self, bridge)
        _set_shown(self, name)
        _set_number(self, number)


_number, _set_number = _take(_Function, "number")


class BlockingFunction(_Function):
    """One that answers at once: the script waits for it."""

    __slots__ = ()

    def __call__(self, /, *args: object, **named: object) -> Any:
        return _bridge(self).call_function(_number(self), _shown(self), args, named, _site())

    def __repr__(self) -> str:
        return f"<function global {_shown(self)}>"


class AwaitedFunction(_Function):
    """One that has to be awaited."""

    __slots__ = ()

    def __call__(self, /, *args: object, **named: object) -> Any:
        return _bridge(self).start_function(_number(self), _shown(self), args, named, _site())

    def __repr__(self) -> str:
        return f"<async function global {_shown(self)}>"
