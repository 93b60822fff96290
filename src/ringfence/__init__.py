"""One door for every action of an AI agent: validated, permitted, isolated, bounded, explained.

The names below are the public interface; everything else may change without notice.
"""

from typing import TYPE_CHECKING

from ringfence.boundary import Boundary as Boundary
from ringfence.boundary import BoundaryStatistics as BoundaryStatistics
from ringfence.contract.approvers import all_of as all_of
from ringfence.contract.approvers import any_of as any_of
from ringfence.contract.approvers import veto as veto
from ringfence.contract.backoff import Backoff as Backoff
from ringfence.contract.context import ToolContext as ToolContext
from ringfence.contract.neutral import Invalid as Invalid
from ringfence.contract.neutral import Mode as Mode
from ringfence.contract.neutral import ToolSchema as ToolSchema
from ringfence.contract.neutral import Valid as Valid
from ringfence.contract.tool import Tool as Tool
from ringfence.contract.tool import tool as tool
from ringfence.contract.toolset import Toolset as Toolset
from ringfence.enclave.callers import ToolHandler as ToolHandler
from ringfence.enclave.facade import Enclave as Enclave
from ringfence.enclave.facade import EnclaveStatistics as EnclaveStatistics
from ringfence.enclave.oneshot import run_agent_script as run_agent_script
from ringfence.enclave.options import EnclaveConfig as EnclaveConfig
from ringfence.enclave.options import EnclaveOptions as EnclaveOptions
from ringfence.enclave.reports import CheckReport as CheckReport
from ringfence.enclave.reports import Finding as Finding
from ringfence.enclave.reports import ToolSite as ToolSite
from ringfence.enclave.results import CallRecord as CallRecord
from ringfence.enclave.results import RunResult as RunResult
from ringfence.enclave.results import RunStats as RunStats
from ringfence.errors import ConfigError as ConfigError
from ringfence.errors import ErrorInfo as ErrorInfo
from ringfence.errors import Refusal as Refusal
from ringfence.errors import RingfenceError as RingfenceError
from ringfence.errors import SandboxFault as SandboxFault
from ringfence.errors import ToolApprovalError as ToolApprovalError
from ringfence.errors import ToolError as ToolError
from ringfence.errors import ToolFailure as ToolFailure
from ringfence.errors import ToolSandboxRequiredError as ToolSandboxRequiredError
from ringfence.errors import ToolTimeoutError as ToolTimeoutError
from ringfence.errors import ToolValidationError as ToolValidationError
from ringfence.events import Event as Event
from ringfence.gate.signals import AbortSignal as AbortSignal
from ringfence.gate.signals import StopRequested as StopRequested
from ringfence.limits import SecurityLevel as SecurityLevel
from ringfence.policy.history import Past as Past
from ringfence.policy.screening import Detector as Detector
from ringfence.policy.screening import Screening as Screening
from ringfence.policy.verdict import Allow as Allow
from ringfence.policy.verdict import Ask as Ask
from ringfence.policy.verdict import Refuse as Refuse
from ringfence.ports import ApprovalHandler as ApprovalHandler
from ringfence.ports import ApprovalInfo as ApprovalInfo
from ringfence.ports import ApprovalRequest as ApprovalRequest
from ringfence.ports import Approve as Approve
from ringfence.ports import Approvers as Approvers
from ringfence.ports import Driver as Driver
from ringfence.ports import Edit as Edit
from ringfence.ports import Outcome as Outcome
from ringfence.ports import Reject as Reject
from ringfence.ports import Respond as Respond
from ringfence.ports import Signal as Signal
from ringfence.ports import Target as Target
from ringfence.ports import Verdict as Verdict
from ringfence.sandbox.local_unsafe import local as local

if TYPE_CHECKING:
    from ringfence import testing as testing
else:  # hidden from type checkers, who would take every misspelt name for one that comes from here

    def __getattr__(name: str) -> object:
        """`testing` is loaded when it is first used: programs that are not tests do without it."""
        if name == "testing":
            from importlib import import_module

            return import_module("ringfence.testing")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AbortSignal",
    "Allow",
    "ApprovalHandler",
    "ApprovalInfo",
    "ApprovalRequest",
    "Approve",
    "Approvers",
    "Ask",
    "Backoff",
    "Boundary",
    "BoundaryStatistics",
    "CallRecord",
    "CheckReport",
    "ConfigError",
    "Detector",
    "Driver",
    "Edit",
    "Enclave",
    "EnclaveConfig",
    "EnclaveOptions",
    "EnclaveStatistics",
    "ErrorInfo",
    "Event",
    "Finding",
    "Invalid",
    "Mode",
    "Outcome",
    "Past",
    "Refusal",
    "Refuse",
    "Reject",
    "Respond",
    "RingfenceError",
    "RunResult",
    "RunStats",
    "SandboxFault",
    "Screening",
    "SecurityLevel",
    "Signal",
    "StopRequested",
    "Target",
    "Tool",
    "ToolApprovalError",
    "ToolContext",
    "ToolError",
    "ToolFailure",
    "ToolHandler",
    "ToolSandboxRequiredError",
    "ToolSchema",
    "ToolSite",
    "ToolTimeoutError",
    "ToolValidationError",
    "Toolset",
    "Valid",
    "Verdict",
    "all_of",
    "any_of",
    "local",
    "run_agent_script",
    "testing",
    "tool",
    "veto",
]
