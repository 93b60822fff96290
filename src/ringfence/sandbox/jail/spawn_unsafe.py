"""The host's one `exec`: starts the launcher of a jail with nothing inherited but a control socket, and ends it.

`-I` is spelled out as `-s -P`, because `-I` also ignores PYTHONHASHSEED, and a script whose sets iterate in another
order on every run cannot be replayed. The environment is exactly `ENVIRONMENT`, so nothing is lost by reading it.
Called by `supervise`; knows nothing of plans and messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Final

from ringfence.errors import SandboxFault

ENVIRONMENT: Final = {"PYTHONHASHSEED": "0", "PYTHON_JIT": "0"}
"""All that a jailed process ever has in its environment. A compiler at run time would need executable memory."""

FLAGS: Final = ("-s", "-P", "-S", "-B", "-X", "utf8")

LEAVE_PATIENCE: Final = 0.5
"""Seconds that a zygote has to bury its children and leave, before it is killed."""
REAP_PATIENCE: Final = 2.0
"""Seconds that the kernel has to end a killed process."""
DIAGNOSTICS: Final = 4_096
"""Bytes of a failing launcher's own words that are kept."""

_LAUNCHER: Final = Path(__file__).with_name("launch_unsafe.py")


_living: weakref.WeakSet[Launched] = weakref.WeakSet()


def _forget_in_fork() -> None:
    """A fork of the host that held on to control sockets would keep jails alive after the host's death, and one that
    ends politely would end them before it."""
    for launched in list(_living):
        launched.closed = True
        launched.control.close()
        launched.process.returncode = 0  # not a child of this process, so there is nothing to wait for


os.register_at_fork(after_in_child=_forget_in_fork)


class Launched:
    """A launcher's process and the host's end of its control socket."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.process = process
        self.control = control
        self.closed = False
        self._ready = False
        self._lock = threading.Lock()
        _living.add(self)

    def diagnostics(self) -> str:
        """The end of what the launcher wrote to its stderr until now; empty once that was dropped."""
        stderr = self.process.stderr
        if stderr is None or stderr.closed:
            return ""
        text = b""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(stderr.fileno(), 65_536):
                text = (text + piece)[-DIAGNOSTICS:]
        return text.decode(errors="replace").strip()

    def became_ready(self) -> None:
        """From now on it has nothing to say, and children to bury before it leaves."""
        self._ready = True
        self._close_stderr()

    def _close_stderr(self) -> None:
        if self.process.stderr is not None:
            self.process.stderr.close()

    async def wait_gone(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ask it to leave, and wait until it has left or its time is up."""
        if self.closed:
            return
        self._hang_up()
        pause, deadline = 0.000_5, loop.time() + LEAVE_PATIENCE
        while self.process.poll() is None and loop.time() < deadline:
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.02)

    def close(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the process, reap it, and free every descriptor. From any thread, and again.

        `loop` is the one that watches the control socket, running or not, closed or not.
        """
        with self._lock:
            if self.closed:
                return
            self.closed = True
        self._hang_up()
        if not self._ready:
            self.process.kill()
        try:
            self.process.wait(LEAVE_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel; there is nothing left to do
                self.process.wait(REAP_PATIENCE)
        self._close_stderr()
        if loop.is_running() and not runs_here(loop):
            with contextlib.suppress(RuntimeError):  # closed in between
                loop.call_soon_threadsafe(self._unwatch, loop)
                return
        self._unwatch(loop)

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):  # it has hung up first
            self.control.shutdown(socket.SHUT_WR)

    def _unwatch(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.remove_reader(self.control)
            loop.remove_writer(self.control)
        self.control.close()


def runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether the caller is inside this loop."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def command(module: str) -> list[str]:
    """What to exec, so that one module of this directory runs alone in a fresh interpreter.

    Raises:
        SandboxFault: `sandbox_unavailable`; there is no interpreter to start.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise SandboxFault(
            "the jail needs a Python interpreter, and this program is not run by one that can be started again",
            code="sandbox_unavailable",
            hint="run the host with an ordinary Python instead of a frozen or embedded one",
        )
    return [sys.executable, *FLAGS, str(_LAUNCHER), module]


def spawn() -> Launched:
    """A launcher in its own session. Its diagnostics can be read until it is ready.

    Raises:
        SandboxFault: `sandbox_unavailable`; there is no interpreter to start, or the system refused to start it.
    """
    launcher = command("zygote_unsafe")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own file
                [*launcher, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise SandboxFault(
                f"the jail's launcher could not be started ({error.strerror})", code="sandbox_unavailable"
            ) from error
    ours.setblocking(False)
    if process.stderr is not None:
        os.set_blocking(process.stderr.fileno(), False)
    return Launched(process, ours)
