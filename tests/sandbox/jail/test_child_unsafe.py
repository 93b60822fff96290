"""The kernel's limits on one guest, tried by a guest that wants more."""

from __future__ import annotations

import os
import signal

import pytest

from ringfence.limits import MIB
from ringfence.sandbox.jail.child_unsafe import must_refuse
from ringfence.sandbox.jail.plan import GuestLimits
from tests.sandbox.jail.driving import guest, real_plan, run, zygote

pytestmark = pytest.mark.slow

SPIN = "while True: pass"
SPIN_ON = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"


def test_memory_is_what_was_granted_and_the_guest_lives_on() -> None:
    async def body() -> None:
        async with zygote(real_plan(GuestLimits(memory=64 * MIB))) as parent, guest(parent) as one:
            assert await one.ask("held = bytearray(56 << 20); out = len(held)") == {"value": 56 * MIB}
            assert await one.ask("bytearray(72 << 20)") == {"raised": "MemoryError"}
            assert await one.ask("x = []\nwhile True: x.append(bytearray(1 << 16))") == {"raised": "MemoryError"}
            assert await one.ask("import mmap; mmap.mmap(-1, 72 << 20)") == {"errno": 12}
            assert await one.ask("out = 1") == {"value": 1}

    run(body())


@pytest.mark.parametrize(("source", "number"), [(SPIN, signal.SIGXCPU), (SPIN_ON, signal.SIGKILL)])
def test_processor_time_ends_also_for_a_guest_that_ignores_the_signal(source: str, number: int) -> None:
    async def body() -> None:
        async with zygote(real_plan(GuestLimits(cpu=1.0))) as parent, guest(parent) as one:
            assert await one.ask(source) is None
            gone = await one.ended()
            assert (gone.code, gone.signal) == (None, number)
            assert 0.5 < gone.cpu < 4

    run(body())


def test_waiting_costs_no_processor_time() -> None:
    async def body() -> None:
        async with zygote(real_plan(GuestLimits(cpu=1.0))) as parent, guest(parent) as one:
            assert await one.ask("import time; time.sleep(1.2); out = time.process_time() < 1") == {"value": True}

    run(body())


def test_a_crash_writes_no_core_and_reaches_no_crash_handler() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            pid = one.child.pid
            # the kernel gives /proc files of a process that may not be dumped to root
            assert os.stat(f"/proc/{pid}/environ").st_uid == 0
            assert await one.ask("import ctypes; ctypes.string_at(0)") is None
            status = await one.ended()
            assert status.signal == signal.SIGSEGV

    run(body())


def test_an_engine_that_raises_ends_its_child_with_one() -> None:
    async def body() -> None:
        async with zygote(engine="echo_engine:prepare,run") as parent:
            child = parent.fork()
            gone = await child.wait_exited(10)
            child.sock.close()
            assert gone is not None
            assert (gone.code, gone.signal, gone.step) == (1, None, None)

    run(body())


def test_a_wall_that_does_not_refuse_is_noticed() -> None:
    def refused() -> None:
        raise PermissionError

    must_refuse("something", refused)
    with pytest.raises(RuntimeError, match="something is still possible"):
        must_refuse("something", lambda: None)
