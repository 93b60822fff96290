"""What a jailed script costs, in Python and in JavaScript: its start, one call, many calls, a large result, its memory.

Calls go through governed tools (validation, automatic approval, events) on one event loop; the baseline of a call is
a bare echo of as many bytes over a socketpair to a process that only reads and writes, on the same loop, taken in
turn with the calls of one running script. The baseline of a run is the same script without any jail, in this process: in
a fresh context of the bare JavaScript engine, or in a fresh set of names.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import ringfence as rf
from benchmarks import Row, repetitions
from benchmarks.guest_scripts import LANGUAGES, Language
from ringfence.enclave import protocol
from ringfence.enclave.pool import Pool
from ringfence.enclave.supplies import engine
from ringfence.limits import RunLimits
from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe

_BLOCK: Final = 50
"""Calls between two looks at the clock."""
_MESSAGE: Final = 110
"""Bytes of a call's frame with one small argument."""
_ROWS: Final = 10_000
_SMALLEST: Final = "1"
_SETTLE: Final = 0.03
"""Seconds for the next waiting child to be ready, so that it does not compete with the run that is measured."""


def measure() -> Iterable[Row]:
    """All rows; milliseconds, but microseconds for one call."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    found = [await _measure_one(language) for language in LANGUAGES]
    return [row for pair in zip(*found, strict=True) for row in pair]


async def _measure_one(language: Language) -> list[Row]:
    """The rows of one language, in the same order for each."""
    with _echo_process() as channel:
        echo = await _EchoClient.connect(channel)
        marks: list[int] = []
        async with _enclave(language, marks, tools=_tools(echo)) as enclave:
            await enclave.warm()
            rows = [
                *await _starts(language, enclave, marks),
                *await _calls(language, enclave),
                await _gather(language, enclave),
                await _large(language, enclave),
            ]
        echo.close()
    return [*rows, await _cold_start(language), *await _memory(language)]


def _enclave(language: Language, marks: list[int], tools: list[rf.Tool[..., Any]], **more: Any) -> rf.Enclave:
    return rf.Enclave(
        tools=tools,
        language=language.name,
        sandbox=rf.local(unsafe=True),
        security_level="PERMISSIVE",
        max_tool_calls=100_000,
        max_concurrent_calls=1000,
        globals={"mark": lambda: marks.append(time.monotonic_ns())},
        **more,
    )


def _tools(echo: _EchoClient) -> list[rf.Tool[..., Any]]:
    @rf.tool(effect="read")
    async def echo_tool(number: int) -> int:
        """Return the number."""
        return number

    @rf.tool(effect="read")
    async def wait(seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    table = [{"id": i, "name": f"row {i}", "total": i / 4, "open": i % 2 == 0, "note": None} for i in range(_ROWS)]

    @rf.tool(effect="read")
    async def rows() -> list[dict[str, Any]]:
        """Many rows of five fields."""
        return table

    @rf.tool(effect="read")
    async def bare_echo() -> float:
        """Seconds per bare echo."""
        return await echo.block()

    return [echo_tool.replace(name="echo"), wait, rows, bare_echo]


async def _value(enclave: rf.Enclave, source: str, **inputs: Any) -> Any:
    result = await enclave.run(source, inputs)
    assert result.error is None, result.error
    return result.value


async def _starts(language: Language, enclave: rf.Enclave, marks: list[int]) -> list[Row]:
    """`first`: until the host hears the script's first statement, a call of a function in `globals`."""
    first: list[float] = []
    whole: list[float] = []
    unjailed: list[float] = []
    bare = _BARE[language.name]
    for _ in range(repetitions(60, 3)):
        await asyncio.sleep(_SETTLE)
        begin = time.monotonic_ns()
        await _value(enclave, language.started)
        first.append((marks.pop() - begin) / 1e6)
        await asyncio.sleep(_SETTLE)
        begin = time.monotonic_ns()
        await _value(enclave, _SMALLEST)
        whole.append((time.monotonic_ns() - begin) / 1e6)
        begin = time.monotonic_ns()
        bare(_SMALLEST)
        unjailed.append((time.monotonic_ns() - begin) / 1e6)
    return [
        _row(language, "first statement, waiting child", ours=median(first), unit="ms", bar=1.0, bar_on="ours"),
        _row(
            language,
            "start to result, waiting child",
            ours=median(whole),
            baseline=median(unjailed),
            baseline_name="in this process",
            unit="ms",
        ),
    ]


async def _calls(language: Language, enclave: rf.Enclave) -> list[Row]:
    ours, bare = await _value(enclave, language.alternate, blocks=repetitions(160, 4), block=_BLOCK)
    thousand = [await _value(enclave, language.thousand) for _ in range(repetitions(5, 1))]
    return [
        _row(
            language,
            "one awaited call",
            ours=median(ours) * 1e6,
            baseline=median(bare) * 1e6,
            baseline_name="bare echo",
            bar=2.5,
        ),
        _row(language, "1000 calls one after another", ours=median(thousand) * 1e3, unit="ms"),
    ]


async def _gather(language: Language, enclave: rf.Enclave) -> Row:
    taken = [await _value(enclave, language.gathered) for _ in range(repetitions(7, 1))]
    ours = median(taken) * 1e3
    return _row(language, "1000 calls of 100 ms at once", ours=ours, unit="ms", bar=175.0, bar_on="ours")


async def _large(language: Language, enclave: rf.Enclave) -> Row:
    taken = [await _value(enclave, language.large) for _ in range(repetitions(15, 1))]
    assert {count for _, count in taken} == {_ROWS}
    ours = median(seconds for seconds, _ in taken) * 1e3
    return _row(language, "result of 10,000 rows", ours=ours, unit="ms", bar=30.0, bar_on="ours")


def _row(language: Language, what: str, **more: Any) -> Row:
    return Row(name=f"{language.title}: {what}", **more)


# without a waiting child, and what one costs while it waits


def _pool(language: Language, waiting: int) -> Pool:
    limits = RunLimits(timeout=30.0, max_tool_calls=100, max_global_calls=1_000, max_iterations=None)
    plan = plan_guest(probe(), GuestLimits(memory=limits.memory, cpu=limits.timeout))
    assert isinstance(plan, JailPlan)
    return Pool(plan, engine(language.name, ()), frame_limit=protocol.frame_limit(limits), waiting=waiting)


async def _cold_start(language: Language) -> Row:
    """From nothing but a warm zygote to the script's first statement: fork, jail, compile."""
    taken: list[float] = []
    marks: list[int] = []
    async with _enclave(language, marks, tools=[], waiting=0) as enclave:
        await _value(enclave, language.started)
        for _ in range(repetitions(60, 3)):
            await asyncio.sleep(_SETTLE)
            begin = time.monotonic_ns()
            await _value(enclave, language.started)
            taken.append((marks.pop() - begin) / 1e6)
    return _row(language, "first statement, no waiting child", ours=median(taken), unit="ms", bar=4.0, bar_on="ours")


async def _memory(language: Language) -> list[Row]:
    """Nothing for ordinary users: a jailed process is not dumpable, so only root may look at its memory map."""
    if os.geteuid() != 0:
        return []
    pool = _pool(language, 4)
    try:
        await pool.warm()
        await asyncio.sleep(_SETTLE)  # they rehearse
        private = [_bytes(pid, "Private_") for pid in pool.waiting_pids()]
        zygote = _bytes(_parent(pool.waiting_pids()[0]), "Anonymous")
    finally:
        await pool.aclose()
    return [
        _row(
            language,
            "private memory, per waiting child",
            ours=median(private) / 2**20,
            unit="MiB",
            bar=20.0,
            bar_on="ours",
        ),
        _row(language, "memory that children share, once per enclave", ours=zygote / 2**20, unit="MiB"),
    ]


def _bytes(pid: int, what: str) -> int:
    """Sum of the entries of a process's memory map whose name begins so. `Anonymous` is all that no file holds."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


def _parent(pid: int) -> int:
    """The zygote of a waiting child."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("PPid:")]
    return int(line.split()[1])


# the baselines


class _EchoClient(asyncio.Protocol):
    """Sends a message and waits for it to come back."""

    def __init__(self) -> None:
        self._back: asyncio.Future[None]
        self._transport: asyncio.Transport

    @classmethod
    async def connect(cls, channel: socket.socket) -> _EchoClient:
        _, client = await asyncio.get_running_loop().create_connection(cls, sock=channel)
        return client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._back.set_result(None)

    async def block(self) -> float:
        """Seconds per echo."""
        loop, message = asyncio.get_running_loop(), b"x" * _MESSAGE
        begin = time.perf_counter()
        for _ in range(_BLOCK):
            self._back = loop.create_future()
            self._transport.write(message)
            await self._back
        return (time.perf_counter() - begin) / _BLOCK

    def close(self) -> None:
        self._transport.close()


@contextmanager  # pyright: ignore[reportDeprecated]
def _echo_process() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        while data := theirs.recv(65_536):
            theirs.sendall(data)
        os._exit(0)
    theirs.close()
    ours.setblocking(False)
    try:
        yield ours
    finally:
        ours.close()
        os.waitpid(pid, 0)


def _python(source: str) -> object:
    return eval(source, {})


def _javascript(source: str) -> object:
    engine: Any = importlib.import_module("_quickjs")
    return engine.Context().eval(source)


_BARE: Final[dict[str, Callable[[str], object]]] = {"python": _python, "javascript": _javascript}
"""What a script without calls gives, outside of any jail."""
