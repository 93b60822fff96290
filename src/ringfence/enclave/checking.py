"""One static check in a jailed guest: the source goes in, a report comes out, nothing runs.

The source is hostile, and so is whatever read it: the guest has the same jail, clock and frame limits as for a run.
Knows a channel and frames; `facade` calls it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from ringfence.enclave import protocol
from ringfence.enclave.channel import Channel
from ringfence.enclave.endings import explain_death
from ringfence.enclave.reports import CheckReport, report_of
from ringfence.errors import SandboxFault
from ringfence.limits import RunLimits

PATIENCE: Final = 30.0
"""Seconds at most; a check of a megabyte takes about ten."""


async def check(channel: Channel, request: protocol.RunRequest, limits: RunLimits) -> CheckReport:
    """Have a waiting child look at a source. The caller gives the child back.

    Raises:
        SandboxFault: the child could not be started, broke, or did not answer in time.
    """
    reader = _Reader()
    channel.attach(reader)
    channel.send(protocol.run_frame(request, limits.value))
    try:
        async with asyncio.timeout(PATIENCE):
            frame = await reader.answer
        return report_of(frame, limits.value)
    except TimeoutError:
        raise SandboxFault(f"the check took longer than {PATIENCE:g} s", code="sandbox_crashed") from None
    except protocol.WireViolation as violation:
        raise SandboxFault(f"the guest broke the protocol: {violation}", code="wire_violation") from None
    except _Gone:
        why = await explain_death(channel, limits)
        raise SandboxFault(f"the source could not be checked: {why.message}", code=str(why.data["code"])) from None


class _Gone(Exception):
    """The guest hung up."""


class _Reader:
    """Waits for the one frame that is expected."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[protocol.Checked] = asyncio.get_running_loop().create_future()

    def on_frame(self, frame: protocol.GuestFrame) -> None:
        if not isinstance(frame, protocol.Checked):
            raise protocol.WireViolation("a frame that nobody expects")
        if not self.answer.done():
            self.answer.set_result(frame)

    def on_violation(self, reason: str) -> None:
        if not self.answer.done():
            self.answer.set_exception(protocol.WireViolation(reason))

    def on_fault(self, error: Exception) -> None:
        if not self.answer.done():
            text = f"the host failed while it read the report ({type(error).__name__})"
            self.answer.set_exception(SandboxFault(text, code="sandbox_crashed"))

    def on_closed(self) -> None:
        if not self.answer.done():
            self.answer.set_exception(_Gone())

    def on_writable(self) -> None:
        """Nothing waits to be sent."""
