"""What the enclave's tests share: an event loop with enclaves that stay warm, a scripted handler, and process counts.

A worker's start costs a third of a second, so the enclaves of a module live as long as the module: `Stage` keeps one
per set of options on one event loop, and its handler answers with what the test put into `tools`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import ringfence as rf
from ringfence.enclave.results import RunResult

T = TypeVar("T")

HANG = 20.0
"""Seconds after which a test that waits is broken."""

ToolBody = Callable[[Any], Awaitable[Any]]


class Stage:
    """One event loop, and the enclaves of a module on it."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._enclaves: dict[str, rf.Enclave] = {}
        self.tools: dict[str, ToolBody] = {}
        """What the handler does, by tool name; a test fills it."""
        self.seen: list[tuple[str, Any]] = []
        """Calls that reached the handler."""

    async def handle(self, name: str, args: Any) -> Any:
        self.seen.append((name, args))
        try:
            tool = self.tools[name]
        except KeyError:
            raise rf.ToolError(f"Unknown tool: {name}") from None
        return await tool(args)

    def enclave(self, **options: Any) -> rf.Enclave:
        """The enclave with these options over `handle`, unscreened, unless they name tools or screening."""
        key = repr(sorted(options.items()))
        if key not in self._enclaves:
            if not options.keys() & {"tools", "tool_handler"}:
                options["tool_handler"] = self.handle
                options.setdefault("screening", {"enabled": False})  # tests call faster than scripts may
            self._enclaves[key] = rf.Enclave(**options)
        return self._enclaves[key]

    def run(self, body: Coroutine[Any, Any, T]) -> T:
        """Run a test's coroutine; a hang fails instead of hanging, and so does a task that stays behind."""

        async def bounded() -> T:
            async with asyncio.timeout(HANG):
                result = await body
                await no_tasks()
            return result

        return self._runner.run(bounded())

    def script(self, source: str, inputs: Mapping[str, Any] | None = None, **options: Any) -> RunResult:
        """Run one script to its end."""
        return self.run(self.enclave(**options).run(source, inputs))

    def reset(self) -> None:
        """Forget what a test left."""
        self.tools.clear()
        self.seen.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        async def close() -> None:
            for enclave in self._enclaves.values():
                await enclave.aclose()
            await no_tasks()

        with self._runner:
            self._runner.run(close())


def run(body: Coroutine[Any, Any, T]) -> T:
    """Run one coroutine in a loop of its own, bounded; a task that stays behind fails."""

    async def bounded() -> T:
        async with asyncio.timeout(HANG):
            result = await body
            await no_tasks()
        return result

    return asyncio.run(bounded())


async def no_tasks() -> None:
    """Wait until the current task is the only one; bounded by the caller."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)


def code(result: RunResult) -> str | None:
    """The run's code; None when it succeeded."""
    return None if result.error is None else result.error.code


def detail(result: RunResult) -> str | None:
    """The finer code behind the run's."""
    return None if result.error is None else result.error.data.get("code")


def outcomes(result: RunResult) -> list[tuple[str, str, str | None]]:
    """Every call as name, status, code."""
    return [(call.name, call.status, call.code) for call in result.calls]


async def echo(args: Any) -> Any:
    """A tool that answers with its arguments."""
    return args


async def never(_: Any) -> Any:
    """A tool that never answers."""
    await asyncio.Event().wait()


def failing(error: BaseException) -> ToolBody:
    """A tool that raises."""

    async def fail(_: Any) -> Any:
        raise error

    return fail


def answering(value: Any) -> ToolBody:
    """A tool with one answer."""

    async def answer(_: Any) -> Any:
        return value

    return answer


# what a process has


def descriptors() -> list[str]:
    """What this process has open, by kind and name, sorted; the listing's own is not among them."""
    found: list[str] = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return sorted(item.partition(":")[0] for item in found)


def descendants(of: int | None = None) -> set[int]:
    """Processes below one (this process by default), the dead that nobody buried included."""
    parents = dict(_parents())
    found = {os.getpid() if of is None else of}
    while grown := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= grown
    return found - {os.getpid() if of is None else of}


def launchers() -> set[int]:
    """Our launcher's processes below this one, and those that have lost their host, wherever they are now."""
    found: set[int] = set()
    for pid, parent in _parents():
        if "launch_unsafe" in _command(pid) and (parent == os.getpid() or "python" not in _command(parent)):
            found.add(pid)
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])
