"""The names of what a driver can enforce, and a record of what one does.

Every driver speaks of the same things, so that two drivers, or a driver and a demand, can be compared. Pure; it does
not know how anything is enforced. Used by drivers, by `ringfence doctor` and by reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

NONE: Final = "none"
"""In place of a mechanism: this is not enforced."""

GUARANTEES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "files": "opens only the files it was given",
        "metadata": "learns nothing about other files, not even that they exist",
        "network": "reaches only the addresses it was given",
        "processes": "starts no process",
        "environment": "does not see the host's environment variables",
        "privileges": "cannot gain rights that it did not start with",
        "memory": "cannot use more memory than it was given",
        "cpu": "cannot use more processor time than it was given",
        "time": "is ended when its time is up, whatever it does",
        "host death": "does not outlive its host",
    }
)
"""Name to meaning; the subject is the code that runs in the driver's place."""


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What one driver enforces."""

    mechanisms: Mapping[str, str]
    """Name to mechanism; a name that is missing is not enforced."""

    def complete(self) -> dict[str, str]:
        """Every name, those not enforced as `"none"`."""
        return {name: self.mechanisms.get(name, NONE) for name in GUARANTEES}

    def missing(self) -> tuple[str, ...]:
        """Names that are not enforced."""
        return tuple(name for name, mechanism in self.complete().items() if mechanism == NONE)
