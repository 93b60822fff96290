"""The Python guest: CPython itself, inside a process that the kernel has closed. Runs what a model wrote.

`prepare` runs once in the jailed zygote, `serve` in each forked child after its jail is closed (`sandbox.jail`).
Standard library only; the host never imports it. One run per process: read the run frame, look for findings, run the
script, send its value or its failure, leave. What this file says is hostile to the host all the same, because the
script owns the process.
"""

from __future__ import annotations

import ast
import asyncio
import dis
import gc
import linecache
import traceback
from collections.abc import Coroutine
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, NoReturn

from ringfence.enclave.check import Found, check
from ringfence.enclave.engines import guest_bridge, guest_loop, guest_values, guest_world
from ringfence.enclave.engines.guest_wire import Channel, dumps
from ringfence.enclave.source import ENTRY, FILENAME, Rejected, compile_script, parse

TRACE_LIMIT: Final = 4000
MESSAGE_LIMIT: Final = 4000


def prepare() -> None:
    """Import what scripts may use, while files can still be opened."""
    guest_world.preload()
    compile_script(parse("await call_tool('warm', {})"), _compiler)


def serve(fd: int) -> None:
    """Run one script over the channel `fd`; does not return."""
    channel = Channel(fd)
    request: list[dict[str, Any]] = []
    channel.on_frame = request.append
    channel.queue('{"t":"ready"}')
    channel.flush()
    while not request:
        channel.read()
    _Run(channel, request[0]).execute()


def _compiler(module: ast.Module, flags: int) -> CodeType:
    return compile(module, FILENAME, "exec", flags=flags, dont_inherit=True)


class _Run:
    """One script."""

    def __init__(self, channel: Channel, request: dict[str, Any]) -> None:
        self._channel = channel
        self._source: str = request["source"]
        self._namespaces: dict[str, dict[str, str]] = request["namespaces"]
        self._inputs: Any = request["inputs"]
        self._loop = guest_loop.GuestLoop(channel)
        self._bridge = guest_bridge.Bridge(channel, self._loop)
        self._globals = guest_world.install(channel, clock=request["clock"], seed=request["seed"])

    def execute(self) -> NoReturn:
        code = self._compile()
        self._fill_globals()
        asyncio._set_running_loop(self._loop)
        asyncio.run = self._asyncio_run  # type: ignore[assignment]
        asyncio.runners.run = self._asyncio_run  # type: ignore[assignment]
        asyncio.new_event_loop = lambda: self._loop
        asyncio.get_event_loop = lambda: self._loop
        gc.enable()
        try:
            exec(code, self._globals)  # noqa: S102 - defines one coroutine function; the jail is closed
            value = self._loop.complete(self._globals.pop(ENTRY)())
        except BaseException as error:  # noqa: BLE001 - whatever the script raised is its result
            self._fail(error)
        self._finish(value)

    def _compile(self) -> CodeType:
        linecache.cache[FILENAME] = (len(self._source), None, self._source.splitlines(keepends=True), FILENAME)
        try:
            tree = parse(self._source)
            found: list[Found] | list[Rejected] = check(tree, self._namespaces)
            if not found:
                return compile_script(tree, _compiler)
        except Rejected as rejected:
            found = [rejected]
        findings: list[dict[str, Any]] = [
            {
                "code": one.code,
                "line": one.line,
                "column": one.column,
                "message": one.message[:500],
                "fix": one.fix[:500],
            }
            for one in found
        ]
        return self._send_failure(
            "rejected", "ScriptRejected", findings[0]["message"], line=findings[0]["line"], findings=findings
        )

    def _fill_globals(self) -> None:
        self._globals["call_tool"] = self._bridge.call_tool
        self._globals["inputs"] = self._inputs
        self._globals["ToolError"] = guest_bridge.ToolError
        for name, methods in self._namespaces.items():
            self._globals[name] = guest_bridge.namespace(self._bridge, name, methods)

    def _asyncio_run(self, main: Coroutine[Any, Any, Any], **_: object) -> Any:
        if not asyncio.iscoroutine(main):
            raise ValueError(f"a coroutine was expected, got {main!r}")
        return self._loop.complete(main)

    # the end

    def _finish(self, value: object) -> NoReturn:
        if self._bridge.unstarted and not asyncio.iscoroutine(value):
            self._fail_unawaited()
        try:
            text = guest_values.encode(value)
        except guest_values.NotData as error:
            if asyncio.iscoroutine(error.value) and self._bridge.unstarted:
                self._fail_unawaited()
            place = f"the result's {error.path}" if error.path else "the result"
            self._send_failure("value", "ResultError", f"{place}: {error.reason}")
        self._channel.end(f'{{"t":"done","value":{text}}}')

    def _fail_unawaited(self) -> NoReturn:
        name, line = min(self._bridge.unstarted.values(), key=lambda item: item[1])
        self._send_failure(
            "unawaited", "UnawaitedCall", f"the call of {name!r} was never awaited, so it did not run", line=line
        )

    def _fail(self, error: BaseException) -> NoReturn:
        if isinstance(error, SystemExit) and error.code in (None, 0):
            self._finish(None)
        if isinstance(error, guest_loop.Deadlock):
            text = "every task waits for something that can never happen"
            self._send_failure("deadlock", "Deadlock", text, line=self._waiting_line())
        kind = "memory" if isinstance(error, MemoryError) and not _was_raised(error.__traceback__) else "raised"
        self._send_failure(
            kind,
            type(error).__name__,
            _message(error),
            line=_line(error),
            trace=_trace(error),
            call=getattr(error, "_call_id", None) if isinstance(error, guest_bridge.ToolError) else None,
        )

    def _waiting_line(self) -> int | None:
        for task in asyncio.all_tasks(self._loop):
            for frame in task.get_stack():
                if frame.f_code.co_filename == FILENAME:
                    return frame.f_lineno
        return None

    def _send_failure(self, kind: str, name: str, message: str, **more: Any) -> NoReturn:
        payload = {"t": "failed", "kind": kind, "name": name[:128], "message": message[:MESSAGE_LIMIT], **more}
        self._channel.end(dumps({key: value for key, value in payload.items() if value is not None}))


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
        for frame in shown:
            frame.name = "<module>" if frame.name == ENTRY else frame.name
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
