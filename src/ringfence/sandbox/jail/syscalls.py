"""Numbers of the system calls that the jail names, for the architectures it knows.

Data only. `seccomp` turns it into filters; the kernel wrappers look up the calls that libc has no function for.
Sources: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal, TypeGuard

Machine = Literal["x86_64", "aarch64"]

MACHINES: Final[tuple[Machine, ...]] = ("x86_64", "aarch64")

AUDIT_ARCH: Final = MappingProxyType[Machine, int]({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})
"""What `seccomp_data.arch` holds for a native call; 32-bit calls carry another word."""

X32_BIT: Final = 0x4000_0000
"""Set in the number of an x32 call, which shares x86-64's architecture word."""

# name: (x86-64, aarch64); None where the architecture has no such call
_NUMBERS: Final[dict[str, tuple[int | None, int | None]]] = {
    "brk": (12, 214),
    "capget": (125, 90),
    "capset": (126, 91),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fcntl": (72, 25),
    "fork": (57, None),
    "fstat": (5, 80),
    "futex": (202, 98),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "kill": (62, 129),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lseek": (8, 62),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mount": (165, 40),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "pread64": (17, 67),
    "prlimit64": (302, 261),
    "read": (0, 63),
    "readv": (19, 65),
    "recvmsg": (47, 212),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "sendmsg": (46, 211),
    "set_robust_list": (273, 99),
    "sigaltstack": (131, 132),
    "socket": (41, 198),
    "time": (201, None),
    "unshare": (272, 97),
    "wait4": (61, 260),
    "write": (1, 64),
    "writev": (20, 66),
}


NAMES: Final = tuple(_NUMBERS)
"""Every call that has a number here."""


def is_known(machine: str) -> TypeGuard[Machine]:
    return machine in MACHINES


def number(name: str, machine: Machine) -> int | None:
    """The call's number, None where the architecture does not have it."""
    return _NUMBERS[name][MACHINES.index(machine)]
