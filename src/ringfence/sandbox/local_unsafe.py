"""A driver without walls: tools run in the host's own process, with all its rights.

For tools that the host's author wrote and trusts (first seed, "Explicit local execution"). Asynchronous functions run
in the event loop, synchronous ones in daemon threads. A timeout cancels the first at their next await and can only
abandon the second. Knows nothing of tools, gates or approvals; a boundary is given one, a gate calls `run`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from ringfence.contract.calling import is_async
from ringfence.errors import ConfigError, SandboxFault
from ringfence.ports import Signal
from ringfence.sandbox.guarantees import Guarantees
from ringfence.threads import DaemonThreads, ThreadStatistics, TooManyAbandonedError

_NOTHING: Final = Guarantees({})


def local(*, unsafe: object = False) -> LocalUnsafe:
    """Run tools in this process, without any isolation.

    Args:
        unsafe: must be exactly True: nothing stops a tool from reading files, using the network, starting processes,
            or running on after its timeout.

    Raises:
        ConfigError: `unsafe` is anything else.
    """
    if unsafe is not True:
        raise ConfigError(
            "local() runs tools without any isolation, and wants to be told so",
            hint="write rf.local(unsafe=True) for tools that you trust",
        )
    return LocalUnsafe()


class LocalUnsafe:
    """What `local(unsafe=True)` makes."""

    name = "unsafe_local"
    permissions = None
    """Nothing is granted or denied: nothing is checked."""
    hands_over_unchanged = True
    """The function gets the very arguments that were given, so a gate need not compare them on arrival."""

    def __init__(self) -> None:
        self._threads = DaemonThreads("ringfence-tool")

    def guarantees(self) -> Mapping[str, str]:
        """Every guarantee, all of them `"none"`."""
        return _NOTHING.complete()

    def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Signal | None = None) -> Coroutine[Any, Any, Any]:
        """Call `fn(*args)`: in the event loop when it is a coroutine function, else in a thread of its own.

        Args:
            signal: not needed here; the function has its own reference.

        Raises:
            SandboxFault: `sandbox_unavailable`, too many synchronous calls were abandoned and are still running.
        """
        del signal
        return fn(*args) if is_async(fn) else self._in_thread(fn, args)

    async def _in_thread(self, fn: Callable[..., Any], args: list[Any]) -> Any:
        try:
            value = await self._threads.call(fn, args)
        except TooManyAbandonedError as error:
            raise SandboxFault(
                f"no thread for a synchronous tool: {error}",
                code="sandbox_unavailable",
                hint="make the tool asynchronous, or let it look at ctx.signal and return",
            ) from None
        return await value if inspect.isawaitable(value) else value

    def statistics(self) -> ThreadStatistics:
        """Threads that run synchronous tools."""
        return self._threads.statistics()

    async def aclose(self) -> None:
        """Nothing to free: threads end on their own, or with the process."""
