"""Which mechanisms make a jail on this machine, or what is missing for one.

`plan_guest` turns what a probe found, and the limits asked for, into a `JailPlan`: plain values that travel as JSON to
the launcher, which carries out the steps in this order and refuses when one fails. Pure; it knows no process and no
system call. A wall that cannot be built is never left out in silence: seccomp is required, and what only adds to it
(Landlock, another user) is either in the plan or not in `guarantees`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from ringfence.errors import SandboxFault
from ringfence.limits import MIB
from ringfence.sandbox.jail.seccomp import Profile
from ringfence.sandbox.jail.syscalls import Machine, is_known

Tier = Literal["lsm"]

ZygoteStep = Literal[
    "descriptors", "signals", "victim", "imports", "scrub", "user", "capabilities", "landlock", "seccomp", "check"
]
ChildStep = Literal["parent", "descriptors", "limits", "landlock", "seccomp", "check"]

NOBODY: Final = 65_534
"""User and group that a jail started by root becomes: the kernel's overflow id, which owns no files."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether one thing works here."""

    works: bool
    why: str = ""
    """Why not; empty when it works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What this machine can enforce, found by doing it (`probe_unsafe`)."""

    system: str
    """`Linux`, or another system's name."""
    machine: str
    """`x86_64`, `aarch64`, or another."""
    kernel: str
    """The kernel's release text."""
    python: str
    """Version of the interpreter that guests run on."""
    uid: int
    """Effective user id of the host process."""
    seccomp: Finding
    """A filter was installed and refused a call."""
    landlock: int
    """ABI version; 0 where Landlock is absent."""
    landlock_domain: Finding
    """A domain was entered and refused to open a file."""
    other_user: Finding
    """Root only: becoming another user works. Does not work for anybody else, who need not."""
    memory: Finding
    """RLIMIT_AS was set, and an allocation above it failed."""
    victim: Finding
    """The process can ask to be killed first when memory runs out."""
    namespaces: Finding
    """User, mount and pid namespaces were made and a file system mounted in them (not used by guests yet)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLimits:
    """What one child may use. The kernel enforces these; time by the clock is the host's."""

    memory: int = 256 * MIB
    """Bytes of address space on top of what the waiting child has."""
    cpu: float = 30.0
    """Seconds of processor time, rounded up to whole ones. SIGXCPU then, SIGKILL one second later."""
    open_files: int = 16
    """Descriptors, the channel and the three standard ones included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimit:
    """One `setrlimit` of a child."""

    name: str
    """Without its `RLIMIT_`."""
    soft: int
    hard: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JailPlan:
    """How to build a jail: what the zygote does once, and what each child does after its fork."""

    tier: Tier
    machine: Machine
    zygote: tuple[ZygoteStep, ...]
    child: tuple[ChildStep, ...]
    zygote_calls: Profile
    """Filter of the zygote; every child is inside it too."""
    child_calls: Profile
    landlock: int
    """ABI that the domains are written for; 0 without Landlock."""
    user: int | None
    """Become this user and group; None to stay."""
    memory: int
    """Bytes of address space on top of what the zygote has when it forks."""
    resources: tuple[ResourceLimit, ...]
    """All other limits of a child."""
    guarantees: Mapping[str, str]
    """What is enforced: permission to mechanism."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> JailPlan:
        """The plan that `to_json` made. For the launcher, which trusts its host."""
        typed: dict[str, Any] = dict(fields)
        typed["zygote"] = tuple(fields["zygote"])
        typed["child"] = tuple(fields["child"])
        typed["resources"] = tuple(ResourceLimit(**limit) for limit in fields["resources"])
        return cls(**typed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """One thing that cannot be enforced here."""

    permission: str
    reason: str
    remedies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unenforceable:
    """No jail here, and why."""

    missing: tuple[Missing, ...]

    def fault(self) -> SandboxFault:
        """`sandbox_unavailable`, naming every missing thing and the first remedies."""
        reasons = dict.fromkeys(f"{item.permission}: {item.reason}" for item in self.missing)
        remedies = dict.fromkeys(remedy for item in self.missing for remedy in item.remedies)
        return SandboxFault(
            "this machine cannot enforce the jail: " + "; ".join(reasons),
            code="sandbox_unavailable",
            hint=" or ".join(remedies),
        )


_ELSEWHERE: Final = "run the host on Linux 5.13 or later, x86-64 or aarch64 (a virtual machine will do)"
_SECCOMP_REMEDIES: Final = (
    "use a kernel built with CONFIG_SECCOMP_FILTER, outside any sandbox that refuses seccomp(2)",
    "in a container, allow seccomp(2) and prctl(2) (Docker's default profile does)",
)
_MEMORY_REMEDIES: Final = (
    "mount /proc",
    "use a kernel that enforces RLIMIT_AS (every Linux does; some emulations of it do not)",
)


def plan_guest(probe: Probe, limits: GuestLimits) -> JailPlan | Unenforceable:
    """A jail for a script guest: no files, no network, no other process, bounded memory and processor time."""
    if probe.system != "Linux" or not is_known(probe.machine):
        reason = f"{probe.system} on {probe.machine} has no jail in ringfence"
        return Unenforceable((Missing(permission="everything", reason=reason, remedies=(_ELSEWHERE,)),))
    missing: list[Missing] = []
    if not probe.seccomp.works:
        reason = f"seccomp filters do not work ({probe.seccomp.why})"
        missing += [
            Missing(permission=permission, reason=reason, remedies=_SECCOMP_REMEDIES)
            for permission in ("files", "network", "processes")
        ]
    if not probe.memory.works:
        reason = f"RLIMIT_AS does not work ({probe.memory.why})"
        missing.append(Missing(permission="memory", reason=reason, remedies=_MEMORY_REMEDIES))
    if missing:
        return Unenforceable(tuple(missing))
    return _build(probe, probe.machine, limits)


def _build(probe: Probe, machine: Machine, limits: GuestLimits) -> JailPlan:
    landlock = probe.landlock if probe.landlock_domain.works else 0
    user = NOBODY if probe.uid == 0 and probe.other_user.works else None
    optional = {"victim": probe.victim.works, "user": user is not None, "landlock": landlock > 0}
    zygote: tuple[ZygoteStep, ...] = (
        "descriptors",
        "signals",
        "victim",
        # before the walls close, and before the user changes: the interpreter may live in root's home
        "imports",
        "scrub",
        "user",
        "capabilities",
        "landlock",
        "seccomp",
        "check",
    )
    # a domain needs a descriptor for a moment, so it comes before their number is limited
    child: tuple[ChildStep, ...] = ("parent", "descriptors", "landlock", "limits", "seccomp", "check")
    return JailPlan(
        tier="lsm",
        machine=machine,
        zygote=tuple(step for step in zygote if optional.get(step, True)),
        child=tuple(step for step in child if optional.get(step, True)),
        zygote_calls="guest_zygote",
        child_calls="guest",
        landlock=landlock,
        user=user,
        memory=limits.memory,
        resources=_resources(limits),
        guarantees=_guarantees(landlock, user),
    )


def _resources(limits: GuestLimits) -> tuple[ResourceLimit, ...]:
    seconds = max(1, math.ceil(limits.cpu))
    zero = ("CORE", "FSIZE", "MEMLOCK", "MSGQUEUE", "NPROC", "RTPRIO", "SIGPENDING")
    return (
        ResourceLimit(name="CPU", soft=seconds, hard=seconds + 1),
        ResourceLimit(name="NOFILE", soft=limits.open_files, hard=limits.open_files),
        *(ResourceLimit(name=name, soft=0, hard=0) for name in zero),
    )


def _guarantees(landlock: int, user: int | None) -> dict[str, str]:
    files = f"seccomp, Landlock ABI {landlock}" if landlock else "seccomp"
    network = f"seccomp, Landlock ABI {landlock}" if landlock >= 4 else "seccomp"
    processes = f"seccomp, Landlock ABI {landlock}" if landlock >= 6 else "seccomp"
    return {
        "files": files,
        "metadata": "seccomp",
        "network": network,
        "processes": processes,
        "environment": "exec with an empty environment",
        "privileges": "no_new_privs, no capabilities" + (f", user {user}" if user is not None else ""),
        "memory": "RLIMIT_AS",
        "cpu": "RLIMIT_CPU",
        "time": "SIGKILL by the host's clock",
        "host death": "end of file on the control socket, PDEATHSIG",
    }
