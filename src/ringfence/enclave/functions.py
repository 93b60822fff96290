"""Running a function of `globals` for a script: copies in, a copy out, and nothing of the host in an error.

Everything that it may do, and how often, is decided before (`ledger`); what it is, was judged when the enclave was
built (`globals`). Knows values and threads; neither frames nor channels. `session` calls it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ringfence import values
from ringfence.contract.output import dump_plain
from ringfence.contract.restorable import tags_of
from ringfence.enclave.failures import raised
from ringfence.enclave.globals import Function
from ringfence.enclave.received import restored
from ringfence.errors import ErrorInfo
from ringfence.limits import ValueBudget
from ringfence.ports import Answer
from ringfence.threads import DaemonThreads

ERROR_NAME: Final = "GlobalFunctionError"
"""Class of the error for a result that is no data (enclave catalogue, F8)."""


class GlobalFunctions:
    """The functions of one enclave, by number. Usable from any event loop."""

    def __init__(self, functions: Sequence[Function], budget: ValueBudget) -> None:
        self._functions = functions
        self._budget = budget
        self._threads = DaemonThreads("ringfence-global")

    def name(self, number: int) -> str | None:
        """What scripts call it; None when there is none of this number."""
        return self._functions[number].name if number < len(self._functions) else None

    async def call(self, number: int, args: bytes, tags: Mapping[Any, Any] | None) -> Answer:
        """One call; `args` is `[positional, named]`. Raises only `asyncio.CancelledError`."""
        positional, named = restored(args, tags, self._budget)
        try:
            value = await self._value(self._functions[number], positional, named)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _failed(raised(asyncio.CancelledError("cancelled"), "global_raised"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a function may raise anything; it is data from here on
            return _failed(raised(error, "global_raised"), error)
        try:
            data = dump_plain(value)
            values.check_text(data, self._budget)
            values.check_shape(data, self._budget)
        except values.ValueRefused as refused:
            hint = "return less" if refused.too_large else "return plain data"
            text = f"the result was refused: {refused}"
            return _failed(ErrorInfo(code="global_raised", name=ERROR_NAME, message=text, hint=hint))
        return Answer(value=data, tags=tags_of(data))

    async def _value(self, function: Function, positional: list[Any], named: dict[str, Any]) -> Any:
        """One that is not asynchronous may block, and the deadline must not wait for it: it gets a thread."""
        if function.is_async:
            return await function.call(*positional, **named)
        value = await self._threads.call(lambda: function.call(*positional, **named), ())
        return await value if inspect.isawaitable(value) else value


def _failed(error: ErrorInfo, cause: BaseException | None = None) -> Answer:
    return Answer(error=error, status="failed", returnable=True, cause=cause)
