"""Several approval handlers that decide one call together.

Makes and checks `ports.Combination` values; asking the members is `gate.approval`'s business. Pure.

The rules, where an approval is True, `Approve`, `Edit` or `Respond`, a denial is False or `Reject`, and a handler that
fails or answers anything else has not decided:

- `any_of`: one approval is enough, and the first one counts, whatever the others say. Denied when nobody approves, with
  the first denial's reason, if anybody denied.
- `all_of`: all must approve the same thing. The first denial, or member that has not decided, ends it, and so does the
  first that approves something else: another edit, another answer, or the call as it was shown.
- `veto`: one approval is enough for what runs, and nobody may object: the first denial, or member that has not decided,
  ends it. All are heard. Approving the call as it was shown is no objection to an edit or an answer; two edits or
  answers that differ are.

All members are asked at once, each handler once, and the decision counts as soon as no further answer can change it.
Edits and answers are compared as JSON. A combination inside another one is a member like any other.
"""

from __future__ import annotations

from typing import Any, Literal

from ringfence.errors import ConfigError
from ringfence.ports import Approvers, Combination


def any_of(*handlers: Approvers) -> Combination:
    """Approved as soon as one of them approves (first seed: several handlers).

    Raises:
        ConfigError: no handler, or something that is none.
    """
    return _combined("any_of", handlers)


def all_of(*handlers: Approvers) -> Combination:
    """Approved when all of them approve the same call.

    Raises:
        ConfigError: no handler, or something that is none.
    """
    return _combined("all_of", handlers)


def veto(*handlers: Approvers) -> Combination:
    """Approved when all of them have been heard, and none of them objects to what another approves.

    Raises:
        ConfigError: no handler, or something that is none.
    """
    return _combined("veto", handlers)


def _combined(rule: Literal["any_of", "all_of", "veto"], handlers: tuple[Any, ...]) -> Combination:
    if not handlers:
        raise ConfigError(f"{rule} needs at least one approval handler")
    for position, handler in enumerate(handlers):
        if not callable(handler) and not isinstance(handler, Combination):
            raise ConfigError(
                f"{rule}: handler {position} must be callable, not {type(handler).__name__}",
                hint=f"write {rule}(*handlers)" if isinstance(handler, (list, tuple, set)) else None,
            )
    return Combination(rule, tuple(handlers))
