"""How a script's call reaches the host: through a gate over governed tools, or through one plain handler.

Both turn whatever happens into an `Answer`: data for the guest, and whether the run goes on. Knows the gate and the
error table; neither frames nor processes. `session` calls it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast

from ringfence import values
from ringfence.contract.advice import fix_for
from ringfence.contract.binary import carry
from ringfence.contract.calling import is_async
from ringfence.contract.issues import bounded
from ringfence.contract.restorable import tags_of
from ringfence.enclave.hosted import Raised, dumped, hosted
from ringfence.enclave.received import restored
from ringfence.enclave.results import in_doubt
from ringfence.errors import CODES, ConfigError, ErrorInfo, Family, Issue, Status
from ringfence.gate.consent import Consent, Denied, Granted, Responded
from ringfence.gate.explain import not_approved
from ringfence.gate.runner import Gate
from ringfence.limits import ValueBudget
from ringfence.ports import Answer, ApprovalRequest, CallWatch, Effect, Origin
from ringfence.threads import DaemonThreads

ToolHandler = Callable[[str, Any], Any]
"""`(tool name, arguments)`, asynchronous, or synchronous in a thread; exactly these two (second seed, "Tool Handler Signature")."""

_SHOWN_ISSUES: Final = 5
_SHOWN_NAMES: Final = 10


class GateCaller:
    """Calls governed tools."""

    def __init__(self, gate: Gate, budget: ValueBudget) -> None:
        self._gate = gate
        self._budget = budget
        self._tools = {tool.name: tool for tool in gate.tools}
        self._effects: Mapping[str, Effect | None] = MappingProxyType({tool.name: tool.effect for tool in gate.tools})

    def catalogue(self) -> Collection[str]:
        return self._effects.keys()

    def effects(self) -> Mapping[str, Effect | None]:
        return self._effects

    def form(self, name: str) -> str | None:
        if name not in self._tools:
            return None
        schema = self._tools[name].input.json_schema()
        names = schema.get("required") or [*schema["properties"]]
        return f"{{{', '.join(f'{json.dumps(one)}: ...' for one in names[:_SHOWN_NAMES])}}}"

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
        if tags and "bytes" in tags and name in self._tools:
            args, issues = self._with_bytes(name, args, tags["bytes"])
            if issues:
                return _error_answer(_bytes_refused(name, issues), "refused")
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
        answer = _within(outcome.encoded or b"null", self._budget, ran, status)
        if answer.error is not None and not outcome.attempts:  # an approver's answer, so that no tool ran
            return _error_answer(not_approved(name, "approval_denied", "invalid_response", "", None), "refused")
        return answer

    def _with_bytes(self, name: str, args: bytes, paths: Any) -> tuple[bytes, list[Issue]]:
        """The arguments with bytes as the tool reads them, and where it would not read them."""
        value = values.parse(args, self._budget)
        changed, issues = carry(self._tools[name].input.json_schema(), value, paths)
        return (values.recode(value, self._budget) if changed else args), issues


class HandlerCaller:
    """Calls one handler for every name (second seed, "Basic Tool Handler"). Its exceptions' text reaches the script."""

    def __init__(
        self, handler: ToolHandler | None, budget: ValueBudget, *, consent: Consent, threads: DaemonThreads
    ) -> None:
        """Prepare.

        Args:
            handler: answers every call; None where no call can be answered.
            budget: what one argument object and one result may hold.
            consent: whom to ask about flagged calls.
            threads: where a handler runs that is not asynchronous: those of all runs of an enclave.
        """
        self._handler = handler
        self._consent = consent
        self._budget = budget
        self._threads = None if handler is not None and is_async(handler) else threads

    def catalogue(self) -> None:
        return None

    def effects(self) -> Mapping[str, Effect | None]:
        return MappingProxyType({})

    def form(self, name: str) -> None:
        del name

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
            match await self._consent.ask(self._request(name, args, tags, ask, origin, call_id), watch):
                case Denied(error, cause):
                    return _error_answer(error, "refused", cause)
                case Responded(data):
                    return Answer(value=data, tags=tags_of(data))
                case Granted(edited, more) if edited is not None:
                    args, tags = edited, _kept_tags(tags, args, edited, more, self._budget)
                case Granted():
                    pass
        watch.tool_began()
        call = partial(self._handler, name, restored(args, tags, self._budget))
        value = await hosted(call, self._threads, "tool_raised")
        if isinstance(value, Raised):
            return _error_answer(value.error, "failed", value.cause)
        try:
            data = dumped(value, self._budget)
        except values.ValueRefused as refused:
            return _error_answer(_bad_result(refused), "failed")
        return Answer(value=data, tags=tags_of(data))

    def _request(
        self, name: str, args: bytes, tags: Mapping[Any, Any] | None, reason: str, origin: Origin, call_id: str
    ) -> ApprovalRequest:
        return ApprovalRequest(
            tool=name,
            description="",
            input=restored(args, tags, self._budget),
            arguments=cast("Mapping[str, Any]", values.parse(args, self._budget)),
            digest=values.digest(args),
            session_id=origin.session_id,
            principal=origin.principal,
            call_id=call_id,
            run_id=origin.run_id,
            line=None if origin.position is None else origin.position.line,
            effect=None,
            reason=reason,
        )


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


def _kept_tags(
    tags: Mapping[Any, Any] | None, args: bytes, edited: bytes, more: Mapping[Any, Any] | None, budget: ValueBudget
) -> dict[Any, Any]:
    """Tags of edited arguments: of what the approver wrote as a date and the like, and of each text that is still the
    same, which an approver sees as text.
    """
    before, after = values.parse(args, budget), values.parse(edited, budget)
    kept = {kind: list(paths) for kind, paths in (more or {}).items()}
    taken = {tuple(path) for paths in kept.values() for path in paths}
    for kind, paths in (tags or {}).items():
        for path in paths:
            text = _text_at(after, path)
            if text is not None and text == _text_at(before, path) and tuple(path) not in taken:
                kept.setdefault(kind, []).append(path)
    return kept


def _text_at(value: Any, path: Sequence[str | int]) -> str | None:
    """The text at the end of a path; None when it leads elsewhere."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value if type(value) is str else None


def _bad_result(refused: values.ValueRefused) -> ErrorInfo:
    fix = fix_for(str(refused))
    hint = "return less: filter or page in the tool" if refused.too_large else f"in the tool: {fix}" if fix else None
    text = f"the tool ran to its end, and its result was refused: {refused}"
    return ErrorInfo(code="bad_result", message=text, hint=hint)


def _bytes_refused(tool: str, issues: list[Issue]) -> ErrorInfo:
    """Of bytes that the tool would read as something else than was meant."""
    shown = "; ".join(f"{issue['path']}: {issue['message']}" for issue in issues[:_SHOWN_ISSUES])
    return ErrorInfo(
        code="invalid_input",
        message=f"{tool}: the arguments do not fit: {shown}",
        hint="pass text: value.decode(), or base64.b64encode(value).decode() where the tool asks for Base64; the tool's "
        'author can write val_json_bytes="base64" into a model\'s configuration',
        issues=bounded(issues),
    )
