"""`check_driver`: every check that a sandbox driver must pass, run against fresh drivers.

Knows how to run a check and how to report; what is demanded is in `testing.driver_checks` and
`testing.driver_claims`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ringfence.errors import ConfigError
from ringfence.limits import parse_seconds
from ringfence.ports import Driver
from ringfence.testing.driver_checks import CHECKS
from ringfence.testing.driver_claims import CLAIMS, claims, is_claimed
from ringfence.testing.probing import Check, Miss, Probe
from ringfence.testing.steps import shown

SECONDS: Final = 5.0
"""Real seconds in which a driver must do what should happen at once. A driver that does it never waits so long."""
_LONGEST: Final = 4
"""Such spans in one check, at most."""
_HUNG: Final = 0.01
"""Real seconds to close a further driver of a kind of which one did not come to an end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverReport:
    """What was checked, and found good."""

    name: str
    """The driver's."""
    checked: tuple[str, ...]
    """Ids of checks, in order."""
    unclaimed: tuple[str, ...]
    """Ids of checks of claims that the driver does not make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverFault:
    """One demand that a driver does not meet."""

    check: str
    """Stable id of the check."""
    expected: str
    found: str
    fix: str
    """The smallest change to the driver that helps."""

    def __str__(self) -> str:
        return f"{self.check}: expected that {self.expected}\n  found: {self.found}\n  fix: {self.fix}"


class DriverCheckFailed(AssertionError):
    """A driver does not meet every demand."""

    def __init__(self, name: str, faults: tuple[DriverFault, ...], skipped: tuple[str, ...]) -> None:
        later = f"\nnot checked before that is mended: {', '.join(skipped)}" if skipped else ""
        super().__init__(
            f"the driver {shown(name)} fails {len(faults)} check(s)\n" + "\n".join(map(str, faults)) + later
        )
        self.faults = faults
        self.skipped = skipped
        """Ids of checks that would only have found the same again."""


async def check_driver(make: Callable[[], Driver], *, seconds: float = SECONDS) -> DriverReport:
    """Check that a driver does what a gate needs of it. For drivers that run functions of this process.

        def test_my_driver() -> None:
            asyncio.run(rf.testing.check_driver(lambda: MyDriver()))

    Args:
        make: a fresh driver each time; every check has one of its own, and closes it.
        seconds: real seconds in which a driver must do what should happen at once.

    Returns:
        What was checked.

    Raises:
        DriverCheckFailed: an AssertionError with every demand that is not met, what was found, and a fix.
        ConfigError: `seconds` is no number of seconds, or `make` makes nothing.
    """
    if not callable(make) or (not isinstance(make, type) and hasattr(make, "run")):
        raise ConfigError(
            f"check_driver takes a function that makes a fresh driver each time, not {shown(make)}",
            hint="check_driver(lambda: MyDriver())",
        )
    parse_seconds(seconds, "seconds")
    faults: dict[str, DriverFault] = {}
    checked: list[str] = []
    skipped: list[str] = []
    unclaimed: list[str] = []
    name, grace = "", seconds
    for check in (*CHECKS, *CLAIMS):
        probe = Probe(make, seconds)
        name = name or str(getattr(probe.driver, "name", type(probe.driver).__name__))
        if any(need in faults or need in skipped for need in check.needs):
            skipped.append(check.id)
        elif not is_claimed(check, claims(probe.driver) if "guarantees" in checked else {}):
            unclaimed.append(check.id)
        elif (found := await _look(check, probe)) is None:
            checked.append(check.id)
        else:
            faults[check.id] = DriverFault(check=check.id, expected=check.expects, found=found, fix=check.fix)
        grace = grace if await probe.close(grace) else _HUNG
    if faults:
        raise DriverCheckFailed(name, tuple(faults.values()), tuple(skipped))
    return DriverReport(name=name, checked=tuple(checked), unclaimed=tuple(unclaimed))


async def _looked(check: Check, probe: Probe) -> None:
    """What the check says. What would end the process is one more thing that it may find."""
    try:
        await check.look(probe)
    except SystemExit as error:
        raise Miss(f"it raised {error!r}") from None


async def _look(check: Check, probe: Probe) -> str | None:
    """What was found amiss."""
    task = asyncio.ensure_future(_looked(check, probe))
    await asyncio.wait([task], timeout=probe.seconds * _LONGEST)
    if not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=probe.seconds)
        return f"the check did not come to an end in {probe.seconds * _LONGEST:g} s"
    if task.cancelled():
        return "the run was cancelled, and nobody had asked for it"
    match task.exception():
        case None:
            return None
        case Miss() as miss:
            return str(miss)
        case error:
            return f"it raised {error!r}"
