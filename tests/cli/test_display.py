"""Calls shown while they happen (`cli.display`)."""

from __future__ import annotations

import asyncio
import os
import pty
import re
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from ringfence.cli.display import Display, Plain, Tree, choose
from ringfence.enclave.results import CallRecord
from ringfence.events import Event, EventType
from tests.cli.consoles import recorded

READS = {"list"}
EVIL = "\x1b[2J[bold]x\u202e"


def event(kind: EventType, number: int = 1, tool: str = "refund", **meta: Any) -> Event:
    return Event(kind, tool, "s", {"call_id": f"r.{number}", "line": 4, **meta})


def play(display: Display, *events: Event) -> None:
    async def body() -> None:
        async with display:
            for one in events:
                display.on_event(one)

    asyncio.run(body())


def printed(text: str) -> str:
    """What stays on a terminal: text without control sequences, drawn-over lines left in."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_without_a_terminal_each_step_is_one_line() -> None:
    console, text = recorded()
    play(
        Plain(console, {"r.1": "approved by you", "r.2": "denied by you"}, READS),
        event("approval.required"),
        event("approval.granted"),
        event("tool.called", attempt=1),
        event("tool.completed", attempt=1, duration=0.012),
        event("approval.required", 2),
        event("tool.rejected", 2, code="approval_denied", duration=0.5),
        event("tool.called", 3, tool="mail"),
        event("tool.failed", 3, tool="mail", code="tool_raised", duration=0.001),
        event("tool.called", 4, tool="mail"),
        event("tool.failed", 4, tool="mail", code="outcome_unknown", duration=0.001),
    )
    assert text.getvalue().splitlines() == [
        "waits for approval  refund  line 4",
        "start  refund  line 4",
        "ok  refund  line 4  12 ms  (approved by you)",
        "waits for approval  refund  line 4",
        "refused  refund  line 4  500 ms  approval_denied  (denied by you)",
        "start  mail  line 4",
        "failed  mail  line 4  1.0 ms  tool_raised",
        "start  mail  line 4",
        "unknown  mail  line 4  1.0 ms  outcome_unknown",
    ]


def test_lines_are_held_back_while_somebody_is_asked() -> None:
    console, text = recorded()
    display = Plain(console, {}, READS)
    with display.paused():
        display.on_event(event("tool.called"))
        assert text.getvalue() == ""
    assert text.getvalue() == "start  refund  line 4\n"


def test_names_cannot_forge_lines_or_move_the_cursor() -> None:
    console, text = recorded()
    play(
        Plain(console, {"r.1": EVIL}, READS),
        event("tool.called", tool="a\nok  b" + EVIL),
        event("tool.completed", tool=EVIL),
    )
    lines = text.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("start  a\\nok  b\\x1b[2J[bold]x\\u202e")


@pytest.mark.parametrize("kind", [Plain, Tree])
def test_a_very_long_name_is_cut(kind: type[Display]) -> None:
    console, text = recorded()
    display = Plain(console, {}, READS) if kind is Plain else Tree(console, {}, READS, "title", 200)
    play(display, event("tool.rejected", tool="n" * 5000))
    assert max(map(len, text.getvalue().splitlines())) < 120


def test_on_a_terminal_finished_calls_stay_and_calls_in_flight_are_drawn_over() -> None:
    console, text = recorded(terminal=True)
    play(
        Tree(console, {"r.2": "approved by you"}, READS, "script.py", 6),
        event("tool.called", 1, tool="list"),
        event("tool.completed", 1, tool="list", duration=0.003),
        event("approval.required", 2),
        event("approval.granted", 2),
        event("tool.called", 2),
        event("tool.completed", 2, duration=0.1),
    )
    lines = printed(text.getvalue()).splitlines()
    assert lines[0] == "script.py"
    assert "├─ ✓ list    line 4     3.0 ms" in lines
    assert "├─ ✓ refund  line 4     100 ms  (approved by you)" in lines


def test_the_tree_stands_still_while_somebody_is_asked_and_catches_up_after() -> None:
    console, text = recorded(terminal=True)

    async def body() -> None:
        async with Tree(console, {}, READS, "script.py", 6) as tree:
            tree.on_event(event("approval.required", 1))
            with tree.paused():
                before = text.getvalue()
                assert before.endswith("\x1b[?25h") or "\x1b[?25h" in before  # the cursor is back for typing
                tree.on_event(event("tool.called", 2, tool="list"))
                tree.on_event(event("tool.completed", 2, tool="list", duration=0.003))
                tree.draw()
                assert text.getvalue() == before

    asyncio.run(body())
    assert "✓ list    line 4     3.0 ms" in printed(text.getvalue())


def test_more_calls_than_lines_are_counted() -> None:
    console, text = recorded(terminal=True, height=10)
    play(Tree(console, {}, READS, "script.py", 6), *(event("tool.called", number) for number in range(30)))
    assert "… and 23 calls more" in printed(text.getvalue())


@pytest.mark.parametrize(
    ("terminal", "environ", "kind"),
    [
        (True, {"TERM": "xterm"}, Tree),
        (True, {"TERM": "dumb"}, Plain),
        (False, {"TERM": "xterm"}, Plain),
        (False, {"TERM": "xterm", "FORCE_COLOR": "1"}, Plain),
    ],
)
def test_a_tree_needs_a_terminal_that_can_redraw(terminal: bool, environ: dict[str, str], kind: type[Display]) -> None:
    person, program = pty.openpty() if terminal else os.pipe()
    with open(person, "rb"), open(program, "w", encoding="utf-8") as file:
        assert type(choose(Console(file=file, _environ=environ), {}, READS, "t", 3)) is kind


@pytest.mark.parametrize("terminal", [False, True])
def test_calls_whose_end_no_event_told_are_completed_from_the_result(terminal: bool) -> None:
    console, text = recorded(terminal=terminal)
    display = Tree(console, {}, READS, "script.py", 6) if terminal else Plain(console, {}, READS)
    calls = [
        CallRecord(call_id="r.1", name="list", status="succeeded", code=None, line=1, duration=0.003),
        CallRecord(call_id="r.2", name="refund", status="unknown", code="interrupted", line=2, duration=0.5),
        CallRecord(call_id="r.3", name="mail", status="refused", code="limit_exceeded", line=3, duration=0.0),
    ]

    async def body() -> None:
        async with display:
            display.on_event(event("tool.called", 1, tool="list"))
            display.on_event(event("tool.completed", 1, tool="list", duration=0.003))
            display.on_event(event("tool.called", 2))
            display.complete(calls)

    asyncio.run(body())
    display.conclude(Text("done"))
    shown = printed(text.getvalue())
    assert shown.endswith("╰─ done\n" if terminal else "\ndone\n")
    assert shown.count("list") == (2 if not terminal else 1)
    assert re.search(r"(unknown|!)  ?refund  line 2 +500 ms  interrupted", shown)
    assert re.search(r"(refused|✗)  ?mail +line 3 +0 µs  limit_exceeded", shown)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_call_that_ended_otherwise_than_its_last_event_says_is_shown_again(terminal: bool) -> None:
    console, text = recorded(terminal=terminal)
    display = Tree(console, {}, READS, "script.py", 6) if terminal else Plain(console, {}, READS)
    saved = CallRecord(call_id="r.1", name="refund", status="succeeded", code=None, line=4, duration=0.003)

    async def body() -> None:
        async with display:
            display.on_event(event("tool.called"))
            display.on_event(event("tool.failed", code="tool_raised", duration=0.002))
            display.complete([saved])  # its on_error has answered

    asyncio.run(body())
    rows = re.findall(r"(failed|ok|✗|✓)  ?refund  line 4 +([23])\.0 ms", printed(text.getvalue()))
    assert rows == ([("✗", "2"), ("✓", "3")] if terminal else [("failed", "2"), ("ok", "3")])
