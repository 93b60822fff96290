"""`Enclave`: the public door for scripts. Checks options, owns workers, runs scripts one after another or at once.

Knows how to build a caller from what the user gave and where workers come from; `session` runs one script.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Final, Protocol, Self, TypedDict, cast, runtime_checkable

from ringfence import values
from ringfence.contract.rules import check_sandbox
from ringfence.contract.toolset import AnyTool, Toolset
from ringfence.enclave import protocol, stubs
from ringfence.enclave.callers import GateCaller, HandlerCaller, ToolHandler
from ringfence.enclave.channel import Channel
from ringfence.enclave.pool import Pool
from ringfence.enclave.results import RunResult, RunStats, RunStatus, run_error
from ringfence.enclave.session import ScriptSession
from ringfence.enclave.workers import Workers
from ringfence.errors import ConfigError, ErrorInfo
from ringfence.events import Event, EventType
from ringfence.gate.hub import EventHub, EventStream, Filter, Handler
from ringfence.gate.runner import Gate
from ringfence.limits import LEVELS, MIB, RunLimits, SecurityLevel, parse_count, parse_seconds, parse_size, parse_text
from ringfence.ports import ApprovalHandler, Driver, Origin
from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Unenforceable, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe

ENGINES: Final = MappingProxyType({"python": "ringfence.enclave.engines.python_unsafe:prepare,serve"})
WAITING: Final = 2
"""Children kept ahead of need: one for the next run, one while that one is being replaced."""
CLOSE_PATIENCE: Final = 10.0
"""Seconds that aborted runs have to unwind when the enclave closes."""
LEAST_MEMORY: Final = 16 * MIB


@runtime_checkable
class HasGate(Protocol):
    """A boundary, whose gate and events an enclave may share."""

    @property
    def gate(self) -> Gate: ...


class EnclaveOptions(TypedDict, total=False):
    """Options of a run that do not concern tools; see `Enclave`."""

    language: str
    security_level: SecurityLevel
    timeout: float | None
    max_tool_calls: int | None
    max_concurrent_calls: int
    memory_limit: int | str
    max_output: int | str | None
    waiting: int


class Enclave:
    """Runs scripts that a model wrote, in a jailed process whose only way out is a tool call.

    Exactly one of `tools` (governed tools, a toolset, or a boundary to share) and `tool_handler` (one async function
    `(name, args)`) may be given; with neither, scripts only compute. Works with and without `async with`: workers
    start with the first run and die with the host; `aclose` frees them at once.

    Args:
        tools: what scripts may call, each through the gate.
        sandbox: where tools run that have no sandbox of their own.
        approve: decides calls of tools with `approval="human"`.
        approval_timeout: seconds until an undecided call is denied; None waits.
        tool_handler: answers every call instead of governed tools (second seed, "Tool Handler Signature"). A
            synchronous one runs in a thread.
        language: `"python"`.
        security_level: gives `timeout`, `max_tool_calls` and `max_output` their defaults.
        timeout: seconds of wall clock per run, without the time that calls wait for approval.
        max_tool_calls: calls per run; refused calls count.
        max_concurrent_calls: calls in flight per run; further ones wait their turn.
        memory_limit: bytes or `"256MB"` on top of what an idle worker has.
        max_output: bytes of printed text per run.
        waiting: jailed children kept ahead of need: about 5 MiB each, and a run that finds one starts 3 ms sooner.

    Raises:
        ConfigError: an option has a wrong type or value, or a tool has no sandbox.
        SandboxFault: `sandbox_unavailable`, this machine cannot enforce the jail; the message says what is missing.
    """

    def __init__(
        self,
        *,
        tools: Iterable[AnyTool | Toolset] | Toolset | HasGate | None = None,
        sandbox: Driver | None = None,
        approve: ApprovalHandler | None = None,
        approval_timeout: float | None = None,
        tool_handler: ToolHandler | None = None,
        language: str = "python",
        security_level: SecurityLevel = "STANDARD",
        timeout: float | None = None,
        max_tool_calls: int | None = None,
        max_concurrent_calls: int = 10,
        memory_limit: int | str = "256MB",
        max_output: int | str | None = None,
        waiting: int = WAITING,
    ) -> None:
        self._level: SecurityLevel = security_level
        self._limits = _limits(security_level, timeout, max_tool_calls, max_concurrent_calls, memory_limit, max_output)
        if type(language) is not str or language not in ENGINES:
            raise ConfigError(f"language must be one of {', '.join(ENGINES)}, not {language!r:.80}")
        if tools is not None and tool_handler is not None:
            raise ConfigError("pass tools= or tool_handler=, not both")
        self._handler = _handler(tool_handler)
        self._gate, self._owns_gate = _gate(tools, sandbox, approve, approval_timeout)
        if self._gate is not None:
            self._caller: GateCaller | HandlerCaller = GateCaller(self._gate, self._limits.value)
        else:
            self._caller = HandlerCaller(self._handler, self._limits.value)
        self._workers = Workers(
            _jail_plan(self._limits),
            ENGINES[language],
            frame_limit=protocol.frame_limit(self._limits),
            waiting=parse_count(waiting, "waiting"),
        )
        self._runs: set[_Run] = set()
        self._closed = False
        self._finalizer = weakref.finalize(self, self._workers.close_nowait)

    # running

    async def run(
        self,
        source: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        principal: str | None = None,
    ) -> RunResult:
        """Run one script. Never raises for anything that the script does.

        `inputs` is what the script finds as `inputs`: an object of JSON values. `session_id` defaults to a fresh id.

        Raises:
            ConfigError: `source` is not text, `inputs` are not data, or the enclave is closed.
            SandboxFault: no jailed worker could be started.
            asyncio.CancelledError: the caller was cancelled; the script is dead and its calls are unwound.
        """
        self._check_open()
        request = self._request(source, inputs)
        origin = Origin(
            session_id=f"s_{secrets.token_hex(8)}" if session_id is None else parse_text(session_id, "session_id"),
            principal=None if principal is None else parse_text(principal, "principal"),
            run_id=request.run_id,
        )
        if (refused := self._too_long(source)) is not None:
            return _never_started(refused, request.run_id)
        pool = self._workers.pool()
        run = _Run()
        self._runs.add(run)
        try:
            channel = await run.acquire(pool)
            if channel is None:
                return _never_started(run_error("aborted", "the run was aborted before it began"), request.run_id)
            try:
                session = ScriptSession(channel=channel, caller=self._caller, limits=self._limits, origin=origin)
                run.session = session
                self._emit("run.started", origin)
                result = await session.run(request)
            except asyncio.CancelledError:
                self._emit("run.finished", origin, status="interrupted", code="ABORTED")
                raise
            finally:
                pool.release(channel)
        finally:
            self._runs.discard(run)
        code = result.error.code if result.error is not None else None
        self._emit("run.finished", origin, duration=result.stats.duration, status=result.status, code=code)
        return result

    def run_sync(
        self,
        source: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        principal: str | None = None,
    ) -> RunResult:
        """`run` for callers that are not asynchronous; also works inside a running event loop.

        Tools run in a thread of the enclave's own, not in the caller's event loop.

        Raises:
            ConfigError: as for `run`; also when an asynchronous tool of this enclave calls it, which would wait for
                itself.
            SandboxFault: as for `run`.
        """
        self._check_open()
        return self._workers.thread().call(self.run(source, inputs, session_id=session_id, principal=principal))

    def abort(self) -> None:
        """End every run of this enclave with `ABORTED`. From any thread; returns at once."""
        for run in tuple(self._runs):
            run.abort_threadsafe()

    async def warm(self) -> None:
        """Start the workers now instead of with the first run.

        Raises:
            SandboxFault: no jailed worker could be started.
        """
        await self._workers.pool().warm()

    def describe(self) -> str:
        """Typed Python stubs of every callable tool, for the model that writes scripts."""
        if self._gate is not None:
            return stubs.describe_python(self._gate.tools)
        return stubs.describe_python_handler() if self._handler is not None else stubs.describe_python(())

    # events

    def on(self, types: Filter, handler: Handler) -> Callable[[], None]:
        """Hear events of this enclave's tools and runs; returns the function that ends it.

        Raises:
            ConfigError: an unknown type, or an enclave with a plain handler, which has no governed tools.
        """
        return self._hub().on(types, handler)

    def events(self, types: Filter = None) -> EventStream:
        """Events from now on, as an asynchronous iterator that ends when the enclave's gate closes.

        Raises:
            ConfigError: as for `on`.
        """
        return self._hub().events(types)

    def _hub(self) -> EventHub:
        if self._gate is None:
            raise ConfigError("events need governed tools", hint="pass tools= instead of tool_handler=")
        return self._gate.hub

    def _emit(self, kind: EventType, origin: Origin, **meta: Any) -> None:
        if self._gate is not None:
            self._gate.hub.emit(
                Event(kind, None, origin.session_id, MappingProxyType({"run_id": origin.run_id, **meta}))
            )

    # life

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Abort what runs and free every worker. Idempotent; later runs raise `not_running`."""
        self._closed = True
        self.abort()
        deadline = time.monotonic() + CLOSE_PATIENCE
        while self._runs and time.monotonic() < deadline:  # noqa: ASYNC110 - some belong to other threads' loops
            await asyncio.sleep(0.001)
        await self._workers.aclose()
        if self._gate is not None and self._owns_gate:
            await self._gate.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """`aclose` for programs without an event loop. Blocks until everything has ended; idempotent."""
        if not self._closed:
            thread = self._workers.thread()
            thread.call(self.aclose())
            thread.close()

    # one run's data

    def _check_open(self) -> None:
        if self._closed:
            raise ConfigError("the enclave is closed", code="not_running")

    def _request(self, source: object, inputs: object) -> protocol.RunRequest:
        if type(source) is not str:
            raise ConfigError(f"a script is text, not {type(source).__name__}")
        if inputs is not None and not isinstance(inputs, Mapping):
            raise ConfigError(f"inputs must be a mapping, not {type(inputs).__name__}", hint="pass JSON values by name")
        try:
            data = values.canonical(dict(cast("Mapping[str, Any]", inputs or {})), self._limits.value)
        except values.ValueRefused as refused:
            raise ConfigError(f"inputs: {refused}", hint="pass JSON values only") from None
        catalogue = self._caller.catalogue()
        methods = {stubs.method_name(name): name for name in catalogue or ()}
        return protocol.RunRequest(
            run_id=f"r_{secrets.token_hex(8)}",
            source=source,
            inputs=data,
            namespaces={"tools": methods} if catalogue is not None else {},
            effects=self._caller.effects(),
            clock=time.time_ns(),
            seed=secrets.token_hex(16),
            rules=self._level,
        )

    def _too_long(self, source: str) -> ErrorInfo | None:
        try:
            size = len(source.encode())
        except UnicodeEncodeError:
            return run_error("script_rejected", "the source is not Unicode text", hint="remove lone surrogates")
        if size <= self._limits.source:
            return None
        text = f"the source has {size} bytes, more than {self._limits.source}"
        return run_error("script_rejected", text, hint="pass data as inputs, not inside the source")


class _Run:
    """A run from its call to its result, so that it can be aborted while its worker is still being started."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._starting: asyncio.Task[Any] | None = None
        self._aborted = False
        self.session: ScriptSession | None = None

    async def acquire(self, pool: Pool) -> Channel | None:
        """A worker; None when the run was aborted meanwhile.

        Raises:
            SandboxFault: no jailed worker could be started.
        """
        task = self._starting = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        try:
            return await pool.acquire()
        except asyncio.CancelledError:
            if self._aborted and task is not None and task.uncancel() <= before:
                return None
            raise
        finally:
            self._starting = None

    def abort_threadsafe(self) -> None:
        """End the run with `ABORTED`. From any thread; returns at once."""
        with contextlib.suppress(RuntimeError):  # its loop is closed, so it has ended
            self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        if self.session is not None:
            self.session.abort()
        elif self._starting is not None and not self._aborted:
            self._aborted = True
            self._starting.cancel()


def _limits(
    level: object, timeout: object, calls: object, concurrent: object, memory: object, output: object
) -> RunLimits:
    """Options over the level's defaults; None keeps the default (enclave catalogue, D-5)."""
    defaults = LEVELS.get(level) if type(level) is str else None
    if defaults is None:
        raise ConfigError(f"security_level must be one of {', '.join(LEVELS)}, not {level!r:.80}")
    return RunLimits(
        timeout=defaults.timeout if timeout is None else parse_seconds(timeout, "timeout"),
        max_tool_calls=defaults.max_tool_calls if calls is None else parse_count(calls, "max_tool_calls"),
        max_global_calls=0,
        max_iterations=None,
        max_concurrent_calls=parse_count(concurrent, "max_concurrent_calls", least=1),
        memory=parse_size(memory, "memory_limit", least=LEAST_MEMORY),
        output=defaults.output if output is None else parse_size(output, "max_output"),
    )


def _gate(
    tools: Iterable[AnyTool | Toolset] | Toolset | HasGate | None,
    sandbox: Driver | None,
    approve: ApprovalHandler | None,
    approval_timeout: float | None,
) -> tuple[Gate | None, bool]:
    """The gate that calls go through, and whether it is this enclave's own."""
    options = {"sandbox": sandbox, "approve": approve, "approval_timeout": approval_timeout}
    given = [name for name, value in options.items() if value is not None]
    if isinstance(tools, HasGate) or tools is None:
        if given:
            owner = "the boundary has its own" if tools is not None else "they belong to tools="
            raise ConfigError(f"{', '.join(given)}: {owner}")
        return (tools.gate, False) if tools is not None else (None, False)
    gate = Gate(
        tools if isinstance(tools, Toolset) else Toolset(tools),
        sandbox=check_sandbox(sandbox, "enclave"),
        approve=approve,
        approval_timeout=approval_timeout,
    )
    gate.start()
    return gate, True


def _handler(handler: object) -> ToolHandler | None:
    if handler is not None and not callable(handler):
        raise ConfigError(f"tool_handler must be a function (name, args), not {type(handler).__name__}")
    return cast("ToolHandler | None", handler)


def _jail_plan(limits: RunLimits) -> JailPlan:
    plan = plan_guest(probe(), GuestLimits(memory=limits.memory, cpu=limits.timeout))
    if isinstance(plan, Unenforceable):
        raise plan.fault()
    return plan


def _never_started(error: ErrorInfo, run_id: str) -> RunResult:
    stats = RunStats(tool_call_count=0, duration=0.0, approval_wait=0.0, output_bytes=0, started_at=time.time())
    status: RunStatus = "interrupted" if error.code == "ABORTED" else "failed"
    return RunResult(success=False, error=error, stats=stats, status=status, run_id=run_id)
