"""What a sandbox driver claims to enforce: said in known words, and true as far as it can be tried without harm.

Three claims can: a function that never waits, an environment variable, a file. Knows a driver's port; run by
`testing.battery`.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from ringfence.sandbox.guarantees import GUARANTEES, NONE
from ringfence.testing.driver_checks import BOTH
from ringfence.testing.probing import Check, Probe, ensure


async def _guarantees(probe: Probe) -> None:
    given = claims(probe.driver)
    for name, mechanism in given.items():
        ensure(name in GUARANTEES, f"it claims {name!r}, and the names are {', '.join(GUARANTEES)}")
        ensure(type(mechanism) is str and mechanism.strip(), f"the mechanism of {name!r} is {mechanism!r}")


def claims(driver: object) -> Mapping[str, Any]:
    """What a driver says it enforces; nothing, when it does not say."""
    guarantees = getattr(driver, "guarantees", None)
    return {} if guarantees is None else guarantees()


async def _claims_time(probe: Probe) -> None:
    beats, stop = 0, threading.Event()

    def work() -> None:
        nonlocal beats
        while not stop.is_set():
            beats += 1
            time.sleep(0.001)

    def is_still() -> bool:
        seen = beats
        time.sleep(0.02)
        return seen == beats

    task = probe.start(work)
    await probe.until(lambda: beats > 0)
    task.cancel()
    try:
        ensure(await probe.until(is_still), "its caller was cancelled, and a function that never waits runs on")
    finally:
        stop.set()
        await asyncio.wait([task], timeout=probe.seconds)


async def _claims_environment(probe: Probe) -> None:
    name = f"RINGFENCE_CHECK_{secrets.token_hex(4)}"
    os.environ[name] = "canary"
    try:
        found = await probe.run(lambda: os.environ.get(name))
    finally:
        del os.environ[name]
    ensure(found is None, "a function reads one of the host's environment variables")


async def _claims_files(probe: Probe) -> None:
    def read() -> str | None:
        try:
            with open(file.name, encoding="utf-8") as again:
                return again.read()
        except OSError:
            return None

    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write("canary")
        file.flush()
        ensure(await probe.run(read) is None, "a function reads a file that it was not given")


CLAIMS: Final[tuple[Check, ...]] = (
    Check(
        id="guarantees",
        expects="guarantees() maps known names to mechanisms in words",
        fix='leave out what is not enforced, or map it to "none"',
        look=_guarantees,
        needs=("shape",),
    ),
    Check(
        id="claims-time",
        expects="who claims `time` ends a function that never waits",
        fix='claim "none", or end the process that the function runs in',
        look=_claims_time,
        needs=(*BOTH, "blocking"),
        claim="time",
    ),
    Check(
        id="claims-environment",
        expects="who claims `environment` hides the host's environment variables",
        fix='claim "none", or start the place with an environment of its own',
        look=_claims_environment,
        needs=BOTH,
        claim="environment",
    ),
    Check(
        id="claims-files",
        expects="who claims `files` lets a function open no file that it was not given",
        fix='claim "none", or confine the place',
        look=_claims_files,
        needs=BOTH,
        claim="files",
    ),
)
"""In the order in which they are made, after all others."""


def is_claimed(check: Check, given: Mapping[str, Any]) -> bool:
    """Whether the check concerns a driver that claims this."""
    return check.claim is None or given.get(check.claim, NONE) != NONE
