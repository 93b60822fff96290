"""The function that a driver gets: one tool, bound to its context, for one attempt.

It runs at most once, while the attempt lasts, and with what was validated. A driver that calls it again, late, or with
anything else gets a `wire_violation`, and the attempt ends as one whatever the driver says; not calling it at all is
a driver's right, since it may run the tool elsewhere. Knows a tool and its context; decides nothing. Called by `gate.perform`.
"""

from __future__ import annotations

import logging
import threading
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
    """One attempt's function, as `on_loop` or `in_thread`."""

    __slots__ = ("_context", "_given", "_is_over", "_seal", "_tool", "_turn", "fault", "raised", "started")

    def __init__(self, tool: Tool[..., Any], context: ToolContext, turn: Turn | None) -> None:
        """Bind a tool; `turn` is held while it runs."""
        self._tool = tool
        self._context = context
        self._turn = turn
        self._given: Any = None
        self._seal = b""
        self._is_over = False
        self.started = False
        """The tool's function was entered."""
        self.raised = False
        """The tool itself did, so that whatever came out of the driver is not the driver's."""
        self.fault: SandboxFault | None = None
        """What the driver did wrong."""

    def take(self, given: Any, *, is_trusted: bool) -> None:
        """Expect these validated arguments, as the driver gets them.

        Args:
            is_trusted: the driver hands over what it gets, so that nothing is compared.
        """
        self._given = given
        if not is_trusted:
            self._seal = _seal_of(given)

    async def on_loop(self, given: Any) -> Any:
        self._enter(given)
        try:
            return await self._tool.call_with(given, self._context)
        except BaseException:
            self.raised = True
            raise
        finally:
            if self._turn is not None:
                self._turn.leave()

    def in_thread(self, given: Any) -> Any:
        self._enter(given)
        try:
            return self._tool.call_with(given, self._context)
        except BaseException:
            self.raised = True
            raise
        finally:
            if self._turn is not None:
                self._turn.leave()

    def end(self) -> None:
        """The attempt is over; what has not begun may not begin any more."""
        with _entrance:
            self._is_over = True

    def _enter(self, given: Any) -> None:
        is_same = given is self._given if self._seal == b"" else _seal_of(given) == self._seal
        with _entrance:
            if is_same and not (self.started or self._is_over or self.fault):
                self.started = True
                if self._turn is not None:
                    self._turn.hold()
                return
            what = "again" if self.started else "when its time was over" if self._is_over else "with other arguments"
            fault = SandboxFault(f"its sandbox called the tool {what}", code="wire_violation")
            if not self._is_over:
                self.fault = fault
        _log.warning("a sandbox called %s %s", self._tool.name, what)
        raise fault


def _seal_of(given: Any) -> bytes:
    """What arguments hold, however they are copied; nothing, when that cannot be told and only they themselves will do."""
    try:
        return values.canonical(shown(given), BUDGET)
    except Exception:  # noqa: BLE001  (the user's types may refuse to be read)
        return b""
