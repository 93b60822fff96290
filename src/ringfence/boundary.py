"""The door: tools, a sandbox, and an approval handler, wired into one object with a life.

Wires a gate to its drivers and decides nothing about a call; besides it only `enclave.facade` does, for tools of its
own. Hosts use it directly, and enclaves reach tools through its `gate`.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, Unpack, cast

from opentelemetry.trace import TracerProvider

from ringfence.contract.rules import check_sandbox
from ringfence.contract.tool import Tool
from ringfence.contract.toolset import Toolset
from ringfence.enclave.oneshot import run_agent_script
from ringfence.enclave.options import EnclaveOptions
from ringfence.enclave.results import RunResult
from ringfence.errors import ConfigError
from ringfence.gate.hub import EventStream, Filter, Handler, HubStatistics
from ringfence.gate.runner import Gate, GateStatistics, WhenAborted
from ringfence.gate.tracing import Tracing
from ringfence.limits import parse_text
from ringfence.ports import Approvers, Driver, Origin, Outcome, Signal

_NO_ARGS: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryStatistics:
    """What a boundary is doing now."""

    gate: GateStatistics
    events: HubStatistics
    drivers: tuple[tuple[str, object], ...]
    """Name and statistics of each driver that keeps some."""


class Boundary:
    """Every call of these tools goes through here.

    As an asynchronous context manager it checks its tools on entry and closes on exit; without one it checks with the
    first call, and `aclose` is yours to call.
    """

    def __init__(
        self,
        tools: Iterable[Tool[..., Any] | Toolset] | Toolset,
        *,
        sandbox: Driver | None = None,
        approve: Approvers | Sequence[Approvers] | None = None,
        approval_timeout: float | None = None,
        when_aborted: WhenAborted = "refuse",
        clock: Callable[[], float] = time.monotonic,
        tracer_provider: TracerProvider | None = None,
        trace_content: bool = False,
    ) -> None:
        """Wire the parts. Starts nothing.

        Args:
            tools: with unique names.
            sandbox: where tools run that bring no sandbox of their own. There is no default: nothing runs without.
            approve: decides about tools with `approval="human"`: called with `(input, info)` or one
                `ApprovalRequest`, asynchronous, or synchronous in a thread of its own. True approves, and so do
                `Approve`, `Edit` and `Respond`; everything else denies. Of several handlers any may approve; `any_of`,
                `all_of` and `veto` say otherwise.
            approval_timeout: seconds until an undecided call is denied; None waits for ever.
            when_aborted: what becomes of a call whose signal is aborted before the tool runs: `"refuse"`, nobody is
                asked and nothing runs; `"run"`, it runs once and the tool sees the aborted signal, as in the first
                seed's implementation.
            clock: monotonic seconds, for durations and `ctx.deadline`; tests pass an `rf.testing.FakeClock`.
            tracer_provider: where OpenTelemetry spans of calls go; None for the global one.
            trace_content: also trace arguments and results, secrets included: whoever reads the traces is then as
                privileged as an approver.

        Raises:
            ConfigError: an argument is wrong, or two tools have the same name.
        """
        self._gate = Gate(
            tools if isinstance(tools, Toolset) else Toolset(tools),
            sandbox=check_sandbox(sandbox, "boundary"),
            approve=approve,
            approval_timeout=approval_timeout,
            when_aborted=when_aborted,
            clock=clock,
            tracing=Tracing(tracer_provider, content=trace_content),
        )
        self._sessions = f"session-{secrets.token_hex(8)}-"
        self._numbers = itertools.count(1)

    @property
    def gate(self) -> Gate:
        """The path that every call takes; an enclave shares it."""
        return self._gate

    @property
    def tools(self) -> Toolset:
        """The tools, in the order given."""
        return self._gate.tools

    async def call(
        self,
        name: str,
        args: Mapping[str, Any] = _NO_ARGS,
        *,
        session_id: str | None = None,
        principal: str | None = None,
        signal: Signal | None = None,
    ) -> Outcome:
        """One governed call: validate, approve, announce, execute in the sandbox, retry, fall back.

        Args:
            name: the tool's.
            args: a mapping of names to JSON values.
            session_id: the conversation; a fresh one by default. It is not an identity.
            principal: on whose behalf, as the host has authenticated it.
            signal: a request to stop. Aborted before the tool runs, the call is refused (see `when_aborted`); while it
                runs, the tool sees it, and no further attempt is made.

        Returns:
            How it ended, whatever the arguments and the tool did. `unwrap()` gives the value or raises.

        Raises:
            ToolSandboxRequiredError: a tool has no sandbox.
            ConfigError: an option has a wrong type, or the boundary is closed (`not_running`).
            asyncio.CancelledError: the caller was cancelled; the tool has been, too.
        """
        self._gate.start()
        if signal is not None:
            _check_signal(signal)
        origin = Origin(
            session_id=f"{self._sessions}{next(self._numbers)}"
            if session_id is None
            else parse_text(session_id, "session_id"),
            principal=None if principal is None else parse_text(principal, "principal"),
        )
        return await self._gate.call(name, _arguments(args), origin=origin, signal=signal)

    async def run_script(
        self,
        source: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        principal: str | None = None,
        variables: Mapping[str, Any] | None = None,
        **options: Unpack[EnclaveOptions],
    ) -> RunResult:
        """Run one script that may call these tools, in an enclave of its own that is gone afterwards.

        Takes what `Enclave` and its `run` take. For many scripts make one `Enclave(tools=boundary)`, which keeps its
        workers warm.

        Raises:
            ConfigError: an option is wrong, or the boundary is closed.
            SandboxFault: `sandbox_unavailable`, this machine cannot enforce the jail.
            asyncio.CancelledError: the caller was cancelled; the script is dead and its calls are unwound.
        """
        self._gate.start()
        return await run_agent_script(
            source,
            inputs,
            session_id=session_id,
            principal=principal,
            variables=variables,
            tools=self,
            **options,
        )

    def on(self, types: Filter, handler: Handler) -> Callable[[], None]:
        """Call `handler(event)` with events of one type, of several, of all (`"*"`), or (None) of the seed's five.

        Events carry no arguments and no results. A handler's failure changes nothing. An asynchronous handler has a
        bounded queue; a synchronous one is called on the spot and must not block.

        Returns:
            A function that ends the subscription.

        Raises:
            ConfigError: an unknown type, or a handler that cannot be called.
        """
        return self._gate.hub.on(types, handler)

    def events(self, types: Filter = None) -> EventStream:
        """Events from now on, as an asynchronous iterator that ends when the boundary closes.

        Raises:
            ConfigError: an unknown type.
        """
        return self._gate.hub.events(types)

    def statistics(self) -> BoundaryStatistics:
        """Counts of calls, events, and of the drivers that keep counts."""
        counted = tuple(
            (driver.name, statistics())
            for driver in self._gate.drivers
            if callable(statistics := getattr(driver, "statistics", None))
        )
        return BoundaryStatistics(gate=self._gate.statistics(), events=self._gate.hub.statistics(), drivers=counted)

    async def __aenter__(self) -> Self:
        """Check what only the whole can show.

        Raises:
            ToolSandboxRequiredError: a tool has no sandbox.
            ConfigError: `not_running`, it was closed before.
        """
        self._gate.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Take no further call, let running ones finish for a few seconds, stop the rest, close every driver once.

        Idempotent. Cancelled, it gives running calls no more time, and still stops them and closes every driver before
        it raises.

        Raises:
            ExceptionGroup: drivers that failed to close; all have been tried.
            ConfigError: asked from within one of the boundary's own calls, which would wait for its own end.
        """
        await self._gate.aclose()


def _check_signal(signal: object) -> None:
    try:
        usable = isinstance(getattr(signal, "aborted", None), bool) and callable(getattr(signal, "wait", None))
    except Exception:  # noqa: BLE001  (a property that raises)
        usable = False
    if isinstance(signal, type) or not usable:
        shown = f"the class {signal.__name__}" if isinstance(signal, type) else type(signal).__name__
        raise ConfigError(
            f"signal must have aborted, reason and wait, as an rf.AbortSignal has, not {shown}",
            hint="make one with rf.AbortSignal()",
        )


def _arguments(args: Any) -> object:
    """A mapping of any kind as a dict; whatever else it is, in a form that the gate refuses by its type."""
    if type(args) is dict:
        return args  # type: ignore[reportUnknownVariableType]
    if type(args) is bytes:  # the gate's form for text that an enclave has parsed; here one more wrong type
        return bytearray(args)
    given: object = args
    try:
        return dict(cast("Mapping[Any, Any]", args)) if isinstance(args, Mapping) else given
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  (a mapping that cannot be read is no arguments, whatever it raises)
        return given
