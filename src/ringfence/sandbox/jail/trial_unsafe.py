"""Tries each mechanism of a jail once, and prints what happened as one JSON object. Run by `probe_unsafe`, by exec.

Every trial has a forked process of its own, because none can be taken back. The answer per mechanism is an empty text
when it worked, else the reason.
"""

from __future__ import annotations

import json
import mmap
import os
import platform
import resource
import signal
import socket
from collections.abc import Callable
from typing import Final

from ringfence.limits import MIB
from ringfence.sandbox.jail import child_unsafe, kernel_unsafe, landlock_unsafe, seccomp
from ringfence.sandbox.jail.plan import NOBODY
from ringfence.sandbox.jail.syscalls import Machine, is_known

SECONDS: Final = 5
"""For one trial."""

_NEW_USER, _NEW_MOUNT, _NEW_PID = 0x1000_0000, 0x0002_0000, 0x2000_0000
_RECURSIVE, _PRIVATE = 0x4000, 0x4_0000


def run(_arguments: list[str]) -> None:
    """Try everything and print the findings."""
    machine = platform.machine()
    if not is_known(machine):
        raise RuntimeError(f"{machine} has no table of system calls")
    found: dict[str, str | int] = {"landlock": 0}
    try:
        found["landlock"] = abi = landlock_unsafe.abi(machine)
        found["landlock_domain"] = attempt(lambda: _landlock(abi, machine))
    except OSError as error:
        found["landlock_domain"] = f"{error.strerror}"
    trials: dict[str, Callable[[], None]] = {
        "seccomp": lambda: _seccomp(machine),
        "other_user": _other_user,
        "memory": _memory,
        "victim": _victim,
        "namespaces": lambda: _namespaces(machine),
    }
    for name, trial in trials.items():
        found[name] = attempt(trial)
    print(json.dumps(found))  # noqa: T201 - this is the answer


def attempt(trial: Callable[[], None]) -> str:
    """Run one trial in a process of its own; empty when it returned, else why it did not."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(SECONDS)
        try:
            trial()
        except BaseException as error:  # noqa: BLE001 - the reason is the result
            os.write(writing, f"{type(error).__name__}: {error}".encode()[:500])
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        why = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code < 0:
        return f"ended by signal {-code}"
    return why


def _seccomp(machine: Machine) -> None:
    kernel_unsafe.no_new_privileges()
    for profile in ("guest_zygote", "guest"):
        kernel_unsafe.install_filter(seccomp.encode(seccomp.assemble(profile, machine)), machine)
    child_unsafe.must_refuse("socket", lambda: socket.socket(socket.AF_UNIX).close())


def _landlock(abi: int, machine: Machine) -> None:
    kernel_unsafe.no_new_privileges()
    landlock_unsafe.close_everything(abi, machine)
    child_unsafe.must_refuse("open", lambda: os.close(os.open("/", os.O_RDONLY)))


def _other_user() -> None:
    if os.geteuid() != 0:
        raise PermissionError("not root, so there is no need")
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _memory() -> None:
    with open("/proc/self/statm", encoding="ascii") as statm:
        size = int(statm.read().split()[0]) * mmap.PAGESIZE
    child_unsafe.lower(resource.RLIMIT_AS, size + 16 * MIB, size + 16 * MIB)
    try:
        mmap.mmap(-1, 32 * MIB)
    except OSError:
        return
    raise RuntimeError("an allocation above the limit succeeded")


def _victim() -> None:
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write(child_unsafe.VICTIM)


def _namespaces(machine: Machine) -> None:
    user, group = os.geteuid(), os.getegid()
    kernel_unsafe.call("unshare", machine, _NEW_USER | _NEW_MOUNT | _NEW_PID)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as mapping:
            mapping.write(text)
    kernel_unsafe.call("mount", machine, b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    kernel_unsafe.call("mount", machine, b"trial", b"/tmp", b"tmpfs", 0, None)
