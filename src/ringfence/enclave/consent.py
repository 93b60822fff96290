"""Asking a person about a call that screening flagged, where one handler answers all calls and no gate stands before it.

The question, its time and its answers are those of a gate (`gate.approval`); here they are put about a call of which
only its name and its arguments are known. Knows approvers and data; `callers` uses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never, cast

from ringfence import values
from ringfence.contract.approvers import any_of
from ringfence.contract.output import dump_plain
from ringfence.enclave.received import restored
from ringfence.errors import ErrorInfo
from ringfence.gate.approval import Decision, approver, decide
from ringfence.gate.attempt import Attempts
from ringfence.gate.decisions import Allowed, AllowedWith, AnsweredWith, Blocked
from ringfence.gate.explain import not_approved
from ringfence.gate.states import Aborted, Expired, Interrupted
from ringfence.limits import ValueBudget, parse_seconds
from ringfence.ports import ApprovalRequest, Approvers, CallWatch, Origin
from ringfence.threads import DaemonThreads

_BUDGET: Final = ValueBudget()


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The call may run with these arguments."""

    args: bytes
    """Canonical JSON text."""
    tags: Mapping[Any, Any] | None


@dataclass(frozen=True, slots=True)
class Responded:
    """The call does not run, and this is its result."""

    data: bytes
    """JSON text."""


class Consent:
    """Whoever decides, and for how long that is waited for."""

    def __init__(self, approve: Approvers | Sequence[Approvers] | None, timeout: float | None) -> None:
        """Check the handlers.

        Raises:
            ConfigError: a handler that cannot be called with a request, or a timeout that is none.
        """
        given = any_of(*cast("Sequence[Approvers]", approve)) if isinstance(approve, list | tuple) else approve
        self._approver = None if given is None else approver(given, "approve")
        self._timeout = None if timeout is None else parse_seconds(timeout, "approval_timeout")
        self._threads = DaemonThreads("ringfence-approval")
        self._attempts = Attempts()

    async def ask(
        self,
        name: str,
        args: bytes,
        tags: Mapping[Any, Any] | None,
        reason: str,
        origin: Origin,
        call_id: str,
        watch: CallWatch,
    ) -> Granted | Responded | ErrorInfo:
        """Get a decision. The time it takes belongs to no deadline but its own.

        Raises:
            asyncio.CancelledError: the run has ended; the question is withdrawn.
        """
        if self._approver is None:
            return _denied(name, "no_handler")
        request = ApprovalRequest(
            tool=name,
            description="",
            input=restored(args, tags, _BUDGET),
            arguments=cast("Mapping[str, Any]", values.parse(args, _BUDGET)),
            digest=values.digest(args),
            session_id=origin.session_id,
            principal=origin.principal,
            call_id=call_id,
            run_id=origin.run_id,
            line=None if origin.position is None else origin.position.line,
            effect=None,
            reason=reason,
        )
        watch.approval_began()
        try:
            decision = await decide(
                self._approver,
                request,
                threads=self._threads,
                attempts=self._attempts,
                timeout=self._timeout,
                signal=None,
            )
        finally:
            watch.approval_ended()
        return self._meaning(name, args, tags, decision)

    def _meaning(
        self, name: str, args: bytes, tags: Mapping[Any, Any] | None, decision: Decision
    ) -> Granted | Responded | ErrorInfo:
        match decision:
            case Allowed():
                return Granted(args=args, tags=tags)
            case AllowedWith(edited):
                return Granted(args=edited, tags=None)
            case AnsweredWith(value):
                try:
                    data = dump_plain(value)
                    values.check_text(data, _BUDGET)
                except values.ValueRefused:
                    return _denied(name, "invalid_response")
                return Responded(data)
            case Blocked(why, text):
                return _denied(name, why, text)
            case Expired():
                return not_approved(name, "approval_expired", "expired", "", self._timeout)
            case Aborted() | Interrupted():  # nobody stops these questions but the run's own end
                raise asyncio.CancelledError
            case _:
                assert_never(decision)


def _denied(name: str, reason: str, said: str = "") -> ErrorInfo:
    return not_approved(name, "approval_denied", reason, said, None)
