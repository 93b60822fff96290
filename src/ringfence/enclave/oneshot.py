"""`run_agent_script`: one script in an enclave that is made for it and gone afterwards (second seed, "One-Shot Execution").

Decides nothing: every argument is `Enclave`'s or its `run`'s. Called by hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ringfence.contract.toolset import AnyTool, Toolset
from ringfence.enclave.callers import ToolHandler
from ringfence.enclave.facade import Approval, Enclave, HasGate
from ringfence.enclave.options import EnclaveOptions
from ringfence.enclave.results import RunResult
from ringfence.ports import Driver


async def run_agent_script(
    source: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    session_id: str | None = None,
    principal: str | None = None,
    variables: Mapping[str, Any] | None = None,
    tools: Iterable[AnyTool | Toolset] | Toolset | HasGate | None = None,
    sandbox: Driver | None = None,
    approve: Approval | None = None,
    approval_timeout: float | None = None,
    tool_handler: ToolHandler | None = None,
    **options: Unpack[EnclaveOptions],
) -> RunResult:
    """Run one script in an enclave of its own, which is always gone afterwards.

    Takes what `Enclave` and `Enclave.run` take; for many scripts make one `Enclave`, which keeps its workers warm.

    Raises:
        ConfigError: an option is wrong.
        SandboxFault: `sandbox_unavailable`, this machine cannot enforce the jail.
        asyncio.CancelledError: the caller was cancelled; the script is dead and its calls are unwound.
    """
    if options.get("waiting") is None:
        options["waiting"] = 0
    enclave = Enclave(
        tools=tools,
        sandbox=sandbox,
        approve=approve,
        approval_timeout=approval_timeout,
        tool_handler=tool_handler,
        **options,
    )
    async with enclave:
        return await enclave.run(source, inputs, session_id=session_id, principal=principal, variables=variables)
