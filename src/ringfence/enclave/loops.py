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

JOIN_TIMEOUT: Final = 5.0
"""Seconds for the thread to end once its loop was told to stop."""


class LoopThread:
    """One daemon thread that runs one loop until `close`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._thread.start()

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def owns(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether `loop` is this thread's, and can still be used."""
        return loop is self._loop and self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        """Run a coroutine in the thread's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine there and wait for it. An interrupt of the waiting thread cancels it, and waits for that."""
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                concurrent.futures.wait([future], timeout=JOIN_TIMEOUT)
            raise

    def close(self) -> None:
        """Stop the loop and end the thread. Idempotent; from inside the thread it ends when the caller returns."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._loop.stop)
            if not self.is_current:
                self._thread.join(JOIN_TIMEOUT)
