"""How a script's calls reach the host, and how the answers come back to whoever waits for them.

Runs inside the jail, standard library only. A call is a coroutine, so nothing happens until it is awaited; each one
carries its position (line, call site, path of the asyncio task, number within the task), which names the call again
when the script is replayed. Functions in globals that are not asynchronous block instead: the channel is read until
their answer is there. Knows the frames of `enclave.protocol`; `guest_names` holds what scripts call.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Coroutine, Mapping
from types import CoroutineType
from typing import Any, Final

from ringfence.enclave.engines import guest_values
from ringfence.enclave.engines.guest_bounds import Bounds
from ringfence.enclave.engines.guest_errors import afterwards, function_error, tool_error
from ringfence.enclave.engines.guest_wire import Channel, dumps
from ringfence.enclave.table import restore

MAX_NAME: Final = 256
MAX_PATH: Final = 200
MISSING: Final = object()
_POSITIONAL: Final = re.compile(r"^\[0\]\[(\d+)\]")


class _TaskState:
    """Position of one asyncio task: its path, its calls, its children."""

    __slots__ = ("calls", "children", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls = 0
        self.children = 0


Site = tuple[int, int]
"""Where in the script a call stands: line, and instruction, which tells calls in one line apart."""


class _Unbegun:
    """A call that was made and has not begun."""

    __slots__ = ("coroutine", "name", "site", "task")

    def __init__(self, name: str, site: Site) -> None:
        self.name = name
        self.site = site
        self.coroutine: CoroutineType[Any, Any, Any] | None = None
        self.task: asyncio.Task[Any] | None = None

    def is_forgotten(self) -> bool:
        """Whether nobody awaits it, or ended it, so that it would have been left out without a word."""
        closed = self.coroutine is not None and self.coroutine.cr_frame is None  # pyright: ignore[reportUnnecessaryComparison]
        return not closed and (self.task is None or not self.task.done())


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
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._unbegun: dict[_Unbegun, None] = {}
        """In the order in which they were made."""
        self._refusal: dict[str, Any] | None = None
        """The host's answer that ended the run."""
        self.bounds = Bounds(size=0, nodes=0, depth=0, members=None)
        """Of one call's arguments."""
        self._root = _TaskState("")
        self._states: dict[asyncio.Task[Any], _TaskState] = {}
        loop.set_task_factory(self._make_task)  # type: ignore[arg-type]

    def _make_task(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        parent = self._state(asyncio.current_task(loop))
        task = asyncio.Task(coro, loop=loop, **options)
        self._states[task] = _TaskState(_child_path(parent))
        code = getattr(coro, "cr_code", None)
        is_call = code is Bridge._call.__code__ or code is Bridge._call_function.__code__
        if is_call and coro.cr_frame is not None:  # else it has ended already, which Python says when the task runs
            coro.cr_frame.f_locals["call"].task = task
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
        """Name and line of the first call that exists but will never run: nobody awaited, closed or cancelled it."""
        left = [call for call in self._unbegun if call.is_forgotten()]
        first = min(left, key=lambda call: call.site[0], default=None)
        return None if first is None else (first.name, first.site[0])

    def _made(self, call: _Unbegun, coroutine: CoroutineType[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
        call.coroutine = coroutine
        self._unbegun[call] = None
        return coroutine

    # tools

    def start(self, name: object, args: object, throw: object, site: Site) -> Coroutine[Any, Any, Any]:
        """A tool call to await. Of `throw` only False says that the tool's failure is to come back as data.

        Raises:
            TypeError: the name is no text.
        """
        if type(name) is not str or not name:
            raise TypeError("call_tool: the tool's name must be text that is not empty")
        call = _Unbegun(name, site)
        return self._made(call, self._call(call, args, throw is not False))

    async def _call(self, call: _Unbegun, args: object, throw: bool) -> Any:
        del self._unbegun[call]
        name = call.name
        if self._refusal is not None:
            raise afterwards(self._refusal, name)
        answer = await self._post(f'"t":"call","name":{self._quoted(name)}', self._arguments(name, args), call.site)
        if answer["t"] == "ok":
            value = restore(answer["value"], answer["tags"]) if "tags" in answer else answer["value"]
            return value if throw else {"success": True, "data": value}
        if throw or not answer["returnable"]:
            raise tool_error(answer)
        error = {key: answer[key] for key in ("name", "message", "code")}
        return {"success": False, "error": {**error, "tool_name": answer["tool"]}}

    def _arguments(self, name: str, args: Any) -> str:
        """The end of the frame: arguments with their tags, or why they are refused."""
        if len(name) > MAX_NAME:
            return _fault(f"a tool's name has at most {MAX_NAME} characters")
        if args is MISSING:
            return _fault("Tool arguments must be an object; pass a dict, {} for none")
        if type(args) is not dict:
            if not isinstance(args, Mapping):
                return _fault(f"Tool arguments must be an object, not {type(args).__name__}; pass a dict")
            args = dict(args)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return self._encoded(args)  # pyright: ignore[reportUnknownArgumentType]

    def _encoded(self, args: object) -> str:
        if (text := guest_values.simple(args, self.bounds.size)) is not None:
            return f'"args":{text}'
        try:
            made = guest_values.encode(args)
        except guest_values.NotData as error:
            # positional arguments of functions are members of a list in a list, named ones of an object in a list
            place = _POSITIONAL.sub(lambda found: f"{int(found[1]) + 1}", error.path).removeprefix("[1].")
            return _fault(f"argument {place}: {error.reason}" if place else f"arguments: {error.reason}")
        if (excess := self.bounds.excess(made)) is not None:
            return _fault(f"arguments of {excess}")
        return f'"args":{made.text}{made.member("tags")}'

    def _quoted(self, name: str) -> str:
        text = self._names.get(name)
        if text is None:
            text = self._names[name] = dumps(name[:MAX_NAME].encode("utf-8", "replace").decode())
        return text

    # functions in globals

    def start_function(self, function: int, name: str, args: Any, named: Any, site: Site) -> Coroutine[Any, Any, Any]:
        """A call of an asynchronous function, to await."""
        call = _Unbegun(name, site)
        return self._made(call, self._call_function(call, function, args, named))

    async def _call_function(self, call: _Unbegun, function: int, args: Any, named: Any) -> Any:
        del self._unbegun[call]
        return _returned(await self._post_function(function, call.name, args, named, call.site))

    def call_function(self, function: int, name: str, args: Any, named: Any, site: Site) -> Any:
        """Call a function that is not asynchronous. Answers of other calls are kept for whoever awaits them."""
        future = self._post_function(function, name, args, named, site)
        self._channel.flush()
        while not future.done():
            self._channel.read()
        return _returned(future.result())

    def _post_function(
        self, function: int, name: str, args: Any, named: Any, site: Site
    ) -> asyncio.Future[dict[str, Any]]:
        if self._refusal is not None:
            raise afterwards(self._refusal, name)
        return self._post(f'"t":"global","function":{function}', self._encoded([list(args), named]), site)

    # frames

    def _post(self, head: str, tail: str, site: Site) -> asyncio.Future[dict[str, Any]]:
        """Queue a call's frame; its answer is the future's."""
        state = self._state(asyncio.current_task(self._loop))
        self._next += 1
        call_id = self._next
        line, at = site
        place = f'"id":{call_id},"line":{line},"site":"{line}:{at}","task":"{state.path}","seq":{state.calls}'
        state.calls += 1
        self._channel.flush_text()
        self._channel.queue(f"{{{head},{place},{tail}}}")
        self._channel.outstanding += 1
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting[call_id] = future
        return future

    def on_frame(self, frame: dict[str, Any]) -> None:
        """Hear one answer."""
        self._channel.outstanding -= 1
        if frame["t"] == "err" and frame["terminal"]:
            self._refusal = self._refusal or frame
        future = self._waiting.pop(frame["id"])
        if not future.done():
            future.set_result(frame)


def _fault(reason: str) -> str:
    text = reason[:300].encode("utf-8", "replace").decode()  # it may quote a key that is not Unicode
    return f'"args":null,"fault":{dumps(text)}'


def _returned(answer: dict[str, Any]) -> Any:
    """A function's result."""
    if answer["t"] != "ok":
        raise function_error(answer)
    return restore(answer["value"], answer["tags"]) if "tags" in answer else answer["value"]
