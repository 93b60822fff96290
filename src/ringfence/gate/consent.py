"""Asking a person about a flagged call that one handler answers, so that no gate stands before it.

The question, its time and its answers are those of a gate (`gate.approval`); here they are put about a call of which
only its name and its arguments are known, and are held to its enclave's budget. Knows approvers and data;
`enclave.callers` uses it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from ringfence import values
from ringfence.contract.output import dump_plain
from ringfence.errors import ErrorInfo
from ringfence.gate.approval import Decision, approvers, decide
from ringfence.gate.attempt import Attempts
from ringfence.gate.decisions import Allowed, AllowedWith, AnsweredWith, Blocked
from ringfence.gate.explain import class_name, not_approved
from ringfence.gate.handlers import discard
from ringfence.gate.states import Aborted, Expired, Interrupted
from ringfence.limits import ValueBudget, parse_seconds
from ringfence.ports import ApprovalRequest, CallWatch
from ringfence.threads import DaemonThreads

_log: Final = logging.getLogger("ringfence.approval")


@dataclass(frozen=True, slots=True)
class Granted:
    """The call may run."""

    edited: bytes | None = None
    """Canonical JSON text of the arguments to run it with; None for its own."""
    tags: Mapping[Any, Any] | None = None
    """Paths of the texts in it that stand for dates and the like, by kind."""


@dataclass(frozen=True, slots=True)
class Responded:
    """The call does not run, and this is its result."""

    data: bytes
    """JSON text."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The call may not run."""

    error: ErrorInfo
    cause: BaseException | None = None
    """What a handler raised, for the host only."""


class Consent:
    """Whoever decides, and for how long that is waited for. Usable from any event loop."""

    def __init__(self, approve: object, timeout: float | None, budget: ValueBudget) -> None:
        """Check the handlers.

        Args:
            approve: one handler or combination, or a sequence of them of which any may approve.
            timeout: seconds until a question expires; None waits for ever.
            budget: what edited arguments and answers may hold.

        Raises:
            ConfigError: a handler that cannot be called with a request, or a timeout that is none.
        """
        self._approver = approvers(approve)
        self._timeout = None if timeout is None else parse_seconds(timeout, "approval_timeout")
        self._budget = budget
        self._attempts = Attempts()
        self.threads: Final = DaemonThreads("ringfence-approval")
        """Where synchronous handlers run."""

    @property
    def is_possible(self) -> bool:
        """Whether there is anybody to ask."""
        return self._approver is not None

    async def ask(self, request: ApprovalRequest, watch: CallWatch) -> Granted | Responded | Denied:
        """Get a decision. The time it takes belongs to no deadline but its own.

        Raises:
            asyncio.CancelledError: the run has ended; the question is withdrawn.
        """
        if self._approver is None:
            return self._denied(request.tool, "no_handler")
        watch.approval_began()
        try:
            decision = await decide(
                self._approver,
                request,
                threads=self.threads,
                attempts=self._attempts,
                timeout=self._timeout,
                signal=None,
            )
        finally:
            watch.approval_ended()
        return self._meaning(request.tool, decision)

    def _meaning(self, name: str, decision: Decision) -> Granted | Responded | Denied:
        match decision:
            case Allowed():
                return Granted()
            case AllowedWith() as edit:
                return self._edited(name, edit)
            case AnsweredWith(value):
                return self._responded(name, value)
            case Blocked(reason, text, cause):
                return self._denied(name, reason, text, cause)
            case Expired():
                return Denied(not_approved(name, "approval_expired", "expired", "", self._timeout))
            case Aborted() | Interrupted():  # nobody stops these questions but the run's own end
                raise asyncio.CancelledError
            case _:
                assert_never(decision)

    def _edited(self, name: str, edit: AllowedWith) -> Granted | Denied:
        try:
            values.parse(edit.args, self._budget)
        except values.ValueRefused as refused:
            _log.warning("an approver's edit of %s does not fit: %s", name, refused.reason)
            return self._denied(name, "invalid_edit")
        return Granted(edit.args, edit.tags)

    def _responded(self, name: str, value: object) -> Responded | Denied:
        try:
            data = dump_plain(value)
            values.check_text(data, self._budget)
            values.check_shape(data, self._budget)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (besides ValueRefused, whatever reading the value raises)
            _log.warning("an approver's response for %s does not fit: %s", name, class_name(error))
            discard(value)
            return self._denied(name, "invalid_response", cause=error)
        return Responded(data)

    @staticmethod
    def _denied(name: str, reason: str, said: str = "", cause: BaseException | None = None) -> Denied:
        return Denied(not_approved(name, "approval_denied", reason, said, None), cause)
