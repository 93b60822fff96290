"""The probe's findings are this machine's, and a machine that refuses is found out, not believed."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ringfence
from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Unenforceable, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe
from tests.sandbox.jail.driving import real_plan

ROOT = Path(__file__).parents[3]
SOURCE = Path(ringfence.__file__).parents[1]


@pytest.mark.slow
def test_the_findings_are_those_of_this_machine() -> None:
    found = probe()
    assert (found.system, found.machine, found.kernel) == (platform.system(), platform.machine(), platform.release())
    assert (found.uid, found.python) == (os.geteuid(), platform.python_version())
    assert found.seccomp.works, found.seccomp.why
    assert found.memory.works, found.memory.why
    assert found.other_user.works == (os.geteuid() == 0)
    assert (found.landlock > 0) == found.landlock_domain.works
    assert isinstance(plan_guest(found, GuestLimits()), JailPlan)


def test_a_process_probes_once() -> None:
    assert probe() is probe()


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "riscv64")])
def test_a_machine_without_a_jail_is_not_probed(system: str, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    found = probe.__wrapped__()
    assert not found.seccomp.works
    assert found.seccomp.why == f"not tried on {system} {machine}"
    assert isinstance(plan_guest(found, GuestLimits()), Unenforceable)


@pytest.mark.parametrize("executable", [None, "", "/no/such/python"])
def test_without_an_interpreter_nothing_is_promised(executable: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    found = probe.__wrapped__()
    assert not found.seccomp.works
    assert found.seccomp.why
    assert isinstance(plan_guest(found, GuestLimits()), Unenforceable)


def refusing(*names: str) -> dict[str, Any]:
    """What a host finds, and what happens to its jail, where the kernel refuses these calls to everybody."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.sandbox.jail.refusing_host", json.dumps(real_plan().to_json()), *names],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{SOURCE}:{ROOT}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_where_seccomp_is_refused_there_is_no_plan_and_no_jail() -> None:
    found = refusing("seccomp")
    assert found["missing"] == ["files", "network", "processes"]
    assert "Operation not permitted" in found["reason"]
    assert (found["code"], found["step"]) == ("sandbox_unavailable", "seccomp")
    assert found["children"] is False


@pytest.mark.slow
def test_where_landlock_is_refused_the_plan_does_without_and_an_older_plan_fails() -> None:
    if not probe().landlock:
        pytest.skip("there is no Landlock here to refuse")
    found = refusing("landlock_create_ruleset")
    assert found["missing"] == []
    assert found["landlock"] == 0
    assert (found["code"], found["step"]) == ("sandbox_unavailable", "landlock")


@pytest.mark.slow
def test_where_capabilities_cannot_be_dropped_there_is_no_jail() -> None:
    found = refusing("capset")
    assert (found["code"], found["step"]) == ("sandbox_unavailable", "capabilities")
