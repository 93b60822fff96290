"""What a rule says about one call: it may happen, somebody has to be asked, or it may not.

Where several rules speak, `Refuse` is stronger than `Ask`, and `Ask` than `Allow`. Values without behaviour; a custom
detector of `policy.screening` answers with them. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may happen, as far as this rule is concerned."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody has to approve the call, whatever its tool says about approval."""

    reason: str = ""
    """For the approver; never holds values of arguments."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call may not happen, and the run has failed."""

    reason: str = ""
    """For the caller, often a model; never holds values of arguments."""


Verdict = Allow | Ask | Refuse

Action = Literal["refuse", "ask", "log", "off"]
"""What is done about a pattern that was seen: `log` lets the call through and flags it, `off` does not look."""
