"""The Python guest: CPython itself, inside a process that the kernel has closed. Runs what a model wrote.

`prepare` runs once in the jailed zygote, `serve` in each forked child after its jail is closed (`sandbox.jail`).
Standard library only; the host never imports it. One run per process: read the run frame, look for findings, run the
script, send its value or its failure, leave. What this file says is hostile to the host all the same, because the
script owns the process.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import dataclasses
import dis
import functools
import linecache
import sys
import traceback
from collections.abc import Callable, Coroutine
from types import CodeType, CoroutineType, FrameType, TracebackType
from typing import Any, Final, NoReturn

from ringfence.enclave.check.findings import Found
from ringfence.enclave.check.script import admit, as_found, report
from ringfence.enclave.check.subject import Known
from ringfence.enclave.engines import (
    guest_bounds,
    guest_bridge,
    guest_errors,
    guest_globals,
    guest_loop,
    guest_modules,
    guest_names,
    guest_values,
    guest_variables,
    guest_watch,
    guest_world,
)
from ringfence.enclave.engines.guest_rehearsal import rehearsed
from ringfence.enclave.engines.guest_wire import Channel, dumps
from ringfence.enclave.guards import counting
from ringfence.enclave.source import ENTRY, FILENAME, Counted, Rejected, compile_script
from ringfence.enclave.table import restore

CHANNEL: Final = 3
"""Descriptor of the channel in every child (`sandbox.jail.child_unsafe`)."""
PATIENCE: Final = 0.005
"""Seconds for the script of a run that had no waiting child: a busy host sends it after the fork that it asked for."""
TRACE_LIMIT: Final = 4000
MESSAGE_LIMIT: Final = 4000
RESERVE: Final = 2 << 20
"""Bytes of address space, never touched, that are given back to explain why there is no memory."""
_OURS: Final = sys.stdlib_module_names | {"ringfence", "__main__"}
"""Top-level modules that are not there because the host asked for them."""
_NO_MEMORY: Final = '{"t":"failed","kind":"memory","name":"MemoryError","message":""}'


_REHEARSAL: Final = """
import asyncio, json
from dataclasses import dataclass
rows: list = [{"n": i, "name": f"row {i:>3}"} for i in range(4)]
class Kept(Exception):
    pass
async def one(row):
    await asyncio.sleep(0)
    return row["n"] * 2 if row["n"] > 1 else call_tool
async def main(*, limit=3):
    total, seen = 0, {row["name"]: row for row in rows}
    for number in await asyncio.gather(*[one(row) for row in rows[:limit]]):
        try:
            total += number
        except TypeError as error:
            seen[str(error)] = tools.x
    return {"total": total, "names": sorted(seen, key=lambda name: name.upper()), "text": json.dumps(total)}
if __name__ == "__main__":
    asyncio.run(main())
"""
_REHEARSED: Final = rehearsed(_REHEARSAL)


@functools.cache
def _run(fd: int) -> _Run:
    """The one run of this process, built in the zygote so that a fork finds it ready."""
    return _Run(Channel(fd), guest_world.furnish())


def prepare(*, names: list[str], folders: list[str], zones: str) -> None:
    """Import what scripts may use, while files can still be opened, and furnish their world."""
    guest_modules.preload(names, folders, zones)
    _run(CHANNEL)


def serve(fd: int) -> None:
    """Run one script over the channel `fd`; does not return."""
    run = _run(fd)
    run.enter()
    channel = run.channel
    if not channel.has_input(PATIENCE):  # nobody is in a hurry
        run.rehearse()
    request: list[dict[str, Any]] = []
    channel.on_frame = request.append
    channel.queue('{"t":"ready"}')
    channel.flush()
    while not request:
        channel.read()
    run.execute(request[0])


def _compiler(module: ast.Module, flags: int) -> CodeType:
    return compile(module, FILENAME, "exec", flags=flags, dont_inherit=True)


def _restored(request: dict[str, Any], what: str) -> Any:
    """Values of the host, with dates and the like restored."""
    tags = request[f"{what}_tags"]
    return restore(request[what], tags) if tags else request[what]


def _finding(one: Found) -> dict[str, Any]:
    return {**dataclasses.asdict(one), "message": one.message[:500], "fix": one.fix[:500]}


def _body(names: dict[str, Any]) -> Callable[[], Coroutine[Any, Any, Any]]:
    """The script as a coroutine function, which tracebacks call what a file's top level is called."""
    body = names.pop(ENTRY)
    body.__code__ = body.__code__.replace(co_name=guest_world.TOP, co_qualname=guest_world.TOP)
    return body


class _Runner:
    """`asyncio.Runner` over the one loop there is."""

    def __init__(self, loop: guest_loop.GuestLoop, *, debug: bool | None = None, loop_factory: object = None) -> None:
        self._loop = loop

    def __enter__(self) -> _Runner:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        """Nothing to close: the loop ends with its process."""

    def get_loop(self) -> guest_loop.GuestLoop:
        return self._loop

    def run(self, coro: Coroutine[Any, Any, Any], *, context: object = None) -> Any:
        return self._loop.complete(coro)


class _Run:
    """One script."""

    def __init__(self, channel: Channel, sources: guest_world.Sources) -> None:
        self.channel = channel
        self._sources = sources
        self._loop = guest_loop.GuestLoop(channel)
        self._bridge = guest_bridge.Bridge(channel, self._loop)
        self._globals = guest_world.script_globals()
        # both go through all modules, which are the same in every fork
        self._modules = tuple(name for name in sys.modules if name.partition(".")[0] not in _OURS)
        self._watch = guest_watch.Watch(self._end_violation)
        self._reserve = bytearray(RESERVE)
        self._traces = True
        self._keeps = False
        self._given: frozenset[str] = frozenset()
        self._variables: frozenset[str] = frozenset()
        self._bounds = self._bridge.bounds
        asyncio.run = self._asyncio_run  # type: ignore[assignment]
        asyncio.runners.run = self._asyncio_run  # type: ignore[assignment]
        asyncio.Runner = asyncio.runners.Runner = functools.partial(_Runner, self._loop)  # type: ignore[misc]
        asyncio.new_event_loop = lambda: self._loop
        asyncio.get_event_loop = lambda: self._loop

    def enter(self) -> None:
        """Make this process, which is a fork of the one that built the run, its own."""
        guest_world.enter(self.channel)
        asyncio._set_running_loop(self._loop)

    def rehearse(self) -> None:
        """Compile and run a small script of our own, so that its memory is this process's before the real one comes.

        A fork shares every page until it is written to; paying for that while waiting saves most of a run's start.
        """
        self.channel.rehearse(dumps(_REHEARSED))
        self._begin(_REHEARSED)
        code = self._compile(_REHEARSED, self._known(_REHEARSED))
        scratch = {**self._globals, **self._given_names(_REHEARSED)}
        exec(code, scratch)  # noqa: S102 - our own text
        self.channel.rehearse(self._result(self._loop.complete(_body(scratch)())))
        self._bridge.rehearse()

    def execute(self, request: dict[str, Any]) -> NoReturn:
        self._begin(request)
        self.channel.on_frame = self._bridge.on_frame
        known = self._known(request)
        if request["mode"] == "check":
            self._check(request["source"], request["rules"], known)
        if request["counted"] != "none":
            builtins.__dict__.update(counting(request["max_iterations"], self._end_loops))
        code = self._compile(request, known)
        self._fill_globals(request)
        if request["rules"] in guest_watch.WATCHED:
            self._watch.begin()
        try:
            exec(code, self._globals)  # noqa: S102 - defines one coroutine function; the jail is closed
            self._finish(self._loop.complete(_body(self._globals)()))
        except BaseException as error:  # noqa: BLE001 - whatever the script, or its value, raised is its result
            self._fail(error)

    def _begin(self, request: dict[str, Any]) -> None:
        self._sources.begin(request["clock"], request["seed"], frozen=request["frozen"])
        self._bridge.bounds = self._bounds = guest_bounds.Bounds(
            size=request["max_value"],
            nodes=request["max_nodes"],
            depth=request["max_depth"],
            members=request["max_members"],
        )
        self._traces = request["traces"]
        self._keeps = request["keep_variables"]

    def _known(self, request: dict[str, Any]) -> Known:
        """The names that this run gives its script."""
        names = {*request["globals"], *request["variables"]}
        return Known(namespaces=request["namespaces"], names=names, modules=self._modules)

    def _compile(self, request: dict[str, Any], known: Known) -> CodeType:
        source: str = request["source"]
        counted: Counted = request["counted"]
        linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
        admitted = admit(source, request["rules"], known)
        if not isinstance(admitted, list):
            try:
                return compile_script(admitted, _compiler, counted=counted)
            except Rejected as rejected:
                admitted = [as_found(rejected)]
        findings = [_finding(one) for one in admitted]
        return self._send_failure(
            "rejected", "ScriptRejected", findings[0]["message"], line=findings[0]["line"], findings=findings
        )

    def _check(self, source: str, rules: str, known: Known) -> NoReturn:
        found = report(source, rules, known, _compiler)
        reach = [dataclasses.asdict(one) for one in found.reach]
        findings = [_finding(one) for one in found.findings]
        self.channel.end(dumps({"t": "checked", "findings": findings, "reach": reach}))

    def _fill_globals(self, request: dict[str, Any]) -> None:
        """The names that the host gives, and the script's own from an earlier run."""
        self._globals.update(self._given_names(request))
        self._given = frozenset(self._globals)
        self._globals.update(_restored(request, "variables"))
        self._variables = frozenset(request["variables"])

    def _given_names(self, request: dict[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {
            "call_tool": guest_names.CallTool(self._bridge),
            "inputs": _restored(request, "inputs"),
            "ToolError": guest_errors.ToolError,
            "GlobalFunctionError": guest_errors.GlobalFunctionError,
            **guest_globals.build(request["globals"], self._bridge),
        }
        for name, methods in request["namespaces"].items():
            given[name] = guest_names.namespace(self._bridge, name, methods)
        return given

    def _asyncio_run(self, main: Coroutine[Any, Any, Any], **_: object) -> Any:
        if not asyncio.iscoroutine(main):
            raise ValueError(f"a coroutine was expected, got {main!r}")
        return self._loop.complete(main)

    # the end

    def _finish(self, value: object) -> NoReturn:
        self.channel.end(self._result(value))

    def _result(self, value: object) -> str:
        """The frame of a script that has ended with a value. One that is no data ends the process here."""
        unawaited = self._bridge.unawaited()
        if unawaited is not None:
            self._fail_unawaited(*unawaited)
        try:
            made = guest_values.encode(value, any_keys=True)
        except guest_values.NotData as error:
            place = f"the result's {error.path}" if error.path else "the result"
            if isinstance(error.value, CoroutineType):
                name: str = error.value.__name__  # type: ignore[reportUnknownMemberType]
                text = f"{place} is the coroutine {name}(), which was never awaited"
                self._send_failure("unawaited", "UnawaitedCall", text)
            self._send_failure("large" if error.large else "value", "ResultError", f"{place}: {error.reason}")
        if (excess := self._bounds.excess(made)) is not None:
            self._send_failure("large", "ResultError", f"the script's result has {excess}")
        parts = f'"value":{made.text}{made.member("tags")}'
        if self._keeps:
            room = self._bounds.size - made.size
            kept = guest_variables.keep(self._globals, self._given, self._bounds, room, self._variables)
            left = f',"unkept":{dumps(kept.left)}' if kept.left else ""
            parts += f',"variables":{kept.data.text}{kept.data.member("variable_tags")}{left}'
        return f'{{"t":"done",{parts}}}'

    def _fail_unawaited(self, name: str, line: int) -> NoReturn:
        self._send_failure(
            "unawaited", "UnawaitedCall", f"the call of {name!r} was never awaited, so it did not run", line=line
        )

    def _fail(self, raised: BaseException) -> NoReturn:
        self._reserve.clear()
        try:
            self._explain(raised)
        except MemoryError:
            self.channel.end(_NO_MEMORY)

    def _explain(self, raised: BaseException) -> NoReturn:
        error = _first(raised)
        if isinstance(error, SystemExit) and error.code in (None, 0):
            self._finish(None)
        if isinstance(error, guest_loop.Deadlock):
            own = _line(error)  # where a thread waits; a loop waits in no line of its own
            line = own if isinstance(error, guest_loop.ThreadDeadlock) else self._waiting_line() or own
            self._send_failure("deadlock", "Deadlock", error.text, line=line)
        kind = "memory" if isinstance(error, MemoryError) and not _was_raised(error.__traceback__) else "raised"
        self._send_failure(
            kind,
            type(error).__name__,
            _message(error),
            line=_line(error) or _line(raised),
            trace=_trace(raised) if self._traces else None,
            call=guest_errors.call_of(error),
        )

    def _end_loops(self, what: str) -> NoReturn:
        """Called by an exhausted loop."""
        line = guest_watch.script_line(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
        self._send_failure("iterations", "LoopLimit", what, line=line)

    def _end_violation(self, what: str, line: int | None) -> NoReturn:
        text = f"the script's security level does not allow this: {what}"
        self._send_failure("violation", "ScriptViolation", text, line=line)

    def _waiting_line(self) -> int | None:
        for task in asyncio.all_tasks(self._loop):
            for frame in task.get_stack():
                if frame.f_code.co_filename == FILENAME:
                    return frame.f_lineno
        return None

    def _send_failure(self, kind: str, name: str, message: str, **more: Any) -> NoReturn:
        payload = {"t": "failed", "kind": kind, "name": name[:128], "message": message[:MESSAGE_LIMIT], **more}
        self.channel.end(dumps({key: value for key, value in payload.items() if value is not None}))


def _first(error: BaseException) -> BaseException:
    """The exception that a task group's group is about: a failed call if there is one, else the first."""
    while type(error) is ExceptionGroup or type(error) is BaseExceptionGroup:
        inside: tuple[BaseException, ...] = error.exceptions  # type: ignore[reportUnknownMemberType]
        error = min(inside, key=lambda one: not isinstance(one, guest_errors.CallError))
    return error  # type: ignore[reportUnknownVariableType]


def _message(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "replace").decode()
    except BaseException:  # noqa: BLE001 - the script's own __str__
        return "(the exception's text cannot be made)"


def _line(error: BaseException) -> int | None:
    """Line of the innermost frame that belongs to the script."""
    if isinstance(error, SyntaxError) and error.filename == FILENAME:
        return error.lineno
    line = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILENAME:
            line = step.tb_lineno
        step = step.tb_next
    return line


def _trace(error: BaseException) -> str:
    """Traceback of the script's own frames, in the user's line numbers."""
    try:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILENAME]
        shown = frames[:10] + frames[-10:] if len(frames) > 20 else frames
        lines = traceback.format_list(shown)
        text = "".join(["Traceback (most recent call last):\n", *lines, f"{type(error).__name__}: {_message(error)}"])
        return text.encode("utf-8", "replace").decode()[-TRACE_LIMIT:]
    except BaseException:  # noqa: BLE001 - out of memory, or the script replaced what this needs
        return ""


def _was_raised(step: TracebackType | None) -> bool:
    """Whether a `raise` statement made the exception, and not the interpreter."""
    if step is None:
        return False
    while step.tb_next is not None:
        step = step.tb_next
    frame: FrameType = step.tb_frame
    code = frame.f_code.co_code
    return dis.opname[code[step.tb_lasti]] == "RAISE_VARARGS" if step.tb_lasti < len(code) else False
