"""How a script's call reaches the host: through a gate over governed tools, or through one plain handler.

Both turn whatever happens into an `Answer`: data for the guest, and whether the run goes on. Knows the gate and the
error table; neither frames nor processes. `session` calls it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from ringfence import values
from ringfence.contract.calling import is_async
from ringfence.contract.hints import UNDECLARED
from ringfence.contract.output import PydanticOutput
from ringfence.contract.restorable import tags_of
from ringfence.enclave.consent import Consent, Responded
from ringfence.enclave.failures import raised
from ringfence.enclave.received import restored
from ringfence.enclave.results import in_doubt
from ringfence.errors import CODES, ConfigError, ErrorInfo, Family, Status
from ringfence.gate.runner import Gate
from ringfence.limits import ValueBudget
from ringfence.ports import Answer, CallWatch, Effect, Origin
from ringfence.threads import DaemonThreads

ToolHandler = Callable[[str, Any], Any]
"""`(tool name, arguments)`, asynchronous, or synchronous in a thread; exactly these two (second seed, "Tool Handler Signature")."""


class GateCaller:
    """Calls governed tools."""

    def __init__(self, gate: Gate, budget: ValueBudget) -> None:
        self._gate = gate
        self._budget = budget
        self._effects: Mapping[str, Effect | None] = MappingProxyType({tool.name: tool.effect for tool in gate.tools})

    def catalogue(self) -> Collection[str]:
        return self._effects.keys()

    def effects(self) -> Mapping[str, Effect | None]:
        return self._effects

    async def call(
        self,
        name: str,
        args: bytes,
        origin: Origin,
        call_id: str,
        watch: CallWatch,
        *,
        tags: Mapping[Any, Any] | None = None,
        ask: str | None = None,
    ) -> Answer:
        try:
            outcome = await self._gate.call(
                name, args, origin=origin, call_id=call_id, watch=watch, encode=True, own_task=True, ask=ask
            )
        except ConfigError as error:  # the boundary was closed meanwhile
            return _error_answer(error.info(), "refused")
        if outcome.error is not None:
            return _error_answer(outcome.error, outcome.status, outcome.cause)
        ran = outcome.recorded or in_doubt(self._effects.get(name))
        status: Status = "unknown" if outcome.recorded == "unknown" else "succeeded"
        # with a fallback's answer, the record is the tool's own
        return _within(outcome.encoded or b"null", self._budget, ran, status)


class HandlerCaller:
    """Calls one handler for every name (second seed, "Basic Tool Handler"). Its exceptions' text reaches the script."""

    def __init__(self, handler: ToolHandler | None, budget: ValueBudget, consent: Consent | None = None) -> None:
        self._handler = handler
        self._consent = consent if consent is not None else Consent(None, None)
        self._budget = budget
        self._output = PydanticOutput(UNDECLARED, "tool_handler")
        self._is_async = handler is not None and is_async(handler)
        self._threads = DaemonThreads("ringfence-tool-handler")

    def catalogue(self) -> None:
        return None

    def effects(self) -> Mapping[str, Effect | None]:
        return MappingProxyType({})

    async def call(
        self,
        name: str,
        args: bytes,
        origin: Origin,
        call_id: str,
        watch: CallWatch,
        *,
        tags: Mapping[Any, Any] | None = None,
        ask: str | None = None,
    ) -> Answer:
        if self._handler is None:
            error = ErrorInfo(
                code="no_tool_handler", message="this enclave has no tools", hint="pass tools= or tool_handler="
            )
            return _error_answer(error, "refused")
        if ask is not None:
            decision = await self._consent.ask(name, args, tags, ask, origin, call_id, watch)
            if isinstance(decision, ErrorInfo):
                return _error_answer(decision, "refused")
            if isinstance(decision, Responded):
                return _within(decision.data, self._budget, "failed")
            args, tags = decision.args, decision.tags
        try:
            value = await self._answer(self._handler, name, restored(args, tags, self._budget))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _error_answer(raised(asyncio.CancelledError("cancelled"), "tool_raised"), "failed")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything; it is data from here on
            return _error_answer(raised(error, "tool_raised"), "failed", error)
        try:
            data = self._output.dump(value)
        except values.ValueRefused as refused:
            return _error_answer(_bad_result(refused), "failed")
        return _within(data, self._budget, "failed")

    async def _answer(self, handler: ToolHandler, name: str, args: Any) -> Any:
        """A handler that is not asynchronous may block, and the deadline must not wait for it: it gets a thread."""
        if self._is_async:
            return await handler(name, args)
        value = await self._threads.call(handler, [name, args])
        return await value if inspect.isawaitable(value) else value


def _error_answer(error: ErrorInfo, status: Status, cause: BaseException | None = None) -> Answer:
    family = CODES[error.code].family
    return Answer(
        error=error,
        status=status,
        terminal=family not in (Family.CORRECTABLE, Family.FAILURE),
        returnable=family is Family.FAILURE,
        cause=cause,
    )


def _within(data: bytes, budget: ValueBudget, ran: Status, status: Status = "succeeded") -> Answer:
    """A result as JSON text, unless it is too large for a script: then the call ended as `ran` says."""
    try:
        values.check_text(data, budget)
        values.check_shape(data, budget)
    except values.ValueRefused as refused:
        return _error_answer(_bad_result(refused), ran)
    return Answer(value=data, tags=tags_of(data), status=status)


def _bad_result(refused: values.ValueRefused) -> ErrorInfo:
    hint = "return less: filter or page in the tool" if refused.too_large else None
    text = f"the tool ran to its end, and its result was refused: {refused}"
    return ErrorInfo(code="bad_result", message=text, hint=hint)
