"""A host that forks: the child has an enclave that works, on workers of its own, and its parent hears nothing of it."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import HANG, descendants, descriptors, launchers

pytestmark = pytest.mark.slow


async def handler(name: str, args: Any) -> Any:
    return args["n"]


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a fork that does `work`: 0 when it gives what is true; a hang is a death by alarm."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(round(HANG))
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _runs(enclave: rf.Enclave) -> bool:
    return enclave.run_sync("await call_tool('it', {'n': 42})").value == 42


def _runs_and_closes(enclave: rf.Enclave) -> bool:
    value = enclave.run_sync("1").value
    enclave.close()
    return value == 1 and not descendants()


def _closes(enclave: rf.Enclave) -> bool:
    enclave.close()
    return not descendants()


def _checks(enclave: rf.Enclave) -> bool:
    return enclave.check_sync("1").ok


def _runs_in_a_loop(enclave: rf.Enclave) -> bool:
    async def body() -> Any:
        async with enclave:
            return (await enclave.run("1")).value

    return asyncio.run(body()) == 1


@pytest.mark.parametrize("work", [_runs, _runs_and_closes, _closes, _checks, _runs_in_a_loop])
def test_an_enclave_that_has_run_works_in_a_fork_too_and_stays_whole(work: Callable[[rf.Enclave], bool]) -> None:
    before = descendants()
    with rf.Enclave(tool_handler=handler, timeout=10.0) as enclave:
        assert enclave.run_sync("1").value == 1
        workers = descendants() - before
        assert in_child(lambda: work(enclave)) == 0
        assert enclave.run_sync("2").value == 2
        assert workers & launchers() == (descendants() - before) & launchers()
    assert descendants() == before


def test_a_fork_while_scripts_run_knows_nothing_of_them() -> None:
    reached, go = threading.Event(), threading.Event()

    def wait(name: str, args: Any) -> Any:
        reached.set()
        go.wait(HANG)
        return 7

    results: list[Any] = []

    def work() -> None:
        results.append(enclave.run_sync("await call_tool('it', {})").value)

    with rf.Enclave(tool_handler=wait, timeout=HANG) as enclave:
        thread = threading.Thread(target=work)
        thread.start()
        assert reached.wait(HANG)
        child = in_child(lambda: enclave.statistics().running == 0 and _runs_and_closes(enclave))
        go.set()
        thread.join(HANG)
        assert (child, results) == (0, [7])


def test_a_fork_inside_a_loop_leaves_that_loops_runs_alone() -> None:
    async def body() -> Any:
        async with rf.Enclave(tool_handler=handler, timeout=10.0) as enclave:
            await enclave.warm()
            child = await asyncio.to_thread(in_child, lambda: _runs(enclave))
            return child, (await enclave.run("await call_tool('it', {'n': 5})")).value

    assert asyncio.run(body()) == (0, 5)


def test_a_process_of_multiprocessing_runs_scripts() -> None:
    with rf.Enclave(timeout=10.0) as enclave:
        assert enclave.run_sync("1").value == 1
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_exit_with, args=(enclave,))
        process.start()
        process.join(HANG)
        assert process.exitcode == 42


def _exit_with(enclave: rf.Enclave) -> None:
    sys.exit(enclave.run_sync("40 + 2").value)


def test_a_fork_keeps_none_of_its_parents_channels() -> None:
    with rf.Enclave(timeout=10.0) as enclave:
        sockets = descriptors().count("socket")
        enclave.run_sync("1")
        assert in_child(lambda: descriptors().count("socket") <= sockets + 2) == 0  # and its loop's own pair


PROGRAM = """
import os, signal, sys
import ringfence as rf
e = rf.Enclave(timeout=10.0)
e.run_sync("1")
pid = os.fork()
if pid == 0:
    e.run_sync("2")
    sys.exit({child})
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), e.run_sync("3").value)
"""


@pytest.mark.parametrize("child", ["0", "e.close()"])
def test_a_fork_that_ends_like_any_program_leaves_nothing(child: str) -> None:
    before = launchers()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(child=child)], capture_output=True, text=True, timeout=HANG
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 3\n", "")
    for _ in range(300):
        if launchers() <= before:
            break
        threading.Event().wait(0.01)
    assert launchers() <= before


ORPHANED = """
import os, signal, sys
import ringfence as rf
e = rf.Enclave(timeout=10.0, waiting=2)
e.run_sync("1")
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.close(w)
    os.read(r, 1)
    sys.stdout.write(str(e.run_sync("4").value))
    sys.stdout.flush()
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_die_with_their_host_even_where_a_fork_of_it_lives_on() -> None:
    before = launchers()
    host = subprocess.Popen([sys.executable, "-c", ORPHANED], stdout=subprocess.PIPE, text=True)
    with host:
        said, _ = host.communicate(timeout=HANG)  # until the fork, which has its parent's stdout, has ended too
    assert (host.returncode, said) == (-signal.SIGKILL, "4")
    for _ in range(300):
        if launchers() <= before:
            break
        threading.Event().wait(0.01)
    assert launchers() <= before
