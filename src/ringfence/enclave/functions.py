"""Running a function of `globals` for a script: copies in, a copy out, and nothing of the host in an error.

Everything that it may do, and how often, is decided before (`ledger`); what it is, was judged when the enclave was
built (`globals`). Knows values and `hosted`; neither frames nor channels. `session` calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from ringfence.contract.advice import fix_for
from ringfence.contract.restorable import tags_of
from ringfence.enclave.globals import Function
from ringfence.enclave.hosted import Raised, dumped, hosted
from ringfence.enclave.received import restored
from ringfence.errors import ErrorInfo
from ringfence.limits import ValueBudget
from ringfence.ports import Answer
from ringfence.threads import DaemonThreads
from ringfence.values import ValueRefused

ERROR_NAME: Final = "GlobalFunctionError"
"""Class of the error for a result that is no data (enclave catalogue, F8)."""


class GlobalFunctions:
    """The functions of one enclave, by number. Usable from any event loop."""

    def __init__(self, functions: Sequence[Function], budget: ValueBudget) -> None:
        self._functions = functions
        self._budget = budget
        self.threads: Final = DaemonThreads("ringfence-global")
        """Where those run that are not asynchronous."""

    def name(self, number: int) -> str | None:
        """What scripts call it; None when there is none of this number."""
        return self._functions[number].name if number < len(self._functions) else None

    async def call(self, number: int, args: bytes, tags: Mapping[Any, Any] | None) -> Answer:
        """One call; `args` is `[positional, named]`. Raises only `asyncio.CancelledError`."""
        positional, named = restored(args, tags, self._budget)
        function = self._functions[number]
        call = partial(function.call, *positional, **named)
        value = await hosted(call, None if function.is_async else self.threads, "global_raised")
        if isinstance(value, Raised):
            return _failed(value.error, value.cause)
        try:
            data = dumped(value, self._budget)
        except ValueRefused as refused:
            hint = "return less" if refused.too_large else fix_for(str(refused)) or "return plain data"
            text = f"the result was refused: {refused}"
            return _failed(ErrorInfo(code="global_raised", name=ERROR_NAME, message=text, hint=hint))
        return Answer(value=data, tags=tags_of(data))


def _failed(error: ErrorInfo, cause: BaseException | None = None) -> Answer:
    return Answer(error=error, status="failed", returnable=True, cause=cause)
