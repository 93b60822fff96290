"""The doctor's rows say what holds, by what, and what does not; never more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ringfence.sandbox.jail.plan import Finding, Probe
from ringfence.sandbox.jail.report import Row, doctor_rows
from tests.sandbox.jail.findings import GOOD, ROOT, without


def row(probe: Probe, what: str) -> Row:
    return next(item for item in doctor_rows(probe) if what in item.what)


def test_a_good_machine_enforces_every_wall_and_admits_three_gaps() -> None:
    rows = doctor_rows(GOOD)
    assert [item.what for item in rows if item.state == "enforced"] == [
        "files",
        "names, sizes and times of files",
        "network",
        "other programs and processes",
        "environment variables",
        "privileges",
        "memory",
        "processor time",
        "time by the clock",
        "nothing left when the host dies",
    ]
    assert [(item.what, item.state) for item in rows if item.state != "enforced"] == [
        ("machine code", "partly"),
        ("kernel bugs, side channels, processor contention", "missing"),
        ("namespaces (own file tree, own process numbers)", "missing"),
    ]


def test_without_seccomp_nothing_is_called_enforced() -> None:
    rows = doctor_rows(without("Operation not permitted", "seccomp"))
    assert [(item.what, item.state) for item in rows] == [
        ("files", "missing"),
        ("network", "missing"),
        ("processes", "missing"),
    ]
    assert all(item.remedy and "Operation not permitted" in item.enforced_by for item in rows)


@pytest.mark.parametrize(
    ("probe", "what", "state"),
    [
        (without("Operation not supported", "landlock_domain"), "a second wall around files", "missing"),
        (replace(GOOD, landlock=3), "a second wall around network", "partly"),
        (replace(GOOD, landlock=4), "a second wall around network", "partly"),
        (without("Invalid argument", "other_user", base=ROOT), "another user than root", "missing"),
        (without("Read-only file system", "victim"), "guests go first", "missing"),
    ],
)
def test_a_weaker_machine_says_what_is_weaker_and_what_helps(probe: Probe, what: str, state: str) -> None:
    found = row(probe, what)
    assert found.state == state
    assert found.remedy


def test_namespaces_are_reported_as_found_although_no_guest_uses_them() -> None:
    denied = replace(GOOD, namespaces=Finding(False, "Operation not permitted"))
    assert "would work here" in row(GOOD, "namespaces").enforced_by
    assert "Operation not permitted" in row(denied, "namespaces").enforced_by


def test_elsewhere_everything_is_missing() -> None:
    rows = doctor_rows(replace(GOOD, system="Darwin", machine="arm64"))
    assert [(item.what, item.state) for item in rows] == [("everything", "missing")]
