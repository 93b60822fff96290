"""A plan holds what the machine can enforce, or there is none and the reasons are complete."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ringfence.sandbox.jail.plan import (
    NOBODY,
    GuestLimits,
    JailPlan,
    Missing,
    Probe,
    ResourceLimit,
    Unenforceable,
    plan_guest,
)
from tests.sandbox.jail.findings import GOOD, ROOT, without


def planned(probe: Probe, limits: GuestLimits | None = None) -> JailPlan:
    plan = plan_guest(probe, limits or GuestLimits())
    assert isinstance(plan, JailPlan)
    return plan


def missing(probe: Probe) -> tuple[Missing, ...]:
    plan = plan_guest(probe, GuestLimits())
    assert isinstance(plan, Unenforceable)
    return plan.missing


def test_an_ordinary_user_keeps_its_user_and_gets_both_walls() -> None:
    plan = planned(GOOD)
    assert plan.zygote == (
        "descriptors",
        "signals",
        "victim",
        "imports",
        "scrub",
        "capabilities",
        "landlock",
        "seccomp",
        "check",
    )
    assert plan.child == ("parent", "descriptors", "landlock", "limits", "seccomp", "check")
    assert (plan.tier, plan.machine, plan.landlock, plan.user) == ("lsm", "x86_64", 7, None)
    assert (plan.zygote_calls, plan.child_calls) == ("guest_zygote", "guest")


def test_root_becomes_nobody_after_its_imports_and_before_the_walls() -> None:
    plan = planned(ROOT)
    assert plan.user == NOBODY
    assert plan.zygote.index("imports") < plan.zygote.index("user") < plan.zygote.index("capabilities")
    assert f"user {NOBODY}" in plan.guarantees["privileges"]


def test_root_that_cannot_change_its_user_stays_without_capabilities() -> None:
    plan = planned(without("Invalid argument", "other_user", base=ROOT))
    assert plan.user is None
    assert "user" not in plan.zygote
    assert plan.guarantees["privileges"] == "no_new_privs, no capabilities"


@pytest.mark.parametrize("probe", [GOOD, ROOT], ids=["ordinary", "root"])
def test_the_walls_close_after_the_imports_and_the_last_step_checks_them(probe: Probe) -> None:
    plan = planned(probe)
    assert plan.zygote.index("imports") < plan.zygote.index("landlock") < plan.zygote.index("seccomp")
    assert plan.zygote[-2:] == ("seccomp", "check")
    assert plan.child[-2:] == ("seccomp", "check")


def test_without_landlock_seccomp_stands_alone_and_no_guarantee_claims_more() -> None:
    for probe in (without("Function not implemented", "landlock_domain"), replace(GOOD, landlock=0)):
        plan = planned(probe)
        assert plan.landlock == 0
        assert "landlock" not in (*plan.zygote, *plan.child)
        assert "Landlock" not in json.dumps(plan.to_json())
        assert plan.guarantees["files"] == "seccomp"


def test_an_old_landlock_is_credited_only_with_what_it_knows() -> None:
    guarantees = planned(replace(GOOD, landlock=3)).guarantees
    assert [guarantees[name] for name in ("files", "network", "processes")] == [
        "seccomp, Landlock ABI 3",
        "seccomp",
        "seccomp",
    ]


def test_without_seccomp_there_is_no_jail_and_each_loss_is_named() -> None:
    found = missing(without("Operation not permitted", "seccomp"))
    assert [item.permission for item in found] == ["files", "network", "processes"]
    assert {item.reason for item in found} == {"seccomp filters do not work (Operation not permitted)"}
    assert all(item.remedies for item in found)


def test_without_a_memory_limit_there_is_no_jail() -> None:
    found = missing(without("RLIMIT_AS is not honoured", "memory"))
    assert [item.permission for item in found] == ["memory"]


def test_all_that_is_missing_is_named_at_once() -> None:
    found = missing(without("no", "seccomp", "memory"))
    assert [item.permission for item in found] == ["files", "network", "processes", "memory"]


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "riscv64")])
def test_elsewhere_there_is_no_jail(system: str, machine: str) -> None:
    found = missing(replace(GOOD, system=system, machine=machine))
    assert [(item.permission, item.reason) for item in found] == [
        ("everything", f"{system} on {machine} has no jail in ringfence")
    ]


def test_the_fault_names_everything_and_what_to_do() -> None:
    plan = plan_guest(without("no", "seccomp", "memory"), GuestLimits())
    assert isinstance(plan, Unenforceable)
    fault = plan.fault()
    assert fault.code == "sandbox_unavailable"
    assert all(name in fault.message for name in ("files", "network", "processes", "memory", "seccomp", "RLIMIT_AS"))
    assert fault.hint


def test_processor_time_is_rounded_up_and_ends_hard_a_second_later() -> None:
    pairs = {cpu: next(r for r in planned(GOOD, GuestLimits(cpu=cpu)).resources if r.name == "CPU") for cpu in (0.01, 1.0, 2.5)}  # fmt: skip
    assert pairs == {
        0.01: ResourceLimit(name="CPU", soft=1, hard=2),
        1.0: ResourceLimit(name="CPU", soft=1, hard=2),
        2.5: ResourceLimit(name="CPU", soft=3, hard=4),
    }


def test_a_guest_may_write_no_file_make_no_process_and_lock_no_memory() -> None:
    limits = {item.name: (item.soft, item.hard) for item in planned(GOOD, GuestLimits(open_files=9)).resources}
    zero = ("CORE", "FSIZE", "MEMLOCK", "MSGQUEUE", "NPROC", "RTPRIO", "SIGPENDING")
    assert limits == {"CPU": (30, 31), "NOFILE": (9, 9), **dict.fromkeys(zero, (0, 0))}


@pytest.mark.parametrize("probe", [GOOD, ROOT, replace(GOOD, machine="aarch64", landlock=0)])
def test_a_plan_survives_its_journey_as_json(probe: Probe) -> None:
    plan = planned(probe)
    assert JailPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
