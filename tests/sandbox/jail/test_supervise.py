"""A zygote and its children, for real: they start, answer, end as told, and leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import threading
from dataclasses import replace

import pytest

from ringfence.errors import SandboxFault
from ringfence.sandbox.jail.plan import GuestLimits, ResourceLimit
from ringfence.sandbox.jail.supervise import Zygote, ZygoteStatistics
from tests.sandbox.jail.driving import (
    ENGINE,
    HERE,
    alive,
    descriptors,
    guest,
    has_children,
    real_plan,
    run,
    wait_dead,
    zygote,
)

pytestmark = pytest.mark.slow


def test_a_child_answers_and_ends_when_its_channel_does() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            assert await one.ask("out = 6 * 7") == {"value": 42}
            one.child.sock.shutdown(socket.SHUT_RDWR)
            gone = await one.ended()
            assert (gone.code, gone.signal, gone.step, gone.lost) == (0, None, None, False)
            assert 0 < gone.cpu < 5
            assert gone.maxrss > 1 << 20

    run(body())


def test_children_of_one_zygote_share_nothing_that_one_of_them_changes() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one, guest(parent) as two:
            await one.ask("import os; os.secret = 1")
            assert await one.ask("import os; out = os.secret") == {"value": 1}
            assert await two.ask("import os; out = os.secret") == {"raised": "AttributeError"}

    run(body())


@pytest.mark.parametrize(
    ("source", "code", "number"),
    [
        ("import os; os._exit(7)", 7, None),
        ("import os; os._exit(125)", 125, None),
        ("import ctypes; ctypes.string_at(0)", None, signal.SIGSEGV),
        ("import faulthandler; faulthandler._stack_overflow()", None, signal.SIGSEGV),
    ],
)  # fmt: skip
def test_the_host_learns_how_a_child_ended(source: str, code: int | None, number: int | None) -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            assert await one.ask(source) is None
            gone = await one.ended()
            assert (gone.code, gone.signal, gone.step) == (code, number, None)

    run(body())


def test_a_kill_ends_exactly_one_child_whatever_it_does() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as stubborn, guest(parent) as other:
            await stubborn.send("import signal\nfor n in range(1, 32):\n  try: signal.signal(n, signal.SIG_IGN)\n  except OSError: pass\nwhile True: pass")  # fmt: skip
            stubborn.child.kill()
            stubborn.child.kill()
            gone = await stubborn.ended()
            assert (gone.code, gone.signal) == (None, signal.SIGKILL)
            assert await other.ask("out = 1") == {"value": 1}
            assert parent.statistics() == ZygoteStatistics(forked=2, living=1, killed=1)
            stubborn.child.kill()
            assert parent.alive

    run(body())


def test_waiting_for_the_end_of_a_living_child_is_bounded() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            assert await one.child.wait_exited(0.01) is None

    run(body())


def test_forks_that_the_zygote_has_not_taken_yet_are_queued() -> None:
    async def body() -> None:
        async with zygote() as parent:
            os.kill(parent.pid, signal.SIGSTOP)
            children = [parent.fork() for _ in range(400)]
            os.kill(parent.pid, signal.SIGCONT)
            for child in children:
                child.sock.close()  # the engine sees the end of its channel and leaves
            exits = [await child.wait_exited(30) for child in children]
            assert {(gone.code, gone.signal, gone.step) for gone in exits if gone is not None} <= {(0, None, None), (1, None, None)}  # fmt: skip
            assert parent.statistics() == ZygoteStatistics(forked=400, living=0, killed=0)

    run(body())


def test_a_host_that_does_not_read_does_not_stop_the_zygote() -> None:
    async def body() -> None:
        async with zygote() as parent:
            children = [parent.fork() for _ in range(150)]
            for child in children:
                child.sock.close()
            for _ in range(2000):  # the loop stands still meanwhile, on purpose
                if not _children_of(parent.pid):
                    break
                threading.Event().wait(0.005)
            assert _children_of(parent.pid) == []
            exits = [await child.wait_exited(30) for child in children]
            assert None not in exits

    run(body())


def _children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(number) for number in children.read().split()]


def test_a_zygote_that_is_killed_takes_its_children_along() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            await one.send("while True: pass")
            pid = one.child.pid
            assert pid is not None
            os.kill(parent.pid, signal.SIGKILL)
            gone = await one.ended()
            assert gone.lost
            assert (gone.code, gone.signal, gone.step) == (None, None, None)
            assert await wait_dead(pid)
            assert not parent.alive
            with pytest.raises(SandboxFault) as caught:
                parent.fork()
            assert caught.value.code == "sandbox_crashed"

    run(body())


def test_a_zygote_that_does_not_answer_a_kill_is_killed_itself() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            pid = one.child.pid
            assert pid is not None
            os.kill(parent.pid, signal.SIGSTOP)
            one.child.kill()
            gone = await one.ended()
            assert gone.lost
            assert await wait_dead(pid)
            assert not alive(parent.pid)

    run(body())


def test_closing_ends_children_that_run_and_children_that_wait() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one, guest(parent) as two:
            await one.send("while True: pass")
            pids = [parent.pid, one.child.pid or 0, two.child.pid or 0]
            await parent.aclose()
            assert [alive(pid) for pid in pids] == [False] * 3
            assert one.child.exit is not None
            assert two.child.exit is not None
            await parent.aclose()
            parent.close_nowait()

    run(body())


def test_closing_lets_the_loop_go_on() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent):
            os.kill(parent.pid, signal.SIGSTOP)
            turns = 0
            closing = asyncio.create_task(parent.aclose())
            while not closing.done() and parent.alive:
                await asyncio.sleep(0.01)
                turns += 1
            await closing
            assert turns > 10
            assert not alive(parent.pid)

    run(body())


def test_nothing_is_left_in_the_host_after_many_children() -> None:
    async def body() -> None:
        before = descriptors()
        for _ in range(3):
            async with zygote() as parent:
                for _ in range(30):
                    async with guest(parent) as one:
                        assert await one.ask("out = 1") == {"value": 1}
        gc.collect()
        assert descriptors() == before
        assert threading.active_count() == 1
        assert not has_children()

    run(body())


def test_closing_works_after_the_loop_has_ended() -> None:
    before = descriptors()

    async def body() -> Zygote:
        return await Zygote.start(real_plan(), ENGINE, roots=(HERE,))

    parent = run(body())
    assert alive(parent.pid)
    parent.close_nowait()
    assert not alive(parent.pid)
    assert descriptors() == before


def test_closing_works_from_another_thread_while_the_loop_runs() -> None:
    async def body() -> None:
        before = descriptors()
        parent = await Zygote.start(real_plan(), ENGINE, roots=(HERE,))
        child = parent.fork()
        thread = threading.Thread(target=parent.close_nowait)
        thread.start()
        gone = await child.wait_exited(10)
        thread.join(10)
        child.sock.close()
        assert gone is not None
        assert gone.lost
        assert not alive(parent.pid)
        await asyncio.sleep(0)
        assert descriptors() == before

    run(body())


def test_a_zygote_that_is_forgotten_ends() -> None:
    async def body() -> None:
        before = descriptors()
        parent = await Zygote.start(real_plan(), ENGINE, roots=(HERE,))
        pid = parent.pid
        del parent
        gc.collect()
        assert not alive(pid)
        assert descriptors() == before

    run(body())


@pytest.mark.parametrize(
    ("engine", "step"),
    [
        ("no_such_engine:prepare,serve", "imports"),
        ("echo_engine:no_such_function,serve", "imports"),
        ("echo_engine:prepare,no_such_function", "imports"),
    ],
)
def test_an_engine_that_cannot_be_loaded_is_a_refusal_with_its_step(engine: str, step: str) -> None:
    async def body() -> None:
        before = descriptors()
        with pytest.raises(SandboxFault) as caught:
            await Zygote.start(real_plan(), engine, roots=(HERE,))
        assert caught.value.code == "sandbox_unavailable"
        assert f"step {step!r}" in caught.value.message
        gc.collect()
        assert descriptors() == before

    run(body())


def test_a_step_that_fails_behind_the_walls_is_a_refusal_too() -> None:
    plan = real_plan()

    async def body() -> None:
        with pytest.raises(SandboxFault) as caught:
            await Zygote.start(replace(plan, zygote=(*plan.zygote, "victim")), ENGINE, roots=(HERE,))
        assert caught.value.message == "the jail refused at step 'victim' (PermissionError: [Errno 1] Operation not permitted: '/proc/self/oom_score_adj')"  # fmt: skip
        assert not has_children()

    run(body())


def test_a_zygote_that_is_not_ready_in_time_is_killed() -> None:
    async def body() -> None:
        with pytest.raises(SandboxFault) as caught:
            await Zygote.start(real_plan(), "slow_engine:prepare,serve", roots=(HERE,), ready_timeout=1.0)
        assert caught.value.code == "sandbox_unavailable"
        assert caught.value.__notes__ == ["preparing for ever"]
        assert not has_children()

    run(body())


def test_a_cancelled_start_leaves_nothing() -> None:
    async def body() -> None:
        before = descriptors()
        task = asyncio.create_task(Zygote.start(real_plan(), "slow_engine:prepare,serve", roots=(HERE,)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gc.collect()
        assert descriptors() == before
        assert not has_children()

    run(body())


def test_a_child_whose_jail_cannot_be_closed_says_which_step() -> None:
    plan = real_plan(GuestLimits())
    broken = replace(plan, resources=(*plan.resources, ResourceLimit(name="NOFILE", soft=9, hard=8)))

    async def body() -> None:
        async with zygote(broken) as parent:
            child = parent.fork()
            gone = await child.wait_exited(10)
            child.sock.close()
            assert gone is not None
            assert gone.code == 125
            assert (gone.step or "").startswith("limits: ValueError")

    run(body())
