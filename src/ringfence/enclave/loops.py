"""An event loop in a thread of its own, for callers that are not asynchronous.

`run_sync` uses it, so that it also works inside a running loop (notebooks). Knows nothing of scripts.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, Final

from ringfence.errors import ConfigError

JOIN_TIMEOUT: Final = 5.0
"""Seconds for the thread to end once its loop was told to stop."""
LEAVE_PATIENCE: Final = 1.0
"""Seconds that tasks have to end by themselves in a loop that was told to stop, and once more when cancelled."""

_here: Final = threading.local()
"""`is_one` in the threads of this module."""


def in_loop_thread() -> bool:
    """Whether the caller runs in the loop of some `LoopThread`, so that nothing else happens there while it waits."""
    return getattr(_here, "is_one", False)


class LoopThread:
    """One daemon thread that runs one loop until `close`.

    Raises:
        RuntimeError: Python is ending, and starts no thread any more (3.12 and newer, in functions of `atexit`).
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._stopped = False
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._loop.close()
            raise

    def _main(self) -> None:
        _here.is_one = True
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_leave())
        finally:
            self._loop.close()
            self._ended.set_result(None)

    def owns(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether `loop` is this thread's."""
        return loop is self._loop

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        """Run a coroutine in the thread's loop.

        Raises:
            ConfigError: `not_running`, after `close`.
        """
        with self._lock:
            if not self._stopped:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise ConfigError("the thread of run_sync has ended: its enclave is closed", code="not_running")

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine there and wait for it. An interrupt of the waiting thread cancels it, and waits for that.

        Raises:
            ConfigError: as for `submit`.
        """
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                concurrent.futures.wait([future], timeout=JOIN_TIMEOUT)
            raise

    def stop(self) -> None:
        """Let the loop finish what it has, and end the thread. Returns at once; idempotent."""
        with self._lock:
            if not self._stopped:
                self._stopped = True
                self._loop.call_soon_threadsafe(self._loop.stop)

    def close(self) -> None:
        """Stop the loop and wait for the end of the thread. From inside the thread it ends when all there has ended."""
        self.stop()
        if not self.is_current:
            self._thread.join(JOIN_TIMEOUT)

    async def aclose(self) -> None:
        """`close` for another loop, which goes on meanwhile."""
        self.stop()
        if not self.is_current:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(JOIN_TIMEOUT):
                    await asyncio.wrap_future(self._ended)
                self._thread.join(JOIN_TIMEOUT)  # it has only to return


async def _leave() -> None:
    """Let every other task end: whoever asked for the end may be one, and a thread may wait for what another gives."""
    for patience in (LEAVE_PATIENCE, LEAVE_PATIENCE):
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if not others:
            break
        _, late = await asyncio.wait(others, timeout=patience)
        for task in late:
            task.cancel()
    await asyncio.get_running_loop().shutdown_asyncgens()
