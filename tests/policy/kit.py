"""What the tests of screening share: calls, and runs of calls at given times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ringfence.policy.screen import Declared, Judgement, Plan, Screen
from ringfence.policy.screening import Screening


@dataclass(frozen=True)
class Call:
    """One call as screening sees it."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


def screen(declared: Mapping[str, Declared] | None = None, **options: Any) -> Screen:
    """Screening for one run."""
    return Plan(Screening(**options), declared).screen()


class Run:
    """Calls one after another, at times that only move when told to."""

    def __init__(self, declared: Mapping[str, Declared] | None = None, **options: Any) -> None:
        self.screen = screen(declared, **options)
        self.now = 1_000.0

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, *, after: float = 0.0) -> Judgement:
        self.now += after
        return self.screen.judge(Call(name, arguments or {}), self.now)

    def calls(self, *names: str) -> list[str]:
        """What became of each: a code where it was refused, else the action."""
        return [outcome(self.call(name)) for name in names]


def outcome(judged: Judgement) -> str:
    return judged.error.code if judged.error is not None else judged.action
