"""Whatever number a guest puts into a register, only the list gets through, on both architectures."""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable

import pytest

from ringfence.sandbox.jail.seccomp import ABSENT, ALLOW, KILL_PROCESS, PROFILES, REFUSE, Profile, assemble, encode
from ringfence.sandbox.jail.syscalls import AUDIT_ARCH, MACHINES, X32_BIT, Machine, number
from tests.sandbox.jail.filter_machine import Call, verdict

HIGHEST = 1024
"""Above every number that either architecture has."""

GUEST = frozenset(
    "read write readv writev poll ppoll close fstat lseek mmap mprotect munmap mremap brk madvise futex clock_gettime "
    "clock_getres clock_nanosleep nanosleep gettimeofday time getrandom getpid gettid getrusage rt_sigaction "
    "rt_sigprocmask rt_sigreturn sigaltstack sched_yield restart_syscall exit exit_group fcntl".split()
)
ZYGOTE = GUEST | frozenset(
    "clone fork prctl prlimit64 wait4 kill getppid set_robust_list recvmsg sendmsg dup dup2 dup3 close_range pread64 seccomp "
    "landlock_create_ruleset landlock_restrict_self".split()
)
LISTS: dict[Profile, frozenset[str]] = {"guest": GUEST, "guest_zygote": ZYGOTE}

PASSING: dict[str, tuple[int, ...]] = {
    "fcntl": (3, 1),
    "madvise": (0, 4096, 4),
    "clone": (17,),
    "prctl": (1,),
    "mmap": (0, 4096, 3, 0x22),
}
"""Arguments that pass, for calls that are looked into; the others pass with zeros."""

both = pytest.mark.parametrize("machine", MACHINES)
each = pytest.mark.parametrize("profile", sorted(PROFILES))


def ask(profile: Profile, machine: Machine, nr: int, *arguments: int) -> int:
    return verdict(assemble(profile, machine), Call(nr, AUDIT_ARCH[machine], arguments))


def judge(profile: Profile, machine: Machine) -> Callable[..., int]:
    program = assemble(profile, machine)

    def verdict_of(name: str, *arguments: int) -> int:
        nr = number(name, machine)
        assert nr is not None
        return verdict(program, Call(nr, AUDIT_ARCH[machine], arguments))

    return verdict_of


@both
@each
def test_exactly_the_listed_calls_pass_with_their_best_arguments(profile: Profile, machine: Machine) -> None:
    program = assemble(profile, machine)
    names = {number(name, machine): name for name in LISTS[profile]}
    passed = {
        nr
        for nr in range(HIGHEST)
        if verdict(program, Call(nr, AUDIT_ARCH[machine], PASSING.get(names.get(nr, ""), ()))) == ALLOW
    }
    assert passed == set(names) - {None}


@both
@each
def test_every_other_call_is_refused_whatever_its_arguments(profile: Profile, machine: Machine) -> None:
    program = assemble(profile, machine)
    listed = {number(name, machine) for name in LISTS[profile]}
    for arguments in ((), (1, 1, 1, 1, 1, 1), ((1 << 64) - 1,) * 6, (3, 0x5421), (0, 4096, 3, 0x22), (17,)):
        verdicts = {
            nr: verdict(program, Call(nr, AUDIT_ARCH[machine], arguments)) for nr in range(HIGHEST) if nr not in listed
        }
        clone3 = number("clone3", machine)
        assert {nr for nr, answer in verdicts.items() if answer != REFUSE} == {clone3}
        assert verdicts[clone3 or 0] == ABSENT


@both
@each
def test_a_call_of_another_architecture_kills(profile: Profile, machine: Machine) -> None:
    program = assemble(profile, machine)
    i386, arm, other = 0x40000003, 0x40000028, AUDIT_ARCH["aarch64" if machine == "x86_64" else "x86_64"]
    answers = {verdict(program, Call(nr, arch)) for nr in range(HIGHEST) for arch in (i386, arm, other, 0)}
    assert answers == {KILL_PROCESS}


@each
def test_the_x32_table_is_refused(profile: Profile) -> None:
    program = assemble(profile, "x86_64")
    answers = {verdict(program, Call(nr | X32_BIT, AUDIT_ARCH["x86_64"])) for nr in range(HIGHEST)}
    assert answers == {REFUSE}


@both
@each
def test_negative_and_huge_numbers_are_refused(profile: Profile, machine: Machine) -> None:
    assert {ask(profile, machine, nr) for nr in (0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3FFFFFFF)} == {REFUSE}


@both
@each
def test_memory_never_becomes_executable(profile: Profile, machine: Machine) -> None:
    judged = judge(profile, machine)
    for name in ("mmap", "mprotect"):
        allowed = {protection for protection in range(16) if judged(name, 0, 4096, protection, 0x22) == ALLOW}
        assert allowed == {protection for protection in range(16) if not protection & 4}
    assert judged("mprotect", 0, 4096, (1 << 40) | 4) == REFUSE


@both
def test_huge_pages_of_the_machine_are_not_for_guests(machine: Machine) -> None:
    judged = judge("guest", machine)
    assert judged("mmap", 0, 4096, 3, 0x22) == ALLOW
    assert judged("mmap", 0, 4096, 3, 0x22 | 0x40000) == REFUSE


@both
def test_futexes_only_wait_and_wake(machine: Machine) -> None:
    judged = judge("guest", machine)
    allowed = {op for op in range(16) if judged("futex", 1, op) == ALLOW}
    assert allowed == {0, 1, 9, 10}
    assert all(judged("futex", 1, op | 0x80 | 0x100) == (ALLOW if op in allowed else REFUSE) for op in range(16))


@both
def test_descriptors_can_be_looked_at_but_not_changed(machine: Machine) -> None:
    judged = judge("guest", machine)
    assert {command for command in range(1100) if judged("fcntl", 3, command) == ALLOW} == {1, 3}


@both
def test_memory_advice_is_what_allocators_give(machine: Machine) -> None:
    judged = judge("guest", machine)
    assert {advice for advice in range(120) if judged("madvise", 0, 4096, advice) == ALLOW} == {4, 8, 14, 15}


@both
def test_a_zygote_forks_but_makes_neither_threads_nor_namespaces(machine: Machine) -> None:
    judged = judge("guest_zygote", machine)
    plain_fork, glibc_fork = 17, 17 | 0x01000000 | 0x00200000
    thread, vfork, no_signal = 0x3D0F00, 0x4111, 0
    namespaces = [17 | 1 << bit for bit in (7, 17, 25, 26, 27, 28, 29, 30)]
    assert [judged("clone", flags) for flags in (plain_fork, glibc_fork)] == [ALLOW, ALLOW]
    assert {judged("clone", flags) for flags in (thread, vfork, no_signal, *namespaces)} == {REFUSE}


@both
def test_a_zygote_limits_only_itself(machine: Machine) -> None:
    judged = judge("guest_zygote", machine)
    assert [judged("prlimit64", pid) for pid in (0, 1, 4321)] == [ALLOW, REFUSE, REFUSE]
    assert {option for option in range(80) if judged("prctl", option) == ALLOW} == {1, 38}


@both
def test_a_guest_is_refused_everything_that_only_its_zygote_may_do(machine: Machine) -> None:
    judged = judge("guest", machine)
    mine = {name for name in ZYGOTE - GUEST if number(name, machine) is not None}
    assert {judged(name, *PASSING.get(name, ())) for name in mine} == {REFUSE}


@both
@each
def test_a_program_has_the_shape_that_the_kernel_takes(profile: Profile, machine: Machine) -> None:
    program = assemble(profile, machine)
    assert len(program) <= 4096
    assert all(0 <= jump <= 255 for step in program for jump in (step.if_true, step.if_false))
    data = encode(program)
    assert len(data) == 8 * len(program)
    assert struct.unpack_from("=HBBI", data, 8) == (0x15, 1, 0, AUDIT_ARCH[machine])


def test_a_refusal_is_a_permission_error_to_python() -> None:
    assert (REFUSE & 0xFFFF, ABSENT & 0xFFFF) == (errno.EPERM, errno.ENOSYS)
