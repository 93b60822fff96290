"""System call filters as data, and their translation to the kernel's filter machine (classic BPF).

A profile is a list of rules: a call that may be made, perhaps only with certain values in one of its arguments.
Whatever no rule names is refused with EPERM, so that Python raises `PermissionError` instead of dying. Pointers
cannot be looked into, which is why no call that takes a path is on a list. Pure: `kernel_unsafe` installs the result,
the plan names the profile, and the tests run every call number through a simulator.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from ringfence.sandbox.jail.syscalls import AUDIT_ARCH, X32_BIT, Machine, number

Profile = Literal["guest_zygote", "guest"]

# instruction codes of the filter machine (linux/bpf_common.h)
LOAD: Final = 0x20
AND: Final = 0x54
JUMP_EQUAL: Final = 0x15
JUMP_AT_LEAST: Final = 0x35
RETURN: Final = 0x06

# what a filter may answer (linux/seccomp.h)
ALLOW: Final = 0x7FFF_0000
KILL_PROCESS: Final = 0x8000_0000
_ERRNO: Final = 0x0005_0000
REFUSE: Final = _ERRNO | errno.EPERM
ABSENT: Final = _ERRNO | errno.ENOSYS

# places in struct seccomp_data
_AT_NUMBER: Final = 0
_AT_ARCH: Final = 4
_AT_ARGUMENTS: Final = 16

WORD: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One argument's low 32 bits, masked, must be one of a few values. (The kernel reads no more of these.)"""

    argument: int
    """0 to 5."""
    values: tuple[int, ...]
    mask: int = WORD


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One call that is let through when all checks hold, or answered with `otherwise`."""

    name: str
    checks: tuple[Check, ...] = ()
    otherwise: int = REFUSE
    never: bool = False
    """Answer `otherwise` whatever the arguments are."""


_PROT_EXEC: Final = 4
_MAP_HUGETLB: Final = 0x4_0000
_FUTEX_FLAGS: Final = 0x80 | 0x100
_FUTEX_PLAIN: Final = (0, 1, 9, 10)  # WAIT, WAKE and their BITSET forms; requeueing and PI had root exploits
_F_GETFD, _F_GETFL = 1, 3  # not F_SETFL: /dev/null is one open file for all children, its flags would be a letterbox
_MADVISE: Final = (4, 8, 14, 15)  # DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE: what allocators ask

_NO_MACHINE_CODE: Final = Check(argument=2, mask=_PROT_EXEC, values=(0,))

# glibc forks by clone: SIGCHLD, and two flags that only say where the thread id is stored. musl has fork itself.
_SIGCHLD: Final = 17
_CHILD_SETTID, _CHILD_CLEARTID = 0x0100_0000, 0x0020_0000

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38

_GUEST: Final[tuple[Rule, ...]] = (
    Rule(name="mmap", checks=(_NO_MACHINE_CODE, Check(argument=3, mask=_MAP_HUGETLB, values=(0,)))),
    Rule(name="mprotect", checks=(_NO_MACHINE_CODE,)),
    Rule(name="futex", checks=(Check(argument=1, mask=WORD & ~_FUTEX_FLAGS, values=_FUTEX_PLAIN),)),
    Rule(name="madvise", checks=(Check(argument=2, values=_MADVISE),)),
    Rule(name="fcntl", checks=(Check(argument=1, values=(_F_GETFD, _F_GETFL)),)),
    Rule(name="clone3", never=True, otherwise=ABSENT),  # its flags are behind a pointer; libc falls back to clone
    *(
        Rule(name=name)
        for name in (
            # the channel
            "read write readv writev poll ppoll close fstat lseek "
            # memory
            "munmap mremap brk "
            # time, chance, itself
            "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getrandom getpid gettid getrusage "
            # its own signal handlers
            "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack "
            "sched_yield restart_syscall exit exit_group"
        ).split()
    ),
)

_GUEST_ZYGOTE: Final[tuple[Rule, ...]] = (
    *_GUEST,
    Rule(name="clone", checks=(Check(argument=0, mask=WORD & ~(_CHILD_SETTID | _CHILD_CLEARTID), values=(_SIGCHLD,)),)),
    Rule(name="prctl", checks=(Check(argument=0, values=(_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS)),)),
    Rule(name="prlimit64", checks=(Check(argument=0, values=(0,)),)),
    *(
        Rule(name=name)
        for name in (
            # children
            "fork wait4 kill getppid set_robust_list "
            # control messages and the descriptors in them
            "recvmsg sendmsg dup dup2 dup3 close_range "
            # the size it has, read from a descriptor that was opened before
            "pread64 "
            # a child's own walls
            "seccomp landlock_create_ruleset landlock_restrict_self"
        ).split()
    ),
)

PROFILES: Final = MappingProxyType[Profile, tuple[Rule, ...]]({"guest": _GUEST, "guest_zygote": _GUEST_ZYGOTE})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of the filter machine; jumps count instructions after this one."""

    code: int
    k: int
    if_true: int = 0
    if_false: int = 0


def assemble(profile: Profile, machine: Machine) -> tuple[Instruction, ...]:
    """The filter of a profile: architecture word, then the looked-into calls, then the plain list, then EPERM."""
    rules = PROFILES[profile]
    plain = [nr for rule in rules if not (rule.checks or rule.never) and (nr := number(rule.name, machine)) is not None]
    program = [
        Instruction(LOAD, _AT_ARCH),
        Instruction(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        Instruction(RETURN, KILL_PROCESS),
        Instruction(LOAD, _AT_NUMBER),
    ]
    if machine == "x86_64":
        program += [Instruction(JUMP_AT_LEAST, X32_BIT, 0, 1), Instruction(RETURN, REFUSE)]
    for rule in rules:
        nr = number(rule.name, machine)
        if nr is not None and (rule.checks or rule.never):
            body = [Instruction(RETURN, rule.otherwise)] if rule.never else _body(rule)
            program += [Instruction(JUMP_EQUAL, nr, 0, len(body)), *body]
    program += [Instruction(JUMP_EQUAL, nr, len(plain) - at, 0) for at, nr in enumerate(sorted(plain))]
    program += [Instruction(RETURN, REFUSE), Instruction(RETURN, ALLOW)]
    return tuple(program)


def _body(rule: Rule) -> list[Instruction]:
    """Checks in a row, the verdicts at the end. Every path returns, for the call's number is no longer loaded."""
    body: list[Instruction] = []
    for check in reversed(rule.checks):
        block = [Instruction(LOAD, _AT_ARGUMENTS + 8 * check.argument)]
        if check.mask != WORD:
            block.append(Instruction(AND, check.mask))
        count = len(check.values)
        to_refusal = len(body) + 1  # over the later checks and the RETURN ALLOW
        for at, value in enumerate(check.values):
            last = at == count - 1
            block.append(Instruction(JUMP_EQUAL, value, count - 1 - at, to_refusal if last else 0))
        body = block + body
    return [*body, Instruction(RETURN, ALLOW), Instruction(RETURN, rule.otherwise)]


def encode(program: tuple[Instruction, ...]) -> bytes:
    """`struct sock_filter` array for the kernel."""
    return b"".join(struct.pack("=HBBI", step.code, step.if_true, step.if_false, step.k) for step in program)
