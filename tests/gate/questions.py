"""What the tests of approvals share: a request, and a question about it."""

from __future__ import annotations

from typing import Any

from ringfence.gate.approval import Decision, approver, decide
from ringfence.gate.attempt import Attempts
from ringfence.ports import ApprovalRequest, Signal
from ringfence.threads import DaemonThreads

REQUEST = ApprovalRequest(
    tool="pay",
    description="Pay.",
    input={"cents": 5},
    arguments={"cents": 5},
    digest="sha256:0",
    session_id="s",
    principal="ada",
    call_id="c",
    run_id=None,
    line=None,
    effect="write",
)


async def decided(
    handler: Any,
    *,
    timeout: float | None = None,
    signal: Signal | None = None,
    attempts: Attempts | None = None,
    threads: DaemonThreads | None = None,
    request: ApprovalRequest = REQUEST,
) -> Decision:
    """What these handlers decide."""
    return await decide(
        approver(handler, "approve"),
        request,
        threads=threads or DaemonThreads("test"),
        attempts=attempts or Attempts(),
        timeout=timeout,
        signal=signal,
    )


async def never_awaited() -> bool:
    """What a handler gives back that forgot an `await`."""
    return True
