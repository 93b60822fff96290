"""What a gate prepares once for each of its tools, and keeps for the time of one call.

Records without behaviour of their own: `gate.runner` fills them, `gate.perform` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ringfence.contract.tool import Tool
from ringfence.errors import ErrorInfo
from ringfence.gate.approval import Approver, approver
from ringfence.gate.machine import plan_for, start
from ringfence.gate.slots import Slots, Turn
from ringfence.gate.states import Plan, State
from ringfence.gate.tracing import CallSpan
from ringfence.ports import CallWatch, Driver, Origin, Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One tool of a gate."""

    tool: Tool[..., Any]
    plan: Plan
    received: State
    """Where each of its calls begins."""
    driver: Driver | None
    """The tool's own sandbox, else the gate's; None when there is neither."""
    approver: Approver | None
    """Who decides; None where nobody is asked, or nobody is there."""
    is_checked: bool
    """Its results were declared or are bounded, so every one is dumped and compared."""
    is_trusted: bool
    """Its driver says that it hands arguments over as they are, so they need not be compared on arrival."""
    is_plain: bool
    """Such a driver, and nothing else to look after: a function on the loop, without turns."""
    slots: Slots | None
    """Turns of a tool of which only so many calls run at the same time."""
    log: Callable[[str], None]
    """Where `ToolContext.log` goes."""


def entry_for(
    tool: Tool[..., Any], *, sandbox: Driver | None, human: Approver | None, log: Callable[[str], None]
) -> Entry:
    """Prepare a tool.

    Raises:
        ConfigError: its approval callback takes other parameters than `(input, info)` or one request.
    """
    match tool.approval:
        case "auto":
            who = None
        case "human":
            who = human
        case callback:
            who = approver(callback, f"tool {tool.name!r}: approval")
    plan = plan_for(
        asks=tool.approval != "auto",
        retries=tool.retries,
        effect=tool.effect,
        idempotent=tool.idempotent,
        recovers=tool.on_error is not None,
        limited=tool.max_concurrency is not None,
    )
    driver = tool.sandbox if tool.sandbox is not None else sandbox
    is_trusted = getattr(driver, "hands_over_unchanged", False) is True
    return Entry(
        tool=tool,
        plan=plan,
        received=start(plan),
        driver=driver,
        approver=who,
        is_checked=tool.output.json_schema() is not None or tool.max_result is not None,
        is_trusted=is_trusted,
        is_plain=is_trusted and tool.is_async and tool.max_concurrency is None,
        slots=None if tool.max_concurrency is None else Slots(tool.max_concurrency),
        log=log,
    )


class LiveCall:
    """What is known of one call while it lives."""

    __slots__ = (
        "began",
        "call_id",
        "cancelled",
        "cause",
        "data",
        "edited",
        "encode",
        "encoded",
        "entry",
        "name",
        "origin",
        "own_task",
        "parent",
        "reason",
        "refusal",
        "result",
        "said",
        "signal",
        "since",
        "span",
        "turn",
        "until",
        "value",
        "watch",
    )

    def __init__(
        self,
        *,
        name: str,
        entry: Entry | None,
        origin: Origin,
        call_id: str,
        signal: Signal | None,
        watch: CallWatch | None,
        encode: bool,
        own_task: bool,
        began: float,
    ) -> None:
        self.name = name
        """As shown to people; the tool's name when there is such a tool."""
        self.entry = entry
        self.origin = origin
        self.call_id = call_id
        self.parent = signal
        """The caller's, of which the tool sees whether it is aborted."""
        self.signal = signal
        """The same, for whoever may stop the call before its first attempt; None where a boundary runs what was aborted."""
        self.watch = watch
        self.encode = encode
        self.own_task = own_task
        self.began = began
        self.since = began
        """When the present attempt, or question, began."""
        self.span: CallSpan | None = None
        """None when nobody traces."""
        self.data = b""
        """Canonical arguments."""
        self.value: Any = None
        """Validated arguments."""
        self.edited: Mapping[str, Any] | None = None
        """What an approver put in the place of the caller's arguments; `data` and `value` are made of it."""
        self.result: Any = None
        self.encoded: bytes | None = None
        """JSON text of `result`, where it was made."""
        self.refusal: ErrorInfo | None = None
        """Set when the call is refused before anybody is asked."""
        self.reason = ""
        """Why it was denied, in one word."""
        self.said = ""
        """The same in the approver's own words."""
        self.turn: Turn | None = None
        """Its turn among the calls of a limited tool."""
        self.until: float | None = None
        """When the time for all attempts is up, by the gate's clock; None before the first, and without such a limit."""
        self.cause: BaseException | None = None
        """The exception behind the last failure."""
        self.cancelled: BaseException | None = None
        """Leaves `call` in place of an outcome: the host cancelled."""
