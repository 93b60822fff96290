"""One OpenTelemetry span per governed call, which can neither delay nor change it.

Names follow the semantic conventions for generative AI ("execute tool span", as of 1.37 to 1.41). What happens to the
call are events of its span, the same that the hub announces. Arguments and results are there only where the host asks
for them; texts and traces of exceptions never are. The span is the current one while the call lives, so that spans of
the tool, of approvers and of nested calls become its children. Whatever a tracer raises is logged by class, once.

Needs the API only; where no SDK is installed nothing is made. Knows announcements, not tools or states. Called by
`gate.runner`.
"""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from ringfence.contract.hints import UNDECLARED
from ringfence.contract.output import PydanticOutput
from ringfence.errors import ConfigError
from ringfence.errors import Status as CallStatus
from ringfence.gate.states import Announce
from ringfence.ports import Origin

_OPERATION: Final = "execute_tool"
_ANY_RESULT: Final = PydanticOutput(UNDECLARED, "result")
_API: Final = vars(trace)
_ELSEWHERE: Final = object()
"""In place of the global provider, for an API that does not keep it where it did."""

_log: Final = logging.getLogger("ringfence.tracing")


class Tracing:
    """Where the spans of one gate go."""

    def __init__(self, provider: object = None, *, content: object = False) -> None:
        """Find the tracer's provider. Makes no span.

        Args:
            provider: an OpenTelemetry `TracerProvider`; None for the global one, also when it is set later.
            content: exactly True: also record arguments and results, secrets included.

        Raises:
            ConfigError: it is no provider, or `content` is neither True nor False.
        """
        if provider is not None and not callable(getattr(provider, "get_tracer", None)):
            raise ConfigError(f"tracer_provider must be an OpenTelemetry TracerProvider, not {type(provider).__name__}")
        if type(content) is not bool:
            raise ConfigError(f"trace_content must be True or False, not {type(content).__name__}")
        self.content = content
        self._given: Any = None if isinstance(provider, trace.ProxyTracerProvider) else provider
        self._known: Any = None
        """The provider that `_tracer` is of."""
        self._tracer: trace.Tracer | None = None
        self._has_failed = False
        if self._given is None:
            self.guard(trace.get_tracer_provider)  # loads the one that the environment names

    def begin(self, tool: str | None, call_id: str, origin: Origin) -> CallSpan | None:
        """Start a span and make it the current one; None when nobody traces.

        Args:
            tool: the tool's name; None when there is no such tool, since then it is the caller's text.
        """
        provider = self._given
        if provider is None:
            provider = _API.get("_TRACER_PROVIDER", _ELSEWHERE)  # what its getter does takes a microsecond a call
            if provider is _ELSEWHERE:
                provider = self.guard(_global_provider)
            if provider is None:
                return None
        if provider is not self._known:
            self._tracer = self.guard(lambda: _tracer_of(provider))
            self._known = provider
        tracer = self._tracer
        return None if tracer is None else self.guard(lambda: CallSpan(self, tracer, tool, call_id, origin))

    def guard(self, act: Callable[[], Any]) -> Any:
        """What `act` returns, or None when it raises: a tracer's failure is nobody else's."""
        try:
            return act()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a tracer may raise anything)
            if not self._has_failed:
                self._has_failed = True
                _log.warning("a tracer raised %s; later failures are not logged", type(error).__name__)
        return None


class CallSpan:
    """The span of one call."""

    __slots__ = ("_is_finished", "_is_recording", "_span", "_token", "_tracing")

    def __init__(self, tracing: Tracing, tracer: trace.Tracer, tool: str | None, call_id: str, origin: Origin) -> None:
        attributes: dict[str, str | int] = {"gen_ai.operation.name": _OPERATION, "gen_ai.tool.call.id": call_id}
        if tool is not None:
            attributes["gen_ai.tool.name"] = tool
            attributes["gen_ai.tool.type"] = "function"
        attributes["ringfence.session_id"] = origin.session_id
        if origin.run_id is not None:
            attributes["ringfence.run_id"] = origin.run_id
        if origin.position is not None:
            attributes["ringfence.line"] = origin.position.line
        self._tracing = tracing
        self._is_finished = False
        self._span = tracer.start_span(
            _OPERATION if tool is None else f"{_OPERATION} {tool}", kind=SpanKind.INTERNAL, attributes=attributes
        )
        self._is_recording = tracing.guard(self._span.is_recording) is True
        self._token = tracing.guard(lambda: context.attach(trace.set_span_in_context(self._span)))

    def announce(self, what: Announce) -> None:
        """Add an event: what telemetry is told, with the same words."""
        if self._is_recording:
            self._tracing.guard(lambda: self._span.add_event(what.type, _described(what)))

    def finish(
        self,
        status: CallStatus,
        code: str | None,
        attempts: int,
        *,
        arguments: bytes,
        encoded: bytes | None,
        value: Any,
    ) -> None:
        """Say how the call ended.

        Args:
            arguments: their JSON text; empty when they had none.
            encoded: the result's JSON text, where it was made.
            value: the result.
        """
        self._is_finished = True
        if not self._is_recording:
            return
        attributes: dict[str, str | int] = {"ringfence.status": status, "ringfence.attempts": attempts}
        self._tracing.guard(lambda: self._span.set_attributes(attributes))
        if code is not None:
            self._fail(code)
        if self._tracing.content and arguments:
            self._tracing.guard(lambda: self._say("arguments", arguments))
        if self._tracing.content and code is None:
            self._tracing.guard(
                lambda: self._say("result", encoded if encoded is not None else _ANY_RESULT.dump(value))
            )

    def leave(self) -> None:
        """End the span, which is not the current one any more."""
        if self._is_recording and not self._is_finished:  # nobody waited for the call's end
            self._fail("interrupted")
        token, self._token = self._token, None
        if token is not None:
            self._tracing.guard(lambda: self._step_back(token))
        self._tracing.guard(self._span.end)

    def _fail(self, code: str) -> None:
        self._tracing.guard(lambda: self._span.set_attribute("error.type", code))
        self._tracing.guard(lambda: self._span.set_status(Status(StatusCode.ERROR, code)))

    def _say(self, what: str, text: bytes) -> None:
        self._span.set_attribute(f"gen_ai.tool.call.{what}", text.decode())

    def _step_back(self, token: Any) -> None:
        if trace.get_current_span() is self._span:  # else the call is being closed from some other context
            context.detach(token)


def _global_provider() -> trace.TracerProvider | None:
    """The one that was set, by the way that is documented."""
    provider = trace.get_tracer_provider()
    return None if isinstance(provider, trace.ProxyTracerProvider) else provider


def _version() -> str | None:
    """Ours; None where the package is used without having been installed."""
    try:
        return importlib.metadata.version("ringfence")
    except importlib.metadata.PackageNotFoundError:
        return None


def _tracer_of(provider: trace.TracerProvider) -> trace.Tracer | None:
    tracer = provider.get_tracer("ringfence", _version())
    return None if isinstance(tracer, trace.NoOpTracer) else tracer


def _described(what: Announce) -> dict[str, str | int | bool]:
    attributes: dict[str, str | int | bool] = {}
    if what.attempt is not None:
        attributes["ringfence.attempt"] = what.attempt
    if what.code is not None:
        attributes["error.type"] = what.code
    if what.reason is not None:
        attributes["ringfence.reason"] = what.reason
    if what.edited:
        attributes["ringfence.edited"] = True
    return attributes
