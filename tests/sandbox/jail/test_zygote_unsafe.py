"""What a zygote and its children look like from outside, and that nothing of them outlives their host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

import ringfence
from ringfence.sandbox.jail.plan import NOBODY
from tests.sandbox.jail.driving import alive, guest, run, wait_dead, zygote

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_every_process_of_a_jail_is_stripped() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            assert one.child.pid is not None
            user = NOBODY if os.getuid() == 0 else os.getuid()
            for pid, filters in ((parent.pid, "1"), (one.child.pid, "2")):
                found = status(pid)
                assert found["Uid"].split() == [str(user)] * 4
                assert [found[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == ["0" * 16] * 4
                assert (found["NoNewPrivs"], found["Seccomp"], found["Seccomp_filters"]) == ("1", "2", filters)
                assert found["Threads"] == "1"
                assert os.getsid(pid) == parent.pid != os.getsid(0)
                if os.getuid() == 0:
                    assert (found["CapBnd"], found["Groups"]) == ("0" * 16, "")

    run(body())


def test_a_zygote_that_has_started_outlives_the_time_for_its_start() -> None:
    async def body() -> None:
        async with zygote(engine="hasty_engine:prepare,serve") as parent:
            await asyncio.sleep(1.2)
            assert parent.alive
            assert alive(parent.pid)

    run(body())


@pytest.mark.skipif(os.getuid() != 0, reason="only root may look into a process that may not be dumped")
def test_a_child_holds_three_null_devices_and_its_channel_and_no_environment() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            folder = Path(f"/proc/{one.child.pid}")
            held = {int(name.name): os.readlink(name).partition(":")[0] for name in (folder / "fd").iterdir()}
            assert held == {0: "/dev/null", 1: "/dev/null", 2: "/dev/null", 3: "socket"}
            assert set((folder / "environ").read_bytes().split(b"\0")) <= {b"PYTHONHASHSEED=0", b"PYTHON_JIT=0", b""}
            assert os.readlink(folder / "cwd") == "/"
            limits = (folder / "limits").read_text()
            assert [line.split()[-2:] for line in limits.splitlines() if line.startswith("Max processes")] == [["0", "processes"]]  # fmt: skip
            assert (folder / "oom_score_adj").read_text().strip() == "1000"

    run(body())


def test_a_host_that_ignores_and_blocks_signals_gets_a_zygote_that_works() -> None:
    async def body() -> None:
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN), signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM})
        try:
            async with zygote() as parent, guest(parent) as one:
                assert await one.ask("import os; os._exit(3)") is None
                assert (await one.ended()).code == 3
                assert int(status(parent.pid)["SigBlk"], 16) == 0
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            signal.signal(signal.SIGCHLD, before[0])
            signal.signal(signal.SIGXCPU, before[1])

    run(body())


def test_a_guest_finds_no_module_of_ringfence_and_nothing_heavy() -> None:
    async def body() -> None:
        async with zygote() as parent, guest(parent) as one:
            loaded = await one.ask("import sys; out = sorted(name for name in sys.modules if 'ringfence' in name)")
            heavy = await one.ask("import sys; out = [name for name in ('pydantic', 'msgspec', 'site') if name in sys.modules]")  # fmt: skip
            assert (loaded, heavy) == ({"value": []}, {"value": []})

    run(body())


def test_sets_iterate_in_the_same_order_in_every_zygote() -> None:
    async def order() -> object:
        async with zygote() as parent, guest(parent) as one:
            return await one.ask("out = list({str(number) for number in range(50)})")

    first, second = run(order()), run(order())
    assert first == second


@contextlib.contextmanager
def host(what: str) -> Generator[tuple[subprocess.Popen[str], list[int]]]:
    """A host in a process of its own, and the ids of its zygote and two children."""
    source = str(Path(ringfence.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.sandbox.jail.hosts", what],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{source}:{ROOT}"},
    ) as process:
        try:
            assert process.stdout is not None
            pids = [int(pid) for pid in process.stdout.readline().split()]
            assert len(pids) == 3, process.stderr and process.stderr.read()
            yield process, pids
        finally:
            process.kill()


def all_dead(pids: list[int]) -> bool:
    async def body() -> bool:
        return all([await wait_dead(pid) for pid in pids])

    return asyncio.run(body())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_host_that_is_killed_leaves_nothing(number: int) -> None:
    with host("wait") as (process, pids):
        assert all(alive(pid) for pid in pids)
        process.send_signal(number)
        process.wait(10)
        assert all_dead(pids)


def test_a_host_that_is_interrupted_leaves_nothing() -> None:
    with host("wait") as (process, pids):
        process.send_signal(signal.SIGINT)
        process.wait(10)
        assert all_dead(pids)


def test_a_host_that_leaves_without_closing_leaves_nothing_and_no_warning() -> None:
    with host("leave") as (process, pids):
        assert process.wait(10) == 0
        assert not any(alive(pid) for pid in pids)
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_fork_of_the_host_does_not_keep_its_jail_alive() -> None:
    with host("fork") as (process, pids):
        process.kill()
        process.wait(10)
        assert all_dead(pids)


def test_a_fork_of_the_host_that_ends_does_not_end_the_jail() -> None:
    with host("exit_in_fork") as (process, pids):
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        zygote_pid, spinning, _ = pids  # the third has seen the end of its channel
        assert alive(zygote_pid)
        assert alive(spinning)
        process.kill()
        assert process.stderr is not None
        assert process.stderr.read() == ""
