"""How a script reaches the host: `call_tool`, namespaces, functions in globals, and the errors that it may catch.

Runs inside the jail, standard library only. A call is a coroutine, so nothing happens until it is awaited; each one
carries its position (line, call site, path of the asyncio task, number within the task), which names the call again
when the script is replayed. Knows the frames of `enclave.protocol`; `guest_world` installs it.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, NoReturn

from ringfence.enclave.engines import guest_values
from ringfence.enclave.engines.guest_wire import Channel, dumps
from ringfence.enclave.table import restore

MAX_NAME: Final = 256
MAX_PATH: Final = 200
MISSING: Final = object()


class CallError(Exception):
    """The host answered a call with an error."""

    def __init__(self, message: str, code: str, name: str, tool_name: str, hint: str | None, call_id: int) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.name = name
        self.tool_name = tool_name
        self.hint = hint
        self._call_id = call_id

    @property
    def call_id(self) -> int:
        """Number of the call, by which the host knows it again."""
        return self._call_id

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ToolError(CallError):
    """A tool call failed. `code` is the host's, `tool_name` the tool's, `name` the class of the tool's exception."""


class ToolArgumentError(ToolError, TypeError):
    """The arguments were refused; the tool did not run."""


class ToolRefused(ToolError):
    """The host refused the call for good: the run fails with this error, whatever the script does next."""


class GlobalFunctionError(CallError):
    """A function in globals raised, or gave something that is no data. `name` is the class of its exception."""


for _shown in (CallError, ToolError, ToolArgumentError, ToolRefused, GlobalFunctionError):
    _shown.__module__ = "builtins"  # a script's traceback names it as the script does


class _TaskState:
    """Position of one asyncio task: its path, its calls, its children."""

    __slots__ = ("calls", "children", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls = 0
        self.children = 0


class _Unstarted:
    """A call that was made and has not begun."""

    __slots__ = ("line", "name", "task")

    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.task: asyncio.Task[Any] | None = None


def _child_path(parent: _TaskState) -> str:
    path = f"{parent.path}.{parent.children}" if parent.path else str(parent.children)
    if len(path) > MAX_PATH:  # a task tree hundreds of levels deep: a name as good, of a bounded size
        return f"~{hashlib.sha256(path.encode()).hexdigest()[:32]}"
    return path


class Bridge:
    """One run's calls."""

    def __init__(self, channel: Channel, loop: asyncio.AbstractEventLoop) -> None:
        self._channel = channel
        self._loop = loop
        self._next = 0
        self._names: dict[str, str] = {}
        self._created = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._unstarted: dict[int, _Unstarted] = {}
        self.max_bytes = 0
        """Bytes of JSON that a call's arguments may have."""
        self._root = _TaskState("")
        self._states: dict[asyncio.Task[Any], _TaskState] = {}
        loop.set_task_factory(self._make_task)  # type: ignore[arg-type]

    def _make_task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        parent = self._state(asyncio.current_task(loop))
        task = asyncio.Task(coro, loop=loop, **options)
        self._states[task] = _TaskState(_child_path(parent))
        if getattr(coro, "cr_code", None) in _CALLS:
            self._unstarted[coro.cr_frame.f_locals["number"]].task = task
        parent.children += 1
        task.add_done_callback(self._forget)
        return task

    def _state(self, task: asyncio.Task[Any] | None) -> _TaskState:
        return self._states.get(task, self._root) if task is not None else self._root

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._states.pop(task, None)

    def rehearse(self) -> None:
        """Start numbering again after the rehearsal's tasks."""
        self._root = _TaskState("")
        self._states.clear()

    def unawaited(self) -> tuple[str, int] | None:
        """Name and line of the first call that exists but will never run: nobody awaited it, no task was cancelled."""
        left = [call for call in self._unstarted.values() if call.task is None or not call.task.done()]
        first = min(left, key=lambda call: call.line, default=None)
        return None if first is None else (first.name, first.line)

    def call_tool(
        self, name: str, args: object = MISSING, throw_on_error: object = True, **named: object
    ) -> Coroutine[Any, Any, Any]:
        """Call a tool with a mapping of arguments and return its result.

        With `throw_on_error=False` a failure of the tool itself comes back as
        `{"success": False, "error": {"name", "message", "code", "tool_name"}}`, a result as
        `{"success": True, "data": …}`.
        """
        if named:
            shown = ", ".join(f'"{key}": ...' for key in named)
            raise TypeError(f'call_tool takes one object of arguments: call_tool("{name}", {{{shown}}})')
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the call site, at the cost of a lookup
        return self.start(name, args, throw_on_error, frame.f_lineno, frame.f_lasti)

    def start(self, name: object, args: object, throw: object, line: int, at: int) -> Coroutine[Any, Any, Any]:
        if type(name) is not str or not name:
            raise TypeError("call_tool: the tool's name must be text")
        self._created += 1
        number = self._created
        self._unstarted[number] = _Unstarted(name, line)
        return self._call(name, args, throw is not False, line, at, number)

    async def _call(self, name: str, args: object, throw: bool, line: int, at: int, number: int) -> Any:
        del self._unstarted[number]
        text, fault = self._arguments(name, args)
        future = self._send(f'"t":"call","name":{self._quoted(name)}', text, fault, line, at)
        answer = await future
        if answer["t"] == "ok":
            value = _value(answer)
            return value if throw else {"success": True, "data": value}
        if throw or not answer["returnable"]:
            raise _error(answer)
        error = {key: answer[key] for key in ("name", "message", "code")}
        return {"success": False, "error": {**error, "tool_name": answer["tool"]}}

    def _send(self, head: str, text: str, fault: str | None, line: int, at: int) -> asyncio.Future[dict[str, Any]]:
        """Queue a call's frame; the future has its answer."""
        state = self._state(asyncio.current_task(self._loop))
        self._next += 1
        call_id = self._next
        frame = f'{{{head},"id":{call_id},"line":{line},"site":"{line}:{at}","task":"{state.path}","seq":{state.calls},"args":{text}'
        state.calls += 1
        self._channel.flush_text()
        self._channel.queue(f'{frame},"fault":{dumps(fault[:300])}}}' if fault else frame + "}")
        self._channel.outstanding += 1
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting[call_id] = future
        return future

    def _arguments(self, name: str, args: Any) -> tuple[str, str | None]:
        """JSON text, and why the call is refused if it is."""
        if len(name) > MAX_NAME:
            return "null", f"a tool's name has at most {MAX_NAME} characters"
        if args is MISSING:
            return "null", "Tool arguments must be an object; pass a dict, {} for none"
        if not isinstance(args, Mapping):
            return "null", f"Tool arguments must be an object, not {type(args).__name__}; pass a dict"
        return self._encoded(dict(args), "argument ")  # pyright: ignore[reportUnknownArgumentType]

    def _encoded(self, args: object, where: str) -> tuple[str, str | None]:
        """JSON text, with its tags after it, and why the call is refused if it is."""
        try:
            made = guest_values.encode(args)
        except guest_values.NotData as error:
            return "null", f"{where}{error}"
        if len(made.text) > self.max_bytes:
            return "null", f"arguments of {len(made.text)} bytes, more than {self.max_bytes}"
        return made.text + made.member(), None

    def _quoted(self, name: str) -> str:
        text = self._names.get(name)
        if text is None:
            text = self._names[name] = dumps(name[:MAX_NAME].encode("utf-8", "replace").decode())
        return text

    # functions in globals

    def function(self, number: int, name: str, *, is_async: bool) -> Any:
        """What a script calls to have a function in globals called (`guest_globals.Caller`)."""
        return _awaited_function(self, number, name) if is_async else _blocking_function(self, number, name)

    def call_function(self, number: int, args: Any, named: Any, line: int, at: int) -> Any:
        """Have the host call it, and block until it has. Answers of other calls are kept for whoever awaits them."""
        future = self._send_function(number, args, named, line, at)
        while not future.done():
            self._channel.flush()
            self._channel.read()
        return _answered(future.result())

    def start_function(self, number: int, name: str, args: Any, named: Any, line: int, at: int) -> Any:
        """The same as something to await."""
        self._created += 1
        self._unstarted[self._created] = _Unstarted(name, line)
        return self._call_function(number, args, named, line, at, self._created)

    async def _call_function(self, function: int, args: Any, named: Any, line: int, at: int, number: int) -> Any:
        del self._unstarted[number]
        return _answered(await self._send_function(function, args, named, line, at))

    def _send_function(self, number: int, args: Any, named: Any, line: int, at: int) -> asyncio.Future[dict[str, Any]]:
        text, fault = self._encoded([list(args), named], "argument ")
        return self._send(f'"t":"global","function":{number}', text, fault, line, at)

    def on_frame(self, frame: dict[str, Any]) -> None:
        self._channel.outstanding -= 1
        future = self._waiting.pop(frame["id"])
        if not future.done():
            future.set_result(frame)


_CALLS: Final = (Bridge._call.__code__, Bridge._call_function.__code__)  # pyright: ignore[reportPrivateUsage]
"""Code of the coroutines that are calls."""


def _value(answer: dict[str, Any]) -> Any:
    return restore(answer["value"], answer["tags"]) if "tags" in answer else answer["value"]


def _answered(answer: dict[str, Any]) -> Any:
    if answer["t"] == "ok":
        return _value(answer)
    raise _error(answer)


def _error(answer: dict[str, Any]) -> CallError:
    return _error_class(answer)(
        answer["message"], answer["code"], answer["name"], answer["tool"], answer["hint"], answer["id"]
    )


def _error_class(answer: dict[str, Any]) -> type[CallError]:
    if answer["terminal"]:
        return ToolRefused
    if answer["code"] == "invalid_input":
        return ToolArgumentError
    return GlobalFunctionError if answer["code"] == "global_raised" else ToolError


def _blocking_function(bridge: Bridge, number: int, name: str) -> Any:
    class GlobalFunction:
        """A function of the host that answers at once."""

        __slots__ = ()

        def __call__(self, /, *args: object, **named: object) -> Any:
            frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the call site, at the cost of a lookup
            return bridge.call_function(number, args, named, frame.f_lineno, frame.f_lasti)

        def __repr__(self) -> str:
            return f"<function global {name}>"

    return GlobalFunction()


def _awaited_function(bridge: Bridge, number: int, name: str) -> Any:
    class GlobalFunction:
        """A function of the host that has to be awaited."""

        __slots__ = ()

        def __call__(self, /, *args: object, **named: object) -> Any:
            frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the call site, at the cost of a lookup
            return bridge.start_function(number, name, args, named, frame.f_lineno, frame.f_lasti)

        def __repr__(self) -> str:
            return f"<async function global {name}>"

    return GlobalFunction()


class _Method:
    """One tool of a namespace. Scripts can call it, and find nothing else in it."""

    __slots__ = ("bridge", "shown", "tool")

    def __init__(self, bridge: Bridge, tool: str, shown: str) -> None:
        object.__setattr__(self, "bridge", bridge)
        object.__setattr__(self, "tool", tool)
        object.__setattr__(self, "shown", shown)

    def __call__(self, args: object = MISSING, /, throw_on_error: object = True, **named: object) -> Any:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # the call site, at the cost of a lookup
        if args is MISSING:
            if throw_on_error is not True:  # the keyword form carries arguments only
                call = f"await {_SHOWN(self)}({{...}}, throw_on_error=False)"
                raise TypeError(f"with throw_on_error, pass the arguments as one mapping: {call}")
            args = named
        elif named:
            raise TypeError(f"{_SHOWN(self)}: pass one mapping or keyword arguments, not both")
        return _BRIDGE(self).start(_TOOL(self), args, throw_on_error, frame.f_lineno, frame.f_lasti)

    def __await__(self) -> NoReturn:
        raise TypeError(f"{_SHOWN(self)} is a tool, not a call: write await {_SHOWN(self)}(...)")

    def __getattribute__(self, name: str) -> str:
        if name in ("__name__", "__qualname__"):  # what decorators of scripts read
            return _SHOWN(self)
        raise AttributeError(f"the tool {_SHOWN(self)} has no attribute {name!r}; call it")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("tools cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("tools cannot be changed")

    def __dir__(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        return f"<tool {_SHOWN(self)}>"


_BRIDGE: Final[Callable[[_Method], Bridge]] = _Method.__dict__["bridge"].__get__
_TOOL: Final[Callable[[_Method], str]] = _Method.__dict__["tool"].__get__
_SHOWN: Final[Callable[[_Method], str]] = _Method.__dict__["shown"].__get__


class Namespace:
    """Tools under one name. Only configured members exist; nothing can be added or replaced."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: Mapping[str, _Method]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "members", members)

    def __getattribute__(self, name: str) -> _Method:
        members = _MEMBERS(self)
        try:
            return members[name]
        except KeyError:
            own = _NAME(self)
            close = difflib.get_close_matches(name, members, n=1)
            hint = f". Did you mean {own}.{close[0]}?" if close else f"; it has {', '.join(members) or 'none'}"
            raise AttributeError(f"{own} has no tool {name!r}{hint}") from None

    def __getitem__(self, name: object) -> NoReturn:
        raise TypeError(f"{_NAME(self)} is no mapping: write {_NAME(self)}.{name}(...)")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{_NAME(self)} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{_NAME(self)} cannot be changed")

    def __dir__(self) -> list[str]:
        return list(_MEMBERS(self))

    def __repr__(self) -> str:
        return f"<namespace {_NAME(self)}: {', '.join(_MEMBERS(self))}>"


_MEMBERS: Final[Callable[[Namespace], Mapping[str, _Method]]] = Namespace.__dict__["members"].__get__
_NAME: Final[Callable[[Namespace], str]] = Namespace.__dict__["name"].__get__


def namespace(bridge: Bridge, name: str, methods: Mapping[str, str]) -> Namespace:
    """A namespace from its description: method to tool name."""
    return Namespace(name, {method: _Method(bridge, tool, f"{name}.{method}") for method, tool in methods.items()})
