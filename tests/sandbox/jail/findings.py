"""Made-up findings, to plan for machines that the tests do not run on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ringfence.sandbox.jail.plan import Finding, Probe

WORKS = Finding(True)

GOOD = Probe(
    system="Linux",
    machine="x86_64",
    kernel="6.18.0",
    python="3.13.1",
    uid=1000,
    seccomp=WORKS,
    landlock=7,
    landlock_domain=WORKS,
    other_user=Finding(False, "not root, so there is no need"),
    memory=WORKS,
    victim=WORKS,
    namespaces=WORKS,
)
"""An ordinary user on a recent kernel."""

ROOT = replace(GOOD, uid=0, other_user=WORKS)


def without(why: str, *names: str, base: Probe = GOOD) -> Probe:
    """The same machine where some mechanisms fail."""
    changes: dict[str, Any] = {name: Finding(False, why) for name in names}
    return replace(base, **changes)
