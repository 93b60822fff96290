"""What this machine can enforce, shown (`cli.doctor`)."""

from __future__ import annotations

from dataclasses import replace

from ringfence.cli.doctor import document, report
from ringfence.cli.streams import UNWRAPPED
from ringfence.sandbox.jail.plan import Finding, Probe
from ringfence.sandbox.jail.report import doctor_rows
from tests.cli.consoles import recorded

FINE = Probe(
    system="Linux",
    machine="x86_64",
    kernel="6.12",
    python="3.11.7",
    uid=1000,
    seccomp=Finding(True),
    landlock=6,
    landlock_domain=Finding(True),
    other_user=Finding(False, "not root"),
    memory=Finding(True),
    victim=Finding(True),
    namespaces=Finding(True),
)
BARE = replace(FINE, seccomp=Finding(False, "EPERM \x1b[2J[bold]"))


def text(found: Probe, *, can_jail: bool) -> str:
    console, buffer = recorded()
    console.print(report(found, doctor_rows(found), can_jail=can_jail))
    return buffer.getvalue()


def test_a_machine_that_can_jail_is_told_so_with_every_row() -> None:
    shown = text(FINE, can_jail=True)
    assert "Linux 6.12 on x86_64, Python 3.11.7, user id 1000" in shown
    assert "Scripts can be jailed here." in shown
    assert sum(line.startswith(("yes", "partly", "no ")) for line in shown.splitlines()) == len(doctor_rows(FINE))


def test_a_machine_that_cannot_is_told_why_and_what_helps() -> None:
    shown = text(BARE, can_jail=False)
    assert "Scripts cannot be jailed here" in shown
    assert "fix: " in shown
    assert "\x1b" not in shown
    assert "[bold]" in " ".join(shown.split())


def test_it_fits_eighty_columns() -> None:
    assert max(map(len, text(FINE, can_jail=True).splitlines())) <= 80


def test_a_pipe_gets_one_line_for_each_row() -> None:
    console, buffer = recorded(width=UNWRAPPED)
    rows = doctor_rows(BARE)
    console.print(report(BARE, rows, can_jail=False, wraps=False))
    lines = [" ".join(line.split()) for line in buffer.getvalue().splitlines()]
    for row in rows:
        assert sum(" ".join(row.what.split()) in line for line in lines) == 1


def test_the_document_has_the_verdict_the_findings_and_the_rows() -> None:
    rows = doctor_rows(BARE)
    found = document(BARE, rows, can_jail=False)
    assert found.keys() == {"can_jail", "machine", "rows"}
    assert found["can_jail"] is False
    assert found["machine"]["seccomp"] == {"works": False, "why": "EPERM \x1b[2J[bold]"}
    assert [row["what"] for row in found["rows"]] == [row.what for row in rows]
    assert set(found["rows"][0]) == {"what", "state", "enforced_by", "remedy"}
