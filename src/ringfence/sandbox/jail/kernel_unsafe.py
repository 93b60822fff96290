"""The few kernel calls that a jail needs and Python does not have, by ctypes. No policy here: callers say what, and when.

Used inside jailed processes and by the probe's throw-away ones, never in the host. Every function raises `OSError` when
the kernel refuses; none falls back to less.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from typing import Final

from ringfence.sandbox.jail.syscalls import Machine, number

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4

_CAP_SETPCAP: Final = 8
_CAPABILITY_VERSION: Final = 0x2008_0522

_SET_MODE_FILTER: Final = 1
_ALL_THREADS: Final = 1


def call(name: str, machine: Machine, *arguments: int | bytes | None) -> int:
    """A system call by its number. Bytes are passed as a pointer.

    Raises:
        OSError: the kernel said no, or the architecture has no such call.
    """
    nr = number(name, machine)
    if nr is None:
        raise OSError(errno.ENOSYS, f"{machine} has no {name}")
    passed = [ctypes.c_long(item) if isinstance(item, int) else ctypes.c_char_p(item) for item in arguments]
    ctypes.set_errno(0)
    result: int = _libc.syscall(ctypes.c_long(nr), *passed)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def _prctl(option: int, *arguments: int) -> int:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    ctypes.set_errno(0)
    result: int = _libc.prctl(ctypes.c_int(option), *(ctypes.c_ulong(item) for item in padded))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")
    return result


def no_new_privileges() -> None:
    """No program run from here on gains rights; the kernel asks for this before an ordinary user's filter."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def no_core_dumps() -> None:
    """RLIMIT_CORE does not stop a core that is piped to a crash handler. Also keeps other processes of the same user
    from tracing this one and from reading its memory."""
    _prctl(_PR_SET_DUMPABLE, 0)


def die_with(parent: int) -> None:
    """SIGKILL for this process when its parent ends. Only right when the parent has a single thread.

    Raises:
        ProcessLookupError: the parent is gone already.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError(errno.ESRCH, "the parent has ended")


def drop_bounding_set() -> None:
    """Root's way back to capabilities by exec. Others need not: they hold none, and no_new_privs keeps it so."""
    if not _effective_capabilities() >> _CAP_SETPCAP & 1:
        return
    for capability in range(64):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # past the last one that this kernel knows
                return
            raise


def drop_capabilities(machine: Machine) -> None:
    """Empty ambient, effective, permitted and inheritable sets."""
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    call("capset", machine, struct.pack("<II", _CAPABILITY_VERSION, 0), bytes(24))


def _effective_capabilities() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))


class _Program(ctypes.Structure):
    """`struct sock_fprog`. Made once, because making a class costs a fork more than its system call."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def install_filter(program: bytes, machine: Machine) -> None:
    """Put a seccomp filter (`seccomp.encode`) on every thread of this process, for good."""
    header = _Program(len(program) // 8, program)
    stuck = call("seccomp", machine, _SET_MODE_FILTER, _ALL_THREADS, bytes(header))
    if stuck:
        raise OSError(errno.EBUSY, f"seccomp: thread {stuck} has another filter")


def clear_environment() -> None:
    """Libc's copy too, so that nothing in this process can read it back."""
    os.environ.clear()
    if _libc.clearenv():
        raise OSError(errno.ENOMEM, "clearenv")
