"""One static check in a jailed guest: the source goes in, a report comes out, nothing runs.

The source is hostile, and so is whatever read it: the guest has the same jail, clock and frame limits as for a run.
Knows a channel and frames; `flight` calls it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ringfence.enclave import protocol
from ringfence.enclave.channel import Channel
from ringfence.enclave.endings import explain_death
from ringfence.enclave.reports import CheckReport, report_of
from ringfence.errors import Refusal, SandboxFault
from ringfence.limits import RunLimits

_log: Final = logging.getLogger("ringfence")
PATIENCE: Final = 30.0
"""Seconds at most; a check of a megabyte takes about ten."""
_MEANINGS: Final = {
    "deadline_exceeded": "checking it took more processor time than a run may use",
    "memory_limit": "checking it took more memory than a run may use",
}
"""What a guest's death means here, where no script ran."""
_HINT: Final = "check a shorter source, or raise timeout or memory_limit"


class _Gone(Exception):
    """The guest hung up."""


class Check:
    """One check, as the owner of a channel. `run` once; `abort` at any time from the same event loop."""

    def __init__(self, channel: Channel, limits: RunLimits) -> None:
        self._channel = channel
        self._limits = limits
        self._answer: asyncio.Future[protocol.Checked] = asyncio.get_running_loop().create_future()

    async def run(self, request: protocol.RunRequest) -> CheckReport:
        """Have a waiting child look at a source. The caller gives the child back.

        Raises:
            Refusal: `aborted`.
            SandboxFault: `deadline_exceeded` or `memory_limit`, reading the source took more than a run may use;
                another code: the child could not be started, or broke.
        """
        self._channel.attach(self)
        self._channel.send(protocol.run_frame(request, self._limits.value))
        try:
            async with asyncio.timeout(PATIENCE):
                frame = await self._answer
            return report_of(frame, self._limits.value)
        except TimeoutError:
            text = f"the check took longer than {PATIENCE:g} s"
            raise SandboxFault(text, code="deadline_exceeded", hint=_HINT) from None
        except protocol.WireViolation as violation:
            raise SandboxFault(f"the guest broke the protocol: {violation}", code="wire_violation") from None
        except _Gone:
            raise await self._death() from None

    async def _death(self) -> SandboxFault:
        why = await explain_death(self._channel, self._limits)
        code = str(why.data["code"])
        meaning = _MEANINGS.get(code)
        text = f"the source could not be checked: {meaning or why.message}"
        return SandboxFault(text, code=code, hint=None if meaning is None else _HINT)

    def abort(self) -> None:
        """End the check now."""
        self._fail(aborted())

    def _fail(self, error: Exception) -> None:
        if not self._answer.done():
            self._answer.set_exception(error)

    # what the channel says

    def on_frame(self, frame: protocol.GuestFrame) -> None:
        if not isinstance(frame, protocol.Checked):
            raise protocol.WireViolation("a frame that nobody expects")
        if not self._answer.done():
            self._answer.set_result(frame)

    def on_violation(self, reason: str) -> None:
        self._fail(protocol.WireViolation(reason))

    def on_fault(self, error: Exception) -> None:
        _log.error("a check failed inside the host: %s", type(error).__name__)
        text = f"the host failed while it read the report ({type(error).__name__})"
        self._fail(SandboxFault(text, code="sandbox_crashed"))

    def on_closed(self) -> None:
        self._fail(_Gone())

    def on_writable(self) -> None:
        """Nothing waits to be sent."""


def aborted() -> Refusal:
    """The end of a check that somebody ended."""
    return Refusal("the check was aborted", code="aborted")
