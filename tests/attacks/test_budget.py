"""What the host counts: calls, calls at once, time and its own memory, whatever a guest writes on its channel."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any, Final

import pytest

import ringfence as rf
from ringfence.limits import ValueBudget
from tests.attacks.host import Gauge, furnish
from tests.enclave.kit import Stage, code, detail

SEND: Final = """
import json, os, time


def send(*frames):
    data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in frames]
    left = b"".join(len(one).to_bytes(4, "big") + one for one in data)
    while left:
        left = left[os.write(3, left):]


def call(number, name="gauge", **more):
    return {"t": "call", "id": number, "name": name, "args": {}, "line": 1, "site": "1:1", "task": "0", "seq": 0, **more}


def function(number, which=0, args=("x",)):
    return {"t": "global", "id": number, "function": which, "args": [list(args), {}], "line": 1, "site": "1:1", "task": "0", "seq": 0}
"""
AT_ONCE: Final = 3
CALLS: Final = 12


class Offer:
    """Functions for `globals` that measure."""

    def __init__(self) -> None:
        self.gauge = Gauge()
        self.seen = 0

    async def wait(self, _: Any) -> int:
        self.seen += 1
        return await self.gauge(None)


@pytest.fixture
def offer() -> Offer:
    return Offer()


def limited(stage: Stage, offer: Offer, **options: Any) -> rf.Enclave:
    """An enclave of its own: its functions belong to one test."""
    return stage.enclave(
        max_concurrent_calls=AT_ONCE,
        max_tool_calls=CALLS,
        max_global_function_calls=CALLS,
        globals={"wait": offer.wait},
        allow_functions_in_globals=True,
        validate=False,
        screening={"enabled": False},
        **{"timeout": 5.0, **options},
    )


FLOODS: Final = {
    "gather": "import asyncio\nawait asyncio.gather(*[call_tool('gauge', {}) for _ in range(60)], return_exceptions=True)",
    "frames": "send(*[call(n) for n in range(1, 61)])\ntime.sleep(1)",
    "frames one by one": "for n in range(1, 61):\n    send(call(n))\ntime.sleep(1)",
    "threads": "import threading\nfor n in range(1, 61):\n    threading.Thread(target=send, args=(call(n),)).start()\ntime.sleep(1)",
    "bridge reset": (
        "import asyncio, sys\nframe = sys._getframe()\nwhile type(frame.f_locals.get('self')).__name__ != '_Run':\n"
        "    frame = frame.f_back\nbridge = frame.f_locals['self']._bridge\n"
        "for n in range(60):\n    asyncio.ensure_future(call_tool('gauge', {}))\n    await asyncio.sleep(0)\n    bridge._next = n + 1\n"
        "time.sleep(1)"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("flood", FLOODS)
def test_no_flood_exceeds_the_budget_or_what_may_run_at_once(flood: str, arena: Stage, offer: Offer) -> None:
    gauge = furnish(arena)
    result = arena.run(limited(arena, offer).run(SEND + FLOODS[flood]))
    assert (code(result), detail(result)) == ("MAX_TOOL_CALLS", "limit_exceeded")
    assert len(arena.seen) <= CALLS
    assert gauge.most <= AT_ONCE
    assert gauge.now == 0  # nothing goes on after the result


@pytest.mark.slow
def test_calls_of_both_kinds_share_what_may_run_at_once(arena: Stage, offer: Offer) -> None:
    gauge = furnish(arena)
    both = (
        "send(*[one for n in range(1, 20, 2) for one in (call(n), function(n + 1))])\n"
        "time.sleep(0.6)\nsend({'t': 'done', 'value': 1})"
    )
    result = arena.run(limited(arena, offer).run(SEND + both))
    assert (result.error, result.stats.tool_call_count, result.stats.global_call_count) == (None, 10, 10)
    assert gauge.most + offer.gauge.most <= 2 * AT_ONCE
    assert max(gauge.most, offer.gauge.most) <= AT_ONCE


@pytest.mark.slow
@pytest.mark.parametrize(
    "last", ["{'t': 'done', 'value': 1}", "{'t': 'failed', 'kind': 'raised', 'name': 'E', 'message': 'm'}"]
)
def test_nothing_starts_after_the_last_word(last: str, arena: Stage, offer: Offer) -> None:
    furnish(arena)
    script = f"send({last}, call(1), function(2), call(3), {last})\ntime.sleep(5)"
    result = arena.run(limited(arena, offer).run(SEND + script))
    assert code(result) == (None if "done" in last else "RUNTIME_ERROR")
    assert (arena.seen, offer.seen) == ([], 0)


@pytest.mark.slow
def test_nothing_starts_after_a_limit_and_the_guest_has_a_second_at_most(arena: Stage, offer: Offer) -> None:
    gauge = furnish(arena)
    script = (
        f"send(*[call(n, 'echo') for n in range(1, {CALLS + 2})])\ntime.sleep(0.2)\n"
        f"n = {CALLS + 2}\nwhile True:\n    send(call(n), function(n + 1))\n    n += 2\n    time.sleep(0.01)"
    )
    result = arena.run(limited(arena, offer).run(SEND + script))
    assert code(result) == "MAX_TOOL_CALLS"
    assert [name for name, _ in arena.seen] == ["echo"] * CALLS
    assert (gauge.most, offer.seen) == (0, 0)
    assert result.stats.duration < 3


STUBBORN: Final = {
    "spin": "while True: pass",
    "native": "sum(iter(int, 1))",
    "sleep": "time.sleep(60)",
    "await": "import asyncio\nawait asyncio.sleep(60)",
    "deaf": (
        "import signal\nfor n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\nwhile True: pass"
    ),
    "talking": "while True:\n    send({'t': 'print', 'text': ''})\n    time.sleep(0.002)",
    "half a frame": "os.write(3, bytes([0, 64, 0, 0]))\nwhile True:\n    os.write(3, b' ')\n    time.sleep(0.001)",
    "tools": "send(*[call(n, 'never') for n in range(1, 11)])\nwhile True: pass",
    "functions": "send(*[function(n) for n in range(1, 11)])\nwhile True: pass",
    "memory": "kept = []\nwhile True:\n    try:\n        kept.append(bytearray(1 << 16))\n    except MemoryError:\n        pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", STUBBORN)
def test_no_guest_outlives_its_time(way: str, arena: Stage, offer: Offer) -> None:
    furnish(arena)
    enclave = limited(arena, offer, timeout=0.3, memory_limit="64MB")

    async def timed() -> tuple[rf.RunResult, float]:
        await enclave.warm()
        began = time.monotonic()
        return await enclave.run(SEND + STUBBORN[way]), time.monotonic() - began

    result, taken = arena.run(timed())
    assert code(result) in ("TIMEOUT", "SANDBOX_CRASHED")  # a flood of nothing breaks the protocol before
    assert taken <= 1.3
    assert arena.run(enclave.run("1 + 1")).value == 2


HEAD: Final = 'b\'{"t":"call","id":1,"name":"echo","line":1,"site":"1:1","task":"0","seq":0,"args":\''
BOMBS: Final = {
    "announced": "os.write(3, bytes([255, 255, 255, 255]))",
    "announced and fed": "os.write(3, (5_300_000).to_bytes(4, 'big'))\nwhile True:\n    os.write(3, b'[' * 60_000)",
    "nested": f"send({HEAD} + b'[' * 2_600_000)",
    "closed nesting": f"send({HEAD} + b'[' * 2_500_000 + b']' * 2_500_000 + b'}}')",
    "numbers": f"send({HEAD} + b'[' + b'0,' * 2_500_000 + b'0]}}')",
    "empty objects": f"send({HEAD} + b'[' + b'{{}},' * 1_600_000 + b'0]}}')",
    "texts": f"send({HEAD} + b'[' + b'\"\",' * 1_600_000 + b'0]}}')",
    "long text": f"send({HEAD} + b'{{\"a\":\"' + b'x' * 5_000_000 + b'\"}}}}')\ntime.sleep(60)",
    "escapes": f"send({HEAD} + b'{{\"a\":\"' + b'\\\\u0000' * 800_000 + b'\"}}}}')\ntime.sleep(60)",
    "digits": f"send({HEAD} + b'{{\"a\":' + b'9' * 5_000_000 + b'}}}}')\ntime.sleep(60)",
    "tags": 'send(b\'{"t":"done","value":["x"],"tags":{"date":[\' + b\'[0],\' * 1_000_000 + b\'[0]]}}\')',
    "long tag": 'send(b\'{"t":"done","value":["x"],"tags":{"date":[[\' + b\'0,\' * 2_000_000 + b\'0]]}}\')',
    "odd tags": 'send(b\'{"t":"done","value":1,"tags":\' + b\'[\' * 2_000_000)',
    "variables": 'send(b\'{"t":"done","value":1,"variables":{"a":[\' + b\'[],\' * 1_600_000 + b\'0]}}\')',
    "findings": 'send(b\'{"t":"checked","reach":[],"findings":[\' + b\'{},\' * 1_600_000 + b\'{}]}\')',
    "prints": "while True:\n    send({'t': 'print', 'text': 'x' * 4096})",
    "large prints": "while True:\n    send({'t': 'print', 'text': '\\u00e9' * 2_000_000})",
    "queue of objects": (
        'for n in range(1, 13):\n    send(b\'{"t":"call","id":%d,"name":"never","line":1,"site":"1:1","task":"0",\''
        ' b\'"seq":0,"args":{"a":[\' % n + b\'{"a":0},\' * 300_000 + b\'0]}}\')\ntime.sleep(60)'
    ),
    "queue": (
        'for n in range(1, 13):\n    send(b\'{"t":"call","id":%d,"name":"never","line":1,"site":"1:1","task":"0",\''
        ' b\'"seq":0,"args":{"a":"\' % n + b\'x\' * 5_000_000 + b\'"}}\')\ntime.sleep(60)'
    ),
    "unread answers": (
        'for n in range(1, 13):\n    send(b\'{"t":"call","id":%d,"name":"echo","line":1,"site":"1:1","task":"0",\''
        ' b\'"seq":0,"args":{"a":"\' % n + b\'x\' * 5_000_000 + b\'"}}\')\ntime.sleep(60)'
    ),
    "objects": """send(b'{"t":"done","value":[' + b'{"a":0},' * 495_000 + b'0]}')""",
    "objects as arguments": f"""send({HEAD} + b'{{"a":[' + b'{{"a":0}},' * 495_000 + b'0]}}}}')\ntime.sleep(60)""",
    "most tags": (
        """send(b'{"t":"done","value":[' + b'"2026-01-01",' * 390_000 + b'0],"tags":{"date":['"""
        """ + b','.join(b'[%d]' % n for n in range(390_000)) + b']}}')"""
    ),
    "decimals": 'send(b\'{"t":"done","value":["1E+999999999"],"tags":{"decimal":[[0]]}}\')',
    "many decimals": (
        'send(b\'{"t":"done","value":[\' + b\'"1E9",\' * 150_000 + b\'"1"],"tags":{"decimal":[\''
        " + b','.join(b'[%d]' % n for n in range(150_000)) + b']}}')"
    ),
}
BUDGET: Final = ValueBudget()
ALLOWED: Final = 30 * BUDGET.size
"""Bytes that the host may grow by at the worst moment: half a million
objects of one number are 110 MB of Python's."""


def memory() -> tuple[int, int]:
    """Bytes of this process now, and the most since `forget_peak`."""
    text = Path("/proc/self/status").read_text()
    now, most = (int(re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)[1]) * 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[index]
    return now, most


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_no_frame_makes_the_host_allocate_beyond_its_budget(bomb: str, arena: Stage, offer: Offer) -> None:
    furnish(arena)
    enclave = limited(arena, offer, timeout=0.6, memory_limit="256MB")

    async def measured() -> tuple[int, rf.RunResult]:
        await enclave.run("1")
        forget_peak()
        before, _ = memory()
        result = await enclave.run(SEND + BOMBS[bomb])
        return memory()[1] - before, result

    grown, result = arena.run(measured())
    assert grown <= ALLOWED
    assert code(result) in (None, "TIMEOUT", "OUTPUT_LIMIT", "SANDBOX_CRASHED", "SERIALIZATION_LIMIT_EXCEEDED")
    assert arena.run(enclave.run("1 + 1")).value == 2


@pytest.mark.slow
def test_hostile_guests_at_once_do_not_add_up(arena: Stage, offer: Offer) -> None:
    furnish(arena)
    enclave = limited(arena, offer, timeout=0.6, memory_limit="256MB")
    bombs = [BOMBS[name] for name in ("queue", "numbers", "unread answers", "tags", "nested", "large prints")]

    async def measured() -> int:
        await enclave.run("1")
        forget_peak()
        before, _ = memory()
        await asyncio.gather(*(enclave.run(SEND + bomb) for bomb in bombs))
        return memory()[1] - before

    assert arena.run(measured()) <= len(bombs) * ALLOWED / 2
