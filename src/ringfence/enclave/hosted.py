"""Calling a function of the host for a script: whatever it does becomes a value, or an error that is data.

A tool handler and a function of `globals` are the same here. One that is not asynchronous may block, and no deadline
must wait for it, so it gets a thread. Knows threads and exceptions; `callers` and `functions` use it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ringfence import values
from ringfence.contract.output import dump_plain
from ringfence.enclave.failures import raised
from ringfence.errors import ErrorInfo
from ringfence.limits import ValueBudget
from ringfence.threads import DaemonThreads


@dataclass(frozen=True, slots=True)
class Raised:
    """What the function raised."""

    error: ErrorInfo
    cause: BaseException | None
    """The same, for the host only; None for a cancellation, which is nobody's."""


async def hosted(call: Callable[[], Any], threads: DaemonThreads | None, code: str) -> Any:
    """What `call()` returns, awaited if it can be, or a `Raised` under `code`. It has a task of its own: what it does to
    that is no end of its caller.

    Args:
        threads: where it runs; None where it returns at once.

    Raises:
        asyncio.CancelledError: the caller was cancelled.
    """
    try:
        return await asyncio.create_task(_called(call, threads, code))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Raised(raised(asyncio.CancelledError("cancelled"), code), None)


async def _called(call: Callable[[], Any], threads: DaemonThreads | None, code: str) -> Any:
    try:
        value = call() if threads is None else await threads.call(call, ())
        return await value if inspect.isawaitable(value) else value
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - a function may raise anything; it is data from here on
        return Raised(raised(error, code), error)


def dumped(value: Any, budget: ValueBudget) -> bytes:
    """JSON text of what a function returned.

    Raises:
        ValueRefused: no data, or over budget.
    """
    data = dump_plain(value)
    values.check_text(data, budget)
    values.check_shape(data, budget)
    return data
