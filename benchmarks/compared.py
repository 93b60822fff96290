"""One measurement of whatever version of ringfence is on the path: prints microseconds. `compare` runs it.

Only public names, and only those that older versions have too.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any, Final

import ringfence as rf

_ROWS: Final = [{"id": i, "name": f"row {i}", "total": i / 4, "open": i % 2 == 0} for i in range(10_000)]
_CALLS: Final = """
import time
taken = []
for _ in range(40):
    begin = time.perf_counter()
    for i in range(25):
        await tools.echo(number=i)
    taken.append((time.perf_counter() - begin) / 25)
return sorted(taken)[20]
"""
_GATHER: Final = """
import asyncio, time
begin = time.perf_counter()
await asyncio.gather(*[tools.wait() for _ in range(1000)])
return time.perf_counter() - begin
"""
_LARGE: Final = """
import time
taken = []
for _ in range(7):
    begin = time.perf_counter()
    await tools.rows()
    taken.append(time.perf_counter() - begin)
return sorted(taken)[3]
"""
_LOOP: Final = """
import time
begin = time.perf_counter()
total = 0
for outer in range(20):
    for i in range(50_000):
        total += i
return time.perf_counter() - begin
"""


@rf.tool(effect="read")
async def echo(number: int) -> int:
    """Return the number."""
    return number


@rf.tool(effect="read")
async def wait() -> None:
    """Wait for a tenth of a second."""
    await asyncio.sleep(0.1)


@rf.tool(effect="read")
async def rows() -> list[dict[str, Any]]:
    """Many rows."""
    return _ROWS


def _enclave() -> rf.Enclave:
    return rf.Enclave(
        tools=[echo, wait, rows],
        sandbox=rf.local(unsafe=True),
        security_level="PERMISSIVE",
        max_tool_calls=100_000,
        max_concurrent_calls=1000,
    )


async def _value(enclave: rf.Enclave, source: str) -> float:
    result = await enclave.run(source)
    assert result.error is None, result.error
    return result.value


async def _script(source: str) -> float:
    async with _enclave() as enclave:
        await enclave.warm()
        return await _value(enclave, source)


async def _started() -> float:
    taken: list[float] = []
    async with _enclave() as enclave:
        await enclave.warm()
        for _ in range(25):
            await asyncio.sleep(0.03)  # for the next waiting child
            begin = time.monotonic_ns()
            taken.append((await _value(enclave, "import time\ntime.monotonic_ns()") - begin) / 1e9)
    return median(taken)


async def _whole() -> float:
    taken: list[float] = []
    async with _enclave() as enclave:
        await enclave.warm()
        for _ in range(25):
            await asyncio.sleep(0.03)
            begin = time.perf_counter()
            await _value(enclave, "await tools.echo(number=1)")
            taken.append(time.perf_counter() - begin)
    return median(taken)


async def _governed() -> float:
    taken: list[float] = []
    async with rf.Boundary(tools=[echo], sandbox=rf.local(unsafe=True)) as boundary:
        for _ in range(60):
            begin = time.perf_counter()
            for _ in range(100):
                await boundary.call("echo", {"number": 1}, session_id="s")
            taken.append((time.perf_counter() - begin) / 100)
    return median(taken)


MEASUREMENTS: Final[dict[str, Callable[[], Awaitable[float]]]] = {
    "governed-call": _governed,
    "first-statement": _started,
    "run-with-one-call": _whole,
    "awaited-call": lambda: _script(_CALLS),
    "gather-of-1000": lambda: _script(_GATHER),
    "10000-rows": lambda: _script(_LARGE),
    "million-turns": lambda: _script(_LOOP),
}


async def _measured(name: str) -> float:
    return await MEASUREMENTS[name]()


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print(*MEASUREMENTS)
    else:
        print(asyncio.run(_measured(sys.argv[1])) * 1e6)
