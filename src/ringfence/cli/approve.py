"""Who decides the calls that ask for approval: a person at the terminal, a file, or nobody. And why.

The gate gets `True` or not; the reason is kept here for the display and the result. Called by `cli.run`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

from ringfence.cli.decisions import Decisions, Verdict, entry_text, parse_decisions
from ringfence.errors import ConfigError
from ringfence.ports import ApprovalRequest

Decide = Callable[[ApprovalRequest], Awaitable[Verdict]]


class Approver:
    """Answers the boundary, and writes down why."""

    def __init__(
        self,
        decide: Decide,
        names: Mapping[str, Collection[str]],
        *,
        reasons: dict[str, str],
        advice: dict[str, str],
    ) -> None:
        """
        Args:
            decide: asks whoever decides.
            names: tools that ask for approval, with the names of their arguments.
            reasons: receives, by call id, why a call was approved or denied.
            advice: receives, by call id, the entry of a decision file that would have approved a denied call. It holds
                the call's arguments.
        """
        self._decide = decide
        self._names = names
        self._reasons = reasons
        self._advice = advice

    async def decide(self, request: ApprovalRequest) -> bool:
        """The approval handler to hand to a boundary."""
        verdict = await self._decide(request)
        self._reasons[request.call_id] = verdict.reason
        if verdict.fix is not None:
            # a request shows private fields of a model too, which no entry may name
            known = self._names[request.tool]
            arguments = {name: value for name, value in request.arguments.items() if name in known}
            self._advice[request.call_id] = f"{verdict.fix}\n{entry_text(request.tool, arguments)}"
        return verdict.approved


async def deny(request: ApprovalRequest) -> Verdict:
    """`--approve deny`."""
    return Verdict(approved=False, reason="--approve deny")


async def nobody_there(request: ApprovalRequest) -> Verdict:
    """`--approve ask` without a terminal."""
    return Verdict(
        approved=False,
        reason="no terminal to ask on; decide beforehand with --approve FILE",
        fix="to approve it, put this into FILE and add --approve FILE:",
    )


def by_file(decisions: Decisions) -> Decide:
    """`--approve FILE`."""

    async def decide(request: ApprovalRequest) -> Verdict:
        return decisions.decide(request.tool, request.arguments)

    return decide


def read_decisions(path: Path, human_tools: Mapping[str, Collection[str]]) -> Decisions:
    """The decisions in a file; see `decisions.parse_decisions`.

    Raises:
        ConfigError: it cannot be read or is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        hint = "--approve takes ask, deny or the path of a TOML file"
        raise ConfigError(f"--approve {str(path)!r}: {error.strerror}", hint=hint) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text", hint="save the file as UTF-8") from None
    return parse_decisions(text, str(path), human_tools)
