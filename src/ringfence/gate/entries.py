"""What a gate prepares once for each of its tools, and keeps for the time of one call.

Records without behaviour of their own: `gate.runner` fills them, `gate.perform` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ringfence.contract.tool import Tool
from ringfence.errors import ErrorInfo
from ringfence.gate.approval import Approver, approver, both
from ringfence.gate.machine import Step, plan_for, start, step
from ringfence.gate.slots import Slots, Turn
from ringfence.gate.states import Plan, Returned, Running, State, Validated
from ringfence.gate.tracing import CallSpan
from ringfence.ports import CallWatch, Driver, Origin, Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One tool of a gate."""

    tool: Tool[..., Any]
    plan: Plan
    received: State
    """Where each of its calls begins."""
    accepted: Step
    """What the machine says of each call with valid arguments: asked once, since it is always the same (1.2 of 20 us)."""
    returned: Step | None
    """What it says when the first attempt of such a call has returned (0.6 of 20 us); None where that is not next."""
    driver: Driver | None
    """The tool's own sandbox, else the gate's; None when there is neither."""
    approver: Approver | None
    """Who decides; None where nobody is asked, or nobody is there."""
    doubted: State
    """Where a call begins that somebody has to approve whatever the tool says."""
    judge: Approver | None
    """Who decides about such a call: the gate's handler, and the tool's own callback has to agree, if it has one; that
    callback alone where the gate has no handler, since it decides about every call of the tool anyway."""
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
    received = start(plan)
    accepted = step(received, Validated())
    driver = tool.sandbox if tool.sandbox is not None else sandbox
    is_trusted = getattr(driver, "hands_over_unchanged", False) is True
    return Entry(
        tool=tool,
        plan=plan,
        doubted=start(replace(plan, asks=True)),
        judge=both(who, human) if who is not None and human is not None else human or who,
        received=received,
        accepted=accepted,
        returned=step(accepted[0], Returned()) if isinstance(accepted[0], Running) else None,
        driver=driver,
        approver=who,
        is_checked=tool.output.json_schema() is not None or tool.max_result is not None,
        is_trusted=is_trusted,
        is_plain=is_trusted and tool.is_async and tool.max_concurrency is None,
        slots=None if tool.max_concurrency is None else Slots(tool.max_concurrency),
        log=log,
    )


class LiveCall(msgspec.Struct, kw_only=True, eq=False):
    """What is known of one call while it lives. A struct, since a class with so many slots takes four times as long to
    make (0.8 of 20 us).
    """

    name: str
    """As shown to people; the tool's name when there is such a tool."""
    entry: Entry | None
    origin: Origin
    call_id: str
    parent: Signal | None
    """The caller's, of which the tool sees whether it is aborted."""
    signal: Signal | None
    """The same, for whoever may stop the call before its first attempt; None where a boundary runs what was aborted."""
    watch: CallWatch | None
    encode: bool
    own_task: bool
    ask: str | None = None
    """Why somebody has to approve the call whatever its tool says; None where the tool's word counts."""
    began: float
    since: float
    """When the present attempt, or question, began."""
    span: CallSpan | None = None
    """None when nobody traces."""
    data: bytes = b""
    """Canonical arguments."""
    value: Any = None
    """Validated arguments."""
    edited: Mapping[str, Any] | None = None
    """What an approver put in the place of the caller's arguments; `data` and `value` are made of it."""
    result: Any = None
    encoded: bytes | None = None
    """JSON text of `result`, where it was made."""
    refusal: ErrorInfo | None = None
    """Set when the call is refused before anybody is asked."""
    reason: str = ""
    """Why it was denied, in one word."""
    said: str = ""
    """The same in the approver's own words."""
    turn: Turn | None = None
    """Its turn among the calls of a limited tool."""
    until: float | None = None
    """When the time for all attempts is up, by the gate's clock; None before the first, and without such a limit."""
    is_late: bool = False
    """The time for all attempts ended it, where another attempt was left or the last one was not over."""
    cause: BaseException | None = None
    """The exception behind the last failure."""
    cancelled: BaseException | None = None
    """Leaves `call` in place of an outcome: the host cancelled."""
