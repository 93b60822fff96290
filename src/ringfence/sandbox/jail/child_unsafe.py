"""Inside the jail: what a forked child does before the guest's first instruction, and the guest's only way out after.

Descriptor 3 is the guest's channel; 0 to 2 are /dev/null. While it closes itself in, a child has a pipe to its zygote
to say which step failed; it is closed before the engine runs, so a guest cannot claim anything there.
Called by `zygote_unsafe` after its fork.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from ringfence.sandbox.jail import kernel_unsafe, landlock_unsafe, seccomp
from ringfence.sandbox.jail.plan import ChildStep, JailPlan

# Descriptors 3 to 5 are taken in every zygote, so that a channel always arrives on a higher one.
SIZE: Final = 3
"""The zygote's /proc/self/statm; in a child, its place is the channel's."""
CHANNEL: Final = SIZE
TROUBLE_READ: Final = 4
TROUBLE: Final = 5
DESCRIPTORS: Final = 64
"""No zygote has one above this (its own RLIMIT_NOFILE)."""

REFUSED: Final = 125
"""Exit code of a process whose jail could not be built."""
RAISED: Final = 1
"""Exit code of a child whose engine raised."""

VICTIM: Final = "1000"
"""`oom_score_adj` of a jail: first to go when the machine runs out of memory."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def must_refuse(what: str, attempt: Callable[[], object]) -> None:
    """Try something that the walls must refuse.

    Raises:
        RuntimeError: it worked.
    """
    try:
        attempt()
    except PermissionError:
        return
    raise RuntimeError(f"{what} is still possible")


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """What every child of one zygote needs, worked out once before the first fork."""

    plan: JailPlan
    serve: Callable[[int], None]
    zygote: int
    """Process id."""
    program: bytes
    resources: tuple[tuple[int, int, int], ...]
    """`RLIMIT_*`, soft, hard."""

    @classmethod
    def prepare(cls, plan: JailPlan, serve: Callable[[int], None]) -> Birth:
        return cls(
            plan=plan,
            serve=serve,
            zygote=os.getpid(),
            program=seccomp.encode(seccomp.assemble(plan.child_calls, plan.machine)),
            resources=tuple(
                (int(getattr(resource, f"RLIMIT_{limit.name}")), limit.soft, limit.hard) for limit in plan.resources
            ),
        )

    def become_guest(self, id_: int, channel: int) -> NoReturn:
        """Close this fresh fork in, then hand it to the engine."""
        steps: dict[ChildStep, Callable[[], None]] = {
            "parent": lambda: kernel_unsafe.die_with(self.zygote),
            "descriptors": lambda: _keep_only(channel),
            "landlock": lambda: landlock_unsafe.close_everything(self.plan.landlock, self.plan.machine),
            "limits": lambda: self._limit(size),
            "seccomp": lambda: kernel_unsafe.install_filter(self.program, self.plan.machine),
            "check": lambda: must_refuse("getppid", lambda: kernel_unsafe.call("getppid", self.plan.machine)),
        }
        step = "size"
        try:
            size = _address_space()
            for step in self.plan.child:
                steps[step]()
        except BaseException as error:  # noqa: BLE001 - whatever it was, no guest runs
            text = " ".join(f"{id_} {step}: {type(error).__name__}: {error}".split())
            os.write(TROUBLE, text.encode()[:400] + b"\n")
            os._exit(REFUSED)
        os.close(TROUBLE)
        try:
            self.serve(CHANNEL)
        except BaseException:  # noqa: BLE001 - nothing of this process may run on
            os._exit(RAISED)
        os._exit(0)

    def _limit(self, size: int) -> None:
        for kind, soft, hard in self.resources:
            lower(kind, soft, hard)
        lower(resource.RLIMIT_AS, size + self.plan.memory, size + self.plan.memory)


def lower(kind: int, soft: int, hard: int) -> None:
    """Set a limit, or keep the host's where that is lower already."""
    highest = resource.getrlimit(kind)[1]
    if highest != resource.RLIM_INFINITY:
        soft, hard = min(soft, highest), min(hard, highest)
    resource.setrlimit(kind, (soft, hard))


def _address_space() -> int:
    """Bytes that the zygote has mapped, and therefore this fork of it."""
    return int(os.pread(SIZE, 64, 0).split()[0]) * _PAGE


def _keep_only(channel: int) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(channel, CHANNEL)
    os.close(TROUBLE_READ)
    os.closerange(TROUBLE + 1, DESCRIPTORS)


def read_troubles() -> list[tuple[int, str]]:
    """In the zygote: what failing children said, as (host's id, step and reason)."""
    try:
        text = os.read(TROUBLE_READ, 65_536).decode(errors="replace")
    except BlockingIOError:
        return []
    parts = [line.partition(" ") for line in text.splitlines()]
    return [(int(id_), why) for id_, _, why in parts]
