"""`Enclave`: the public door for scripts. Checks options, owns workers, runs scripts one after another or at once.

Knows how to build a caller from what the user gave and where workers come from; `session` runs one script.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Any, Final, Literal, Protocol, Self, Unpack, cast, runtime_checkable

from ringfence.contract.rules import check_sandbox
from ringfence.contract.toolset import AnyTool, Toolset
from ringfence.enclave import globals as globals_
from ringfence.enclave import protocol, reports, requests
from ringfence.enclave.callers import GateCaller, HandlerCaller, ToolHandler
from ringfence.enclave.calls import Flagged
from ringfence.enclave.channel import Channel
from ringfence.enclave.description import description
from ringfence.enclave.functions import GlobalFunctions
from ringfence.enclave.languages import LANGUAGES
from ringfence.enclave.options import LEAST_MEMORY as LEAST_MEMORY
from ringfence.enclave.options import EnclaveConfig, EnclaveOptions, parse
from ringfence.enclave.reports import CheckReport
from ringfence.enclave.results import RunResult, never_started, without_traces
from ringfence.enclave.session import ScriptSession
from ringfence.enclave.supplies import engine
from ringfence.enclave.workers import Workers
from ringfence.errors import ConfigError, Refusal
from ringfence.events import Event, EventType
from ringfence.gate.consent import Consent
from ringfence.gate.hub import EventHub, EventStream, Filter, Handler
from ringfence.gate.runner import DRAIN, Gate, GateStatistics
from ringfence.limits import RunLimits, parse_text
from ringfence.policy.screen import Declared, Plan
from ringfence.policy.screening import Screening
from ringfence.ports import Approvers, Driver, Origin
from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Unenforceable, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe
from ringfence.threads import DaemonThreads

_log: Final = logging.getLogger("ringfence")


Approval = Approvers | Sequence[Approvers]
"""One handler or combination; of a sequence of them, any may approve."""


@runtime_checkable
class HasGate(Protocol):
    """A boundary, whose gate and events an enclave may share."""

    @property
    def gate(self) -> Gate: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EnclaveStatistics:
    """What an enclave is doing now. Threads count as abandoned while they run on although nobody waits for them."""

    running: int
    """Runs and checks without a result yet."""
    abandoned_handlers: int
    """Threads of synchronous tool handlers, those of single runs included."""
    abandoned_functions: int
    """Threads of synchronous functions in `globals`."""
    abandoned_approvals: int
    """Threads of synchronous approval handlers, where no tools are governed."""
    gate: GateStatistics | None
    """Those of governed tools; None without such."""


class Enclave:
    """Runs scripts that a model wrote, in a jailed process whose only way out is a tool call.

    At most one of `tools` (governed tools, a toolset, or a boundary to share) and `tool_handler` (one async function
    `(name, args)`) may be given; with neither, scripts only compute. Works with and without `async with`: workers
    start with the first run and die with the host; `aclose` frees them at once.

    Args:
        tools: what scripts may call, each through the gate.
        sandbox: where tools run that have no sandbox of their own.
        approve: decides calls of tools with `approval="human"`, and those that screening asks about.
        approval_timeout: seconds until an undecided call is denied; None waits.
        tool_handler: answers every call instead of governed tools (second seed, "Tool Handler Signature"). A
            synchronous one runs in a thread.
        options: see `EnclaveOptions`; None always means the default.

    Raises:
        TypeError: an option does not exist.
        ConfigError: an option has a wrong type or value, or a tool has no sandbox.
        SandboxFault: `sandbox_unavailable`, this machine cannot enforce the jail; the message says what is missing.
    """

    def __init__(
        self,
        *,
        tools: Iterable[AnyTool | Toolset] | Toolset | HasGate | None = None,
        sandbox: Driver | None = None,
        approve: Approval | None = None,
        approval_timeout: float | None = None,
        tool_handler: ToolHandler | None = None,
        **options: Unpack[EnclaveOptions],
    ) -> None:
        self._config = parse(options)
        self._globals = globals_.parse(
            options.get("globals"),
            allow_functions=self._config.allow_functions_in_globals,
            language=LANGUAGES[self._config.language],
        )
        self._limits = self._config.limits()
        if tools is not None and tool_handler is not None:
            raise ConfigError("pass tools= or tool_handler=, not both")
        self._handler = _handler(tool_handler)
        self._gate, self._owns_gate = _gate(tools, sandbox, approve, approval_timeout)
        self._consent = Consent(approve, approval_timeout, self._limits.value)
        self._threads = DaemonThreads("ringfence-tool-handler")
        self._caller = (
            self._calling(self._handler) if self._gate is None else GateCaller(self._gate, self._limits.value)
        )
        self._plan = _plan_of(self._config.screening, self._gate)
        _warn_of_silence(self._plan, self._gate, self._consent)
        self._namespaces = requests.namespaces_of(self._config, self._caller.catalogue())
        self._functions = GlobalFunctions(self._globals.functions, self._limits.value)
        self._workers = Workers(
            _jail_plan(self._limits),
            engine(self._config.language, self._config.preload),
            frame_limit=protocol.frame_limit(self._limits),
            waiting=self._config.waiting,
        )
        self._freed = False
        self._finalizer = weakref.finalize(self, self._workers.close_nowait)

    # running

    async def run(
        self,
        source: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        tool_handler: ToolHandler | None = None,
        session_id: str | None = None,
        principal: str | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Run one script. Never raises for anything that the script does.

        Args:
            source: in the enclave's language, with `await`, `return` and a trailing expression at its top level.
            inputs: what the script finds as `inputs`: an object of values of the value table.
            tool_handler: answers the calls of this run instead of the enclave's own handler.
            session_id: the conversation; a fresh one by default. It is not an identity.
            principal: on whose behalf, as the host has authenticated it.
            variables: top-level names that the script finds, values of the value table. What its top level holds when
                it succeeds is `result.variables`, and is written back where this is mutable. A mapping that refuses
                that stays as it was, and a warning is logged.

        Raises:
            ConfigError: `source` is not text, `inputs` or `variables` are not data, a handler beside governed tools, or
                the enclave is closed.
            SandboxFault: no jailed worker could be started.
            asyncio.CancelledError: the caller was cancelled; the script is dead and its calls are unwound.
        """
        began = time.monotonic()
        self._workers.check_open()
        caller = self._caller_for(tool_handler)
        request = self._request(source, inputs, variables)
        origin = Origin(
            session_id=f"s_{secrets.token_hex(8)}" if session_id is None else parse_text(session_id, "session_id"),
            principal=None if principal is None else parse_text(principal, "principal"),
            run_id=request.run_id,
        )
        if (refused := requests.refusal(source, self._limits)) is not None:
            return never_started(refused, request.run_id, time.time(), time.monotonic() - began)
        session = partial(self._session, caller, origin)
        with self._workers.flights.one() as flight:
            result = await flight.run(self._workers.pool(), request, session, partial(_announce, self._gate, origin))
        if self._config.sanitize_stack_traces and result.error is not None:
            result = replace(result, error=without_traces(result.error))
        if result.variables is not None and isinstance(variables, MutableMapping):
            _write_back(variables, result.variables)
        return result

    def _session(self, caller: GateCaller | HandlerCaller, origin: Origin, channel: Channel) -> ScriptSession:
        return ScriptSession(
            channel=channel,
            caller=caller,
            limits=self._limits,
            origin=origin,
            functions=self._functions,
            screen=self._plan.screen(),
            # a run's objects are cycles, which must not keep an enclave alive that nobody closes
            on_flagged=partial(_report, self._gate, origin, set[str]()),
        )

    def run_sync(
        self,
        source: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        tool_handler: ToolHandler | None = None,
        session_id: str | None = None,
        principal: str | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """`run` for callers that are not asynchronous; also works inside a running event loop.

        Tools run in a thread of the enclave's own, not in the caller's event loop.

        Raises:
            ConfigError: as for `run`; also when an asynchronous tool of a script that some enclave's `run_sync` runs
                calls it: it would wait for itself, or two enclaves for each other.
            SandboxFault: as for `run`.
        """
        self._workers.check_open()
        return self._workers.call(
            self.run(
                source,
                inputs,
                tool_handler=tool_handler,
                session_id=session_id,
                principal=principal,
                variables=variables,
            )
        )

    async def check(self, source: str) -> CheckReport:
        """What there is to say about a script without running any of it: findings, and the tools that it may reach.

        Raises:
            ConfigError: `source` is not text, or the enclave is closed, or was while this ran.
            Refusal: `aborted`, somebody called `abort`.
            SandboxFault: `deadline_exceeded` or `memory_limit`, reading the source took more than a run may use;
                another code: no jailed worker could be started, or the one that read the source broke.
        """
        self._workers.check_open()
        request = self._request(source, None, None, mode="check")
        if (refused := requests.refusal(source, self._limits)) is not None:
            return reports.refused(str(refused.data["code"]), refused.message, refused.hint or "")
        try:
            with self._workers.flights.one() as flight:
                return await flight.check(self._workers.pool(), request, self._limits)
        except Refusal:
            self._workers.check_open()
            raise

    def check_sync(self, source: str) -> CheckReport:
        """`check` for callers that are not asynchronous; also works inside a running event loop.

        Raises:
            ConfigError, Refusal, SandboxFault: as for `check`.
        """
        self._workers.check_open()
        return self._workers.call(self.check(source))

    def abort(self) -> None:
        """End every run of this enclave with `ABORTED`, and every check. From any thread; returns at once."""
        self._workers.flights.abort()

    async def warm(self) -> None:
        """Start the workers now instead of with the first run.

        Raises:
            ConfigError: `not_running`, the enclave is closed.
            SandboxFault: no jailed worker could be started.
        """
        await self._workers.pool().warm()

    def effective_config(self) -> EnclaveConfig:
        """What is in force, after the level's defaults (second seed's `getEffectiveConfig`)."""
        return self._config

    def statistics(self) -> EnclaveStatistics:
        """Counts of now."""
        return EnclaveStatistics(
            running=len(self._workers.flights),
            abandoned_handlers=self._threads.statistics().abandoned,
            abandoned_functions=self._functions.threads.statistics().abandoned,
            abandoned_approvals=self._consent.threads.statistics().abandoned,
            gate=None if self._gate is None else self._gate.statistics(),
        )

    def describe(self) -> str:
        """Typed stubs of every callable tool, in Python or TypeScript, and what else scripts find and may do, for the
        model that writes them."""
        return description(
            self._config,
            self._namespaces,
            self._globals,
            tools=None if self._gate is None else self._gate.tools,
            handler=self._handler is not None,
        )

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

    # life

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Abort what runs and free every worker. Idempotent; later runs raise `not_running`.

        Whoever is cancelled meanwhile frees the workers all the same, and what is left the next `aclose` or `close`.
        """
        await self._end()

    async def _end(self, blocked: asyncio.AbstractEventLoop | None = None) -> None:
        drain = DRAIN if blocked is None else 0.0
        try:
            await self._workers.aclose(blocked)
        except asyncio.CancelledError:
            drain = 0.0
            raise
        finally:
            if self._gate is not None and self._owns_gate and not self._workers.inherited:
                await self._gate.aclose(drain=drain)
        self._freed = True

    async def dispose(self) -> None:
        """The second seed's name for `aclose`."""
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """`aclose` for programs without an event loop. Blocks until everything has ended; idempotent.

        In a running event loop it does not wait for that loop's own runs, which end when the loop goes on. In a fork of
        the process that made the enclave it ends the fork's workers, and leaves drivers to that process.

        Raises:
            ConfigError: an asynchronous tool of a script that `run_sync` runs calls it, and would wait for itself.
        """
        if not self._freed:
            self._workers.close(self._end(asyncio._get_running_loop()))

    # one run's data

    def _caller_for(self, handler: ToolHandler | None) -> GateCaller | HandlerCaller:
        """Who answers the calls of one run."""
        if handler is None:
            return self._caller
        if self._gate is not None:
            raise ConfigError("tool_handler cannot stand in for governed tools", hint="make an Enclave without tools=")
        return self._calling(_handler(handler))

    def _calling(self, handler: ToolHandler | None) -> HandlerCaller:
        return HandlerCaller(handler, self._limits.value, consent=self._consent, threads=self._threads)

    def _request(
        self, source: object, inputs: object, variables: object, mode: Literal["run", "check"] = "run"
    ) -> protocol.RunRequest:
        return requests.request(
            requests.Given(source=source, inputs=inputs, variables=variables, mode=mode),
            self._config,
            namespaces=self._namespaces,
            effects=self._caller.effects(),
            globals_=self._globals,
            now=time.time_ns(),
            chance=secrets.token_hex(24),
        )


def _gate(
    tools: Iterable[AnyTool | Toolset] | Toolset | HasGate | None,
    sandbox: Driver | None,
    approve: Approval | None,
    approval_timeout: float | None,
) -> tuple[Gate | None, bool]:
    """The gate that calls go through, and whether it is this enclave's own."""
    if tools is None:
        if sandbox is not None:
            hint = "a tool_handler runs in this process, and chooses itself where its work is done"
            raise ConfigError("sandbox: it belongs to tools=, and there are none", hint=hint)
        return None, False
    if isinstance(tools, HasGate):
        options = {"sandbox": sandbox, "approve": approve, "approval_timeout": approval_timeout}
        if given := [name for name, value in options.items() if value is not None]:
            raise ConfigError(f"{', '.join(given)}: the boundary has its own")
        return tools.gate, False
    gate = Gate(
        tools if isinstance(tools, Toolset) else Toolset(tools),
        sandbox=check_sandbox(sandbox, "enclave"),
        approve=approve,
        approval_timeout=approval_timeout,
    )
    gate.start()
    return gate, True


def _announce(gate: Gate | None, origin: Origin, kind: EventType, /, **meta: Any) -> None:
    """Tell the host that a run began or ended."""
    if gate is not None:
        gate.hub.emit(Event(kind, None, origin.session_id, MappingProxyType({"run_id": origin.run_id, **meta})))


def _report(gate: Gate | None, origin: Origin, said: set[str], call: Flagged) -> None:
    """Tell the host of a call that screening let pass: in the log once per run and pattern, as an event always."""
    for pattern in call.patterns:
        if pattern not in said:
            said.add(pattern)
            _log.info("call %s of %s matches %s, and may happen", call.call_id, call.name, pattern)
        if gate is not None and "tool.flagged" in gate.hub.wanted:
            meta = {"call_id": call.call_id, "run_id": origin.run_id, "line": call.line, "pattern": pattern}
            name = call.name if call.name in gate.tools.names else None  # else it is the script's own text
            gate.hub.emit(Event("tool.flagged", name, origin.session_id, MappingProxyType(meta)))


def _plan_of(screening: Screening, gate: Gate | None) -> Plan:
    """How calls are judged: by what governed tools declare, or by names where one handler answers all."""
    if gate is None:
        return Plan(screening)
    return Plan(screening, {tool.name: Declared(effect=tool.effect, tags=tuple(tool.tags)) for tool in gate.tools})


def _warn_of_silence(plan: Plan, gate: Gate | None, consent: Consent) -> None:
    """Say at once what would otherwise be seen with the first flagged call."""
    if not plan.asks or (gate is None and consent.is_possible):
        return
    whose = "" if gate is None else f" of {', '.join(gate.unasked)}"
    if gate is None or gate.unasked:
        text = "screening asks about calls%s that match %s, and approve= is not set: every such call will be denied"
        _log.warning(text, whose, ", ".join(plan.asks))


def _write_back(given: MutableMapping[str, Any], kept: Mapping[str, Any]) -> None:
    """Make a caller's mapping hold what a script has left. It is any code: what it raises costs nobody the result."""
    before: Mapping[str, Any] | None = None
    try:
        before = dict(given)
        _make_equal(given, kept)
    except Exception as error:  # noqa: BLE001 - any code
        _log.warning("variables could not be written back (%s); result.variables has them", type(error).__name__)
        if before is not None:
            with contextlib.suppress(Exception):
                _make_equal(given, before)


def _make_equal(given: MutableMapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, value in wanted.items():
        given[name] = value
    for name in [name for name in given if name not in wanted]:
        del given[name]


def _handler(handler: object) -> ToolHandler | None:
    if handler is not None and not callable(handler):
        raise ConfigError(f"tool_handler must be a function (name, args), not {type(handler).__name__}")
    return cast("ToolHandler | None", handler)


def _jail_plan(limits: RunLimits) -> JailPlan:
    plan = plan_guest(probe(), GuestLimits(memory=limits.memory, cpu=limits.timeout))
    if isinstance(plan, Unenforceable):
        raise plan.fault()
    return plan
