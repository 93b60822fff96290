"""A probe's findings as rows for people: what is walled off here, by what, and what would help where it is not.

Pure; `ringfence doctor` prints it. It also says what this tier does not give, because a list of ticks reads like more
than it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Probe, Unenforceable, plan_guest

State = Literal["enforced", "partly", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the doctor's report."""

    what: str
    state: State
    enforced_by: str
    """The mechanism; why there is none, when `state` is `missing`."""
    remedy: str = ""
    """What would help; empty when nothing is needed."""


def doctor_rows(probe: Probe) -> tuple[Row, ...]:
    """What a jailed script may do on the probed machine, most important first."""
    plan = plan_guest(probe, GuestLimits())
    if isinstance(plan, Unenforceable):
        return tuple(
            Row(what=item.permission, state="missing", enforced_by=item.reason, remedy=" or ".join(item.remedies))
            for item in plan.missing
        )
    return (*_walls(plan), *_gaps(probe, plan))


def _walls(plan: JailPlan) -> tuple[Row, ...]:
    by = plan.guarantees
    return (
        Row(what="files", state="enforced", enforced_by=by["files"]),
        Row(what="names, sizes and times of files", state="enforced", enforced_by=by["metadata"]),
        Row(what="network", state="enforced", enforced_by=by["network"]),
        Row(what="other programs and processes", state="enforced", enforced_by=by["processes"]),
        Row(what="environment variables", state="enforced", enforced_by=by["environment"]),
        Row(what="privileges", state="enforced", enforced_by=by["privileges"]),
        Row(what="memory", state="enforced", enforced_by=by["memory"]),
        Row(what="processor time", state="enforced", enforced_by=by["cpu"] + ", in whole seconds"),
        Row(what="time by the clock", state="enforced", enforced_by=by["time"]),
        Row(what="nothing left when the host dies", state="enforced", enforced_by=by["host death"]),
    )


def _gaps(probe: Probe, plan: JailPlan) -> tuple[Row, ...]:
    rows: list[Row] = []
    if not plan.landlock:
        rows.append(
            Row(
                what="a second wall around files, network and processes",
                state="missing",
                enforced_by=f"Landlock does not work ({probe.landlock_domain.why}); seccomp stands alone",
                remedy="Linux 6.12 or later with `landlock` in its `lsm=` boot option",
            )
        )
    elif plan.landlock < 6:
        rows.append(
            Row(
                what="a second wall around network and processes",
                state="partly",
                enforced_by=f"Landlock ABI {plan.landlock} knows files"
                + (" and TCP" if plan.landlock >= 4 else "")
                + "; seccomp stands alone for the rest",
                remedy="Linux 6.12 or later",
            )
        )
    if probe.uid == 0 and plan.user is None:
        rows.append(
            Row(
                what="another user than root",
                state="missing",
                enforced_by=f"root cannot change its user here ({probe.other_user.why}); it has no capabilities inside",
                remedy="run the host as an ordinary user",
            )
        )
    if not probe.victim.works:
        rows.append(
            Row(
                what="guests go first when the machine runs out of memory",
                state="missing",
                enforced_by=f"oom_score_adj cannot be set ({probe.victim.why})",
                remedy="mount /proc writable for the host",
            )
        )
    rows += [
        Row(
            what="machine code",
            state="partly",
            enforced_by="seccomp refuses new executable memory; what is loaded can still be called through ctypes",
        ),
        Row(
            what="kernel bugs, side channels, processor contention",
            state="missing",
            enforced_by="guests share the host's kernel and processors",
            remedy="run the host in a virtual machine of its own for code that is out to attack it",
        ),
        Row(
            what="namespaces (own file tree, own process numbers)",
            state="missing",
            enforced_by="not part of this tier; "
            + ("they would work here" if probe.namespaces.works else f"not possible here ({probe.namespaces.why})"),
        ),
    ]
    return tuple(rows)
