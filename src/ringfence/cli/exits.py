"""Exit codes, and which one a run deserves. Pure; every verb uses it, nothing else decides a code.

0: done. 1: the script failed, was refused or was interrupted. 2: usage, configuration, or a sandbox that this machine
cannot provide: nothing ran. 4: an effect may or may not have happened. 3 is kept for runs that wait for a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SUCCESS: Final = 0
FAILED: Final = 1
USAGE: Final = 2
UNKNOWN_EFFECT: Final = 4


def for_run(*, succeeded: bool, error_code: str | None, call_statuses: Iterable[str]) -> int:
    """The code of a finished run. An unknown effect outranks everything: someone has to look before the next run."""
    if "unknown" in call_statuses:
        return UNKNOWN_EFFECT
    if succeeded:
        return SUCCESS
    return USAGE if error_code == "SANDBOX_UNAVAILABLE" else FAILED
