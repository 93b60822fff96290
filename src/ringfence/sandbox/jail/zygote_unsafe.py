"""Inside the jail: a process that has imported everything, has closed itself in, and forks one child per run.

Carries out the plan's steps in order, then waits in one `poll` for messages of the host and for children that end.
Sends are queued, never waited for. When the host goes away, by `kill -9` too, the control socket ends: all children
are killed and reaped, and this process leaves. It knows the engine only as two functions. Run by `launch_unsafe`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import importlib
import importlib.machinery
import os
import resource
import select
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Final, NoReturn, cast

from ringfence.sandbox.jail import child_unsafe, forget, kernel_unsafe, landlock_unsafe, seccomp, wire
from ringfence.sandbox.jail.plan import JailPlan, ZygoteStep
from ringfence.sandbox.jail.syscalls import Machine

STARTUP_SECONDS: Final = 60
"""A launcher that is not ready by then ends itself; the host, if it lives, gives up earlier."""


def run(arguments: list[str]) -> None:
    """Become a zygote, on the control socket whose number is the argument, and serve until the host is gone."""
    signal.alarm(STARTUP_SECONDS)
    control = socket.socket(fileno=int(arguments[0]))
    packet = control.recv(wire.LARGEST)
    if not packet:  # the host went away before its first message
        return
    launch = Launch(control, wire.decode(packet))
    for step in launch.plan.zygote:
        try:
            launch.steps[step]()
        except BaseException as error:  # noqa: BLE001 - whatever it was, there is no jail
            sys.excepthook(type(error), error, error.__traceback__)  # for the notes of the host's exception
            why = f"{type(error).__name__}: {error}"[:500]
            launch.control.sendmsg([wire.encode(wire.Refused(step=step, why=why))])
            os._exit(child_unsafe.REFUSED)
    Zygote(launch).serve()


class Launch:
    """The steps that turn a fresh interpreter into a jailed one."""

    def __init__(self, control: socket.socket, start: wire.Message) -> None:
        if not isinstance(start, wire.Start):
            raise wire.WireError("the first message must be a start")
        self.control = control
        self.plan = JailPlan.from_json(start.plan)
        self.machine: Machine = self.plan.machine
        self.engine = start.engine
        self.roots = start.roots
        self.supplies = start.supplies
        self.serve: Callable[[int], None] | None = None
        self.woken = -1
        self.steps: dict[ZygoteStep, Callable[[], None]] = {
            "descriptors": self.descriptors,
            "signals": self.signals,
            "victim": self.victim,
            "imports": self.imports,
            "scrub": self.scrub,
            "user": self.user,
            "capabilities": self.capabilities,
            "landlock": self.landlock,
            "seccomp": self.seccomp,
            "check": self.check,
        }

    def descriptors(self) -> None:
        """Nothing of the host's but the control socket and the standard three."""
        place = fcntl.fcntl(self.control, fcntl.F_DUPFD_CLOEXEC, child_unsafe.TROUBLE + 1)
        self.control.close()
        self.control = socket.socket(fileno=place)
        self.control.setblocking(False)
        os.closerange(3, place)
        os.closerange(place + 1, 1 << 16)
        child_unsafe.lower(resource.RLIMIT_NOFILE, child_unsafe.DESCRIPTORS, child_unsafe.DESCRIPTORS)
        taken = (os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC), *os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK))
        if taken != (child_unsafe.SIZE, child_unsafe.TROUBLE_READ, child_unsafe.TROUBLE):
            raise RuntimeError(f"descriptors {taken} are not where they should be")

    def signals(self) -> None:
        """Exec keeps what the host ignores and blocks; a zygote that ignores SIGCHLD could not reap."""
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE}:
            if signal.getsignal(number) is not signal.SIG_DFL:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        self.woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _woken_by_descriptor)
        os.umask(0o077)
        os.chdir("/")

    def victim(self) -> None:
        """When the machine runs out of memory, a guest goes before its host."""
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write(child_unsafe.VICTIM)

    def imports(self) -> None:
        """All that a guest may use: after this nothing can be opened."""
        module, _, names = self.engine.partition(":")
        prepare, _, serve = names.partition(",")
        sys.path.extend(self.roots)
        sys.modules["ssl"] = cast("ModuleType", None)  # asyncio takes it if it is there; nobody here has sockets
        # what asks for it repairs locks and reseeds; one thread has no such locks, and an engine gives the seed
        os.register_at_fork = _no_fork_handlers  # type: ignore[assignment]
        engine = importlib.import_module(module)
        del sys.modules["ssl"]
        getattr(engine, prepare)(**self.supplies)
        self.serve = getattr(engine, serve)
        if len(os.listdir("/proc/self/task")) > 1:  # a fork has one thread, and the locks that the others held
            raise RuntimeError("a module that was imported has started threads")

    def scrub(self) -> None:
        """What a guest need not know of the host's files, and memory that children will share."""
        sys.argv[:] = [""]
        sys.orig_argv[:] = [""]
        self.roots = ()
        self.supplies.clear()
        forget.forget()
        for name in [name for name in sys.modules if name.partition(".")[0] == "ringfence"]:
            del sys.modules[name]  # here, because every child would have to copy the pages that this touches
        sys.meta_path[:] = [importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter]
        kernel_unsafe.clear_environment()
        gc.collect()
        gc.freeze()

    def user(self) -> None:
        user = self.plan.user
        if user is None:
            raise RuntimeError("no user in the plan")
        kernel_unsafe.drop_bounding_set()  # needs a capability that leaves with the user
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        if os.getresuid() != (user,) * 3 or os.getresgid() != (user,) * 3 or os.getgroups():
            raise PermissionError(errno.EPERM, "still the old user")

    def capabilities(self) -> None:
        kernel_unsafe.no_new_privileges()
        kernel_unsafe.drop_bounding_set()
        kernel_unsafe.drop_capabilities(self.machine)
        kernel_unsafe.no_core_dumps()

    def landlock(self) -> None:
        landlock_unsafe.close_everything(self.plan.landlock, self.machine)

    def seccomp(self) -> None:
        signal.alarm(0)  # the filter knows no such call, and an alarm that is left would end this process in a minute
        program = seccomp.encode(seccomp.assemble(self.plan.zygote_calls, self.machine))
        kernel_unsafe.install_filter(program, self.machine)

    def check(self) -> None:
        """Do not believe success: try what must fail now."""
        child_unsafe.must_refuse("open", lambda: os.close(os.open("/", os.O_RDONLY)))
        child_unsafe.must_refuse("socket", lambda: socket.socket(socket.AF_INET).close())


def _woken_by_descriptor(_number: int, _frame: object) -> None:
    """A handler must exist for the wake-up descriptor to be written."""


def _no_fork_handlers(**_: object) -> None:
    pass


class Zygote:
    """The loop after the walls are up."""

    def __init__(self, launch: Launch) -> None:
        if launch.serve is None:
            raise RuntimeError("a plan without imports")
        self._control = launch.control
        self._outgoing: deque[bytes] = deque()
        self._children: dict[int, int] = {}
        """Process id to the host's id."""
        self._woken = launch.woken
        self._why: dict[int, str] = {}
        self._birth = child_unsafe.Birth.prepare(launch.plan, launch.serve)
        self._send(wire.Ready(steps=launch.plan.zygote))
        os.dup2(0, 2)  # the host has read its diagnostics by now

    def serve(self) -> NoReturn:
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        while True:
            wanted = select.POLLIN | (select.POLLOUT if self._outgoing else 0)
            poll.register(self._control, wanted)
            poll.poll()
            self._reap()
            self._flush()
            if not self._receive():
                self._leave()

    def _receive(self) -> bool:
        """Handle what the host sent; False when it is gone."""
        while True:
            try:
                packet, descriptors, _, _ = socket.recv_fds(self._control, wire.LARGEST, 1)
            except BlockingIOError:
                return True
            except ConnectionError:
                return False
            if not packet:
                return False
            match wire.decode(packet):
                case wire.Fork(id=id_):
                    self._fork(id_, descriptors)
                case wire.Kill(id=id_):
                    self._kill(id_)
                case other:
                    raise wire.WireError(f"a host does not send {type(other).__name__}")

    def _fork(self, id_: int, descriptors: list[int]) -> None:
        if len(descriptors) != 1:
            raise wire.WireError("a fork carries one descriptor")
        try:
            pid = os.fork()
        except OSError as error:
            os.close(descriptors[0])
            self._send(
                wire.Ended(id=id_, code=child_unsafe.REFUSED, signal=None, cpu=0.0, maxrss=0, step=f"fork: {error}")
            )
            return
        if pid == 0:
            try:
                self._control.detach()  # its number will be another descriptor's
                self._children.clear()
                self._birth.become_guest(id_, descriptors[0])
            finally:
                os._exit(child_unsafe.REFUSED)
        os.close(descriptors[0])
        self._children[pid] = id_
        self._send(wire.Forked(id=id_, pid=pid))

    def _kill(self, id_: int) -> None:
        for pid, mine in self._children.items():  # still unreaped, so the number is still this child's
            if mine == id_:
                os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        while self._children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            id_ = self._children.pop(pid)
            self._why.update(child_unsafe.read_troubles())
            code = os.waitstatus_to_exitcode(status)
            self._send(
                wire.Ended(
                    id=id_,
                    code=code if code >= 0 else None,
                    signal=-code if code < 0 else None,
                    cpu=usage.ru_utime + usage.ru_stime,
                    maxrss=usage.ru_maxrss * 1024,
                    step=self._why.pop(id_, None),
                )
            )

    def _send(self, message: wire.Message) -> None:
        self._outgoing.append(wire.encode(message))
        self._flush()

    def _flush(self) -> None:
        """As much as the host takes now; an end of the socket shows in `_receive`."""
        while self._outgoing:
            try:
                self._control.sendmsg([self._outgoing[0]])
            except BlockingIOError:
                return
            except ConnectionError:
                self._outgoing.clear()
                return
            self._outgoing.popleft()

    def _leave(self) -> NoReturn:
        """Nothing outlives the host, and nobody else gets our dead to bury."""
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
        for pid in self._children:
            os.waitpid(pid, 0)
        os._exit(0)
