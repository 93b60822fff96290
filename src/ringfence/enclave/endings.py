"""Why a guest ended that said nothing: told from how its process went. Asks a channel; `session` calls it."""

from __future__ import annotations

import signal
from typing import Final

from ringfence.enclave.channel import Channel, describe_exit
from ringfence.enclave.results import run_error
from ringfence.errors import ErrorInfo, SandboxFault
from ringfence.limits import RunLimits
from ringfence.sandbox.jail.supervise import Exit

EXIT_WAIT: Final = 0.5
"""Seconds to learn how a guest ended that said nothing; a real end is reported within 20 ms."""
NEARLY_ALL: Final = 0.75
"""Share of its memory that a guest had touched when it died of having none: address space is never used to the full."""


async def explain_death(channel: Channel, limits: RunLimits) -> ErrorInfo:
    """The error of a run whose guest is gone without a word.

    Raises:
        SandboxFault: `sandbox_unavailable`, the child never closed its jail, so it never saw the script.
    """
    gone = await channel.wait_exited(EXIT_WAIT)
    if not channel.was_ready:
        why = describe_exit(gone) if gone is not None else "it closed its channel"
        raise SandboxFault(f"a jailed child could not be started: {why}", code="sandbox_unavailable")
    if gone is None:
        return run_error("sandbox_crashed", "the guest closed its channel")
    if gone.signal == signal.SIGXCPU or gone.cpu >= max(1.0, limits.timeout):
        return run_error("deadline_exceeded", "the script used up its CPU time", hint="do less in one script")
    if _had_no_memory(gone, channel.resident, limits):
        hint = "work on less data at a time, or raise memory_limit"
        return run_error("memory_limit", "the script used up its memory", hint=hint)
    return run_error("sandbox_crashed", f"the guest ended without a result: {describe_exit(gone)}")


def _had_no_memory(gone: Exit, before: int, limits: RunLimits) -> bool:
    """Whether it had touched nearly all that it may have. `before`: bytes resident when it began."""
    return not gone.lost and gone.maxrss - before >= NEARLY_ALL * limits.memory
