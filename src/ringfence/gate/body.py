"""The function that a driver gets: one tool, bound to its context, for one attempt.

It runs at most once, while the attempt lasts, and with what was validated. A driver that calls it again, late, or with
anything else gets a `wire_violation`, and the attempt ends as one whatever the driver says; not calling it at all is
a driver's right, since it may run the tool elsewhere. Knows a tool and its context; decides nothing. Called by `gate.perform`.
"""

from __future__ import annotations

import inspect
import logging
import threading
import weakref
from collections.abc import Awaitable
from typing import Any, Final

from ringfence import values
from ringfence.contract.context import ToolContext
from ringfence.contract.tool import Tool
from ringfence.errors import SandboxFault
from ringfence.gate.means import BUDGET
from ringfence.gate.shown import shown
from ringfence.gate.slots import Turn

_log: Final = logging.getLogger("ringfence.calls")
_entrance: Final = threading.Lock()
"""Of two threads that come at once, one is the second. Held for a few steps."""


class Body:
    """One attempt's function, as `on_loop` or `in_thread`, for a driver that hands over the very object it gets."""

    __slots__ = ("_given", "_is_over", "context", "fault", "raised", "started", "tool")

    def __init__(self, tool: Tool[..., Any], context: ToolContext | None, given: Any) -> None:
        self.tool = tool
        self.context = context
        self._given = given
        """The validated arguments, as the driver gets them."""
        self._is_over = False
        self.fault: SandboxFault | None = None
        """What the driver did wrong."""
        self.started = False
        """The tool's function was entered."""
        self.raised = False
        """The tool itself did, so that whatever came out of the driver is not the driver's."""

    async def on_loop(self, given: Any) -> Any:
        if self.started or self._is_over or given is not self._given:
            raise self._violation()
        self.started = True
        try:  # as `_run` does, without a coroutine more: 0.3 of 15 us
            return await self.tool.call_with(given, self.context)
        except BaseException:
            self.raised = True
            raise

    def end(self) -> None:
        """The attempt is over; what has not begun may not begin any more. Takes no lock: garbage collection ends some."""
        self._is_over = True

    def _violation(self) -> SandboxFault:
        what = "again" if self.started else "when its time was over" if self._is_over else "with other arguments"
        fault = SandboxFault(f"its sandbox called the tool {what}", code="wire_violation")
        if not self._is_over:
            self.fault, self._is_over = fault, True  # nothing begins after it
        _log.warning("a sandbox called %s %s", self.tool.name, what)
        return fault

    async def _run(self, given: Any) -> Any:
        try:
            return await self.tool.call_with(given, self.context)
        except BaseException:
            self.raised = True
            raise

    def in_thread(self, given: Any) -> Any:
        self.started = True
        try:
            result = self.tool.call_with(given, self.context)
        except BaseException:
            self.raised = True
            raise
        return self._rest(result) if inspect.isawaitable(result) else result

    async def _rest(self, awaitable: Awaitable[Any]) -> Any:
        """What a function that is not asynchronous has left to be awaited is still the tool."""
        try:
            return await awaitable
        except BaseException:
            self.raised = True
            raise


class GuardedBody(Body):
    """The same for any driver; and for tools in threads, which may come late, and limited tools, which hold a turn."""

    __slots__ = ("_seal", "_turn")

    def __init__(
        self, tool: Tool[..., Any], context: ToolContext | None, given: Any, *, turn: Turn | None, is_trusted: bool
    ) -> None:
        """Prepare an attempt.

        Args:
            given: the validated arguments, as the driver gets them.
            turn: held while the tool runs.
            is_trusted: the driver hands over what it gets, so that nothing is compared.
        """
        super().__init__(tool, context, given)
        self._seal = b"" if is_trusted else _seal_of(given)
        self._turn = turn

    async def on_loop(self, given: Any) -> Any:
        self._enter(given)
        try:
            return await self._run(given)
        finally:
            self._leave()

    def in_thread(self, given: Any) -> Any:
        self._enter(given)
        rest: Any = None
        try:
            result = super().in_thread(given)
            rest = result if inspect.iscoroutine(result) else None
            return result
        finally:
            if rest is None:
                self._leave()
            elif self._turn is not None:
                weakref.finalize(rest, self._leave).atexit = False  # also when nobody ever awaits it

    async def _rest(self, awaitable: Awaitable[Any]) -> Any:
        try:
            return await super()._rest(awaitable)
        finally:
            self._leave()

    def _enter(self, given: Any) -> None:
        is_same = given is self._given if self._seal == b"" else _seal_of(given) == self._seal
        with _entrance:
            if is_same and not (self.started or self._is_over):
                self.started = True
                if self._turn is not None:
                    self._turn.hold()
                return
            fault = self._violation()
        raise fault

    def _leave(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.leave()


def _seal_of(given: Any) -> bytes:
    """What arguments hold, however they are copied; nothing, when that cannot be told and only they themselves will do."""
    try:
        return values.canonical(shown(given), BUDGET)
    except Exception:  # noqa: BLE001  (the user's types may refuse to be read)
        return b""
